//! What the engine is compared with: a client as someone would write it by hand for this one
//! protocol, with one connection pool, that keeps nothing.

use futures_util::StreamExt as _;
use memchr::memmem;
use serde::Deserialize;
use serde_json::{Value, json};

use super::talk;

/// The client.
pub struct Bare {
    client: reqwest::Client,
    address: String,
}

/// What an event of an answer has that matters.
#[derive(Deserialize)]
struct Event {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    delta: Delta,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Delta {
    content: Option<String>,
    tool_calls: Vec<Piece>,
}

#[derive(Deserialize)]
struct Piece {
    index: usize,
    id: Option<String>,
    function: Function,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Function {
    name: Option<String>,
    arguments: String,
}

/// An answer.
#[derive(Default)]
struct Reply {
    text: String,
    tokens: usize,
    calls: Vec<Call>,
}

#[derive(Default)]
struct Call {
    id: String,
    name: String,
    arguments: String,
}

impl Bare {
    pub fn new(address: &str) -> anyhow::Result<Self> {
        // The same cryptography as the product's; none of it is used over plain connections.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().no_proxy().build()?;
        Ok(Self { client, address: address.to_owned() })
    }

    /// Asks once; how many tokens came.
    pub async fn turn(&self, way: &str) -> anyhow::Result<usize> {
        let messages = opening("How are you?");
        Ok(self.ask(way, &messages, None).await?.tokens)
    }

    /// Asks until no tool is wanted any more, running the tool in between; how often it was run.
    pub async fn tool_loop(&self) -> anyhow::Result<usize> {
        let (tools, mut messages, mut runs) = (talk::offered(), opening("Count."), 0);
        loop {
            let reply = self.ask("loop", &messages, Some(&tools)).await?;
            if reply.calls.is_empty() {
                return Ok(runs);
            }
            let asked: Vec<Value> = { reply.calls.iter() }
                .map(|call| {
                    let function = json!({"name": call.name, "arguments": call.arguments});
                    json!({"id": call.id, "type": "function", "function": function})
                })
                .collect();
            messages
                .push(json!({"role": "assistant", "content": Value::Null, "tool_calls": asked}));
            for Call { id, name, arguments } in reply.calls {
                let to: talk::To = serde_json::from_str(&arguments)?;
                let content = talk::count(to.to);
                messages.push(
                    json!({"role": "tool", "tool_call_id": id, "name": name, "content": content}),
                );
                runs += 1;
            }
        }
    }

    async fn ask(
        &self,
        way: &str,
        messages: &[Value],
        tools: Option<&Value>,
    ) -> anyhow::Result<Reply> {
        let mut body = json!({
            "model": "mock-1",
            "messages": messages,
            "stream": true,
            "stream_options": {"include_usage": true},
            "max_completion_tokens": 4096,
        });
        if let Some(tools) = tools {
            body["tools"] = tools.clone();
            body["tool_choice"] = json!("auto");
        }
        let request = self.client.post(format!("{}/{way}/chat/completions", self.address));
        let request = request.header("content-type", "application/json").bearer_auth("sk-mock");
        let response = request.body(body.to_string()).send().await?.error_for_status()?;
        read(response).await
    }
}

fn opening(text: &str) -> Vec<Value> {
    vec![
        json!({"role": "system", "content": "You are Ann."}),
        json!({"role": "user", "content": format!("User: {text}")}),
    ]
}

/// Reads an answer, event by event.
async fn read(response: reqwest::Response) -> anyhow::Result<Reply> {
    let (mut bytes, mut waiting, mut reply) =
        (response.bytes_stream(), Vec::new(), Reply::default());
    while let Some(piece) = bytes.next().await {
        waiting.extend_from_slice(&piece?);
        let mut done = 0;
        while let Some(end) = memmem::find(&waiting[done..], b"\n\n") {
            let event = &waiting[done..done + end];
            done += end + 2;
            match event.strip_prefix(b"data: ") {
                None => {}
                Some(b"[DONE]") => return Ok(reply),
                Some(data) => reply.take(serde_json::from_slice(data)?),
            }
        }
        waiting.drain(..done);
    }
    anyhow::bail!("an answer without an end")
}

impl Reply {
    fn take(&mut self, event: Event) {
        let Some(Choice { delta }) = event.choices.into_iter().next() else { return };
        if let Some(text) = delta.content {
            self.text.push_str(&text);
            self.tokens += 1;
        }
        for piece in delta.tool_calls {
            if self.calls.len() <= piece.index {
                self.calls.resize_with(piece.index + 1, Call::default);
            }
            let call = &mut self.calls[piece.index];
            call.id.push_str(&piece.id.unwrap_or_default());
            call.name.push_str(&piece.function.name.unwrap_or_default());
            call.arguments.push_str(&piece.function.arguments);
        }
    }
}
