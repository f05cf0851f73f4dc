//! Context requests that cannot be ignored, over every transport.

use roundtable::prelude::*;
use serde_json::{Value, json};

use crate::caller::{ALL, Caller, Refused, Transport};
use crate::kit::{self, Running};

/// The two agents of a collaborative debate.
const AGENTS: [&str; 2] = ["synthesizer", "analyst"];

fn asks(query: &str, priority: &str) -> Call {
    Call::new("request_context", json!({ "query": query, "reason": "why", "priority": priority }))
}

fn says(text: &str) -> Reply {
    Reply::text(json!({ "position": text, "reasoning": "because", "confidence": 0.5 }).to_string())
}

/// Both ask for something required in the first round, and the first one for something optional, too.
fn asking() -> Script {
    let first = [asks("Budget?", "required"), asks("Colour?", "optional")];
    Script::default()
        .voice(AGENTS[0], [Reply::calls(first), says("Wait.")])
        .voice(AGENTS[0], [says("Now.")])
        .voice(AGENTS[1], [Reply::calls([asks("Deadline?", "required")]), says("Perhaps.")])
        .voice(AGENTS[1], [says("Yes.")])
}

fn topic() -> Value {
    json!({ "topic": "Shall we?", "agentCount": 2, "rounds": 3 })
}

/// A server, a caller, and the answer to a first round with requests.
async fn started(transport: Transport) -> (Running, Caller, Value) {
    let running = kit::local(asking()).await;
    let caller = Caller::new(running.address, transport);
    let answer = caller.start(topic()).await.expect("a round");
    (running, caller, answer)
}

/// The id of the request with this query.
fn id_of<'a>(answer: &'a Value, query: &str) -> &'a Value {
    let requests = answer["contextRequests"].as_array().expect("requests");
    &requests.iter().find(|request| request["query"] == query).expect("a request")["id"]
}

fn found(id: &Value, result: &str) -> Value {
    json!({ "requestId": id, "success": true, "result": result })
}

#[tokio::test]
async fn r000_2_r000_6_a_round_with_requests_needs_context_and_they_are_saved_before_the_answer() {
    for transport in ALL {
        let (running, caller, answer) = started(transport).await;
        assert_eq!(answer["status"], "needs_context", "{transport:?}");
        let stored = caller.session(&answer["sessionId"]).await;
        assert_eq!(stored["pendingContextRequests"], answer["contextRequests"]);
        let request = &answer["contextRequests"][0];
        let keys: Vec<&String> = request.as_object().expect("an object").keys().collect();
        assert_eq!(keys, ["agentId", "id", "priority", "query", "reason", "timestamp"]);
        running.stop().await;
    }
}

#[tokio::test]
async fn r000_1_r000_4_a_session_without_requests_has_an_empty_list() {
    let running = kit::local(Script::default()).await;
    for transport in ALL {
        let caller = Caller::new(running.address, transport);
        let answer = caller.start(topic()).await.expect("a round");
        assert_eq!(answer["status"], "in_progress");
        assert!(answer.get("contextRequests").is_none());
        let stored = caller.session(&answer["sessionId"]).await;
        assert_eq!(stored["pendingContextRequests"], json!([]));
    }
    running.stop().await;
}

#[tokio::test]
async fn r000_7_r000_8_going_on_without_results_is_refused_in_these_words_and_changes_nothing() {
    for transport in ALL {
        let (running, caller, answer) = started(transport).await;
        let session = &answer["sessionId"];
        let before = caller.session(session).await;
        let (budget, deadline) = (id_of(&answer, "Budget?"), id_of(&answer, "Deadline?"));
        let expected = format!(
            "Cannot continue: 2 required context request(s) pending.\n\n\
             You MUST provide contextResults for these requests:\n\
             - [{}] (agt_synthesizer): Budget?\n- [{}] (agt_analyst): Deadline?\n\n\
             Use WebSearch or other tools to fulfill these requests, then call continue_roundtable with contextResults.",
            budget.as_str().unwrap(),
            deadline.as_str().unwrap()
        );
        let status = if transport == Transport::Http { 409 } else { 0 };
        for arguments in [
            json!({}),
            json!({ "afterRound": 1 }),
            json!({ "focusQuestion": "So?" }),
            json!({ "contextResults": [] }),
        ] {
            let refused = caller.go_on(session, arguments).await;
            let expected = Refused { status, error: expected.clone() };
            assert_eq!(refused, Err(expected), "{transport:?}");
        }
        assert_eq!(caller.session(session).await, before);
        assert_eq!(before["roundsCompleted"], 1);
        running.stop().await;
    }
}

#[tokio::test]
async fn r000_9_only_what_is_missing_is_counted_and_listed() {
    for transport in ALL {
        let (running, caller, answer) = started(transport).await;
        let results = [found(id_of(&answer, "Budget?"), "A million.")];
        let refused =
            caller.go_on(&answer["sessionId"], json!({ "contextResults": results })).await;
        let error = refused.expect_err("a refusal").error;
        assert!(
            error.starts_with("Cannot continue: 1 required context request(s) pending."),
            "{error}"
        );
        assert!(error.contains("Deadline?") && !error.contains("Budget?"), "{error}");
        running.stop().await;
    }
}

#[tokio::test]
async fn r000_5_r000_10_r000_11_r000_12_r000_13_answers_clear_their_requests_and_the_round_runs() {
    for transport in ALL {
        let (running, caller, answer) = started(transport).await;
        let session = &answer["sessionId"];
        let failed = json!({ "requestId": id_of(&answer, "Deadline?"), "success": false, "error": "nobody knows" });
        let results = [found(id_of(&answer, "Budget?"), "A million."), failed];
        let second =
            caller.go_on(session, json!({ "contextResults": results })).await.expect("a round");
        assert_eq!((&second["roundNumber"], &second["currentRound"]), (&json!(2), &json!(2)));
        let pending = caller.session(session).await["pendingContextRequests"].clone();
        assert_eq!(
            pending.as_array().expect("a list").len(),
            1,
            "the optional one stays: {pending}"
        );
        assert_eq!(pending[0]["query"], "Colour?");
        let results = [found(&pending[0]["id"], "Red.")];
        let third =
            caller.go_on(session, json!({ "contextResults": results })).await.expect("a round");
        assert_eq!(third["status"], "completed");
        assert_eq!(caller.session(session).await["pendingContextRequests"], json!([]));
        running.stop().await;
    }
}

#[tokio::test]
async fn r000_16_each_request_has_its_own_agent_however_many_ask_at_once() {
    let running = kit::local(asking()).await;
    let holds = (0..12).map(|index| {
        let caller = Caller::new(running.address, ALL[index % 3]);
        async move { caller.start(topic()).await.expect("a round") }
    });
    for answer in futures_util::future::join_all(holds).await {
        let requests = answer["contextRequests"].as_array().expect("requests");
        let mut asked: Vec<(&str, &str)> = requests
            .iter()
            .map(|it| (it["agentId"].as_str().unwrap(), it["query"].as_str().unwrap()))
            .collect();
        asked.sort_unstable();
        let expected = [
            ("agt_analyst", "Deadline?"),
            ("agt_synthesizer", "Budget?"),
            ("agt_synthesizer", "Colour?"),
        ];
        assert_eq!(asked, expected);
    }
    running.stop().await;
}

#[tokio::test]
async fn r000_18_a_missing_or_ended_session_is_named_before_what_is_pending() {
    for transport in ALL {
        let (running, caller, answer) = started(transport).await;
        let http = |status| if transport == Transport::Http { status } else { 0 };
        let refused = caller.go_on(&json!("ses_nobody"), json!({})).await.expect_err("no session");
        assert_eq!(refused.status, http(404));
        assert!(refused.error.contains("ses_nobody was not found"), "{}", refused.error);
        let session =
            running.engine.session(&answer["sessionId"].as_str().unwrap().parse().unwrap());
        session.complete("it was a test").await.expect("an end");
        let refused =
            caller.go_on(&answer["sessionId"], json!({})).await.expect_err("an ended session");
        assert_eq!(refused.status, http(409));
        assert!(
            refused.error.starts_with("session is not active: it is completed"),
            "{}",
            refused.error
        );
        running.stop().await;
    }
}

#[tokio::test]
async fn an_answer_says_what_the_round_came_to_and_what_to_do_next() {
    for transport in ALL {
        let running = kit::local(
            Script::default().voice(AGENTS[0], [says("Yes.")]).voice(AGENTS[1], [says("No.")]),
        )
        .await;
        let caller = Caller::new(running.address, transport);
        let answer = caller.start(topic()).await.expect("a round");
        assert_eq!(answer["topic"], "Shall we?");
        assert_eq!(answer["mode"], "collaborative");
        assert_eq!(
            (&answer["roundNumber"], &answer["totalRounds"], &answer["currentRound"]),
            (&json!(1), &json!(3), &json!(1))
        );
        let responses = answer["agentResponses"].as_array().expect("responses");
        let said: Vec<_> =
            responses.iter().map(|it| (it["agentId"].clone(), it["position"].clone())).collect();
        assert_eq!(
            said,
            [(json!("agt_synthesizer"), json!("Yes.")), (json!("agt_analyst"), json!("No."))]
        );
        assert_eq!(responses[0]["confidence"], 0.5);
        assert!(
            ["high", "medium", "low"]
                .contains(&answer["decision"]["consensusLevel"].as_str().unwrap())
        );
        assert!(answer["decision"]["agreementScore"].is_number());
        assert!(answer["decision"]["actionRecommendation"]["reason"].is_string());
        assert!(answer["nextStep"].as_str().unwrap().contains("continue_roundtable"));
        assert!(answer["usage"]["tokens"].is_number());
        running.stop().await;
    }
}
