//! Agents that speak through the caller's own model.

use std::net::SocketAddr;
use std::path::Path;

use roundtable::prelude::*;
use roundtable_server::{HOST, HostModel, Server, Settings};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::caller::{ALL, Caller};

/// A server whose agents all speak through whoever calls.
struct Running {
    address: SocketAddr,
    engine: Engine,
    stop: CancellationToken,
}

async fn start(directory: &Path) -> Running {
    let host = HostModel::default();
    let engine =
        Engine::builder().sqlite(directory).model(HOST, host.clone()).build().await.unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, stop) = (listener.local_addr().unwrap(), CancellationToken::new());
    let server = Server::new(engine.clone(), Settings { host, ..Settings::default() });
    tokio::spawn(server.run(listener, stop.clone().cancelled_owned()));
    Running { address, engine, stop }
}

impl Running {
    /// Ends at once, as a crash would.
    async fn end(self) {
        self.stop.cancel();
        self.engine.stop().await;
    }
}

fn bring(answer: &Value, position: &str) -> Value {
    let said = json!({ "position": position, "confidence": 0.5 }).to_string();
    json!({ "turnToken": answer["turn"]["turnToken"], "contribution": said })
}

#[tokio::test]
async fn a_turn_waits_for_the_caller_and_is_brought_in_once() {
    for transport in ALL {
        let directory = tempfile::tempdir().unwrap();
        let running = start(directory.path()).await;
        let caller = Caller::new(running.address, transport);
        let first = caller
            .start(json!({ "topic": "Shall we?", "agentCount": 2, "rounds": 2 }))
            .await
            .unwrap();
        assert_eq!(first["status"], "needs_turn", "{transport:?}: {first}");
        let (turn, session) = (&first["turn"], &first["sessionId"]);
        assert!(turn["prompt"].as_str().unwrap().contains("Shall we?"));
        assert!(first["nextStep"].as_str().unwrap().contains("turnToken"));
        for wrong in [
            json!({ "turnToken": turn["turnToken"] }),
            json!({ "turnToken": "x", "contribution": "y" }),
        ] {
            assert!(caller.go_on(session, wrong).await.is_err());
        }
        let second = caller.go_on(session, bring(&first, "Yes.")).await.unwrap();
        assert_eq!(second["status"], "needs_turn");
        assert_ne!(second["turn"]["turnToken"], turn["turnToken"]);
        let again = caller.go_on(session, bring(&first, "Changed my mind.")).await.unwrap();
        assert_eq!(again["turn"], second["turn"], "a turn is brought in once");
        let over = caller.go_on(session, bring(&second, "No.")).await.unwrap();
        assert_eq!((&over["status"], &over["roundNumber"]), (&json!("in_progress"), &json!(1)));
        let mut said: Vec<&str> = over["agentResponses"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["position"].as_str().unwrap())
            .collect();
        said.sort_unstable();
        assert_eq!(said, ["No.", "Yes."]);
        running.end().await;
    }
}

#[tokio::test]
async fn a_token_from_before_a_restart_still_fits() {
    for transport in ALL {
        let directory = tempfile::tempdir().unwrap();
        let running = start(directory.path()).await;
        let asked = json!({ "topic": "Shall we?", "agentCount": 2, "rounds": 1 });
        let first = Caller::new(running.address, transport).start(asked).await.unwrap();
        let session = first["sessionId"].clone();
        running.end().await;
        let running = start(directory.path()).await;
        let caller = Caller::new(running.address, transport);
        let second = caller.go_on(&session, bring(&first, "Yes.")).await.unwrap();
        assert_eq!(second["status"], "needs_turn", "{second}");
        let over = caller.go_on(&session, bring(&second, "No.")).await.unwrap();
        assert_eq!(over["status"], "completed");
        running.end().await;
    }
}
