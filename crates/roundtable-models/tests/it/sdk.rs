//! The vendors' own SDKs and our client, against the same provider: they understand the same.
//! `cargo xtask interop` installs the SDKs and runs this.

use std::path::PathBuf;

use futures_util::StreamExt as _;
use roundtable_models::{Caps, Timeouts};
use roundtable_ports::{Chunk, Model};
use roundtable_testing::provider::{Answer, Server};
use serde_json::{Value, json};

use crate::asked::{offering, request};

fn at_root(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

async fn theirs(wire: &str, address: &str) -> Value {
    let mut command = tokio::process::Command::new(at_root("target/interop/sdk/bin/python"));
    // Proxies and keys of whoever runs the test are none of its business.
    command.env_clear().arg(at_root("tests/sdk/ask.py")).args([wire, address]);
    let output = command.output().await.expect("cargo xtask interop installs the SDKs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    serde_json::from_slice(&output.stdout).unwrap()
}

async fn ours(model: &str, server: &Server) -> Value {
    let model = server.model(model, Timeouts::default(), Caps::default());
    let asked = offering(request("ann", 1, 1), &["search", "files_read"]);
    let chunks: Vec<Chunk> =
        model.stream(&asked).await.unwrap().map(Result::unwrap).collect().await;
    let (mut text, mut calls, mut end) = (String::new(), Vec::new(), json!({}));
    for chunk in chunks {
        match chunk {
            Chunk::Text(piece) => text.push_str(&piece),
            Chunk::ToolCall { name, arguments, reference } => {
                calls.push(json!([reference, name, arguments]));
            }
            Chunk::Done(record) => {
                let usage = record.usage;
                end = json!({
                    "stop": format!("{:?}", record.stop),
                    "input": usage.map(|usage| usage.input),
                    "output": usage.map(|usage| usage.output),
                });
            }
            Chunk::Reasoning(_) | Chunk::Citation(_) => {}
        }
    }
    end["text"] = json!(text);
    end["calls"] = json!(calls);
    end
}

async fn compare(wire: &str, model: &str, streams: &[&str]) {
    for name in streams {
        let golden = at_root("crates/roundtable-models/tests/golden").join(wire);
        let events = std::fs::read_to_string(golden.join(format!("{name}.sse"))).unwrap();
        let server = Server::start(vec![Answer::events(&events)]).await;
        let (theirs, ours) = (theirs(wire, &server.address).await, ours(model, &server).await);
        assert_eq!(ours, theirs, "{wire}/{name}");
        println!("ok: {wire}/{name}");
        // Both went to the same place.
        let lines: Vec<String> = server.received().into_iter().map(|one| one.line).collect();
        assert_eq!(lines[0], lines[1]);
    }
}

#[tokio::test]
#[ignore = "needs the vendors' SDKs: cargo xtask interop"]
async fn chat_is_understood_as_openai_s_sdk_does() {
    let streams = ["text", "parallel_tools", "refusal", "deepseek", "openrouter", "perplexity"];
    compare("openai_chat", "groq/model-1", &streams).await;
}

#[tokio::test]
#[ignore = "needs the vendors' SDKs: cargo xtask interop"]
async fn responses_are_understood_as_openai_s_sdk_does() {
    compare("openai_responses", "openai/gpt-5-mini", &["text", "tools", "cut"]).await;
}

#[tokio::test]
#[ignore = "needs the vendors' SDKs: cargo xtask interop"]
async fn messages_are_understood_as_anthropic_s_sdk_does() {
    let streams = ["thinking_tools", "citations", "refusal"];
    compare("anthropic", "anthropic/claude-sonnet-4-5", &streams).await;
}

#[tokio::test]
#[ignore = "needs the vendors' SDKs: cargo xtask interop"]
async fn gemini_is_understood_as_google_s_sdk_does() {
    compare("gemini", "gemini/gemini-3-flash", &["tools", "grounded", "unsafe"]).await;
}
