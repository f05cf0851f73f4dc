//! A foreign write lock: another process is in a long transaction, or was stopped in one. Every call
//! answers in time, reads do not wait, and everything goes on when the lock is gone.

use std::path::Path;
use std::time::Duration;

use roundtable::prelude::*;
use roundtable_server::{Limits, Settings};
use rusqlite::Connection;
use serde_json::json;

use crate::caller::ALL;
use crate::client::{get, post};
use crate::kit::{self, Serving};

/// Far less than the lock is held for, and far more than an answer takes.
const IN_TIME: Duration = Duration::from_secs(3);

/// Someone else who begins to write and does not end.
fn lock(directory: &Path) -> Connection {
    let other = Connection::open(directory.join("roundtable.db")).unwrap();
    other.busy_timeout(Duration::from_secs(60)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    other
}

/// A server that waits only a moment for the store and for rounds.
async fn impatient(directory: &Path, model: &ScriptedModel) -> Serving {
    let engine = Engine::builder().sqlite(directory).custom_model("scripted", model.clone());
    let moment = Duration::from_millis(100);
    let limits = Limits { store_wait: moment, wait_budget: moment, ..Limits::default() };
    kit::serve(engine.build().await.unwrap(), Settings { limits, ..Settings::default() }).await
}

async fn in_time<T>(what: &str, work: impl Future<Output = T>) -> T {
    tokio::time::timeout(IN_TIME, work).await.unwrap_or_else(|_| panic!("{what} hangs"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_call_answers_in_time_while_another_process_holds_the_write_lock() {
    let directory = tempfile::tempdir().unwrap();
    let reply = || Reply::text(r#"{"position":"Yes.","confidence":0.5}"#).at_gate("shut");
    let script = Script::default().voice("synthesizer", [reply()]).voice("analyst", [reply()]);
    let model = ScriptedModel::new(script);
    // Longer, so that the debate is there before the lock.
    let engine = Engine::builder().sqlite(directory.path()).custom_model("scripted", model.clone());
    let limits = Limits { wait_budget: Duration::ZERO, ..Limits::default() };
    let serving =
        kit::serve(engine.build().await.unwrap(), Settings { limits, ..Settings::default() }).await;
    let topic = json!({ "topic": "Shall we?", "agentCount": 2, "rounds": 1 });
    let first = serving.caller(ALL[0]).start(topic.clone()).await.expect("a round that runs");
    let (session, id) = (first["sessionId"].clone(), first["sessionId"].as_str().unwrap());
    serving.stop().await;

    let serving = impatient(directory.path(), &model).await;
    let address = serving.address;
    let other = lock(directory.path());
    // The replies arrive while nothing can be written.
    model.gates().open("shut");
    for path in ["", "/events?after=1"].map(|rest| format!("/api/sessions/{id}{rest}")) {
        if path.ends_with("after=1") {
            let mut events = in_time(&path, get(address, &path).stream()).await;
            assert!(in_time(&path, events.next()).await.is_some());
        } else {
            let seen = in_time(&path, get(address, &path).send()).await;
            assert_eq!((seen.status, &seen.json()["activeRound"]), (200, &json!(1)), "{path}");
        }
    }
    for path in ["/health", "/api/sessions", "/api/debates", &format!("/api/debates/{id}/export")] {
        assert_eq!(in_time(path, get(address, path).send()).await.status, 200, "{path}");
    }
    for transport in ALL {
        let caller = serving.caller(transport);
        let running = in_time("continue", caller.go_on(&session, json!({}))).await;
        assert_eq!(running.expect("an answer")["status"], "running", "{transport:?}");
        let refused = in_time("start", caller.start(topic.clone())).await.expect_err("a refusal");
        assert!(refused.error.contains("another process"), "{transport:?}: {}", refused.error);
    }
    let pause = post(address, &format!("/api/debates/{id}/control"), &json!({"action": "pause"}));
    let refused = in_time("pause", pause.send()).await;
    assert_eq!(refused.problem(), (503, "store_busy".to_owned()));
    assert!(refused.headers.contains("retry-after: "), "{}", refused.headers);

    // The lock is gone: what was kept is committed, and the round ends.
    other.execute_batch("ROLLBACK").unwrap();
    let debate = serving.engine.find_debate(&id.parse().unwrap());
    let findings = debate.wait(1).await.expect("a round");
    assert_eq!(findings.responses.len(), 2);
    serving.stop().await;
}
