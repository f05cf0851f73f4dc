//! Providers that say nothing, too much, or never stop, on every wire.

use std::time::Duration;

use futures_util::StreamExt as _;
use roundtable_models::{Caps, Timeouts};
use roundtable_ports::{Chunk, Model as _, ModelError};
use roundtable_testing::provider::{Answer, Server};
use serde_json::{Value, json};

use crate::asked::{offering, request};

/// How a wire says things.
struct Speech {
    model: &'static str,
    /// A piece of text.
    text: fn(&str) -> Value,
    /// A whole tool call, or the beginning of one, with these arguments.
    call: fn(usize, &str) -> Value,
    /// The end of an answer, as if everything had been said.
    end: &'static [&'static str],
}

const WIRES: [Speech; 4] = [
    Speech {
        model: "groq/model-1",
        text: |text| json!({"choices": [{"delta": {"content": text}}]}),
        call: |index, arguments| {
            let function = json!({"name": "x", "arguments": arguments});
            let call = json!({"index": index, "id": format!("c{index}"), "function": function});
            json!({"choices": [{"delta": {"tool_calls": [call]}}]})
        },
        end: &[r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#, "[DONE]"],
    },
    Speech {
        model: "openai/gpt-5-mini",
        text: |text| json!({"type": "response.output_text.delta", "delta": text}),
        call: |index, arguments| {
            let call = json!({"type": "function_call", "call_id": format!("c{index}"), "name": "x", "arguments": arguments});
            json!({"type": "response.output_item.done", "item": call})
        },
        end: &[r#"{"type":"response.completed","response":{}}"#],
    },
    Speech {
        model: "anthropic/claude-sonnet-4-5",
        text: |text| {
            let delta = json!({"type": "text_delta", "text": text});
            json!({"type": "content_block_delta", "index": 0, "delta": delta})
        },
        call: |index, arguments| {
            let input = serde_json::from_str(arguments).unwrap_or_else(|_| json!({"q": arguments}));
            let block =
                json!({"type": "tool_use", "id": format!("c{index}"), "name": "x", "input": input});
            json!({"type": "content_block_start", "index": index, "content_block": block})
        },
        end: &[
            r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}"#,
            r#"{"type":"message_stop"}"#,
        ],
    },
    Speech {
        model: "gemini/gemini-3-flash",
        text: |text| json!({"candidates": [{"content": {"parts": [{"text": text}]}}]}),
        call: |_, arguments| {
            let args = serde_json::from_str(arguments).unwrap_or_else(|_| json!({"q": arguments}));
            let call = json!({"functionCall": {"name": "x", "args": args}});
            json!({"candidates": [{"content": {"parts": [call]}}]})
        },
        end: &[r#"{"candidates":[{"finishReason":"STOP"}]}"#],
    },
];

fn event(data: impl std::fmt::Display) -> String {
    format!("data: {data}\n\n")
}

/// What comes of an answer: how many chunks, and why there are no more.
async fn outcome(
    model: &str,
    answer: Answer,
    timeouts: Timeouts,
    caps: Caps,
) -> (usize, Option<ModelError>) {
    let server = Server::start(vec![answer]).await;
    let model = server.model(model, timeouts, caps);
    let asked = offering(request("ann", 1, 1), &["x"]);
    let mut stream = match model.stream(&asked).await {
        Ok(stream) => stream,
        Err(error) => return (0, Some(error)),
    };
    let mut chunks = 0;
    while let Some(chunk) = stream.next().await {
        match chunk {
            Ok(Chunk::Done(_)) => return (chunks, None),
            Ok(_) => chunks += 1,
            Err(error) => return (chunks, Some(error)),
        }
    }
    (chunks, None)
}

async fn error_of(model: &str, answer: Answer) -> Option<ModelError> {
    outcome(model, answer, Timeouts::default(), Caps::default()).await.1
}

fn broken(why: impl Into<String>) -> Option<ModelError> {
    Some(ModelError::Broken(why.into()))
}

#[tokio::test]
async fn f29_an_answer_that_says_nothing_is_a_typed_failure_on_every_wire() {
    for Speech { model, end, .. } in WIRES {
        for body in ["", "\n\n", ": only a comment\n\n", "data:\n\n", "data: {}\n\n"] {
            let error = error_of(model, Answer::events(body)).await;
            assert!(matches!(error, Some(ModelError::Broken(_))), "{model} {body:?} {error:?}");
        }
        let says_nothing: String = end.iter().map(event).collect();
        let error = error_of(model, Answer::events(&says_nothing)).await;
        assert_eq!(error, broken("the response is empty"), "{model}");
    }
}

#[tokio::test]
async fn f28_an_answer_without_end_runs_out_of_time_on_every_wire() {
    let total = Timeouts { total: Duration::from_millis(30), ..Timeouts::default() };
    let roomy = Caps { total_bytes: usize::MAX, event_bytes: usize::MAX, ..Caps::default() };
    for Speech { model, text, .. } in WIRES {
        for piece in [event(text("on and ")), ": still here\n\n".to_owned(), "data".to_owned()] {
            let (_, error) = outcome(model, Answer::Endless(piece), total, roomy).await;
            assert_eq!(error, Some(ModelError::Timeout), "{model}");
        }
    }
}

#[tokio::test]
async fn f29_ten_thousand_tool_calls_are_refused_on_every_wire() {
    for Speech { model, call, .. } in WIRES {
        let calls: String = (0..10_000).map(|index| event(call(index, "{}"))).collect();
        let most = Caps::default().tool_calls;
        let outcome =
            outcome(model, Answer::events(&calls), Timeouts::default(), Caps::default()).await;
        assert!(outcome.0 <= most, "{model}");
        let why = format!("the response requests more than {most} tool calls");
        assert_eq!(outcome.1, broken(why), "{model}");
    }
}

#[tokio::test]
async fn f29_fifty_megabytes_are_refused_long_before_they_are_read_on_every_wire() {
    for Speech { model, text, call, .. } in WIRES {
        let arguments = Answer::events(&event(call(0, &"a".repeat(2 << 20))));
        let why = format!("a tool call is larger than {} bytes", 1 << 20);
        assert_eq!(error_of(model, arguments).await, broken(why), "{model}");
        let one_event = Answer::Endless("data: ".to_owned() + &"a".repeat(64 << 10));
        let why = format!("an event is larger than {} bytes", 4 << 20);
        assert_eq!(error_of(model, one_event).await, broken(why), "{model}");
        let words = Answer::Endless(event(text(&"word ".repeat(1 << 10))));
        // As with the usual cap, only sooner.
        let caps = Caps { total_bytes: 1 << 20, ..Caps::default() };
        let (_, error) = outcome(model, words, Timeouts::default(), caps).await;
        assert_eq!(
            error,
            broken(format!("the response is larger than {} bytes", 1 << 20)),
            "{model}"
        );
    }
}

#[tokio::test]
async fn f29_arguments_that_come_in_pieces_are_held_to_their_size() {
    let piece = "a".repeat(64 << 10);
    let why = || broken(format!("a tool call is larger than {} bytes", 1 << 20));
    let chat = event((WIRES[0].call)(0, &piece));
    assert_eq!(error_of(WIRES[0].model, Answer::Endless(chat)).await, why());
    let anthropic = WIRES[2].model;
    let delta = json!({"type": "input_json_delta", "partial_json": piece});
    let more = event(json!({"type": "content_block_delta", "index": 0, "delta": delta}));
    let pieces = event((WIRES[2].call)(0, "{}")) + &more.repeat(20);
    assert_eq!(error_of(anthropic, Answer::events(&pieces)).await, why());
}
