//! An event as nearly all of them are: a piece of text or of a call, the end, a count of tokens.
//! It is read straight from its bytes; an event with anything more in it is none, and takes the
//! long way.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

/// An event with nothing in it but what is named here.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "some fields are named to be allowed, not to be read")]
pub struct CommonEvent<'a> {
    /// The model that says it, if the event names it.
    #[serde(default, borrow)]
    pub model: Option<&'a str>,
    /// How many tokens there were.
    #[serde(default)]
    pub usage: Option<Value>,
    /// What is said; one at most, the others were never asked for.
    #[serde(borrow)]
    pub choices: Vec<Choice<'a>>,
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
}

/// A piece of an answer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "some fields are named to be allowed, not to be read")]
pub struct Choice<'a> {
    /// What is new.
    #[serde(default, borrow)]
    pub delta: Delta<'a>,
    /// Why there is no more, at the end.
    #[serde(default, borrow)]
    pub finish_reason: Option<&'a str>,
    #[serde(default)]
    index: IgnoredAny,
    #[serde(default)]
    logprobs: IgnoredAny,
}

/// What is new.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Delta<'a> {
    #[serde(borrow)]
    content: Option<Text<'a>>,
    /// Pieces of calls.
    #[serde(borrow)]
    pub tool_calls: Option<Vec<Call<'a>>>,
    role: IgnoredAny,
    refusal: (),
    reasoning: (),
    reasoning_content: (),
}

/// A piece of a call.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Call<'a> {
    index: Option<u64>,
    #[serde(borrow)]
    id: Option<Text<'a>>,
    #[serde(borrow)]
    function: Function<'a>,
    r#type: IgnoredAny,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Function<'a> {
    #[serde(borrow)]
    name: Option<Text<'a>>,
    #[serde(borrow)]
    arguments: Option<Text<'a>>,
}

/// A text, borrowed where it is spelled as it is meant.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// A piece of a call, from wherever it was read.
#[derive(Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    /// Which call, where calls are numbered.
    pub index: Option<u64>,
    /// Its id, where the piece has it.
    pub id: Option<&'a str>,
    /// The tool's name, where the piece has it.
    pub name: Option<&'a str>,
    /// What is new of the arguments.
    pub arguments: Cow<'a, str>,
}

impl<'a> CommonEvent<'a> {
    /// The event, if it is one of these.
    pub fn find(data: &'a str) -> Option<Self> {
        let event: Self = serde_json::from_str(data).ok()?;
        (event.choices.len() <= 1).then_some(event)
    }
}

impl Choice<'_> {
    /// Whether there is nothing in it but text.
    pub fn is_text(&self) -> bool {
        self.finish_reason.is_none() && self.delta.tool_calls.is_none()
    }
}

impl Delta<'_> {
    /// The text, if there is any.
    pub fn text(&self) -> Option<&str> {
        said(self.content.as_ref())
    }
}

impl Call<'_> {
    /// The same as any other piece.
    pub fn piece(&self) -> Piece<'_> {
        Piece {
            index: self.index,
            id: said(self.id.as_ref()),
            name: said(self.function.name.as_ref()),
            arguments: Cow::Borrowed(said(self.function.arguments.as_ref()).unwrap_or_default()),
        }
    }
}

fn said<'a>(text: Option<&'a Text<'_>>) -> Option<&'a str> {
    text.map(|text| &*text.0).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An event with this choice and these fields beside it.
    fn event(choice: &str, beside: &str) -> String {
        format!(r#"{{"id":"x","model":"m"{beside},"choices":[{{"index":0,{choice}}}]}}"#)
    }

    fn text(choice: &str, beside: &str) -> Option<String> {
        let data = event(choice, beside);
        CommonEvent::find(&data)?.choices.first()?.delta.text().map(str::to_owned)
    }

    #[test]
    fn a_piece_of_text_is_read_whatever_is_empty_beside_it() {
        let plain = r#""delta":{"content":" a\n\u00fc"}"#;
        assert_eq!(text(plain, "").as_deref(), Some(" a\nü"));
        let empty = r#""delta":{"role":"assistant","content":"b","refusal":null,"reasoning_content":null},"logprobs":null,"finish_reason":null"#;
        assert_eq!(text(empty, r#","usage":null"#).as_deref(), Some("b"));
        assert_eq!(text(r#""delta":{"content":null}"#, ""), None);
    }

    #[test]
    fn calls_the_end_and_the_count_are_read() {
        let call = r#""delta":{"tool_calls":[{"index":1,"id":"c","type":"function","function":{"name":"n","arguments":"{\"a\":1}"}}]}"#;
        let data = event(call, "");
        let event = CommonEvent::find(&data).unwrap();
        let calls = event.choices[0].delta.tool_calls.as_ref().unwrap();
        let (index, id, name) = (Some(1), Some("c"), Some("n"));
        let arguments = Cow::Borrowed(r#"{"a":1}"#);
        assert_eq!(calls[0].piece(), Piece { index, id, name, arguments });
        let last = r#"{"model":"m","choices":[{"delta":{},"finish_reason":"stop"}]}"#;
        assert_eq!(CommonEvent::find(last).unwrap().choices[0].finish_reason, Some("stop"));
        let count = r#"{"choices":[],"usage":{"prompt_tokens":3}}"#;
        assert_eq!(CommonEvent::find(count).unwrap().usage.unwrap()["prompt_tokens"], 3);
    }

    #[test]
    fn an_event_that_says_anything_else_takes_the_long_way() {
        let plain = r#""delta":{"content":"a"}"#;
        for beside in [r#","error":{}"#, r#","citations":["x"]"#, r#","x_groq":{}"#] {
            assert!(CommonEvent::find(&event(plain, beside)).is_none(), "{beside}");
        }
        for choice in [
            r#""delta":{"content":[{"text":"a"}]}"#,
            r#""delta":{"content":"a","reasoning":"b"}"#,
            r#""delta":{"content":"a","refusal":"b"}"#,
            r#""delta":{"content":"a","annotations":[]}"#,
            r#""delta":{"tool_calls":[{"function":{"arguments":{}}}]}"#,
            r#""delta":{"content":"a"}},{"delta":{"content":"b"}"#,
        ] {
            assert!(CommonEvent::find(&event(choice, "")).is_none(), "{choice}");
        }
        assert!(CommonEvent::find("[DONE]").is_none());
    }
}
