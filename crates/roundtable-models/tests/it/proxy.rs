//! Our clients and a server that others wrote: a proxy that speaks every wire, in front of a
//! provider that speaks another one. `cargo xtask interop` installs the proxy and runs this.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::Stdio;

use futures_util::StreamExt as _;
use roundtable_models::{Caps, Timeouts};
use roundtable_ports::{Chunk, Model as _, ModelError};
use roundtable_testing::provider::{Answer, CANARY, Received, Server, model};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::asked::{offering, request};

fn at_root(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// The proxy, as long as it is held.
struct Proxy {
    address: String,
    _child: Child,
}

impl Proxy {
    async fn start(upstream: &str) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new(at_root("target/interop/proxy/bin/litellm"));
        // Keys and proxies of whoever runs the test are none of its business; it asks nobody else.
        command
            .env_clear()
            .envs([("UPSTREAM", upstream), ("PROXY_KEY", CANARY)])
            .envs([("LITELLM_LOCAL_MODEL_COST_MAP", "True"), ("PYTHONUNBUFFERED", "1")])
            .env("HOME", at_root("target/interop/proxy"))
            .arg("--config")
            .arg(at_root("tests/proxy/config.yaml"))
            .args(["--host", "127.0.0.1", "--port", &port.to_string()]);
        let piped = command.stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = piped.spawn().expect("cargo xtask interop installs the proxy");
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut said = String::new();
        loop {
            let line = lines.next_line().await.unwrap();
            let line = line.unwrap_or_else(|| panic!("the proxy did not start:\n{said}"));
            if line.contains("Uvicorn running on") {
                break;
            }
            said.push_str(&line);
            said.push('\n');
        }
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Self { address: format!("http://127.0.0.1:{port}"), _child: child }
    }
}

/// What is behind the proxy: the golden stream of the wire that it is asked in, or a refusal.
fn upstream(_: usize, asked: &Received) -> Answer {
    let golden = |name: &str| {
        let folder = at_root("crates/roundtable-models/tests/golden");
        Answer::events(&std::fs::read_to_string(folder.join(name)).unwrap())
    };
    match asked.body["model"].as_str() {
        Some("limited") => Answer::refusal(
            429,
            &[("content-type", "application/json"), ("retry-after", "7")],
            r#"{"error":{"type":"rate_limit_error","code":"rate_limit_exceeded","message":"Slow down"}}"#,
        ),
        Some("locked") => Answer::json(
            401,
            r#"{"error":{"type":"invalid_request_error","code":"invalid_api_key","message":"Wrong key"}}"#,
        ),
        Some("long") => Answer::json(
            400,
            r#"{"error":{"type":"invalid_request_error","code":"context_length_exceeded","message":"This model's maximum context length is 10 tokens"}}"#,
        ),
        _ if asked.line.contains("/chat/completions") => golden("openai_chat/parallel_tools.sse"),
        _ if asked.line.contains("/responses") => golden("openai_responses/tools.sse"),
        _ if asked.line.contains("/messages") => golden("anthropic/thinking_tools.sse"),
        _ => golden("gemini/tools.sse"),
    }
}

/// What is understood of an answer that came this way.
async fn understood(address: &str, name: &str) -> Result<Value, ModelError> {
    let model = model(address, name, Timeouts::default(), Caps::default());
    let asked = offering(request("ann", 1, 1), &["search", "files_read"]);
    let mut answer = model.stream(&asked).await?;
    let (mut text, mut calls) = (String::new(), Vec::new());
    let (mut stop, mut usage) = (String::new(), Value::Null);
    while let Some(chunk) = answer.next().await {
        match chunk? {
            Chunk::Text(piece) => text.push_str(&piece),
            Chunk::ToolCall { name, arguments, .. } => calls.push(json!([name, arguments])),
            Chunk::Done(record) => {
                let used = record.usage.map(|usage| (usage.input, usage.output));
                (stop, usage) = (format!("{:?}", record.stop), json!(used));
            }
            Chunk::Reasoning(_) | Chunk::Citation(_) => {}
        }
    }
    Ok(json!({"text": text, "calls": calls, "stop": stop, "usage": usage}))
}

/// Each kind of provider by its name at the proxy, and as it is asked without one.
const PROVIDERS: [(&str, &str); 4] = [
    ("chat", "openai-chat/model-1"),
    ("responses", "openai/gpt-5-mini"),
    ("messages", "anthropic/claude-sonnet-4-5"),
    ("gemini", "gemini/gemini-3-flash"),
];

/// The wires that the proxy speaks, with the providers whose answers it puts into each of them
/// without losing anything; where it speaks the provider's own wire, usage has to be there too.
const ROUTES: [(&str, &str, &[&str]); 4] = [
    ("openai-chat", "/v1", &["chat", "messages", "gemini"]),
    ("openai", "/v1", &["responses", "messages", "gemini"]),
    ("anthropic", "", &["messages"]),
    ("gemini", "", &["gemini", "chat"]),
];

#[tokio::test]
#[ignore = "needs a third-party proxy: cargo xtask interop"]
async fn a_proxy_of_others_is_understood_on_every_wire() {
    let server = Server::following(upstream).await;
    let proxy = Proxy::start(&server.address).await;
    for (wire, path, providers) in ROUTES {
        let address = format!("{}{path}", proxy.address);
        for (name, direct) in PROVIDERS.iter().filter(|(name, _)| providers.contains(name)) {
            let mut through = understood(&address, &format!("{wire}/{name}")).await.unwrap();
            let mut straight = understood(&server.address, direct).await.unwrap();
            if providers[0] != *name {
                (through["usage"], straight["usage"]) = (Value::Null, Value::Null);
            }
            assert_eq!(through, straight, "{wire} in front of {name}");
            println!("ok: {wire} in front of {name}");
        }
        let refusal = async |name: &str| understood(&address, &format!("{wire}/{name}")).await;
        let limited = refusal("limited").await.unwrap_err();
        assert!(matches!(limited, ModelError::RateLimited { .. }), "{wire}: {limited:?}");
        let long = refusal("long").await.unwrap_err();
        assert!(matches!(long, ModelError::TooLong(_)), "{wire}: {long:?}");
        let locked = refusal("locked").await.unwrap_err();
        // On this wire the proxy calls a refused key a lost connection.
        let lost = wire == "gemini" && matches!(locked, ModelError::Overloaded(_));
        assert!(matches!(locked, ModelError::Auth(_)) || lost, "{wire}: {locked:?}");
        println!("ok: {wire}, refusals");
    }
}
