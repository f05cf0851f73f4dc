//! Rounds that take longer than a caller waits: nothing is lost, nothing is paid twice.

use std::time::Duration;

use roundtable::prelude::*;
use roundtable_server::{Limits, Settings};
use serde_json::{Value, json};

use crate::caller::{ALL, Caller, Transport};
use crate::client::post;
use crate::kit::{self, Running};

fn says(text: &str) -> Reply {
    Reply::text(json!({ "position": text, "confidence": 0.5 }).to_string())
}

/// A server that waits for nothing, and two agents that wait at a gate per round.
async fn impatient(wait_budget: Duration) -> Running {
    let voice = |script: Script, agent: &str| {
        let rounds = ["one", "two", "three"].into_iter();
        rounds.fold(script, |script, gate| script.voice(agent, [says(gate).at_gate(gate)]))
    };
    let script = voice(voice(Script::default(), "synthesizer"), "analyst");
    let limits = Limits { wait_budget, ..Limits::default() };
    kit::start(script, Settings { limits, ..Settings::default() }).await
}

fn topic() -> Value {
    json!({ "topic": "Shall we?", "agentCount": 2, "rounds": 3 })
}

/// Waits until a round of a session is over.
async fn over(running: &Running, session: &Value, round: u32) {
    let id = session.as_str().unwrap().parse().unwrap();
    running.engine.find_debate(&id).wait(round).await.expect("a round");
}

/// How many model calls a session has made.
async fn calls(caller: &Caller, session: &Value) -> u64 {
    caller.session(session).await["usage"]["calls"].as_u64().unwrap()
}

#[tokio::test]
async fn a_call_that_takes_too_long_says_that_the_round_runs_and_a_later_one_gets_it() {
    for transport in ALL {
        let running = impatient(Duration::ZERO).await;
        let caller = running.caller(transport);
        let first = caller.start(topic()).await.expect("an answer");
        assert_eq!(first["status"], "running", "{transport:?}");
        assert!(first.get("decision").is_none());
        assert!(first["nextStep"].as_str().unwrap().contains("afterRound 0"));
        let session = first["sessionId"].clone();
        let joined = caller.go_on(&session, json!({})).await.expect("an answer");
        assert_eq!((&joined["status"], &joined["roundNumber"]), (&json!("running"), &json!(1)));
        for words in [
            json!({ "focusQuestion": "And?" }),
            json!({ "contextResults": [{ "requestId": "ctx_1", "success": true }] }),
        ] {
            let refused = caller.go_on(&session, words).await.expect_err("a refusal");
            assert!(refused.error.starts_with("Round 1 is still running"), "{}", refused.error);
        }
        running.model.gates().open("one");
        over(&running, &session, 1).await;
        let owed = caller.go_on(&session, json!({})).await.expect("the first round");
        assert_eq!((&owed["status"], &owed["roundNumber"]), (&json!("in_progress"), &json!(1)));
        assert_eq!(owed["agentResponses"][0]["position"], "one");
        assert_eq!(calls(&caller, &session).await, 2, "it was not run again");
        let next = caller.go_on(&session, json!({})).await.expect("an answer");
        assert_eq!((&next["status"], &next["roundNumber"]), (&json!("running"), &json!(2)));
        running.model.gates().open("two");
        running.model.gates().open("three");
        over(&running, &session, 2).await;
        running.stop().await;
    }
}

#[tokio::test]
async fn a_client_that_prefers_not_to_wait_is_answered_while_the_round_runs() {
    // A caller that waits is not answered before the test ends: only the preference answers it.
    let running = impatient(Duration::from_secs(3600)).await;
    let ask = |path: &str, body: &Value| {
        post(running.address, path, body).header("prefer", "return=minimal, respond-async")
    };
    let first = ask("/api/debates", &topic()).send().await;
    let body = first.json();
    assert_eq!((first.status, &body["status"]), (202, &json!("running")));
    let session = body["sessionId"].clone();
    let id = session.as_str().unwrap();
    assert!(first.headers.contains(&format!("location: /api/sessions/{id}")), "{first:?}");
    assert!(first.headers.contains("preference-applied: respond-async"), "{first:?}");
    running.model.gates().open("one");
    over(&running, &session, 1).await;
    let path = format!("/api/debates/{id}/continue");
    let next = ask(&path, &json!({ "afterRound": 1 })).send().await;
    assert_eq!((next.status, &next.json()["roundNumber"]), (202, &json!(2)));
    running.model.gates().open("two");
    over(&running, &session, 2).await;
    let done = ask(&path, &json!({})).send().await;
    assert_eq!((done.status, &done.json()["roundNumber"]), (200, &json!(2)));
    assert!(!done.headers.contains("preference-applied"), "there was nothing to wait for");
    running.stop().await;
}

#[tokio::test]
async fn a_synthesis_that_takes_too_long_answers_that_it_is_running_and_is_written_once() {
    for transport in ALL {
        let gated = Reply::text(r#"{"conclusion":"Yes."}"#).at_gate("sum");
        let script = Script::default().voice("synthesizer/synthesize", [gated]);
        let mut settings = Settings::default();
        settings.limits.wait_budget = Duration::from_millis(300);
        let running = kit::start(script, settings).await;
        let caller = running.caller(transport);
        let session = caller.start(topic()).await.expect("a round")["sessionId"].clone();
        over(&running, &session, 1).await;
        let path = format!("/api/debates/{}/synthesis", session.as_str().unwrap());
        if transport == Transport::Http {
            let answer = post(running.address, &path, &json!({})).send().await;
            assert_eq!((answer.status, &answer.json()["status"]), (202, &json!("running")));
        } else {
            let asked = json!({ "sessionId": session });
            let answer = caller.tool("synthesize_debate", asked).await.expect("an answer");
            assert_eq!(answer["status"], "running", "{answer}");
        }
        running.model.gates().open("sum");
        let id = session.as_str().unwrap().parse().unwrap();
        running.engine.find_debate(&id).synthesize(None).await.expect("a synthesis");
        let answer = loop {
            let answer = post(running.address, &path, &json!({})).send().await;
            if answer.status != 202 {
                break answer;
            }
        };
        assert_eq!((answer.status, &answer.json()["status"]), (200, &json!("completed")));
        assert_eq!(answer.json()["conclusion"], "Yes.", "{answer:?}");
        running.stop().await;
    }
}

#[tokio::test]
async fn after_round_answers_with_the_round_after_it_and_runs_it_once() {
    for transport in ALL {
        let running = impatient(Duration::from_secs(60)).await;
        for gate in ["one", "two", "three"] {
            running.model.gates().open(gate);
        }
        let caller = running.caller(transport);
        let session = caller.start(topic()).await.expect("a round")["sessionId"].clone();
        let second = caller.go_on(&session, json!({ "afterRound": 1 })).await.expect("a round");
        let again = caller.go_on(&session, json!({ "afterRound": 1 })).await.expect("a round");
        assert_eq!(second, again);
        assert_eq!(calls(&caller, &session).await, 4);
        let both = tokio::join!(
            caller.go_on(&session, json!({ "afterRound": 2 })),
            caller.go_on(&session, json!({ "afterRound": 2 }))
        );
        let (one, two) = (both.0.expect("a round"), both.1.expect("a round"));
        assert_eq!((&one["roundNumber"], &two["roundNumber"]), (&json!(3), &json!(3)));
        assert_eq!(calls(&caller, &session).await, 6, "two at once are one");
        assert_eq!(one["status"], "completed");
        let again =
            caller.go_on(&session, json!({ "afterRound": 2 })).await.expect("the last round");
        assert_eq!(again, one, "the last round can be had again");
        assert_eq!(calls(&caller, &session).await, 6);
        running.stop().await;
    }
}

#[tokio::test]
async fn after_the_last_round_there_is_none_and_the_caller_is_told_that_the_debate_is_over() {
    for transport in ALL {
        let running = impatient(Duration::from_secs(60)).await;
        ["one", "two", "three"].iter().for_each(|gate| running.model.gates().open(gate));
        let caller = running.caller(transport);
        let session = caller.start(topic()).await.expect("a round")["sessionId"].clone();
        let early =
            caller.go_on(&session, json!({ "afterRound": 9 })).await.expect_err("no round 9");
        assert_eq!(early.status, transport.status(400), "{}", early.error);
        assert!(early.error.contains("round 9 does not exist yet"), "{}", early.error);
        for round in [1, 2] {
            caller.go_on(&session, json!({ "afterRound": round })).await.expect("a round");
        }
        for after in [json!({ "afterRound": 3 }), json!({ "afterRound": 9 }), json!({})] {
            let refused = caller.go_on(&session, after.clone()).await.expect_err("the end");
            assert_eq!(refused.status, transport.status(409), "{after}");
            let begins = "session is not active: it is completed";
            assert!(refused.error.starts_with(begins), "{transport:?} {after}: {}", refused.error);
        }
        assert_eq!(calls(&caller, &session).await, 6);
        running.stop().await;
    }
}

#[tokio::test]
async fn the_last_round_that_nobody_waited_for_is_given_before_the_end_is_told() {
    for transport in ALL {
        let running = impatient(Duration::ZERO).await;
        let caller = running.caller(transport);
        let mut session = Value::Null;
        for (round, gate) in [(1, "one"), (2, "two"), (3, "three")] {
            let answer = match round {
                1 => caller.start(topic()).await,
                _ => caller.go_on(&session, json!({ "afterRound": round - 1 })).await,
            };
            let answer = answer.expect("an answer");
            assert_eq!(
                (&answer["status"], &answer["roundNumber"]),
                (&json!("running"), &json!(round))
            );
            session = answer["sessionId"].clone();
            running.model.gates().open(gate);
            over(&running, &session, round).await;
        }
        let last = caller.go_on(&session, json!({})).await.expect("the last round");
        assert_eq!((&last["status"], &last["roundNumber"]), (&json!("completed"), &json!(3)));
        let refused = caller.go_on(&session, json!({})).await.expect_err("the end");
        assert!(refused.error.starts_with("session is not active"), "{}", refused.error);
        running.stop().await;
    }
}

#[tokio::test]
async fn s31_the_same_key_is_the_same_debate_and_another_body_is_refused() {
    for transport in ALL {
        let running = impatient(Duration::from_secs(60)).await;
        running.model.gates().open("one");
        let caller = running.caller(transport);
        let keyed =
            |topic: &str| json!({ "topic": topic, "agentCount": 2, "idempotencyKey": "k 1/ä" });
        let (one, two) = tokio::join!(caller.start(keyed("A?")), caller.start(keyed("A?")));
        let (one, two) = (one.expect("a round"), two.expect("a round"));
        assert_eq!(one["sessionId"], two["sessionId"]);
        assert_eq!(calls(&caller, &one["sessionId"]).await, 2);
        let other = caller.start(keyed("B?")).await.expect_err("a refusal");
        assert_eq!(other.status, if transport == Transport::Http { 422 } else { 0 });
        assert!(other.error.contains("already used with other content"), "{}", other.error);
        assert_eq!(running.engine.sessions(10).await.unwrap().len(), 1);
        running.stop().await;
    }
}

#[tokio::test]
async fn a_caller_that_hangs_up_does_not_lose_the_round() {
    for transport in ALL {
        let running = impatient(Duration::from_secs(60)).await;
        let caller = running.caller(transport);
        let mut keyed = topic();
        keyed["idempotencyKey"] = json!("once");
        let cut = tokio::time::timeout(Duration::ZERO, caller.start(keyed.clone()));
        // Dropped while the round waits at its gate, or before: then the next call begins it.
        let _ = cut.await;
        running.model.gates().open("one");
        let answer = caller.start(keyed).await.expect("a round");
        assert_eq!((&answer["status"], &answer["roundNumber"]), (&json!("in_progress"), &json!(1)));
        assert_eq!(calls(&caller, &answer["sessionId"]).await, 2);
        running.stop().await;
    }
}

#[tokio::test]
async fn a_client_that_wants_to_know_is_told_who_is_speaking() {
    for transport in [Transport::Mcp2025, Transport::Mcp2026] {
        let running = impatient(Duration::from_secs(60)).await;
        let caller = running.caller(transport);
        let params = json!({ "name": "start_roundtable", "arguments": topic(), "_meta": { "progressToken": "p" } });
        let mut events = caller.request("tools/call", params).stream().await;
        let told = events.next().await.expect("progress").data;
        assert_eq!(told["method"], "notifications/progress");
        assert_eq!(told["params"]["progressToken"], "p");
        let message = told["params"]["message"].as_str().unwrap().to_owned();
        assert!(message.starts_with("Round 1/3: "), "{message}");
        running.model.gates().open("one");
        let mut last = told["params"]["progress"].as_f64().unwrap();
        let result = loop {
            let message = events.next().await.expect("an answer").data;
            if message["method"] == "notifications/progress" {
                let progress = message["params"]["progress"].as_f64().unwrap();
                assert!(progress > last);
                last = progress;
                continue;
            }
            break message;
        };
        assert_eq!(result["result"]["structuredContent"]["status"], "in_progress");
        running.stop().await;
    }
}

#[tokio::test]
async fn a_server_that_stops_answers_those_who_wait() {
    let running = impatient(Duration::from_secs(3600)).await;
    let caller = running.caller(Transport::Mcp2026);
    let waiting = tokio::spawn(async move { caller.start(topic()).await });
    while running.engine.sessions(1).await.unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    running.ask_to_stop();
    let answer = waiting.await.expect("no panic").expect("an answer");
    assert_eq!(answer["status"], "running");
    for gate in ["one", "two", "three"] {
        running.model.gates().open(gate);
    }
    running.stop().await;
}

#[tokio::test]
async fn a_failure_that_nobody_was_told_of_is_told_once_and_then_the_round_is_run_again() {
    use roundtable::models::scripted::Fails;
    for transport in ALL {
        let fails = || [Reply::fails(Fails::Overloaded).at_gate("one")];
        let script = Script::default().voice("synthesizer", fails()).voice("analyst", fails());
        let limits = Limits { wait_budget: Duration::ZERO, ..Limits::default() };
        let running = kit::start(script, Settings { limits, ..Settings::default() }).await;
        let caller = running.caller(transport);
        let once = json!({ "topic": "Shall we?", "agentCount": 2, "rounds": 1 });
        let first = caller.start(once).await.expect("an answer");
        assert_eq!(first["status"], "running", "{transport:?}");
        let session = first["sessionId"].clone();
        running.model.gates().open("one");
        over(&running, &session, 1).await;
        let again = json!({ "afterRound": 0, "focusQuestion": "And?" });
        let failed = caller.go_on(&session, again.clone()).await.expect("an answer");
        assert_eq!((&failed["status"], &failed["roundNumber"]), (&json!("failed"), &json!(1)));
        assert!(failed["warnings"][0].as_str().unwrap().contains("were not used"), "{failed}");
        assert!(failed["nextStep"].as_str().unwrap().contains("afterRound 0 to run it again"));
        assert_eq!(caller.session(&session).await["status"], "active");
        let before = calls(&caller, &session).await;
        caller.go_on(&session, again).await.expect("it is run again");
        over(&running, &session, 1).await;
        assert_eq!(calls(&caller, &session).await, 2 * before);
        running.stop().await;
    }
}

#[tokio::test]
async fn a_round_without_budget_runs_again_with_more_and_every_answer_shows_one_total() {
    for transport in ALL {
        let script = Script::default().voice("synthesizer", [says("A.")]);
        let script = script.voice("analyst", [says("B.")]);
        let running = kit::start(script, Settings::default()).await;
        let caller = running.caller(transport);
        let poor =
            json!({ "topic": "Shall we?", "agentCount": 2, "rounds": 1, "budget": { "calls": 0 } });
        let first = caller.start(poor).await.expect("an answer");
        assert_eq!((&first["status"], &first["usage"]["calls"]), (&json!("failed"), &json!(0)));
        let why = first["agentResponses"][0]["error"].as_str().unwrap_or_default();
        assert!(why.contains("budget of calls"), "{first}");
        let session = first["sessionId"].clone();
        let more = json!({ "afterRound": 0, "budget": { "calls": 20 } });
        let second = caller.go_on(&session, more).await.expect("an answer");
        assert_eq!((&second["status"], &second["roundNumber"]), (&json!("completed"), &json!(1)));
        assert_eq!(caller.session(&session).await["usage"], second["usage"], "{transport:?}");
        running.stop().await;
    }
}
