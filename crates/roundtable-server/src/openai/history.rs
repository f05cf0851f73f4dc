//! The messages of a request: instructions, what was said before, and what is to be answered.

use roundtable::chat::{Background, EarlierMessage};
use serde_json::Value;

use super::request::{invalid, unsupported};
use crate::problem::Problem;

/// How many messages a request may have.
pub(super) const MAX_MESSAGES: usize = 2_000;

/// How many characters the message that is answered may have.
const MAX_TEXT: usize = 200_000;

/// How many characters the name of a sender may have.
const MAX_SENDER: usize = 64;

/// The result of a tool call that the caller ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ToolAnswer {
    /// The call, as the answer named it.
    pub id: String,
    pub text: String,
}

/// A history, as a request tells it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct History {
    pub background: Background,
    /// The last message, if a person wrote it.
    pub text: Option<String>,
    /// The results of tool calls that the messages end with.
    pub results: Vec<ToolAnswer>,
}

impl History {
    /// The same, where the results at the end are part of what was said before: nobody waits for them.
    #[must_use]
    pub fn with_results_told(mut self) -> Self {
        for ToolAnswer { text, .. } in std::mem::take(&mut self.results) {
            self.background.messages.push(EarlierMessage { sender: "Tool".to_owned(), text });
        }
        self
    }

    /// All of it in one text, for those who are asked one question.
    pub fn into_question(self) -> String {
        let Background { instructions, messages } = self.background;
        let mut parts = Vec::from_iter(Some(instructions).filter(|text| !text.is_empty()));
        if !messages.is_empty() {
            let lines = messages.iter().map(|it| format!("{}: {}", it.sender, it.text));
            let lines = lines.collect::<Vec<_>>().join("\n");
            parts.push(format!("The conversation before this question:\n{lines}"));
        }
        parts.extend(self.text);
        parts.join("\n\n")
    }
}

/// Who wrote a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Instructions,
    User,
    Assistant,
    Tool,
}

struct Message {
    role: Role,
    sender: String,
    text: String,
    /// The call that a tool answers.
    call: String,
}

/// Reads the messages of a request. The last one has to be a person's, or results of tools.
pub(super) fn read(messages: &[Value]) -> Result<History, Problem> {
    if messages.is_empty() || messages.len() > MAX_MESSAGES {
        let why = format!("there must be 1 to {MAX_MESSAGES}, not {}", messages.len());
        return Err(invalid("messages", &why));
    }
    let mut history = History::default();
    let mut told = Vec::with_capacity(messages.len());
    for (index, message) in messages.iter().enumerate() {
        let message = Message::read(&format!("messages[{index}]"), message)?;
        match message.role {
            Role::Instructions => {
                let instructions = &mut history.background.instructions;
                let gap = if instructions.is_empty() { "" } else { "\n\n" };
                instructions.push_str(gap);
                instructions.push_str(&message.text);
            }
            Role::User | Role::Assistant | Role::Tool => told.push(message),
        }
    }
    let from = told.iter().rposition(|message| message.role != Role::Tool).map_or(0, |at| at + 1);
    let answer = |Message { call: id, text, .. }| ToolAnswer { id, text };
    history.results = told.drain(from..).map(answer).collect();
    if history.results.is_empty() {
        history.text = Some(last_text(told.pop())?);
    }
    let earlier = |Message { sender, text, .. }| EarlierMessage { sender, text };
    history.background.messages = told.into_iter().map(earlier).collect();
    Ok(history)
}

fn last_text(last: Option<Message>) -> Result<String, Problem> {
    let why = match last {
        Some(Message { role: Role::User, text, .. }) => match text.chars().count() {
            _ if text.trim().is_empty() => "the last message is empty".to_owned(),
            length if length > MAX_TEXT => {
                format!("the last message has {length} characters; at most {MAX_TEXT} are allowed")
            }
            _ => return Ok(text),
        },
        _ => "the last message must have the role user or tool".to_owned(),
    };
    Err(invalid("messages", &why))
}

impl Message {
    fn read(place: &str, message: &Value) -> Result<Self, Problem> {
        let (role, sender) = match message["role"].as_str() {
            Some("system" | "developer") => (Role::Instructions, "System"),
            Some("user") => (Role::User, "User"),
            Some("assistant") => (Role::Assistant, "Assistant"),
            Some("tool") => (Role::Tool, "Tool"),
            Some("function") => return Err(unsupported(place, "use the role tool")),
            _ => {
                let why = "role must be system, developer, user, assistant or tool";
                return Err(invalid(place, why));
            }
        };
        let mut text = read_content(&format!("{place}.content"), &message["content"])?;
        if role == Role::Assistant {
            push_calls(&mut text, &message["tool_calls"]);
        }
        let call = message["tool_call_id"].as_str().unwrap_or_default().to_owned();
        if role == Role::Tool && call.is_empty() {
            return Err(invalid(place, "a message with the role tool needs tool_call_id"));
        }
        let name = message["name"].as_str().filter(|_| role == Role::User).unwrap_or(sender);
        let sender = name.chars().filter(|c| !c.is_control()).take(MAX_SENDER).collect();
        Ok(Self { role, sender, text, call })
    }
}

/// The text of a message: a string, or parts that are text.
fn read_content(place: &str, content: &Value) -> Result<String, Problem> {
    match content {
        Value::Null => Ok(String::new()),
        Value::String(text) => Ok(text.clone()),
        Value::Array(parts) => {
            let texts: Result<Vec<&str>, Problem> =
                parts.iter().map(|part| read_part(place, part)).collect();
            Ok(texts?.join("\n"))
        }
        _ => Err(invalid(place, "content is a string or a list of parts")),
    }
}

fn read_part<'a>(place: &str, part: &'a Value) -> Result<&'a str, Problem> {
    match (part["type"].as_str(), &part["text"], &part["refusal"]) {
        (Some("text"), Value::String(text), _) | (Some("refusal"), _, Value::String(text)) => {
            Ok(text)
        }
        (Some("text" | "refusal"), ..) => Err(invalid(place, "a part has no text")),
        (Some("image_url"), ..) => {
            Err(unsupported(place, "images are not supported; send text parts"))
        }
        _ => Err(unsupported(place, "only parts with the type text are supported")),
    }
}

/// Calls that an earlier answer asked for are part of what was said.
fn push_calls(text: &mut String, calls: &Value) {
    for call in calls.as_array().into_iter().flatten() {
        let function = &call["function"];
        let name = function["name"].as_str().unwrap_or("a tool");
        let arguments = function["arguments"].as_str().unwrap_or_default();
        let gap = if text.is_empty() { "" } else { "\n" };
        text.push_str(&format!("{gap}[called {name} with {arguments}]"));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(messages: &Value) -> Result<History, Problem> {
        read(messages.as_array().unwrap())
    }

    fn earlier(sender: &str, text: &str) -> EarlierMessage {
        EarlierMessage { sender: sender.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn the_messages_are_instructions_history_and_what_is_asked() {
        let call = json!({ "id": "c1", "type": "function", "function": { "name": "add", "arguments": "{}" } });
        let read = of(&json!([
            { "role": "system", "content": "Be brief." },
            { "role": "user", "name": "Ann", "content": [{ "type": "text", "text": "One" }, { "type": "text", "text": "and two?" }] },
            { "role": "assistant", "content": null, "tool_calls": [call] },
            { "role": "tool", "tool_call_id": "c1", "content": "3" },
            { "role": "assistant", "content": "Three." },
            { "role": "developer", "content": "Be kind." },
            { "role": "user", "content": "Thanks!" },
        ]));
        let expected = History {
            background: Background {
                instructions: "Be brief.\n\nBe kind.".to_owned(),
                messages: vec![
                    earlier("Ann", "One\nand two?"),
                    earlier("Assistant", "[called add with {}]"),
                    earlier("Tool", "3"),
                    earlier("Assistant", "Three."),
                ],
            },
            text: Some("Thanks!".to_owned()),
            results: Vec::new(),
        };
        assert_eq!(read, Ok(expected));
    }

    #[test]
    fn results_at_the_end_are_the_ones_that_someone_may_wait_for() {
        let tool =
            |id: &str, text: &str| json!({ "role": "tool", "tool_call_id": id, "content": text });
        let asked = json!({ "role": "user", "content": "Go" });
        let read = of(&json!([asked, tool("c1", "a"), tool("c2", "b")])).unwrap();
        let ids: Vec<&str> = read.results.iter().map(|result| result.id.as_str()).collect();
        assert_eq!((ids, read.text.as_ref()), (vec!["c1", "c2"], None));
        let told = read.with_results_told().background.messages;
        assert_eq!(told, [earlier("User", "Go"), earlier("Tool", "a"), earlier("Tool", "b")]);
    }

    #[test]
    fn what_cannot_be_answered_is_refused() {
        let image =
            json!({ "type": "image_url", "image_url": { "url": "data:image/png;base64,AA" } });
        for (message, reason) in [
            (json!({ "role": "assistant", "content": "Hi" }), "invalid_value"),
            (json!({ "role": "user", "content": "  " }), "invalid_value"),
            (json!({ "role": "user", "content": 1 }), "invalid_value"),
            (json!({ "role": "king", "content": "Hi" }), "invalid_value"),
            (json!({ "role": "tool", "content": "3" }), "invalid_value"),
            (json!({ "role": "user", "content": "x".repeat(MAX_TEXT + 1) }), "invalid_value"),
            (json!({ "role": "user", "content": [image] }), "unsupported_parameter"),
            (
                json!({ "role": "user", "content": [{ "type": "input_audio" }] }),
                "unsupported_parameter",
            ),
            (json!("Hi"), "invalid_value"),
        ] {
            let problem = of(&json!([message])).unwrap_err();
            assert_eq!((problem.status.as_u16(), problem.body.reason.as_str()), (400, reason));
        }
        let many = vec![json!({ "role": "user", "content": "Hi" }); MAX_MESSAGES + 1];
        assert!(super::read(&many).is_err());
    }
}
