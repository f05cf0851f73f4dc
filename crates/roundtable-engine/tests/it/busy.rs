//! Messages that arrive while a round is open, and sessions that come and go.

use std::time::Duration;

use roundtable_core::Reject;
use roundtable_core::event::{Body, RoundEvent, RoundOutcome, Seq};
use roundtable_core::input::{Command, OnBusy, Say};
use roundtable_core::settings::Settings;
use roundtable_engine::{Engine, SessionHandle};
use roundtable_models::scripted::{Reply, Script};
use roundtable_testing::{Kit, agent, events_until, message, opening, rounds, say, until};

use crate::seen::{count, kinds, replies, round_ends};

/// Ann waits at a gate in her first round and answers at once in the next ones.
fn gated() -> Kit {
    let script = Script::default()
        .voice("ann", [Reply::text("First: {input}").at_gate("first")])
        .voice("ann", [Reply::text("Then: {input}")])
        .voice("ann", [Reply::text("Last: {input}")]);
    Kit::new(script)
}

/// A session whose first round is open, its model call at the gate.
async fn busy(kit: &Kit) -> (Engine, SessionHandle) {
    let engine = kit.start().await;
    let session = engine.open(opening(vec![agent("Ann")], Settings::default())).await.unwrap();
    session.command(say(session.id(), "m1", "one"), None).await.unwrap();
    until("the first round is at the gate", || kit.model.count() == 1).await;
    (engine, session)
}

fn wanting(session: &SessionHandle, id: &str, text: &str, on_busy: OnBusy) -> Command {
    Command::Say(Say { on_busy, ..message(session.id(), id, text) })
}

#[tokio::test(start_paused = true)]
async fn a_queued_message_is_committed_at_once_and_opens_the_next_round() {
    let kit = gated();
    let (engine, session) = busy(&kit).await;
    session.command(wanting(&session, "m2", "two", OnBusy::Queue), None).await.unwrap();
    session.command(wanting(&session, "m3", "three", OnBusy::Queue), None).await.unwrap();
    let state = session.state().await.unwrap();
    let waiting: Vec<_> = state.waiting.iter().map(|w| w.context.message_id()).collect();
    assert_eq!((state.current_round(), waiting), (1, vec!["m2", "m3"]));
    kit.model.gates().open("first");
    let events = rounds(&session, 3).await;
    assert_eq!(replies(&events), ["First: User: one", "Then: User: two", "Last: User: three"]);
    let opened: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.body {
            Body::Round(RoundEvent::RoundOpened { number, said, .. }) => {
                Some((*number, said.unwrap().number))
            }
            _ => None,
        })
        .collect();
    // Numbers are given when the round opens: question and answer alternate.
    assert_eq!(opened, [(1, 1), (2, 3), (3, 5)]);
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_message_that_will_not_wait_is_refused_while_a_round_is_open() {
    let kit = gated();
    let (engine, session) = busy(&kit).await;
    let before = session.state().await.unwrap();
    let refused = session.command(wanting(&session, "m2", "two", OnBusy::Reject), None).await;
    assert_eq!(refused, Err(Reject::Busy { round: 1 }.into()));
    assert_eq!(session.state().await.unwrap(), before);
    kit.model.gates().open("first");
    rounds(&session, 1).await;
    session.command(wanting(&session, "m2", "two", OnBusy::Reject), None).await.unwrap();
    assert_eq!(round_ends(&rounds(&session, 2).await), [RoundOutcome::Completed; 2]);
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_message_that_interrupts_cuts_the_open_round_off() {
    let kit = gated();
    let (engine, session) = busy(&kit).await;
    session.command(wanting(&session, "m2", "two", OnBusy::Interrupt), None).await.unwrap();
    let events = rounds(&session, 2).await;
    assert_eq!(round_ends(&events), [RoundOutcome::Incomplete, RoundOutcome::Completed]);
    assert_eq!(replies(&events), ["Then: User: two"]);
    assert_eq!(count(&events, "model_call_cancelled"), 1);
    // The answer of the first round would come now; it is nobody's.
    kit.model.gates().open("first");
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(kit.store.disk().dump(session.id()).len(), events.len());
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_stop_when_nothing_runs_changes_nothing() {
    let kit = gated();
    let engine = kit.start().await;
    let session = engine.open(opening(vec![agent("Ann")], Settings::default())).await.unwrap();
    let receipt = session.command(Command::Stop, None).await.unwrap();
    assert_eq!(receipt.seq, Seq(1));
    assert_eq!(session.state().await.unwrap().head, Seq(1));
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_stop_ends_the_round_and_lets_the_next_message_go_on() {
    let kit = gated();
    let (engine, session) = busy(&kit).await;
    session.command(wanting(&session, "m2", "two", OnBusy::Queue), None).await.unwrap();
    session.command(Command::Stop, None).await.unwrap();
    let events = rounds(&session, 2).await;
    assert_eq!(round_ends(&events), [RoundOutcome::Incomplete, RoundOutcome::Completed]);
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn only_so_many_messages_may_wait() {
    let kit = gated();
    let engine = kit.start().await;
    let settings = Settings { max_waiting: 2, ..Settings::default() };
    let session = engine.open(opening(vec![agent("Ann")], settings)).await.unwrap();
    for id in ["m1", "m2", "m3"] {
        session.command(say(session.id(), id, id), None).await.unwrap();
    }
    let refused = session.command(say(session.id(), "m4", "m4"), None).await;
    assert_eq!(refused, Err(Reject::QueueFull { waiting: 2 }.into()));
    kit.model.gates().open("first");
    assert_eq!(round_ends(&rounds(&session, 3).await), [RoundOutcome::Completed; 3]);
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_paused_session_opens_no_round_until_it_is_resumed() {
    let kit = gated();
    let (engine, session) = busy(&kit).await;
    session.command(say(session.id(), "m2", "two"), None).await.unwrap();
    session.command(Command::Pause, None).await.unwrap();
    kit.model.gates().open("first");
    let paused = rounds(&session, 1).await;
    assert_eq!(kinds(&paused).last().unwrap(), "round_closed");
    tokio::time::sleep(Duration::from_secs(600)).await;
    assert_eq!(kit.model.count(), 1);
    session.command(Command::Resume, None).await.unwrap();
    assert_eq!(replies(&rounds(&session, 2).await)[1], "Then: User: two");
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_completed_session_drops_what_waits_and_says_so() {
    let kit = gated();
    let (engine, session) = busy(&kit).await;
    session.command(say(session.id(), "m2", "two"), None).await.unwrap();
    let done = Command::Complete { reason: "enough".to_owned() };
    session.command(done, None).await.unwrap();
    let events = events_until(&session, |event| event.body.kind() == "session_completed").await;
    assert_eq!(round_ends(&events), [RoundOutcome::Incomplete]);
    assert_eq!(count(&events, "session_input_dropped"), 1);
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn quiet_sessions_leave_memory_and_come_back_as_they_were() {
    let kit = gated();
    let engine = kit.start().await;
    kit.model.gates().open("first");
    let mut sessions = Vec::new();
    for _ in 0..20 {
        let session = engine.open(opening(vec![agent("Ann")], Settings::default())).await.unwrap();
        session.command(say(session.id(), "m1", "one"), None).await.unwrap();
        rounds(&session, 1).await;
        sessions.push((session.clone(), session.state().await.unwrap()));
    }
    assert_eq!(engine.loaded(), 20);
    tokio::time::sleep(Duration::from_secs(61)).await;
    assert_eq!(engine.loaded(), 0);
    for (session, before) in &sessions {
        assert_eq!(&session.state().await.unwrap(), before);
        session.command(say(session.id(), "m2", "two"), None).await.unwrap();
        let events = rounds(session, 2).await;
        assert_eq!(replies(&events), ["First: User: one", "Then: User: two"]);
        assert!(kit.model.received().last().unwrap().prompt.contains("Ann: First: User: one"));
    }
    engine.shutdown().await;
    assert_eq!(engine.loaded(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_session_at_work_does_not_leave_memory_however_long_it_takes() {
    let kit = gated();
    let (engine, session) = busy(&kit).await;
    tokio::time::sleep(Duration::from_secs(3600)).await;
    assert_eq!(engine.loaded(), 1);
    kit.model.gates().open("first");
    let events = rounds(&session, 1).await;
    assert_eq!(replies(&events), ["First: User: one"]);
    assert_eq!((kit.model.count(), count(&events, "model_call_interrupted")), (1, 0));
    engine.shutdown().await;
}
