//! What the provider says. It depends on the request alone, so a call that is made again gets the
//! same answer, whichever process makes it.

use roundtable::core::budget::Usage;
use roundtable_testing::provider::{Answer, Received};
use serde_json::{Value, json};

/// An answer, in no protocol yet.
pub struct Reply {
    text: &'static str,
    calls: Vec<(&'static str, Value)>,
}

fn says(text: &'static str) -> Reply {
    Reply { text, calls: Vec::new() }
}

fn asks_for<const N: usize>(calls: [(&'static str, Value); N]) -> Reply {
    Reply { text: "Let me see.", calls: calls.into() }
}

/// The answer to a request.
pub fn reply(request: &Received) -> Reply {
    let messages = request.body["messages"].to_string();
    if messages.contains("Think once more") {
        return says("It is two.");
    }
    if messages.contains("Think of") {
        return says("It is one.");
    }
    let results = messages.matches("\"tool_call_id\"").count()
        + messages.matches("\"type\":\"tool_result\"").count();
    match (request.body["model"].as_str().unwrap_or_default(), results) {
        ("worker", 0) => asks_for([("look", json!({"at": "it"})), ("ponder", json!({}))]),
        ("worker", 2) => asks_for([("look", json!({"at": "it again"}))]),
        ("worker", _) => says("I looked, I thought, and it is two."),
        ("restless", done) => asks_for([("look", json!({"at": done}))]),
        (_, _) => says("So be it, I have nothing against it."),
    }
}

/// What a request costs, as a provider might count: a token for four bytes of every text in its
/// prompt and tools, roles and ids included, and a reply that is as long as it may be.
pub fn usage(request: &Received) -> Usage {
    let body = &request.body;
    let most = ["max_completion_tokens", "max_tokens"].map(|field| body[field].as_u64());
    let output = most.into_iter().flatten().max().expect("a limit is always sent");
    let read: usize = ["system", "messages", "tools"].map(|field| texts(&body[field])).iter().sum();
    let input = read.div_ceil(4) as u64;
    Usage { input, output, ..Usage::default() }
}

fn texts(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(values) => values.iter().map(texts).sum(),
        Value::Object(fields) => fields.values().map(texts).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

/// The whole answer to a request, in the protocol that it came in.
pub fn answer(request: &Received) -> Answer {
    Answer::events(&events(request).concat())
}

/// The first half of the answer to a request.
pub fn half(request: &Received) -> String {
    let events = events(request);
    events[..events.len() / 2].concat()
}

fn events(request: &Received) -> Vec<String> {
    let (reply, usage) = (reply(request), usage(request));
    match request.line.as_str() {
        "POST /chat/completions HTTP/1.1" => chat(&reply, usage),
        "POST /v1/messages HTTP/1.1" => messages(&reply, usage),
        other => panic!("no provider has this: {other}"),
    }
}

fn chat(reply: &Reply, usage: Usage) -> Vec<String> {
    let event = |delta: Value| format!("data: {}\n\n", json!({"choices": [{"delta": delta}]}));
    let mut events: Vec<String> =
        reply.text.split_inclusive(' ').map(|word| event(json!({"content": word}))).collect();
    for (index, (name, arguments)) in reply.calls.iter().enumerate() {
        let function = json!({"name": name, "arguments": arguments.to_string()});
        let call = json!({"index": index, "id": format!("call_{index}"), "function": function});
        events.push(event(json!({"tool_calls": [call]})));
    }
    let stop = if reply.calls.is_empty() { "stop" } else { "tool_calls" };
    let counted = json!({"prompt_tokens": usage.input, "completion_tokens": usage.output});
    let end = json!({"choices": [{"delta": {}, "finish_reason": stop}], "usage": counted});
    events.push(format!("data: {end}\n\ndata: [DONE]\n\n"));
    events
}

fn messages(reply: &Reply, usage: Usage) -> Vec<String> {
    let event = |data: Value| {
        format!("event: {}\ndata: {data}\n\n", data["type"].as_str().expect("a type"))
    };
    let begun = json!({"model": "worker", "usage": {"input_tokens": usage.input}});
    let mut events = vec![event(json!({"type": "message_start", "message": begun}))];
    let mut block = |index: usize, block: Value, deltas: Vec<Value>| {
        events.push(event(
            json!({"type": "content_block_start", "index": index, "content_block": block}),
        ));
        for delta in deltas {
            events.push(event(
                json!({"type": "content_block_delta", "index": index, "delta": delta}),
            ));
        }
        events.push(event(json!({"type": "content_block_stop", "index": index})));
    };
    let words = reply.text.split_inclusive(' ');
    let words = words.map(|word| json!({"type": "text_delta", "text": word})).collect();
    block(0, json!({"type": "text", "text": ""}), words);
    for (index, (name, arguments)) in reply.calls.iter().enumerate() {
        let id = format!("toolu_{index}");
        let delta = json!({"type": "input_json_delta", "partial_json": arguments.to_string()});
        block(
            index + 1,
            json!({"type": "tool_use", "id": id, "name": name, "input": {}}),
            vec![delta],
        );
    }
    let stop = if reply.calls.is_empty() { "end_turn" } else { "tool_use" };
    let counted = json!({"output_tokens": usage.output});
    let end = json!({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": counted});
    events.push(event(end));
    events.push(event(json!({"type": "message_stop"})));
    events
}
