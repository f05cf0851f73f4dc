//! A session as it happens, over server-sent events.

use roundtable::core::event::Seq;
use roundtable::prelude::*;
use roundtable_server::{Limits, Settings};
use serde_json::{Value, json};

use crate::client::{Event, get};
use crate::kit::{self, Running};

/// The session's log as its readers get it, in what names an event.
async fn log(session: &Session) -> Vec<Value> {
    let log = session.log().await.expect("a log");
    log.iter().map(|event| named(&serde_json::to_value(event.as_ref()).expect("JSON"))).collect()
}

fn named(event: &Value) -> Value {
    json!([event["seq"], event["at"], event["kind"], event["v"], event["round"], event["turn"]])
}

/// The names of fields that are not in camel case, except inside values that come from outside.
fn in_snake_case(value: &Value, found: &mut Vec<String>) {
    const FOREIGN: [&str; 5] = ["arguments", "schema", "value", "rules", "payload"];
    match value {
        Value::Object(fields) => {
            found.extend(fields.keys().filter(|name| name.contains('_')).cloned());
            let own = fields.iter().filter(|(name, _)| !FOREIGN.contains(&name.as_str()));
            own.for_each(|(_, value)| in_snake_case(value, found));
        }
        Value::Array(values) => values.iter().for_each(|value| in_snake_case(value, found)),
        _ => {}
    }
}

fn path(session: &Session) -> String {
    format!("/api/sessions/{}/events", session.id())
}

/// A session that is over.
async fn finished(running: &Running) -> Session {
    let session = kit::session(&running.engine, None, "x").await;
    session.ask("Go.").await.expect("a round");
    session.complete("it was a test").await.expect("an end");
    session
}

#[tokio::test]
async fn a_reader_gets_the_whole_log_and_is_told_the_end() {
    let running = kit::local(Script::default()).await;
    let session = finished(&running).await;
    let mut events = get(running.address, &path(&session)).stream().await;
    let (mut seen, mut wrong) = (Vec::new(), Vec::new());
    let end = loop {
        match events.next().await.expect("an event") {
            Event { name, data, id: Some(id) } if name == "message" => {
                assert_eq!(id, format!("{}:{}", session.id(), data["seq"]));
                in_snake_case(&data, &mut wrong);
                seen.push(named(&data));
            }
            Event { name, data, .. } if name == "end" => break data,
            _ => {}
        }
    };
    assert_eq!(seen, log(&session).await);
    assert_eq!(wrong, Vec::<String>::new());
    assert_eq!(end["reason"], "completed");
    assert_eq!(end["resumeFrom"], format!("{}:{}", session.id(), seen.len()));
    assert_eq!(events.next().await, None, "the server hangs up");
    let again = get(running.address, &path(&session))
        .header("last-event-id", end["resumeFrom"].as_str().expect("a place"));
    assert_eq!(again.send().await.status, 204, "a browser does not come again");
    running.stop().await;
}

#[tokio::test]
async fn a_reader_cut_at_every_event_gets_the_same_log() {
    let running = kit::local(kit::asking()).await;
    let session = finished(&running).await;
    let log = log(&session).await;
    let (mut seen, mut last) = (Vec::new(), "0".to_owned());
    while seen.len() < log.len() {
        let mut events =
            get(running.address, &path(&session)).header("last-event-id", &last).stream().await;
        let event = events.next().await.expect("an event");
        last = event.id.expect("an id");
        seen.push(named(&event.data));
    }
    assert_eq!(seen, log);
    running.stop().await;
}

#[tokio::test]
async fn f23_a_position_beyond_the_end_or_of_another_session_is_refused() {
    let running = kit::local(Script::default()).await;
    let session = finished(&running).await;
    let other = finished(&running).await;
    let head = session.state().await.expect("a state").head;
    let ask = async |position: &str| {
        let by_header =
            get(running.address, &path(&session)).header("last-event-id", position).send().await;
        let by_query =
            get(running.address, &format!("{}?after={position}", path(&session))).send().await;
        assert_eq!(by_header.problem(), by_query.problem());
        by_header
    };
    let beyond = ask(&format!("{}:{}", session.id(), head.0 + 1)).await;
    assert_eq!(beyond.problem(), (409, "beyond_end".to_owned()));
    assert_eq!(beyond.json()["head"], head.0);
    assert_eq!(ask("4000000000").await.problem(), (409, "beyond_end".to_owned()));
    assert_eq!(ask("18446744073709551615").await.problem(), (409, "beyond_end".to_owned()));
    let foreign = ask(&format!("{}:1", other.id())).await;
    assert_eq!(foreign.problem(), (409, "other_session".to_owned()));
    for bad in ["x", "-1", "1.5", "ses_x:y"] {
        assert_eq!(ask(bad).await.problem(), (400, "malformed_position".to_owned()), "{bad}");
    }
    running.stop().await;
}

#[tokio::test]
async fn what_is_being_said_is_heard_before_it_is_finished() {
    let script = Script::default()
        .voice("ada", [Reply::text("Ab").in_pieces(1, 0).with_middle_gate("speak")]);
    let running = kit::local(script).await;
    let session = kit::session(&running.engine, None, "x").await;
    let mut events = get(running.address, &path(&session)).stream().await;
    session.say("Go.").await.expect("accepted");
    let (mut names, mut turn) = (Vec::new(), serde_json::Value::Null);
    loop {
        let event = events.next().await.expect("an event");
        let kind = event.data["kind"].as_str().unwrap_or(&event.name).to_owned();
        // The rest is said only after a reader has received the beginning.
        if kind == "delta" && !names.contains(&kind) {
            assert_eq!((&event.data["text"], &event.data["offset"]), (&"A".into(), &0.into()));
            assert_eq!(event.data["agentId"], "agt_ada");
            assert_eq!(event.data["turnId"], turn);
            running.model.gates().open("speak");
        }
        if kind == "turn_started" {
            turn = event.data["turn"].clone();
        }
        let done = kind == "round_closed";
        names.push(kind);
        if done {
            break;
        }
    }
    let at = |wanted: &str| names.iter().position(|name| name == wanted);
    let (started, delta) = (at("model_call_started"), at("delta"));
    assert!(delta.is_some() && started < delta, "{names:?}");
    assert!(delta < at("model_call_finished"), "{names:?}");
    running.stop().await;
}

#[tokio::test]
async fn a_server_that_stops_tells_its_readers_where_to_go_on() {
    let running = kit::local(Script::default()).await;
    let session = kit::session(&running.engine, None, "x").await;
    let mut events = get(running.address, &path(&session)).stream().await;
    let first = events.next().await.expect("an event");
    assert_eq!(first.data["seq"], 1);
    running.ask_to_stop();
    let end = events.next().await.expect("an end");
    assert_eq!((end.name.as_str(), &end.data["reason"]), ("end", &"stopping".into()));
    assert_eq!(end.data["resumeFrom"], format!("{}:1", session.id()));
    assert_eq!(events.next().await, None);
    running.stop().await;
}

#[tokio::test]
async fn f22_there_are_so_many_places_for_readers_and_no_more() {
    let limits = Limits { streams: 1, ..Limits::default() };
    let running = kit::start(Script::default(), Settings { limits, ..Settings::default() }).await;
    let session = kit::session(&running.engine, None, "x").await;
    let mut events = get(running.address, &path(&session)).stream().await;
    assert!(events.next().await.is_some());
    let refused = get(running.address, &path(&session)).send().await;
    assert_eq!(refused.problem(), (503, "too_many_readers".to_owned()));
    assert!(refused.headers.contains("retry-after: 1"));
    assert_eq!(session.state().await.expect("a state").head, Seq(1));
    running.stop().await;
}
