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
