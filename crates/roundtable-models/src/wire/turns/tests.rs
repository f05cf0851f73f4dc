use roundtable_core::id::ToolCallId;
use roundtable_core::message::ToolRequest;
use serde_json::json;

use super::*;
use crate::catalog::Catalog;
use crate::output::Shape;

fn call(id: &str) -> ToolRequest {
    ToolRequest {
        id: ToolCallId::new(id).unwrap(),
        name: "look".to_owned(),
        arguments: json!({ "at": id }),
    }
}

fn answer(id: &str) -> ToolAnswer {
    ToolAnswer {
        id: ToolCallId::new(id).unwrap(),
        content: format!("saw {id}"),
        value: None,
        success: true,
    }
}

/// The turns as lines: who speaks, and what.
fn lines(model: &str, messages: &[Message]) -> Vec<String> {
    let profile = Catalog::builtin().unwrap().profile(model).unwrap();
    let names = Names::new(["look"].into_iter(), &Shape::Free);
    let said = |piece: &Piece| match &piece.said {
        Content::Text(text) => text.replace('\n', "|"),
        Content::Image(image) => image.media_type.clone(),
        Content::Reasoning(thought) => format!("({})", thought.text),
        Content::Call { id, .. } => format!("{id}?"),
        Content::Result { id, content, success, .. } => format!("{id}={content} {success}"),
    };
    let line = |turn: &Turn| {
        let all: Vec<String> = turn.pieces.iter().map(said).collect();
        format!("{:?}: {}", turn.speaker, all.join(" + "))
    };
    turns(messages, None, &profile, &names).iter().map(line).collect()
}

const CHAT: &str = "openai-chat/gpt-5";
const OWN: &str = "anthropic/claude-sonnet-4-5";
const JOINED: &str = "anthropic/claude-sonnet-4-5";

#[test]
fn a_result_stands_next_to_its_call_in_the_order_of_the_calls_arrival() {
    let messages = [
        Message::user("Look."),
        Message::assistant("Hm.", vec![call("a"), call("b")]),
        Message::tool_results(vec![answer("b"), answer("a")]),
    ];
    assert_eq!(
        lines(CHAT, &messages),
        [
            "User: Look.",
            "Assistant: Hm. + tcl_a? + tcl_b?",
            "Tools: tcl_b=saw b true + tcl_a=saw a true",
        ]
    );
}

#[test]
fn a_call_without_a_result_gets_one_and_a_result_without_a_call_becomes_text() {
    let messages = [
        Message::assistant("", vec![call("a"), call("b")]),
        Message::tool_results(vec![answer("b"), answer("z")]),
        Message::user("Well?"),
    ];
    assert_eq!(
        lines(CHAT, &messages),
        [
            "User: Please begin.",
            "Assistant: tcl_a? + tcl_b?",
            "Tools: tcl_b=saw b true + tcl_a=The result of this call is unknown. false",
            "User: Result of an earlier tool call:|saw z",
            "User: Well?",
        ]
    );
}

#[test]
fn late_instructions_are_instructions_where_that_is_allowed_and_marked_words_elsewhere() {
    let messages =
        [Message::system("Rules."), Message::user("Hi."), Message::system("You are Ann.")];
    assert_eq!(lines(CHAT, &messages), ["System: Rules.", "User: Hi.", "System: You are Ann."]);
    assert_eq!(
        lines(JOINED, &messages),
        ["System: Rules.", "User: Hi. + <instructions>|You are Ann.|</instructions>"]
    );
}

#[test]
fn there_is_always_something_said_to_the_model_last() {
    assert_eq!(lines(CHAT, &[]), ["User: Please continue."]);
    assert_eq!(
        lines(CHAT, &[Message::system("Rules."), Message::user(" ")]),
        ["System: Rules.", "User: Please continue."]
    );
    let messages = [Message::user("Hi."), Message::assistant("Hello.", vec![])];
    assert_eq!(
        lines(JOINED, &messages),
        ["User: Hi.", "Assistant: Hello.", "User: Please continue."]
    );
}

#[test]
fn thoughts_of_another_wire_are_left_out_and_pictures_where_nobody_sees_them() {
    let thought = |wire: &str| {
        let text = wire.to_owned();
        Part::Reasoning(Reasoning { wire: wire.to_owned(), text, payload: json!({}) })
    };
    let image = Image {
        media_type: "image/png".to_owned(),
        source: roundtable_core::message::ImageSource::Base64("AAAA".into()),
    };
    let messages = [
        Message { role: Role::User, parts: vec![Part::Image(image)] },
        Message {
            role: Role::Assistant,
            parts: vec![thought(OWN), thought("gemini/x"), Part::Text { text: "Ah.".into() }],
        },
        Message { role: Role::Assistant, parts: vec![thought(OWN)] },
        Message::user("Go."),
    ];
    assert_eq!(
        lines(JOINED, &messages),
        ["User: image/png", "Assistant: (anthropic/claude-sonnet-4-5) + Ah.", "User: Go."]
    );
    assert_eq!(
        lines("deepseek/deepseek-chat", &messages),
        ["User: [An image that this model cannot read.]", "Assistant: Ah.", "User: Go."]
    );
}
