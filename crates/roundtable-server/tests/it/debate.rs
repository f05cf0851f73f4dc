//! What an answer says, over every transport.

use std::path::Path;

use roundtable::backend::SqliteStore;
use roundtable::core::id::NodeId;
use roundtable::ports::{Crash, Leases as _};
use roundtable::prelude::*;
use serde_json::{Value, json};

use crate::caller::{ALL, Transport};
use crate::client::{get, post};
use crate::context_requests::{AGENTS, says, topic};
use crate::kit;

#[tokio::test]
async fn an_answer_says_what_the_round_came_to_and_what_to_do_next() {
    for transport in ALL {
        let running = kit::local(
            Script::default().voice(AGENTS[0], [says("Yes.")]).voice(AGENTS[1], [says("No.")]),
        )
        .await;
        let caller = running.caller(transport);
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
        let way =
            if transport == Transport::Http { "/continue with" } else { "continue_roundtable" };
        assert!(answer["nextStep"].as_str().unwrap().contains(way), "{}", answer["nextStep"]);
        assert!(answer["usage"]["tokens"].is_number());
        running.stop().await;
    }
}

/// Parks a session that nobody owns.
async fn park(directory: &Path, session: &str) {
    let store = SqliteStore::open(directory).unwrap();
    let (session, node) = (session.parse().unwrap(), NodeId::new("bad").unwrap());
    store.renew(&node).await.unwrap();
    let crash = Crash { at: jiff::Timestamp::UNIX_EPOCH, message: "no such seat".to_owned() };
    for last in [false, false, true] {
        store.claim_one(&session, &node).await.unwrap();
        assert_eq!(store.crashed(&session, &node, &crash).await.unwrap().is_some(), last);
    }
}

#[tokio::test]
async fn f35_a_parked_debate_says_why_and_is_tried_again_when_it_is_continued() {
    let script = || Script::default().voice(AGENTS[0], [says("Yes.")]);
    for transport in ALL {
        let directory = tempfile::tempdir().unwrap();
        let running = kit::on(directory.path(), script()).await;
        let first = running.caller(transport).start(topic()).await.expect("a round");
        let session = first["sessionId"].clone();
        running.stop().await;
        park(directory.path(), session.as_str().unwrap()).await;
        let running = kit::on(directory.path(), script()).await;
        let caller = running.caller(transport);
        let why = "it failed 3 times within 10 minutes; last error: no such seat";
        assert_eq!(caller.session(&session).await["parked"], why);
        let stop = format!("/api/debates/{}/control", session.as_str().unwrap());
        let asked = post(running.address, &stop, &json!({ "action": "pause" }));
        let refused = asked.send().await;
        assert_eq!(refused.problem(), (409, "parked".to_owned()));
        assert_eq!(refused.json()["parked"], why);
        let answer = caller.go_on(&session, json!({})).await.expect("a round");
        assert_eq!(answer["roundNumber"], 2);
        assert_eq!(caller.session(&session).await.get("parked"), None);
        running.stop().await;
    }
}

#[tokio::test]
async fn a_quote_says_what_a_debate_would_cost_and_starts_nothing() {
    let running = kit::local(Script::default()).await;
    let quote = async |body: Value| post(running.address, "/api/debates/quote", &body).send().await;
    let one = quote(json!({ "topic": "Shall we?", "agentCount": 2, "rounds": 1 })).await.json();
    let three = quote(json!({ "topic": "Shall we?", "agentCount": 2, "rounds": 3 })).await.json();
    let number = |quote: &Value, name: &str| quote[name].as_u64().expect(name);
    assert_eq!(number(&three, "calls"), 3 * number(&one, "calls"), "{one} {three}");
    assert!(number(&three, "inputTokens") > 3 * number(&one, "inputTokens"), "{one} {three}");
    assert_eq!(number(&three, "outputTokens"), 3 * number(&one, "outputTokens"));
    assert!(three.get("cost").is_some(), "{three}");
    let refused = quote(json!({ "topic": "Shall we?", "rounds": 0 })).await;
    assert_eq!(refused.problem(), (400, "invalid".to_owned()));
    let listed = get(running.address, "/api/sessions").send().await;
    assert_eq!(listed.json(), json!({ "sessions": [] }));
    running.stop().await;
}
