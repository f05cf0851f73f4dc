//! F33: a file that an earlier version wrote is read by this one, to the same states. `v1/` has the
//! file as SQL text, and the states that its sessions fold to; `v3/` the same for debates; `v4/` has sessions of several tenants;
//! `v5/` has approvals, failed calls and failed rounds under the rules of before. They are
//! never changed: a version that writes something new gets a folder of its own, made by `make`.

mod consent;
mod debate;
mod make;
mod poisoned;
mod tenant;

pub use make::dump;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use roundtable_backend::SqliteStore;
use roundtable_core::Live;
use roundtable_core::event::{Body, Event, Seq};
use roundtable_core::id::SessionId;
use roundtable_core::input::Command;
use roundtable_ports::{SessionLog as _, Store};
use roundtable_testing::{ProgramSet, say};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::table::{events_until, lines, session, shell};

/// What a session of the file has to come to.
#[derive(Debug, Serialize, Deserialize)]
pub struct Expected {
    /// The kinds of its events, in order.
    kinds: Vec<String>,
    /// The state that they fold to.
    state: Value,
    /// The messages of the takes that count.
    messages: Vec<String>,
}

fn folder(version: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(version)
}

/// A directory with the file of a version.
fn restored(version: &str) -> tempfile::TempDir {
    restored_from(&folder(version).join("data.sql"))
}

/// A directory with the file that a dump tells of.
fn restored_from(dump: &Path) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let dump = std::fs::read_to_string(dump).unwrap();
    shell(directory.path()).execute_batch(&dump).unwrap();
    directory
}

fn expected(version: &str) -> BTreeMap<SessionId, Expected> {
    let text = std::fs::read_to_string(folder(version).join("states.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

async fn events(store: &SqliteStore, session: &SessionId) -> Vec<Arc<Event>> {
    store.read(session, Seq(1), usize::MAX).await.unwrap()
}

/// What the sessions of a file come to now.
async fn fold_all(directory: &Path) -> BTreeMap<SessionId, Expected> {
    let store = SqliteStore::open(directory).unwrap();
    let mut folded = BTreeMap::new();
    let shell = shell(directory);
    for line in lines(&shell, "SELECT id, number FROM session ORDER BY number") {
        let (id, number) = line.split_once('|').unwrap();
        let session: SessionId = id.parse().unwrap();
        let events = events(&store, &session).await;
        let mut live = Live::new(session.clone(), &ProgramSet::default().programs);
        events.iter().for_each(|event| live.apply(event));
        let messages = format!(
            "SELECT messageNumber, roundNumber, sender, message FROM Messages WHERE sceneId = {number} ORDER BY 1"
        );
        let expected = Expected {
            kinds: events.iter().map(|event| event.body.kind().to_owned()).collect(),
            state: serde_json::to_value(&live.session).unwrap(),
            messages: lines(&shell, &messages),
        };
        folded.insert(session, expected);
    }
    folded
}

/// Whether everything of the old value is in the new one. A newer version may know more.
fn holds(new: &Value, old: &Value) -> bool {
    match (new, old) {
        (Value::Object(new), Value::Object(old)) => {
            old.iter().all(|(name, old)| new.get(name).is_some_and(|new| holds(new, old)))
        }
        (Value::Array(new), Value::Array(old)) => {
            new.len() == old.len() && new.iter().zip(old).all(|(new, old)| holds(new, old))
        }
        (new, old) => new == old,
    }
}

/// A state of an earlier version in the form of this one. What is not named here stays where it was.
///
/// | was | is |
/// |---|---|
/// | `settings.debate` | `settings.program.rules` |
/// | `perspectives` | in the words of the analyst; in newer logs `state.perspectives` |
/// | `asides`, a count | `asides_opened` |
/// | `syntheses[]` | `asides_done[]`, with the purpose `synthesize` |
/// | `marks[].exit`, `redo.exit` | `ends`, the reason in words |
/// | `round` where `round.aside` | `asides[0]` |
/// | `round.measured` | a job of the round that is over |
/// | `round.stages[][]`, agents | `round.stages[].seats[].agent` |
/// | `round.turns[].purpose` | the `purpose` of the turn's stage |
fn moved(mut state: Value) -> Value {
    let Some(map) = state.as_object_mut() else { return state };
    let rules =
        map.get_mut("settings").and_then(|settings| settings.as_object_mut()?.remove("debate"));
    if let Some(rules) = rules.filter(|rules| !rules.is_null()) {
        map["settings"]["program"] = json!({ "name": "debate", "rules": rules });
    }
    map.remove("perspectives");
    if let Some(count) = map.remove("asides") {
        map.insert("asides_opened".to_owned(), count);
    }
    if let Some(Value::Array(mut syntheses)) = map.remove("syntheses") {
        syntheses.iter_mut().for_each(|one| one["purpose"] = json!("synthesize"));
        map.insert("asides_done".to_owned(), Value::Array(syntheses));
    }
    for mark in map.get_mut("marks").and_then(Value::as_array_mut).into_iter().flatten() {
        move_exit(mark);
    }
    map.get_mut("redo").into_iter().for_each(move_exit);
    if let Some(round) = map.get_mut("round").filter(|round| round.is_object()) {
        move_round(round);
        if round.as_object_mut().and_then(|round| round.remove("aside")) == Some(json!(true)) {
            let aside = std::mem::take(round);
            map.insert("asides".to_owned(), json!([aside]));
        }
    }
    state
}

fn move_exit(mark: &mut Value) {
    let Some(mark) = mark.as_object_mut() else { return };
    let reason = match mark.remove("exit").as_ref().and_then(Value::as_str) {
        Some("agreement") => "consensus: the panel agrees (agreement of 0.9 or more)",
        Some("convergence") => "consensus: nobody's position changed in two rounds in a row",
        Some(_) => "consensus: everyone is sure (confidence of 0.85 or more)",
        None => return,
    };
    mark.insert("ends".to_owned(), json!(reason));
}

fn move_round(round: &mut Value) {
    for stage in round["stages"].as_array_mut().into_iter().flatten() {
        let agents = stage.as_array().cloned().unwrap_or_default();
        let seats: Vec<Value> = agents.into_iter().map(|agent| json!({ "agent": agent })).collect();
        *stage = json!({ "seats": seats });
    }
    for turn in round["turns"].as_array_mut().into_iter().flatten() {
        turn.as_object_mut().and_then(|turn| turn.remove("purpose"));
    }
    round.as_object_mut().and_then(|round| round.remove("measured"));
}

/// What a kind of event is read as.
fn read_as(kind: &str) -> &str {
    if kind == "round_measured" { "job_finished" } else { kind }
}

/// The sessions of a file fold to the states that they had when it was written.
async fn assert_folds_as_it_did(version: &str) {
    let directory = restored(version);
    let (now, then) = (fold_all(directory.path()).await, expected(version));
    assert_eq!(now.keys().collect::<Vec<_>>(), then.keys().collect::<Vec<_>>());
    for (session, then) in &then {
        let now = &now[session];
        let kinds: Vec<&str> = then.kinds.iter().map(|kind| read_as(kind)).collect();
        assert_eq!(now.kinds, kinds, "{session}");
        assert_eq!(now.messages, then.messages, "{session}");
        assert!(
            holds(&now.state, &moved(then.state.clone())),
            "{session}:\n{:#}\n---\n{:#}",
            now.state,
            then.state
        );
    }
}

#[tokio::test]
async fn f33_a_file_of_version_1_folds_to_the_states_that_it_had() {
    assert_folds_as_it_did("v1").await;
}

#[test]
fn f33_the_file_of_version_1_has_every_kind_of_event() {
    let kinds: std::collections::BTreeSet<_> =
        expected("v1").into_values().flat_map(|expected| expected.kinds).collect();
    let known = [
        "context_provided",
        "context_requested",
        "context_withdrawn",
        "iteration_closed",
        "iteration_opened",
        "model_call_cancelled",
        "model_call_failed",
        "model_call_finished",
        "model_call_interrupted",
        "model_call_started",
        "round_closed",
        "round_opened",
        "session_completed",
        "session_forked",
        "session_input_accepted",
        "session_input_dropped",
        "session_opened",
        "session_paused",
        "session_resumed",
        "session_round_superseded",
        "session_take_selected",
        "tool_call_finished",
        "tool_call_interrupted",
        "tool_call_published",
        "tool_call_requested",
        "tool_call_started",
        "turn_ended",
        "turn_started",
    ];
    let missing: Vec<_> = known.iter().filter(|kind| !kinds.contains(**kind)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(kinds.contains("moon_landed") && kinds.contains("redacted"), "{kinds:?}");
}

#[tokio::test]
async fn f33_an_event_of_a_newer_version_is_kept_and_its_session_is_not_written() {
    let directory = restored("v1");
    let store = Arc::new(SqliteStore::open(directory.path()).unwrap());
    let engine = make::start(&store).await;
    let future = session("future");
    let before = events(&store, &future).await;
    let unknown = Body::Unknown {
        kind: "moon_landed".to_owned(),
        version: 3,
        data: serde_json::json!({ "crew": ["Ann", "Bob"], "craters": 7 }),
    };
    assert_eq!(before.last().unwrap().body, unknown, "to the letter");
    let handle = engine.session(&future);
    assert!(handle.state().await.unwrap().newer, "it can be read");
    let refused = handle.command(Command::Pause, None).await.unwrap_err().to_string();
    assert!(refused.contains("newer"), "{refused}");
    engine.shutdown().await;
    assert_eq!(events(&store, &future).await, before);
    let columns = "SELECT version, body FROM event WHERE kind = 'moon_landed'";
    let stored = lines(&shell(directory.path()), columns);
    assert_eq!(stored, [r#"3|{"craters":7,"crew":["Ann","Bob"]}"#]);
}

#[tokio::test]
async fn f33_a_session_of_version_1_goes_on() {
    let directory = restored("v1");
    let store = Arc::new(SqliteStore::open(directory.path()).unwrap());
    let engine = make::start(&store).await;
    let handle = engine.session(&session("branch"));
    let before = Store::of(store.clone()).directory.find(handle.id()).await.unwrap().unwrap();
    // From its snapshot, if this version still knows the form; the states are the same.
    let state = serde_json::to_value(handle.state().await.unwrap()).unwrap();
    assert!(holds(&state, &moved(expected("v1")[handle.id()].state.clone())), "{state:#}");
    handle.command(say(handle.id(), "now", "Where were we?"), None).await.unwrap();
    events_until(&handle, |event| event.seq > before.head && event.body.kind() == "round_closed")
        .await;
    engine.shutdown().await;
}
