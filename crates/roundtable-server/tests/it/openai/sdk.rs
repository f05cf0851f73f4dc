//! Official clients against the endpoint. `cargo xtask interop` installs them and runs this.

use std::path::PathBuf;

use roundtable::prelude::*;
use serde_json::json;

use crate::kit::{self, ANN, Running};

fn at_root(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

fn python() -> PathBuf {
    at_root("target/interop/endpoint/bin/python")
}

/// A supervisor that asks for the weather, and answers then.
async fn running() -> Running {
    let call = Call::new("weather", json!({ "city": "Paris" }));
    let answer = Reply::text("Sunny in Paris.").in_pieces(4, 0);
    kit::tenants(Script::default().voice("supervisor", [Reply::calls([call]), answer])).await
}

async fn run(program: PathBuf, script: PathBuf) {
    let running = running().await;
    let mut command = tokio::process::Command::new(program);
    // Proxies and keys of whoever runs the test are not for the client.
    command.env_clear().arg(script).args([&format!("http://{}", running.address), ANN]);
    let output = command.output().await.expect("cargo xtask interop installs the clients");
    let [out, errors] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(output.status.success(), "{out}{errors}");
    running.stop().await;
}

#[tokio::test]
#[ignore = "needs the clients: cargo xtask interop"]
async fn openai_s_python_sdk_and_langchain_use_the_endpoint() {
    run(python(), at_root("tests/endpoint/client.py")).await;
}

#[tokio::test]
#[ignore = "needs the clients: cargo xtask interop"]
async fn a_websocket_that_is_cut_at_every_event_gets_the_whole_log() {
    run(python(), at_root("tests/endpoint/cut.py")).await;
}

#[tokio::test]
#[ignore = "needs the clients: cargo xtask interop"]
async fn openai_s_javascript_sdk_uses_the_endpoint() {
    // Node looks for packages beside the script, so that it was copied there.
    run("node".into(), at_root("target/interop/endpoint/client.mjs")).await;
}
