//! Several engines: on stores of their own, and on one store, where each session has one writer.

use std::sync::Arc;
use std::time::Duration;

use roundtable_backend::MemoryStore;
use roundtable_core::Reject;
use roundtable_core::agent::Agent;
use roundtable_core::event::RoundOutcome;
use roundtable_core::id::{CommandId, NodeId, SessionId};
use roundtable_core::input::Command;
use roundtable_core::settings::Settings;
use roundtable_engine::EngineError;
use roundtable_models::scripted::{Reply, Script, ScriptedModel};
use roundtable_ports::{Leases as _, LogError};
use roundtable_testing::{Kit, agent, opening, rounds, say, until};

use crate::seen::{count, replies, round_ends};

fn node(name: &str) -> NodeId {
    NodeId::new(name).unwrap()
}

/// A process beside this one, on the same disk, with a model of its own.
fn beside(kit: &Kit, node: &'static str, script: Script) -> Kit {
    let store = Arc::new(MemoryStore::on(kit.store.disk().clone()));
    Kit { store, node, ..Kit::new(script) }
}

fn epochs(kit: &Kit, session: &SessionId) -> Vec<u64> {
    kit.store.disk().dump(session).into_iter().map(|stored| stored.epoch).collect()
}

#[tokio::test(start_paused = true)]
async fn two_engines_live_in_one_process_and_know_nothing_of_each_other() {
    let one = Kit::new(Script::default().voice("ann", [Reply::text("one {input}")]));
    let two = Kit::new(Script::default().voice("ann", [Reply::text("two {input}")]));
    let (first, second) = (one.start().await, two.start().await);
    let id = SessionId::new("same").unwrap();
    for (engine, text) in [(&first, "alpha"), (&second, "beta")] {
        let opening = opening(vec![agent("Ann")], Settings::default());
        let session = engine.open_as(&id, opening, None).await.unwrap();
        session.command(say(&id, "m1", text), None).await.unwrap();
    }
    assert_eq!(replies(&rounds(&first.session(&id), 1).await), ["one User: alpha"]);
    assert_eq!(replies(&rounds(&second.session(&id), 1).await), ["two User: beta"]);
    first.shutdown().await;
    second.session(&id).command(say(&id, "m2", "gamma"), None).await.unwrap();
    let texts = replies(&rounds(&second.session(&id), 2).await);
    assert_eq!(texts, ["two User: beta", "two User: gamma"]);
    second.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_command_for_a_session_that_another_node_drives_is_carried_out_there() {
    let kit = Kit::new(Script::default().voice("ann", [Reply::text("Well.")]));
    let first = kit.start().await;
    let session = first.open(opening(vec![agent("Ann")], Settings::default())).await.unwrap();
    session.command(say(session.id(), "m1", "Go."), None).await.unwrap();
    rounds(&session, 1).await;
    let other = beside(&kit, "two", Script::default());
    let second = other.start().await;
    let theirs = second.session(session.id());
    theirs.command(say(session.id(), "m2", "And?"), None).await.unwrap();
    assert_eq!(replies(&rounds(&theirs, 2).await), ["Well.", "Well."]);
    assert_eq!(theirs.state().await.unwrap(), session.state().await.unwrap());
    assert_eq!(epochs(&kit, session.id()), vec![1; 19], "one writer wrote it all");
    assert_eq!((second.loaded(), other.model.count()), (0, 0), "it takes no room here");
    let empty = theirs.command(say(session.id(), "m3", " "), None).await.unwrap_err();
    assert!(empty.to_string().starts_with("the message is empty"), "a refusal comes back too");

    first.shutdown().await;
    theirs.command(say(session.id(), "m3", "Still there?"), None).await.unwrap();
    let events = rounds(&theirs, 3).await;
    assert_eq!(replies(&events), ["Well.", "Well.", "Ann has nothing to add."]);
    let epochs = epochs(&kit, session.id());
    assert!(epochs.is_sorted() && epochs.first() < epochs.last(), "{epochs:?}");
    second.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn commands_for_two_sessions_under_one_id_do_not_meet_on_their_way() {
    let kit = Kit::new(Script::default().voice("ann", [Reply::text("{input}")]));
    let first = kit.start().await;
    let mut sessions = Vec::new();
    for _ in 0..2 {
        let session = first.open(opening(vec![agent("Ann")], Settings::default())).await.unwrap();
        sessions.push(session);
    }
    let second = beside(&kit, "two", Script::default()).start().await;
    let same = Some(CommandId::new("c1").unwrap());
    let tell = |index: usize| {
        let id = sessions[index].id().clone();
        let (command, same) = (say(&id, "m1", &format!("for {index}")), same.clone());
        let session = second.session(&id);
        async move { session.command(command, same).await }
    };
    let (one, two) = tokio::join!(tell(0), tell(1));
    assert!(one.is_ok() && two.is_ok(), "{one:?} {two:?}");
    for (index, session) in sessions.iter().enumerate() {
        assert_eq!(replies(&rounds(session, 1).await), [format!("User: for {index}")]);
    }
    first.shutdown().await;
    second.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_command_on_its_way_to_a_node_that_dies_is_carried_out_once_here() {
    let script = || Script::default().voice("ann", [Reply::text("{input}").at_gate("go")]);
    let kit = Kit::new(script());
    let first = kit.start().await;
    let session = first.open(opening(vec![agent("Ann")], Settings::default())).await.unwrap();
    session.command(say(session.id(), "m1", "one"), None).await.unwrap();
    until("the first node asks", || kit.model.count() == 1).await;
    let other = beside(&kit, "two", script());
    other.model.gates().open("go");
    let second = other.start().await;
    let theirs = second.session(session.id());
    // The first node stops while the command is under way, and dies.
    let (told, ()) = tokio::join!(theirs.command(say(session.id(), "m2", "two"), None), async {
        first.stop().await;
        kit.store.disk().bury(&node("one"));
    });
    told.unwrap();
    let events = rounds(&theirs, 2).await;
    assert_eq!(replies(&events), ["User: one", "User: two"]);
    assert_eq!(count(&events, "session_input_accepted"), 2);
    second.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_session_that_another_node_is_only_about_to_open_is_not_found() {
    let kit = Kit::new(Script::default());
    let first = kit.start().await;
    let id = SessionId::new("soon").unwrap();
    kit.store.claim_one(&id, &node("one")).await.unwrap();
    let second = beside(&kit, "two", Script::default()).start().await;
    let missing = second.session(&id).state().await.err();
    assert_eq!(missing, Some(Reject::NotFound { session: id }.into()));
    first.shutdown().await;
    second.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_quiet_session_moves_between_nodes_as_it_is_needed() {
    let kit = Kit::new(Script::default());
    let first = kit.start().await;
    let session = first.open(opening(vec![agent("Ann")], Settings::default())).await.unwrap();
    let second = beside(&kit, "two", Script::default()).start().await;
    for number in 0..4 {
        tokio::time::sleep(Duration::from_secs(61)).await;
        let engine = if number % 2 == 0 { &second } else { &first };
        let here = engine.session(session.id());
        here.command(say(session.id(), &format!("m{number}"), "Go."), None).await.unwrap();
        assert_eq!(round_ends(&rounds(&here, number + 1).await).len(), number + 1);
    }
    first.shutdown().await;
    second.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn f08_a_node_that_was_given_up_is_fenced_and_its_session_goes_on_elsewhere() {
    let script = || Script::default().voice("ann", [Reply::text("Well: {input}").at_gate("go")]);
    let kit = Kit::new(script());
    let first = kit.start().await;
    let session = first.open(opening(vec![agent("Ann")], Settings::default())).await.unwrap();
    session.command(say(session.id(), "m1", "Go."), None).await.unwrap();
    until("the first node asks", || kit.model.count() == 1).await;

    // The store gives the first node up, though it lives; another finds the work on its sweep.
    kit.store.disk().bury(&node("one"));
    let other = beside(&kit, "two", script());
    let second = other.start().await;
    until("the second node asks again", || other.model.count() == 1).await;
    let taken = kit.store.disk().dump(session.id()).len();
    // What the first node still wants to write fails in the commit itself, and it lets go.
    let fenced = session.command(Command::Stop, None).await;
    assert_eq!(fenced, Err(EngineError::Log(LogError::Fenced { epoch: 2 })));
    kit.model.gates().open("go");
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(first.loaded(), 0);
    assert_eq!(kit.store.disk().dump(session.id()).len(), taken);

    // What it is told from now on goes to the new writer.
    session.command(say(session.id(), "m2", "Go on."), None).await.unwrap();
    other.model.gates().open("go");
    let events = rounds(&second.session(session.id()), 2).await;
    assert_eq!(round_ends(&events), [RoundOutcome::Completed; 2]);
    assert_eq!(count(&events, "model_call_interrupted"), 1, "a possible duplicate is declared");
    assert_eq!(replies(&events), ["Well: User: Go.", "Well: User: Go on."]);
    assert_eq!(kit.model.count(), 1);
    assert!(epochs(&kit, session.id()).is_sorted());
    first.shutdown().await;
    second.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_sweep_finds_work_that_a_node_left_when_it_died() {
    let script = || Script::default().voice("ann", [Reply::text("Well.").at_gate("go")]);
    let kit = Kit::new(script());
    let first = kit.start().await;
    let other = beside(&kit, "two", script());
    let second = other.start().await;
    let mut sessions = Vec::new();
    for _ in 0..30 {
        let session = first.open(opening(vec![agent("Ann")], Settings::default())).await.unwrap();
        session.command(say(session.id(), "m1", "Go."), None).await.unwrap();
        sessions.push(session);
    }
    until("all are asked", || kit.model.count() == 30).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(other.model.count(), 0, "while a node lives its work is its own");
    first.stop().await;
    kit.store.disk().bury(&node("one"));
    until("all are asked elsewhere", || other.model.count() == 30).await;
    other.model.gates().open("go");
    for session in &sessions {
        let events = rounds(&second.session(session.id()), 1).await;
        assert_eq!(round_ends(&events), [RoundOutcome::Completed]);
        assert_eq!(count(&events, "model_call_interrupted"), 1);
    }
    second.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn f11_of_two_nodes_that_want_a_session_at_once_one_writes_it() {
    let kit = Kit::new(Script::default());
    let opener = kit.start().await;
    let mut ids = Vec::new();
    for _ in 0..100 {
        let session = opener.open(opening(vec![agent("Ann")], Settings::default())).await.unwrap();
        ids.push(session.id().clone());
    }
    opener.shutdown().await;
    let alpha = beside(&kit, "alpha", Script::default()).start().await;
    let beta = beside(&kit, "beta", Script::default()).start().await;
    for id in &ids {
        let (mine, theirs) = (alpha.session(id), beta.session(id));
        let (one, two) = tokio::join!(
            mine.command(say(id, "m1", "from alpha"), None),
            theirs.command(say(id, "m2", "from beta"), None)
        );
        assert!(one.is_ok() && two.is_ok(), "{one:?} {two:?}");
        let events = rounds(&mine, 2).await;
        assert_eq!(round_ends(&events), [RoundOutcome::Completed; 2]);
        let mut writers = epochs(&kit, id);
        writers.dedup();
        assert_eq!(writers.len(), 2, "the opener, and one of the two");
    }
    alpha.shutdown().await;
    beta.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_session_is_left_to_a_process_that_has_its_models() {
    let script = || Script::default().voice("ann", [Reply::text("Well.").at_gate("go")]);
    let special = ScriptedModel::new(script());
    let kit = Kit::new(Script::default()).model("special", special.clone());
    let first = kit.start().await;
    let ann = Agent { model: "special".to_owned(), ..agent("Ann") };
    let session = first.open(opening(vec![ann], Settings::default())).await.unwrap();
    let id = session.id().clone();
    session.command(say(&id, "m1", "Go."), None).await.unwrap();
    until("the first node asks", || special.count() == 1).await;
    first.stop().await;
    kit.store.disk().bury(&node("one"));

    // A process without the model sees that there is work, many times, and leaves it alone.
    let second = beside(&kit, "two", Script::default()).start().await;
    let written = kit.store.disk().dump(&id).len();
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(kit.store.disk().dump(&id).len(), written);
    let refused = second.session(&id).command(say(&id, "m2", "And?"), None).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "this process cannot continue the session: unknown model \"special\"; registered: scripted. Register it, use a process that has it, or fork the session with other agents"
    );
    assert_eq!(second.session(&id).state().await.unwrap().head.0 as usize, written);

    // One that has it goes on.
    special.gates().open("go");
    let third = beside(&kit, "three", Script::default()).model("special", special);
    let third = third.start().await;
    let events = rounds(&third.session(&id), 1).await;
    assert_eq!(
        (round_ends(&events), replies(&events)),
        (vec![RoundOutcome::Completed], vec!["Well.".to_owned()])
    );
    second.shutdown().await;
    third.shutdown().await;
}
