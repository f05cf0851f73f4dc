//! Context requests that cannot be ignored: R000-1 to R000-18, each over every transport.

use roundtable::core::event::{Body, Event, ToolCallEvent};
use roundtable::core::id::SessionId;
use roundtable::core::scope::Place;
use roundtable::core::tool::{ToolOutcome, ToolResult};
use roundtable::prelude::*;
use serde_json::{Value, json};

use crate::caller::{ALL, Caller, Refused, Transport};
use crate::client::get;
use crate::kit::{self, Running};

/// The two agents of a collaborative debate.
pub const AGENTS: [&str; 2] = ["synthesizer", "analyst"];

fn asks(query: &str, priority: &str) -> Call {
    Call::new("request_context", json!({ "query": query, "reason": "why", "priority": priority }))
}

pub fn says(text: &str) -> Reply {
    Reply::text(json!({ "position": text, "reasoning": "because", "confidence": 0.5 }).to_string())
}

/// Both ask for something required in the first round, and the first one for something optional, too.
fn asking() -> Script {
    let first = [asks("Budget?", "required"), asks("Color?", "optional")];
    Script::default()
        .voice(AGENTS[0], [Reply::calls(first), says("Wait.")])
        .voice(AGENTS[0], [says("Now.")])
        .voice(AGENTS[1], [Reply::calls([asks("Deadline?", "required")]), says("Perhaps.")])
        .voice(AGENTS[1], [says("Yes.")])
}

pub fn topic() -> Value {
    json!({ "topic": "Shall we?", "agentCount": 2, "rounds": 3 })
}

/// A server, a caller, and the answer to a first round with requests.
async fn started(transport: Transport) -> (Running, Caller, Value) {
    let running = kit::local(asking()).await;
    let caller = running.caller(transport);
    let answer = caller.start(topic()).await.expect("a round");
    (running, caller, answer)
}

/// The id of the request with this query.
fn id_of<'a>(answer: &'a Value, query: &str) -> &'a Value {
    let requests = answer["contextRequests"].as_array().expect("requests");
    &requests.iter().find(|request| request["query"] == query).expect("a request")["id"]
}

/// The requests of an answer, by id, agent and query.
fn asked(answer: &Value) -> Vec<[String; 3]> {
    let requests = answer["contextRequests"].as_array().expect("requests").iter();
    let text = |request: &Value, name: &str| request[name].as_str().expect(name).to_owned();
    requests.map(|it| ["id", "agentId", "query"].map(|name| text(it, name))).collect()
}

/// Agents and their queries, in order.
fn who_asked(requests: &[[String; 3]]) -> Vec<(&str, &str)> {
    let mut shown: Vec<_> =
        requests.iter().map(|[_, agent, query]| (agent.as_str(), query.as_str())).collect();
    shown.sort_unstable();
    shown
}

fn found(id: &Value, result: &str) -> Value {
    json!({ "requestId": id, "success": true, "result": result })
}

/// Answers to all that is required.
fn required(answer: &Value) -> Vec<Value> {
    ["Budget?", "Deadline?"].map(|query| found(id_of(answer, query), "A million.")).to_vec()
}

fn with(results: impl Into<Vec<Value>>) -> Value {
    json!({ "contextResults": results.into() })
}

/// The session, as the engine has it.
fn session(running: &Running, answer: &Value) -> Session {
    let id: SessionId = answer["sessionId"].as_str().expect("an id").parse().expect("an id");
    running.engine.session(&id)
}

#[tokio::test]
async fn r000_1_a_session_without_requests_goes_on_as_if_there_were_no_such_thing() {
    let running = kit::local(Script::default()).await;
    for transport in ALL {
        let caller = running.caller(transport);
        let first = caller.start(topic()).await.expect("a round");
        assert_eq!(first["status"], "in_progress", "{transport:?}");
        assert!(first.get("contextRequests").is_none());
        let second = caller.go_on(&first["sessionId"], json!({})).await.expect("a round");
        assert_eq!((&second["status"], &second["roundNumber"]), (&json!("in_progress"), &json!(2)));
    }
    running.stop().await;
}

#[tokio::test]
async fn r000_2_a_request_has_id_agent_query_reason_priority_and_time() {
    for transport in ALL {
        let (running, _, answer) = started(transport).await;
        let mut request = answer["contextRequests"][0].clone();
        let (id, at) = (request["id"].take(), request["timestamp"].take());
        assert!(id.as_str().unwrap().starts_with("ctx_"), "{transport:?}: {id}");
        at.as_str().unwrap().parse::<jiff::Timestamp>().expect("a time");
        let rest = json!({
            "id": null, "kind": "question", "agentId": "agt_synthesizer", "query": "Budget?", "reason": "why",
            "priority": "required", "timestamp": null,
        });
        assert_eq!(request, rest, "{transport:?}");
        assert_eq!(answer["contextRequests"][1]["priority"], "optional");
        running.stop().await;
    }
}

#[tokio::test]
async fn r000_3_requests_are_stored_with_the_session_and_are_there_after_a_crash() {
    for transport in ALL {
        let directory = tempfile::tempdir().expect("a directory");
        let running = kit::on(directory.path(), asking()).await;
        let answer = running.caller(transport).start(topic()).await.expect("a round");
        running.end().await;
        let running = kit::on(directory.path(), asking()).await;
        let caller = running.caller(transport);
        let session = &answer["sessionId"];
        assert_eq!(caller.pending(session).await, asked(&answer), "{transport:?}");
        let refused = caller.go_on(session, json!({})).await.expect_err("a refusal");
        assert!(refused.error.starts_with("Cannot continue: 2 required"), "{}", refused.error);
        let second = caller.go_on(session, with(required(&answer))).await.expect("a round");
        assert_eq!(second["roundNumber"], 2);
        running.stop().await;
    }
}

#[tokio::test]
async fn r000_4_pending_requests_can_be_read_and_without_any_the_list_is_empty() {
    for transport in ALL {
        let (running, caller, answer) = started(transport).await;
        let pending = caller.pending(&answer["sessionId"]).await;
        let all = [
            ("agt_analyst", "Deadline?"),
            ("agt_synthesizer", "Budget?"),
            ("agt_synthesizer", "Color?"),
        ];
        assert_eq!(who_asked(&pending), all, "{transport:?}");
        running.stop().await;
        let running = kit::local(Script::default()).await;
        let caller = running.caller(transport);
        let answer = caller.start(topic()).await.expect("a round");
        assert_eq!(caller.pending(&answer["sessionId"]).await, [[""; 3]; 0], "{transport:?}");
        running.stop().await;
    }
}

#[tokio::test]
async fn r000_5_exactly_the_answered_requests_are_cleared() {
    for transport in ALL {
        let (running, caller, answer) = started(transport).await;
        let session = &answer["sessionId"];
        caller.go_on(session, with(required(&answer))).await.expect("a round");
        let left = caller.pending(session).await;
        assert_eq!(who_asked(&left), [("agt_synthesizer", "Color?")], "{transport:?}");
        running.stop().await;
    }
}

#[tokio::test]
async fn r000_6_a_round_with_requests_needs_context_and_they_are_saved_before_the_answer() {
    for transport in ALL {
        let (running, caller, answer) = started(transport).await;
        assert_eq!(answer["status"], "needs_context", "{transport:?}");
        assert_eq!(answer["contextRequests"].as_array().expect("requests").len(), 3);
        assert_eq!(caller.pending(&answer["sessionId"]).await, asked(&answer));
        let step = answer["nextStep"].as_str().unwrap();
        assert!(step.contains("contextResults") && step.contains("afterRound 1"), "{step}");
        running.stop().await;
    }
}

#[tokio::test]
async fn r000_7_r000_8_going_on_without_results_is_refused_in_these_words_and_changes_nothing() {
    for transport in ALL {
        let (running, caller, answer) = started(transport).await;
        let id = &answer["sessionId"];
        let log = session(&running, &answer).log().await.expect("a log");
        let (before, asked) = (caller.session(id).await, running.model.count());
        let (budget, deadline) = (id_of(&answer, "Budget?"), id_of(&answer, "Deadline?"));
        let error = format!(
            "Cannot continue: 2 required context request(s) pending.\n\n\
             You MUST provide contextResults for these requests:\n\
             - [{}] (agt_synthesizer): Budget?\n- [{}] (agt_analyst): Deadline?\n\n\
             {}",
            budget.as_str().unwrap(),
            deadline.as_str().unwrap(),
            transport.way_to_answer()
        );
        let expected = Refused { status: transport.status(409), error };
        for arguments in [
            json!({}),
            json!({ "afterRound": 1 }),
            json!({ "focusQuestion": "So?" }),
            with([]),
            with([found(&json!("ctx_never"), "?")]),
        ] {
            let refused = caller.go_on(id, arguments).await;
            assert_eq!(refused, Err(expected.clone()), "{transport:?}");
        }
        assert_eq!(caller.session(id).await, before);
        assert_eq!((&before["roundsCompleted"], running.model.count()), (&json!(1), asked));
        assert_eq!(session(&running, &answer).log().await.expect("a log"), log);
        running.stop().await;
    }
}

#[tokio::test]
async fn r000_9_only_what_is_missing_is_counted_and_listed() {
    for transport in ALL {
        let (running, caller, answer) = started(transport).await;
        let results = [found(id_of(&answer, "Budget?"), "A million.")];
        let refused = caller.go_on(&answer["sessionId"], with(results)).await;
        let error = refused.expect_err("a refusal").error;
        let begins = "Cannot continue: 1 required context request(s) pending.";
        assert!(error.starts_with(begins), "{transport:?}: {error}");
        assert!(error.contains("Deadline?") && !error.contains("Budget?"), "{error}");
        let left = caller.pending(&answer["sessionId"]).await;
        assert_eq!(left.len(), 3, "what is refused is not half done");
        running.stop().await;
    }
}

#[tokio::test]
async fn r000_10_a_result_is_matched_by_its_id_and_a_failed_search_counts() {
    for transport in ALL {
        let (running, caller, answer) = started(transport).await;
        let failed = |query: &str| {
            let id = id_of(&answer, query);
            json!({ "requestId": id, "success": false, "error": "nobody knows" })
        };
        let results = ["Deadline?", "Budget?"].map(failed);
        let second = caller.go_on(&answer["sessionId"], with(results)).await.expect("a round");
        assert_eq!(second["roundNumber"], 2, "{transport:?}");
        let told = running.model.received();
        let told = told.iter().filter(|call| call.prompt.contains("[Error: nobody knows]")).count();
        assert_eq!(told, 2, "every agent of the next round is told");
        running.stop().await;
    }
}

#[tokio::test]
async fn r000_6_r000_11_optional_requests_need_context_and_never_block() {
    for transport in ALL {
        let only = [Reply::calls([asks("Color?", "optional")]), says("Fine.")];
        let running = kit::local(Script::default().voice(AGENTS[0], only)).await;
        let caller = running.caller(transport);
        let first = caller.start(topic()).await.expect("a round");
        assert_eq!(first["status"], "needs_context", "{transport:?}: R000-6");
        assert_eq!(first["contextRequests"][0]["query"], "Color?");
        let step = first["nextStep"].as_str().unwrap();
        assert!(step.starts_with("The questions in contextRequests are optional. "), "{step}");
        let second = caller.go_on(&first["sessionId"], json!({})).await.expect("a round");
        assert_eq!(second["roundNumber"], 2, "{transport:?}");
        running.stop().await;
    }
}

#[tokio::test]
async fn r000_12_every_answered_request_is_cleared_optional_ones_too() {
    for transport in ALL {
        let (running, caller, answer) = started(transport).await;
        let mut results = required(&answer);
        results.push(found(id_of(&answer, "Color?"), "Red."));
        caller.go_on(&answer["sessionId"], with(results)).await.expect("a round");
        assert_eq!(caller.pending(&answer["sessionId"]).await, [[""; 3]; 0], "{transport:?}");
        running.stop().await;
    }
}

#[tokio::test]
async fn r000_13_with_all_required_results_the_round_runs_and_every_agent_reads_them() {
    for transport in ALL {
        let (running, caller, answer) = started(transport).await;
        let second =
            caller.go_on(&answer["sessionId"], with(required(&answer))).await.expect("a round");
        assert_eq!((&second["roundNumber"], &second["currentRound"]), (&json!(2), &json!(2)));
        let said = second["agentResponses"].as_array().expect("responses").iter();
        let said: Vec<&Value> = said.map(|response| &response["position"]).collect();
        assert_eq!(said, ["Now.", "Yes."], "{transport:?}");
        let read = running.model.received();
        let read = read.iter().filter(|call| call.prompt.contains("A million.")).count();
        assert_eq!(read, 2);
        running.stop().await;
    }
}

#[tokio::test]
async fn r000_14_a_request_is_its_agents_own_and_no_argument_makes_it_another_ones() {
    for transport in ALL {
        let forged = json!({ "query": "Budget?", "reason": "why", "agentId": "agt_analyst" });
        let script = Script::default().voice(
            AGENTS[0],
            [
                Reply::calls([Call::new("request_context", forged)]),
                Reply::calls([asks("Color?", "required")]),
                says("Asked."),
            ],
        );
        let running = kit::local(script).await;
        let answer = running.caller(transport).start(topic()).await.expect("a round");
        let requests = asked(&answer);
        assert_eq!(who_asked(&requests), [("agt_synthesizer", "Color?")], "{transport:?}");
        running.stop().await;
    }
}

#[tokio::test]
async fn r000_15_the_tool_answers_its_agent_that_the_request_is_queued() {
    for transport in ALL {
        let (running, caller, answer) = started(transport).await;
        let log = session(&running, &answer).log().await.expect("a log");
        let returned = |event: &Event| match &event.body {
            Body::ToolCall(ToolCallEvent::ToolCallFinished(ToolOutcome::Returned(result))) => {
                Some((event.place.clone(), result.clone()))
            }
            _ => None,
        };
        let results: Vec<(Place, ToolResult)> = log.iter().filter_map(|it| returned(it)).collect();
        let mut told: Vec<Value> =
            results.iter().map(|(_, result)| result.value.clone().expect("a value")).collect();
        let queued = |[id, ..]: [String; 3]| json!({ "requestId": id, "message": "Context request queued." });
        let mut expected: Vec<Value> = asked(&answer).into_iter().map(queued).collect();
        told.sort_by_key(Value::to_string);
        expected.sort_by_key(Value::to_string);
        assert_eq!(told, expected, "{transport:?}");
        for (place, result) in results {
            assert!(result.success);
            let (session, turn) = (answer["sessionId"].as_str().unwrap(), place.turn.unwrap());
            let path = format!("/api/sessions/{session}/turns/{turn}/iterations/1");
            let shown = get(caller.address, &path).send().await.json();
            let content = &shown["toolCalls"][0]["result"];
            assert_eq!(content["content"], "Context request queued.", "{shown}");
            assert_eq!(content["success"], true);
        }
        running.stop().await;
    }
}

#[tokio::test]
async fn r000_17_each_agent_passes_its_own_id_side_by_side_and_one_after_another() {
    for transport in ALL {
        for (mode, agents) in
            [("collaborative", AGENTS), ("adversarial", ["proponent", "opponent"])]
        {
            let script = agents.iter().fold(Script::default(), |script, agent| {
                let one = [asks(&format!("{agent} 1?"), "required")];
                let two = [asks(&format!("{agent} 2?"), "required")];
                script.voice(agent, [Reply::calls(one), Reply::calls(two), says("Asked.")])
            });
            let running = kit::local(script).await;
            let asking = json!({ "topic": "Who?", "agentCount": 2, "mode": mode });
            let answer = running.caller(transport).start(asking).await.expect("a round");
            let requests = asked(&answer);
            assert_eq!(requests.len(), 4, "{transport:?}: {answer}");
            for [_, agent, query] in &requests {
                let own = agent.strip_prefix("agt_").expect("an agent");
                assert!(query.starts_with(own), "{transport:?} {mode}: {agent} asked {query}");
            }
            running.stop().await;
        }
    }
}

#[tokio::test]
async fn r000_18_a_missing_paused_or_ended_session_is_named_before_what_is_pending() {
    for transport in ALL {
        let (running, caller, answer) = started(transport).await;
        let refused = caller.go_on(&json!("ses_nobody"), json!({})).await.expect_err("no session");
        assert_eq!(refused.status, transport.status(404));
        assert!(refused.error.contains("ses_nobody was not found"), "{}", refused.error);
        let session = session(&running, &answer);
        session.command(roundtable::core::input::Command::Pause).await.expect("a pause");
        let refused = caller.go_on(&answer["sessionId"], json!({})).await.expect_err("a pause");
        let error = "session is not active: it is paused; resume it first".to_owned();
        assert_eq!(refused, Refused { status: transport.status(409), error });
        session.complete("it was a test").await.expect("an end");
        let refused = caller.go_on(&answer["sessionId"], json!({})).await.expect_err("an end");
        assert_eq!(refused.status, transport.status(409));
        let begins = "session is not active: it is completed";
        assert!(refused.error.starts_with(begins), "{transport:?}: {}", refused.error);
        running.stop().await;
    }
}
