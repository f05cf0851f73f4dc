//! Frames of clients: what they have in common, and what is wrong with those that are none.

use roundtable::core::id::MAX_LEN;
use serde_json::{Map, Value, json};

use crate::json;
use crate::operation::SESSION;
use crate::problem::Problem;

/// The field that names a conversation in frames.
pub(super) const CONVERSATION: &str = "conversationId";

/// A frame of a client.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ClientFrame {
    pub kind: String,
    /// What its answer refers to.
    pub echo: Echo,
    /// The other fields.
    pub fields: Map<String, Value>,
}

/// The fields of a frame that its answer repeats, so that a client knows what it is about.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Echo(Map<String, Value>);

impl ClientFrame {
    /// Reads a frame. An error repeats as much of it as could be read.
    pub fn parse(text: &str, limit: usize) -> Result<Self, (Echo, Problem)> {
        let refuse = |echo: &Echo, problem| Err((echo.clone(), problem));
        let mut echo = Echo::default();
        if text.len() > limit {
            let what = format!("the frame has {} bytes; the limit is {limit}", text.len());
            return refuse(&echo, Problem::bad_request("too_large", what));
        }
        let mut fields = match json::parse(text.as_bytes()) {
            Ok(Value::Object(fields)) => fields,
            Ok(_) => return refuse(&echo, malformed("a frame must be a JSON object with a type")),
            Err(problem) => return refuse(&echo, malformed(&problem.body.error)),
        };
        match fields.remove("id") {
            None => {}
            Some(id) if is_request_id(&id) => drop(echo.0.insert("id".to_owned(), id)),
            Some(_) => {
                let what = "id must be a number, or a string of at most 64 characters";
                return refuse(&echo, malformed(what));
            }
        }
        for name in [CONVERSATION, "messageId"] {
            if let Some(Value::String(text)) = fields.get(name)
                && text.len() <= MAX_LEN
            {
                echo.0.insert(name.to_owned(), text.clone().into());
            }
        }
        match fields.remove("type") {
            Some(Value::String(kind)) => Ok(Self { kind, echo, fields }),
            Some(_) => refuse(&echo, malformed("type must be a string")),
            None => refuse(&echo, malformed("missing field `type`")),
        }
    }

    /// The conversation that it names.
    pub fn conversation(&self) -> Option<&str> {
        self.fields.get(CONVERSATION).and_then(Value::as_str)
    }

    /// Names the session as operations on a session expect it.
    pub fn name_session(&mut self) {
        if let Some(conversation) = self.fields.remove(CONVERSATION) {
            self.fields.entry(SESSION).or_insert(conversation);
        }
    }
}

impl Echo {
    /// A frame that refers to the request.
    pub fn answer(&self, kind: &str, more: Map<String, Value>) -> Value {
        let mut answer = self.0.clone();
        answer.extend(more);
        answer.insert("type".to_owned(), kind.into());
        Value::Object(answer)
    }

    /// What went wrong with the request.
    pub fn error(&self, problem: &Problem) -> Value {
        let mut more = match serde_json::to_value(&problem.body) {
            Ok(Value::Object(body)) => body,
            _ => Map::new(),
        };
        more.insert("status".to_owned(), problem.status.as_u16().into());
        if let Some(seconds) = problem.retry_after {
            more.insert("retryAfter".to_owned(), json!(seconds));
        }
        self.answer("error", more)
    }
}

fn is_request_id(id: &Value) -> bool {
    id.is_number() || id.as_str().is_some_and(|text| text.len() <= MAX_LEN)
}

fn malformed(what: &str) -> Problem {
    Problem::bad_request("malformed", format!("malformed frame: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s21_what_is_no_frame_is_named_and_repeats_the_request_id() {
        let refused = |text: &str| {
            let (echo, problem) = ClientFrame::parse(text, 200).unwrap_err();
            let error = echo.error(&problem);
            (error["reason"].clone(), error["id"].clone())
        };
        for text in
            ["", "x", "[]", "3", "null", "{", "{}", r#"{"type":1}"#, r#"{"type":"a","id":[]}"#]
        {
            assert_eq!(refused(text).0, "malformed", "{text}");
        }
        assert_eq!(refused(r#"{"id":"r1"}"#), ("malformed".into(), "r1".into()));
        let long = format!(r#"{{"type":"message","content":"{}"}}"#, "x".repeat(200));
        assert_eq!(refused(&long).0, "too_large");
        let deep = format!(r#"{{"type":"a","x":{}{}}}"#, "[".repeat(90), "]".repeat(90));
        assert_eq!(refused(&deep).0, "malformed");
    }

    #[test]
    fn an_answer_repeats_what_the_request_was_about() {
        let text = r#"{"type":"stop","id":7,"conversationId":"abc"}"#;
        let frame = ClientFrame::parse(text, 200).unwrap();
        assert_eq!((frame.kind.as_str(), frame.conversation()), ("stop", Some("abc")));
        let answer = frame.echo.answer("ack", Map::new());
        assert_eq!(answer, json!({ "type": "ack", "id": 7, "conversationId": "abc" }));
    }
}
