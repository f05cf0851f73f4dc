//! Sessions, turns and the description of the API.

use roundtable::core::event::{Body, TurnEvent};
use roundtable::prelude::*;
use serde_json::json;

use crate::client::get;
use crate::kit;

#[tokio::test]
async fn sessions_are_listed_newest_first_page_by_page_and_filtered() {
    let running = kit::local(Script::default()).await;
    for topic in ["Über Tabs", "Spaces", "tabs again"] {
        kit::session(&running.engine, None, topic).await;
    }
    let list = async |query: &str| {
        let answer = get(running.address, &format!("/api/sessions?{query}")).send().await.json();
        let topics = answer["sessions"].as_array().expect("a list").iter();
        let topics: Vec<String> =
            topics.map(|row| row["topic"].as_str().unwrap_or("?").to_owned()).collect();
        (topics, answer["next"].as_str().unwrap_or_default().to_owned())
    };
    let (topics, next) = list("limit=2").await;
    assert_eq!(topics, ["tabs again", "Spaces"]);
    assert_eq!(
        list(&format!("limit=2&before={next}")).await,
        (vec!["Über Tabs".to_owned()], String::new())
    );
    assert_eq!(list("topic=TABS").await.0, ["tabs again", "Über Tabs"]);
    assert_eq!(list("kind=debate&status=active&fromDate=2020-01-01T00:00:00Z").await.0.len(), 3);
    assert_eq!(list("kind=chat").await.0.len(), 0);
    assert_eq!(list("toDate=2020-01-01T00:00:00Z").await.0.len(), 0);
    for bad in
        ["limit=0", "limit=201", "limit=x", "kind=talk", "status=", "fromDate=yesterday", "size=3"]
    {
        let answer = get(running.address, &format!("/api/sessions?{bad}")).send().await;
        assert_eq!(answer.problem(), (400, "invalid".to_owned()), "{bad}");
    }
    running.stop().await;
}

#[tokio::test]
async fn a_turn_shows_its_iterations() {
    let running = kit::local(kit::asking()).await;
    let session = kit::session(&running.engine, None, "x").await;
    session.ask("Go.").await.expect("a round");
    let log = session.log().await.expect("a log");
    let turn = log.iter().find_map(|event| match &event.body {
        Body::Turn(TurnEvent::TurnStarted { .. }) => event.place.turn.clone(),
        _ => None,
    });
    let path = format!("/api/sessions/{}/turns/{}/iterations", session.id(), turn.expect("a turn"));
    let turn = get(running.address, &path).send().await.json();
    assert_eq!(turn["currentIteration"], 2);
    assert_eq!(turn["iterations"][0]["toolCalls"][0]["name"], "request_context");
    let result = &turn["iterations"][0]["toolCalls"][0]["result"];
    assert_eq!(result["content"], "Context request queued.");
    assert!(result["value"]["requestId"].as_str().expect("an id").starts_with("ctx_"), "{result}");
    assert!(turn["iterations"][0]["completedAt"].is_string());
    let one = get(running.address, &format!("{path}/2")).send().await.json();
    assert_eq!(one, turn["iterations"][1]);
    for path in [
        format!("{path}/3"),
        format!("{path}/0"),
        format!("{path}/x"),
        path.replace("trn_", "trn_0"),
    ] {
        assert_eq!(get(running.address, &path).send().await.problem().0, 404, "{path}");
    }
    running.stop().await;
}

#[tokio::test]
async fn the_description_of_the_api_has_every_route_and_every_schema() {
    let running = kit::local(Script::default()).await;
    let document = get(running.address, "/openapi.json").send().await.json();
    assert_eq!(document["openapi"], "3.1.0");
    for (method, path, _) in roundtable_server::Server::routes() {
        let operation = &document["paths"][path][method.as_str().to_lowercase()];
        assert!(operation["operationId"].is_string(), "{method} {path}");
    }
    let text = document.to_string();
    for reference in text.split("\"#/components/schemas/").skip(1) {
        let name = reference.split('"').next().unwrap_or_default();
        assert!(document["components"]["schemas"][name].is_object(), "{name}");
    }
    assert!(!text.contains("#/$defs"));
    let health = get(running.address, "/health").send().await.json();
    assert_eq!(health["status"], json!("ok"));
    running.stop().await;
}

/// What every transport says of how many rounds are finished, in this order: the session, its row in
/// the list, and the debate's row in its list.
async fn current_rounds(
    running: &kit::Running,
    session: &serde_json::Value,
) -> [serde_json::Value; 3] {
    let id = session.as_str().expect("an id");
    let read = async |path: &str| get(running.address, path).send().await.json();
    let shown = read(&format!("/api/sessions/{id}")).await;
    assert_eq!(shown["currentRound"], shown["roundsCompleted"]);
    let (listed, debates) = (read("/api/sessions").await, read("/api/debates").await);
    let row = |list: &serde_json::Value| list["sessions"][0]["currentRound"].clone();
    [shown["currentRound"].clone(), row(&listed), row(&debates)]
}

#[tokio::test]
async fn current_round_is_the_number_of_finished_rounds_on_every_transport() {
    for transport in crate::caller::ALL {
        let voice = |script: Script, agent: &str| {
            let gates = ["one", "two"].into_iter();
            gates.fold(script, |script, gate| {
                let said = json!({ "position": gate, "confidence": 0.5 }).to_string();
                script.voice(agent, [Reply::text(said).at_gate(gate)])
            })
        };
        let script = voice(voice(Script::default(), "synthesizer"), "analyst");
        let limits = roundtable_server::Limits {
            wait_budget: std::time::Duration::ZERO,
            ..Default::default()
        };
        let settings = roundtable_server::Settings { limits, ..Default::default() };
        let running = kit::start(script, settings).await;
        let caller = running.caller(transport);
        let wish = json!({ "topic": "Shall we?", "agentCount": 2, "rounds": 3 });
        let first = caller.start(wish).await.expect("an answer");
        assert_eq!((&first["status"], &first["currentRound"]), (&json!("running"), &json!(0)));
        let session = first["sessionId"].clone();
        assert_eq!(current_rounds(&running, &session).await, [json!(0), json!(0), json!(0)]);
        assert_eq!(caller.session(&session).await["activeRound"], 1);
        running.model.gates().open("one");
        let id = session.as_str().expect("an id").parse().expect("an id");
        running.engine.find_debate(&id).wait(1).await.expect("a round");
        assert_eq!(current_rounds(&running, &session).await, [json!(1), json!(1), json!(1)]);
        let owed = caller.go_on(&session, json!({})).await.expect("the first round");
        assert_eq!((&owed["roundNumber"], &owed["currentRound"]), (&json!(1), &json!(1)));
        let next = caller.go_on(&session, json!({})).await.expect("an answer");
        assert_eq!((&next["roundNumber"], &next["currentRound"]), (&json!(2), &json!(1)));
        assert_eq!(current_rounds(&running, &session).await, [json!(1), json!(1), json!(1)]);
        running.model.gates().open("two");
        running.engine.find_debate(&id).wait(2).await.expect("a round");
        running.stop().await;
    }
}

#[tokio::test]
async fn a_session_says_when_it_last_changed_and_who_takes_part() {
    let running = kit::local(Script::default()).await;
    let session = kit::session(&running.engine, None, "x").await;
    session.ask("Go.").await.expect("a round");
    let log = session.log().await.expect("a log");
    let shown =
        get(running.address, &format!("/api/sessions/{}", session.id())).send().await.json();
    assert_eq!(shown["createdAt"], json!(log.first().expect("events").at));
    assert_eq!(shown["updatedAt"], json!(log.last().expect("events").at));
    let agents = shown["agents"].as_array().expect("a list").iter();
    let ids: Vec<_> = agents.map(|agent| agent["agentId"].clone()).collect();
    assert!(!ids.is_empty());
    assert_eq!(shown["agentIds"], json!(ids));
    running.stop().await;
}
