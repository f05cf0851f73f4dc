//! Sessions over WebSocket (seed 001).

mod access;
mod context;
mod control;
mod conversations;
mod frames;
mod load;
mod resume;

use roundtable::prelude::*;
use serde_json::{Value, json};

use crate::socket::Socket;

/// A supervisor that delegates to the researcher at one gate and answers at another. Everything that is
/// said repeats what was asked, so that a canary in a message is in all that it causes.
fn delegating() -> Script {
    let delegate = json!({ "agent": "researcher", "mission": "dig", "rationale": "it knows" });
    Script::default()
        .voice(
            "supervisor",
            [
                Reply::calls([Call::new("delegate", delegate)]).at_gate("decide"),
                Reply::text("Answer to {input}").in_pieces(7, 0).at_gate("answer"),
            ],
        )
        .voice("researcher", [Reply::text("Dug.")])
}

/// A message with a canary that names its conversation.
fn message(conversation: &str, id: &str) -> Value {
    json!({
        "type": "message", "conversationId": conversation, "messageId": id,
        "content": format!("canary-{conversation}"),
    })
}

/// The frames of one type.
fn of_type<'a>(frames: &'a [Value], kind: &str) -> Vec<&'a Value> {
    frames.iter().filter(|frame| frame["type"] == kind).collect()
}

/// The frame types, in order.
fn types(frames: &[Value]) -> Vec<&str> {
    frames.iter().filter_map(|frame| frame["type"].as_str()).collect()
}

/// Everything that a conversation has, read by someone who comes after it is over.
async fn whole(socket: &mut Socket, conversation: &str) -> Vec<Value> {
    whole_after(socket, conversation, 0).await
}

/// The same after an event.
async fn whole_after(socket: &mut Socket, conversation: &str, from: u64) -> Vec<Value> {
    let subscribe = json!({ "type": "subscribe", "conversationId": conversation, "fromSeq": from });
    let answer = socket.ask(subscribe).await;
    assert_eq!(answer["type"], "subscribed", "{answer}");
    if answer["ended"] == true {
        return Vec::new();
    }
    let mut frames = socket.until(|frame| frame["type"] == "subscription_ended").await;
    frames.pop();
    frames
}
