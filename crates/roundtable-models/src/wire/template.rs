//! Events that differ from the one before in nothing but their text, as most of an answer's do.
//! What is around the text is compared instead of read again.

use std::borrow::Cow;

/// What an event of text has around its text.
#[derive(Debug, Default)]
pub struct EventTemplate {
    /// Up to the quotation mark before the text; empty when no event was seen yet.
    before: String,
    /// From the quotation mark after the text.
    after: String,
}

impl EventTemplate {
    /// Keeps what is around a text that was read out of an event. A text with escapes is spelled
    /// otherwise there, so it is no part of the event itself; then nothing is kept.
    pub fn keep(&mut self, data: &str, text: &str) {
        let at = text.as_ptr().addr().wrapping_sub(data.as_ptr().addr());
        let (Some(before), Some(rest)) = (data.get(..at), data.get(at..)) else { return };
        let Some(after) = rest.strip_prefix(text) else { return };
        if before.ends_with('"') && after.starts_with('"') {
            before.clone_into(&mut self.before);
            after.clone_into(&mut self.after);
        }
    }

    /// The text of an event that is the kept one but for its text; never empty.
    ///
    /// A text is one string of JSON, so an event that is the same before and after it means the
    /// same but for it.
    pub fn text<'a>(&self, data: &'a str) -> Option<Cow<'a, str>> {
        if self.before.is_empty() {
            return None;
        }
        let text = data.strip_prefix(&*self.before)?.strip_suffix(&*self.after)?;
        if text.is_empty() {
            return None;
        }
        if text.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\') {
            return Some(Cow::Borrowed(text));
        }
        let quoted = data.get(self.before.len() - 1..self.before.len() + text.len() + 1)?;
        serde_json::from_str(quoted).ok().map(Cow::Owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = r#"{"choices":[{"delta":{"content":""#;
    const AFTER: &str = r#""},"finish_reason":null}]}"#;

    fn event(text: &str) -> String {
        format!("{BEFORE}{text}{AFTER}")
    }

    fn kept() -> EventTemplate {
        let (data, mut template) = (event("first"), EventTemplate::default());
        template.keep(&data, &data[BEFORE.len()..BEFORE.len() + 5]);
        template
    }

    fn text(data: &str) -> Option<String> {
        kept().text(data).map(Cow::into_owned)
    }

    #[test]
    fn an_event_like_the_one_before_gives_its_text() {
        for (spelled, meant) in
            [(" word", " word"), ("é🙂", "é🙂"), (r#"a\n\"\u00fc\\"#, "a\n\"ü\\")]
        {
            assert_eq!(text(&event(spelled)).as_deref(), Some(meant));
        }
    }

    #[test]
    fn an_event_with_anything_else_is_read_as_a_whole() {
        let sly = r#"a","tool_calls":[1],"x":"b"#;
        for spelled in ["", sly, "a\u{7}b", r"a\", r"\q", r"\ud800", "\""] {
            assert_eq!(text(&event(spelled)), None, "{spelled}");
        }
        assert_eq!(text(&event("a").replace("null", "\"stop\"")), None);
        assert_eq!(text(&event("a").replace("content", "reasoning")), None);
        assert_eq!(text(BEFORE), None);
        assert_eq!(text(AFTER), None);
        assert_eq!(EventTemplate::default().text("a"), None);
    }

    #[test]
    fn nothing_is_kept_of_a_text_that_is_spelled_otherwise_or_comes_from_elsewhere() {
        let (data, mut template) = (event("a"), EventTemplate::default());
        template.keep(&data, "a");
        template.keep(&data, &data[1..]);
        assert_eq!(template.text(&data), None);
    }
}
