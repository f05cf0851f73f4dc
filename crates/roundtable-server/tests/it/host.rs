//! Agents that speak through the caller's own model.

use std::path::Path;

use roundtable::core::event::{Body, IterationEvent};
use roundtable::core::id::SessionId;
use roundtable::prelude::*;
use roundtable_server::{HOST, HostModel, Settings};
use serde_json::{Value, json};

use crate::caller::ALL;
use crate::kit::{self, Serving};

/// A server whose agents all speak through whoever calls.
async fn start(directory: &Path) -> Serving {
    let engine = Engine::builder().sqlite(directory).custom_model(HOST, HostModel).build().await;
    kit::serve(engine.unwrap(), Settings::default()).await
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
        let caller = running.caller(transport);
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

/// How often each kind of thing happened to model calls: begun, ended, cut off.
async fn model_calls(serving: &Serving, session: &Value) -> [usize; 3] {
    let id: SessionId = session.as_str().unwrap().parse().unwrap();
    let log = serving.engine.session(&id).log().await.unwrap();
    let count = |is: fn(&IterationEvent) -> bool| {
        log.iter().filter(|event| matches!(&event.body, Body::Iteration(it) if is(it))).count()
    };
    [
        count(|it| matches!(it, IterationEvent::ModelCallStarted { .. })),
        count(|it| matches!(it, IterationEvent::ModelCallFinished { .. })),
        count(|it| matches!(it, IterationEvent::ModelCallInterrupted { .. })),
    ]
}

fn asked() -> Value {
    json!({ "topic": "Shall we?", "agentCount": 2, "rounds": 1 })
}

#[tokio::test]
async fn f24_a_turn_is_offered_again_after_a_crash_and_taken_once_and_nothing_is_declared_twice() {
    for transport in ALL {
        let directory = tempfile::tempdir().unwrap();
        let running = start(directory.path()).await;
        let first = running.caller(transport).start(asked()).await.unwrap();
        let session = first["sessionId"].clone();
        running.end().await;
        let running = start(directory.path()).await;
        let caller = running.caller(transport);
        let again = caller.go_on(&session, json!({})).await.unwrap();
        assert_eq!(again["turn"], first["turn"], "{transport:?}: the same turn, to the letter");
        let second = caller.go_on(&session, bring(&first, "Yes.")).await.unwrap();
        assert_eq!(second["status"], "needs_turn", "{second}");
        running.end().await;
        let running = start(directory.path()).await;
        let caller = running.caller(transport);
        let late = caller.go_on(&session, bring(&first, "Or no.")).await.unwrap();
        assert_eq!(late["turn"], second["turn"], "{transport:?}: the first one counts");
        let over = caller.go_on(&session, bring(&second, "No.")).await.unwrap();
        assert_eq!(over["status"], "completed", "{over}");
        assert_eq!(over["agentResponses"][0]["position"], "Yes.");
        assert_eq!(model_calls(&running, &session).await, [2, 2, 0], "{transport:?}");
        running.end().await;
    }
}

#[tokio::test]
async fn a_turn_that_one_process_offers_is_brought_in_through_another() {
    for transport in ALL {
        let directory = tempfile::tempdir().unwrap();
        let (one, two) = (start(directory.path()).await, start(directory.path()).await);
        let first = one.caller(transport).start(asked()).await.unwrap();
        let session = &first["sessionId"];
        let elsewhere = two.caller(transport);
        let seen = elsewhere.go_on(session, json!({})).await.unwrap();
        assert_eq!(seen["turn"], first["turn"], "{transport:?}");
        let second = elsewhere.go_on(session, bring(&first, "Yes.")).await.unwrap();
        assert_eq!(second["status"], "needs_turn", "{transport:?}: {second}");
        assert_ne!(second["turn"], first["turn"]);
        let over = one.caller(transport).go_on(session, bring(&second, "No.")).await.unwrap();
        assert_eq!(over["status"], "completed", "{transport:?}: {over}");
        assert_eq!(model_calls(&two, session).await, [2, 2, 0]);
        one.end().await;
        two.end().await;
    }
}
