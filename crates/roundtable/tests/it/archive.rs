//! A data directory, looked at while nobody or somebody else writes it.

use std::path::Path;

use roundtable::backend::OpenError;
use roundtable::core::digest::Digest;
use roundtable::core::event::Seq;
use roundtable::core::event::chain::Header;
use roundtable::core::input::Command;
use roundtable::prelude::*;
use roundtable::{Archive, Damage, Error, Verification};

async fn engine(directory: &Path) -> Engine {
    let model = ScriptedModel::new(Script::default());
    Engine::builder().sqlite(directory).custom_model("scripted", model).build().await.unwrap()
}

/// A chat of two rounds, the last of them in two takes, a fork of it and a fork of that.
async fn family(directory: &Path) -> [SessionId; 3] {
    let engine = engine(directory).await;
    let chat = engine.chat("Family").agent("Ann").open().await.unwrap();
    chat.ask("One?").await.unwrap();
    chat.ask("Two?").await.unwrap();
    chat.command(Command::Regenerate).await.unwrap();
    while chat.state().await.unwrap().round.is_some() {
        tokio::task::yield_now().await;
    }
    let child = engine.fork(chat.here().await.unwrap()).await.unwrap();
    child.ask("Three?").await.unwrap();
    let grandchild = engine.fork(child.here().await.unwrap()).await.unwrap();
    grandchild.command(Command::Regenerate).await.unwrap();
    while grandchild.state().await.unwrap().round.is_some() {
        tokio::task::yield_now().await;
    }
    engine.shutdown().await;
    [chat, child, grandchild].map(|session| session.id().clone())
}

#[tokio::test]
async fn a_directory_without_a_store_is_refused_and_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let missing = directory.path().join("none");
    let refused = Archive::open(&missing).err().unwrap();
    assert_eq!(refused, Error::Open(OpenError::Missing { directory: missing.clone() }));
    assert_eq!(refused.to_string(), format!("there are no sessions in {}", missing.display()));
    assert!(!missing.exists());
}

#[tokio::test]
async fn logs_and_states_are_those_that_the_engine_knows() {
    let directory = tempfile::tempdir().unwrap();
    let ids = family(directory.path()).await;
    let archive = Archive::open(directory.path()).unwrap();
    let listed: Vec<SessionId> =
        archive.sessions(10).await.unwrap().into_iter().map(|listed| listed.session).collect();
    assert_eq!(listed, ids.iter().rev().cloned().collect::<Vec<_>>(), "newest first");
    let engine = engine(directory.path()).await;
    for id in &ids {
        let session = engine.session(id);
        assert_eq!(archive.log(id).await.unwrap(), session.log().await.unwrap());
        assert_eq!(archive.state(id).await.unwrap(), session.state().await.unwrap());
    }
    engine.shutdown().await;
}

#[tokio::test]
async fn an_unknown_session_is_not_found() {
    let directory = tempfile::tempdir().unwrap();
    family(directory.path()).await;
    let archive = Archive::open(directory.path()).unwrap();
    let unknown: SessionId = "ses_unknown".parse().unwrap();
    assert_eq!(archive.find(&unknown).await.unwrap(), None);
    let refused = archive.log(&unknown).await.unwrap_err().to_string();
    assert!(refused.starts_with("session ses_unknown was not found"), "{refused}");
    assert!(archive.state(&unknown).await.is_err());
}

#[tokio::test]
async fn a_turn_is_known_while_it_is_open_and_after_it_ended() {
    let directory = tempfile::tempdir().unwrap();
    let script = Script::default()
        .voice("ann", [Reply::text("Done.")])
        .voice("ann", [Reply::text("Never.").at_gate("never")]);
    let model = ScriptedModel::new(script);
    let engine = Engine::builder()
        .sqlite(directory.path())
        .custom_model("scripted", model)
        .build()
        .await
        .unwrap();
    let chat = engine.chat("Turns").agent("Ann").open().await.unwrap();
    chat.ask("One?").await.unwrap();
    chat.say("Two?").await.unwrap();
    let archive = Archive::open(directory.path()).unwrap();
    let log = archive.log(chat.id()).await.unwrap();
    let started = log.iter().filter(|event| event.body.kind() == "turn_started");
    let turns: Vec<_> = started.map(|event| event.place.turn.clone().unwrap()).collect();
    let [ended, open] = turns.as_slice() else { panic!("{turns:?}") };
    let ended = archive.turn(chat.id(), ended).await.unwrap().unwrap();
    assert_eq!(ended.to_messages().last().unwrap().text(), "Done.");
    assert!(ended.iterations()[0].completed_at.is_some());
    let open = archive.turn(chat.id(), open).await.unwrap().unwrap();
    assert_eq!(open.to_messages().last().unwrap().text(), "User: Two?");
    assert!(open.iterations()[0].completed_at.is_none());
    assert_eq!(archive.turn(chat.id(), &"trn_none".parse().unwrap()).await.unwrap(), None);
    engine.stop().await;
}

#[tokio::test]
async fn forks_and_takes_are_sound_and_each_event_is_counted_once() {
    let directory = tempfile::tempdir().unwrap();
    let ids = family(directory.path()).await;
    let archive = Archive::open(directory.path()).unwrap();
    let last = archive.find(&ids[2]).await.unwrap().unwrap().head;
    let found = archive.verify().await;
    assert_eq!(found, Verification { sessions: 3, events: last.0, damages: Vec::new() });
}

#[tokio::test]
async fn damage_in_a_past_that_sessions_share_is_found_in_each_of_them() {
    let directory = tempfile::tempdir().unwrap();
    let ids = family(directory.path()).await;
    let database = rusqlite::Connection::open(directory.path().join("roundtable.db")).unwrap();
    database.execute("UPDATE event SET at = at + 1 WHERE id = (1 << 32) + 4", []).unwrap();
    let archive = Archive::open(directory.path()).unwrap();
    let damage = |id: &SessionId, what: String| Damage {
        session: Some(id.to_string()),
        seq: Some(Seq(4)),
        what,
    };
    let broken = "the chain is broken".to_owned();
    let inherited = format!("{broken} (in {}, which it was forked from)", ids[0]);
    let expected =
        [damage(&ids[0], broken), damage(&ids[1], inherited.clone()), damage(&ids[2], inherited)];
    assert_eq!(archive.verify().await.damages, expected);
}

/// Makes the last event of the only session one of a later version, sealed as it should be.
fn modernise(directory: &Path, session: &SessionId, last: Seq) {
    let database = rusqlite::Connection::open(directory.join("roundtable.db")).unwrap();
    let text = |sql: &str| database.query_row(sql, [], |row| row.get::<_, String>(0)).unwrap();
    let number = |sql: &str| database.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    let column = |name: &str| format!("SELECT {name} FROM event ORDER BY id DESC LIMIT 1");
    let before = text("SELECT hash FROM event ORDER BY id DESC LIMIT 1 OFFSET 1");
    let place = ["round", "turn", "iteration", "tool_call"].map(|name| text(&column(name)));
    let header = Header {
        session,
        seq: last,
        epoch: number(&column("epoch")).unsigned_abs(),
        at: number(&column("at")),
        kind: &text(&column("kind")),
        version: 3,
        place: place.each_ref().map(String::as_str),
        body: &Digest::from_stored(text(&column("digest"))),
    };
    let hash = header.hash(&Digest::from_stored(before));
    let sql = "UPDATE event SET version = 3, hash = ?1 WHERE id = (SELECT max(id) FROM event)";
    database.execute(sql, [hash.as_str()]).unwrap();
    database.execute("UPDATE session SET head_hash = ?1", [hash.as_str()]).unwrap();
}

#[tokio::test]
async fn an_event_of_a_later_version_is_no_damage() {
    let directory = tempfile::tempdir().unwrap();
    let engine = engine(directory.path()).await;
    let chat = engine.chat("Later").agent("Ann").open().await.unwrap();
    chat.ask("One?").await.unwrap();
    let last = chat.state().await.unwrap().head;
    engine.shutdown().await;
    modernise(directory.path(), chat.id(), last);
    let archive = Archive::open(directory.path()).unwrap();
    assert!(archive.state(chat.id()).await.unwrap().newer);
    let found = archive.verify().await;
    assert_eq!(found, Verification { sessions: 1, events: last.0, damages: Vec::new() });
}

/// What is asked of a session that another process owns is answered, also when the answer to an
/// earlier question has just closed the door.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_session_that_another_process_owns_can_be_asked_by_many_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let owner = engine(directory.path()).await;
    let chat = owner.chat("Owned").agent("Ann").open().await.unwrap();
    chat.ask("One?").await.unwrap();
    let other = engine(directory.path()).await;
    for _ in 0..40 {
        let asked = (0..100).map(|_| {
            let session = other.session(chat.id());
            tokio::task::spawn(async move { session.state().await.map(|state| state.topic) })
        });
        for asked in asked.collect::<Vec<_>>() {
            assert_eq!(asked.await.unwrap(), Ok("Owned".to_owned()));
        }
    }
    other.shutdown().await;
    owner.shutdown().await;
}
