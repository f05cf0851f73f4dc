//! The event that most of an answer is made of: a piece of text, and nothing else. It is read
//! straight from its bytes; an event with anything more in it is none, and takes the long way.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;

/// A piece of text.
#[derive(Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// The text; never empty.
    pub text: Cow<'a, str>,
    /// The model that says it, if the event names it.
    pub model: Option<&'a str>,
}

impl<'a> Token<'a> {
    /// The token that an event is, if it is one.
    pub fn find(data: &'a str) -> Option<Self> {
        let Event { model, choices: [Choice { delta, .. }], .. } =
            serde_json::from_str(data).ok()?;
        (!delta.content.is_empty()).then_some(Self { text: delta.content, model })
    }
}

/// Beside the text there are only fields that say nothing about it, and some that are empty.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "most fields are named to be allowed, not to be read")]
struct Event<'a> {
    #[serde(default)]
    id: IgnoredAny,
    #[serde(default)]
    object: IgnoredAny,
    #[serde(default)]
    created: IgnoredAny,
    #[serde(default)]
    system_fingerprint: IgnoredAny,
    #[serde(default)]
    service_tier: IgnoredAny,
    #[serde(default)]
    obfuscation: IgnoredAny,
    #[serde(default)]
    usage: (),
    #[serde(default, borrow)]
    model: Option<&'a str>,
    #[serde(borrow)]
    choices: [Choice<'a>; 1],
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "most fields are named to be allowed, not to be read")]
struct Choice<'a> {
    #[serde(default)]
    index: IgnoredAny,
    #[serde(default)]
    logprobs: IgnoredAny,
    #[serde(default)]
    finish_reason: (),
    #[serde(borrow)]
    delta: Delta<'a>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "most fields are named to be allowed, not to be read")]
struct Delta<'a> {
    #[serde(default)]
    role: IgnoredAny,
    #[serde(default)]
    refusal: (),
    #[serde(default)]
    reasoning: (),
    #[serde(default)]
    reasoning_content: (),
    #[serde(borrow)]
    content: Cow<'a, str>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text of an event with this choice and these fields beside it, if it is a token.
    fn text(choice: &str, beside: &str) -> Option<String> {
        let data =
            format!(r#"{{"id":"x","model":"m"{beside},"choices":[{{"index":0,{choice}}}]}}"#);
        Token::find(&data).map(|token| token.text.into_owned())
    }

    #[test]
    fn a_piece_of_text_is_a_token_whatever_is_empty_beside_it() {
        let plain = r#""delta":{"content":" a\n\u00fc"}"#;
        assert_eq!(text(plain, "").as_deref(), Some(" a\nü"));
        let empty = r#""delta":{"role":"assistant","content":"b","refusal":null,"reasoning_content":null},"logprobs":null,"finish_reason":null"#;
        assert_eq!(text(empty, r#","usage":null"#).as_deref(), Some("b"));
        let named = r#"{"model":"m","choices":[{"delta":{"content":"c"}}]}"#;
        assert_eq!(Token::find(named), Some(Token { text: "c".into(), model: Some("m") }));
    }

    #[test]
    fn an_event_that_says_anything_else_takes_the_long_way() {
        let plain = r#""delta":{"content":"a"}"#;
        for beside in
            [r#","usage":{}"#, r#","error":{}"#, r#","citations":["x"]"#, r#","x_groq":{}"#]
        {
            assert_eq!(text(plain, beside), None, "{beside}");
        }
        for choice in [
            r#""delta":{}"#,
            r#""delta":{"content":""}"#,
            r#""delta":{"content":null}"#,
            r#""delta":{"content":[{"text":"a"}]}"#,
            r#""delta":{"content":"a","reasoning":"b"}"#,
            r#""delta":{"content":"a","tool_calls":[]}"#,
            r#""delta":{"content":"a"},"finish_reason":"stop""#,
        ] {
            assert_eq!(text(choice, ""), None, "{choice}");
        }
        assert_eq!(Token::find(r#"{"choices":[]}"#), None);
        assert_eq!(Token::find("[DONE]"), None);
    }
}
