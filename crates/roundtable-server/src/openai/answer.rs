//! Answers in OpenAI's format: one object, or chunks of it.

use roundtable::core::event::Seq;
use serde_json::{Value, json};

use super::completion::Begun;
use super::model::Model;
use super::reply::{CallPiece, Finish, Tokens};

/// What every part of an answer says of it.
#[derive(Debug, Clone)]
pub(super) struct Head {
    id: String,
    created: i64,
    model: String,
}

/// An answer, as far as it was given.
#[derive(Debug, Default)]
pub(super) struct Answer {
    pub text: String,
    pub calls: Vec<CallPiece>,
}

impl Head {
    pub fn new(begun: &Begun, model: &Model) -> Self {
        let session = begun.session.id().suffix();
        // An answer after results of tools is another one of the same session.
        let id = match begun.after {
            Seq(0) => format!("chatcmpl-{session}"),
            Seq(after) => format!("chatcmpl-{session}-{after}"),
        };
        Self { id, created: begun.created_at().as_second(), model: model.name() }
    }

    /// The whole answer.
    pub fn completion(&self, answer: &Answer, finish: Finish, tokens: Tokens) -> Value {
        let has_text = !answer.text.is_empty() || answer.calls.is_empty();
        let mut message = json!({
            "role": "assistant",
            "content": has_text.then_some(&answer.text),
            "refusal": null,
        });
        if !answer.calls.is_empty() {
            message["tool_calls"] = answer.calls.iter().map(call).collect();
        }
        json!({
            "id": self.id,
            "object": "chat.completion",
            "created": self.created,
            "model": self.model,
            "choices": [{
                "index": 0,
                "message": message,
                "logprobs": null,
                "finish_reason": finish.word(),
            }],
            "usage": usage(tokens),
        })
    }

    /// A part of a streamed answer.
    pub fn chunk(&self, delta: &Value, finish: Option<Finish>) -> Value {
        self.part(&json!([{
            "index": 0,
            "delta": delta,
            "logprobs": null,
            "finish_reason": finish.map(Finish::word),
        }]))
    }

    /// The part that says what the answer took.
    pub fn usage_chunk(&self, tokens: Tokens) -> Value {
        let mut part = self.part(&json!([]));
        part["usage"] = usage(tokens);
        part
    }

    fn part(&self, choices: &Value) -> Value {
        json!({
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": self.model,
            "choices": choices,
        })
    }
}

fn call(call: &CallPiece) -> Value {
    json!({
        "id": call.id,
        "type": "function",
        "function": { "name": call.name, "arguments": call.arguments },
    })
}

/// Tool calls as a part of a streamed answer has them: each with its index.
pub(super) fn call_delta(calls: &[CallPiece]) -> Value {
    let indexed = calls.iter().enumerate().map(|(index, piece)| {
        let mut call = call(piece);
        call["index"] = index.into();
        call
    });
    json!({ "tool_calls": indexed.collect::<Vec<_>>() })
}

fn usage(Tokens { input, output }: Tokens) -> Value {
    json!({
        "prompt_tokens": input,
        "completion_tokens": output,
        "total_tokens": input + output,
    })
}
