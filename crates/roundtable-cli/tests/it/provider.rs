//! A provider on this machine, for tests that start the binary and are not async themselves.

use roundtable_testing::provider::{Answer, Received, Server};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

/// A provider with an answer per request, the last one for all that follow.
pub struct Provider {
    pub address: String,
    server: Server,
    /// It works for as long as this lives.
    _runtime: Runtime,
}

impl Provider {
    pub fn start(answers: Vec<Answer>) -> Self {
        let runtime = Runtime::new().unwrap();
        let server = runtime.block_on(Server::start(answers));
        Self { address: server.address.clone(), server, _runtime: runtime }
    }

    pub fn received(&self) -> Vec<Received> {
        self.server.received()
    }
}

/// The beginning of an answer, as chat completions stream it.
pub fn words(text: &str) -> String {
    let delta = json!({ "index": 0, "delta": { "content": text }, "finish_reason": null });
    event(&json!({ "model": "model-1", "choices": [delta] }))
}

/// A whole answer in words.
pub fn says(text: &str) -> Answer {
    let stop = json!({ "index": 0, "delta": {}, "finish_reason": "stop" });
    let usage = json!({ "prompt_tokens": 20, "completion_tokens": 7 });
    let last = event(&json!({ "model": "model-1", "choices": [stop], "usage": usage }));
    Answer::events(&format!("{}{last}data: [DONE]\n\n", words(text)))
}

/// A whole answer that asks for a tool.
pub fn calls(tool: &str, arguments: &str) -> Answer {
    let function = json!({ "name": tool, "arguments": arguments });
    let call = json!({ "index": 0, "id": "call_1", "type": "function", "function": function });
    let delta = json!({ "tool_calls": [call] });
    let choice = json!({ "index": 0, "delta": delta, "finish_reason": "tool_calls" });
    let last = event(&json!({ "model": "model-1", "choices": [choice] }));
    Answer::events(&format!("{last}data: [DONE]\n\n"))
}

/// A refusal.
pub fn refuses(status: u16, headers: &[(&'static str, &str)], message: &str) -> Answer {
    let body = json!({ "error": { "message": message } }).to_string();
    Answer::refusal(status, headers, &body)
}

fn event(json: &Value) -> String {
    format!("data: {json}\n\n")
}
