//! Commands: acknowledged once, done once, and refused with a word on what to do.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use roundtable_backend::{Fault, Faults, MemoryStore};
use roundtable_core::Reject;
use roundtable_core::event::{RoundOutcome, Seq};
use roundtable_core::id::{AgentId, CommandId, SessionId};
use roundtable_core::input::Command;
use roundtable_core::settings::Settings;
use roundtable_core::tool::{Effect, ToolDecl};
use roundtable_engine::EngineError;
use roundtable_models::scripted::{Reply, Script};
use roundtable_ports::LogError;
use roundtable_testing::{FnTool, Kit, agent, opening, rounds, say};

use crate::seen::{armed, count, replies, round_ends};

fn command(name: &str) -> Option<CommandId> {
    Some(CommandId::new(name).unwrap())
}

fn polite() -> Kit {
    Kit::new(Script::default().voice("ann", [Reply::text("You said: {input}")]))
}

#[tokio::test(start_paused = true)]
async fn the_same_id_again_returns_the_first_receipt_and_does_nothing() {
    let kit = polite();
    let engine = kit.start().await;
    let session = engine.open(opening(vec![agent("Ann")], Settings::default())).await.unwrap();
    let said = say(session.id(), "m1", "one");
    let first = session.command(said.clone(), command("c1")).await.unwrap();
    rounds(&session, 1).await;
    let again = session.command(said.clone(), command("c1")).await.unwrap();
    assert_eq!(first, again);
    // Two at once, of which one is new.
    let twice = say(session.id(), "m2", "two");
    let (one, two) = tokio::join!(
        session.command(twice.clone(), command("c2")),
        session.command(twice, command("c2"))
    );
    assert_eq!(one.unwrap(), two.unwrap());
    let events = rounds(&session, 2).await;
    assert_eq!(count(&events, "session_input_accepted"), 2);
    engine.shutdown().await;

    // And after a restart.
    let engine = Kit { node: "two", ..kit }.start().await;
    let again = engine.session(session.id()).command(said, command("c1")).await.unwrap();
    assert_eq!(first, again);
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn s31_the_same_id_with_another_body_is_refused() {
    let kit = polite();
    let engine = kit.start().await;
    let session = engine.open(opening(vec![agent("Ann")], Settings::default())).await.unwrap();
    session.command(say(session.id(), "m1", "one"), command("c1")).await.unwrap();
    rounds(&session, 1).await;
    let before = session.state().await.unwrap();
    let reused =
        session.command(say(session.id(), "m1", "other"), command("c1")).await.unwrap_err();
    assert_eq!(reused, EngineError::CommandReused { id: CommandId::new("c1").unwrap() });
    assert_eq!(
        reused.to_string(),
        "command id cmd_c1 was already used with other content; use a new id"
    );
    assert_eq!(session.state().await.unwrap(), before);
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_refused_command_may_be_sent_again_under_its_id() {
    let kit = polite();
    let engine = kit.start().await;
    let session = engine.open(opening(vec![agent("Ann")], Settings::default())).await.unwrap();
    session.command(Command::Pause, None).await.unwrap();
    let said = say(session.id(), "m1", "one");
    session.command(said.clone(), command("c1")).await.unwrap_err();
    session.command(Command::Resume, None).await.unwrap();
    session.command(said, command("c1")).await.unwrap();
    assert_eq!(round_ends(&rounds(&session, 1).await), [RoundOutcome::Completed]);
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn opening_twice_under_one_command_id_opens_once() {
    let kit = polite();
    let engine = kit.start().await;
    let id = SessionId::new("mine").unwrap();
    let opening = opening(vec![agent("Ann")], Settings::default());
    engine.open_as(&id, opening.clone(), command("c1")).await.unwrap();
    engine.open_as(&id, opening.clone(), command("c1")).await.unwrap();
    let again = engine.open_as(&id, opening, command("c2")).await.err().unwrap();
    assert_eq!(again, Reject::Exists { session: id.clone() }.into());
    assert_eq!(engine.session(&id).state().await.unwrap().head, Seq(1));
    engine.shutdown().await;
}

/// Does something bad to the first few appends that follow on one position.
struct Once {
    at: Seq,
    fault: Fault,
    times: u32,
    seen: AtomicU32,
}

impl Faults for Once {
    fn on_append(&self, _session: &SessionId, expect: Seq) -> Fault {
        if expect == self.at && self.seen.fetch_add(1, Ordering::Relaxed) < self.times {
            return self.fault;
        }
        Fault::None
    }
}

fn failing(at: u64, fault: Fault, times: u32) -> Kit {
    let mut kit = polite();
    let faults = Once { at: Seq(at), fault, times, seen: AtomicU32::new(0) };
    kit.store = Arc::new(MemoryStore::with_faults(kit.store.disk().clone(), Arc::new(faults)));
    kit
}

#[tokio::test(start_paused = true)]
async fn f02_a_commit_whose_answer_is_lost_is_done_once_with_an_id_and_without() {
    for id in [None, command("c1")] {
        // The opening, and the message.
        for at in [0, 1] {
            let kit = failing(at, Fault::AckLost, 1);
            let engine = kit.start().await;
            let opening = opening(vec![agent("Ann")], Settings::default());
            let name = SessionId::new("mine").unwrap();
            let session = engine.open_as(&name, opening, id.clone()).await.unwrap();
            let id = id.as_ref().and_then(|_| command("c2"));
            let receipt = session.command(say(session.id(), "m1", "one"), id).await.unwrap();
            let events = rounds(&session, 1).await;
            assert_eq!(receipt.after, Seq(1));
            assert_eq!(replies(&events), ["You said: User: one"]);
            engine.shutdown().await;
            let log = kit.store.disk().dump(session.id());
            assert_eq!(log.len(), events.len(), "nothing was done twice");
            assert_eq!(kit.model.count(), 1);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn f02_the_lost_answer_of_a_result_does_not_repeat_the_call() {
    // Seven events come before the answer of the model: its commit follows on the sixth.
    let kit = failing(6, Fault::AckLost, 1);
    let engine = kit.start().await;
    let session = engine.open(opening(vec![agent("Ann")], Settings::default())).await.unwrap();
    session.command(say(session.id(), "m1", "one"), None).await.unwrap();
    let events = rounds(&session, 1).await;
    assert_eq!(count(&events, "model_call_finished"), 1);
    assert_eq!(count(&events, "model_call_interrupted"), 0);
    assert_eq!(kit.model.count(), 1);
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_store_that_hesitates_is_asked_again() {
    for fault in [Fault::Unavailable, Fault::Conflict] {
        let kit = failing(1, fault, 4);
        let engine = kit.start().await;
        let session = engine.open(opening(vec![agent("Ann")], Settings::default())).await.unwrap();
        session.command(say(session.id(), "m1", "one"), None).await.unwrap();
        assert_eq!(replies(&rounds(&session, 1).await), ["You said: User: one"]);
        engine.shutdown().await;
    }
}

#[tokio::test(start_paused = true)]
async fn f16_a_store_that_stays_away_fails_the_command_and_the_session_goes_on_afterwards() {
    let kit = failing(1, Fault::Unavailable, 5);
    let engine = kit.start().await;
    let session = engine.open(opening(vec![agent("Ann")], Settings::default())).await.unwrap();
    let said = say(session.id(), "m1", "one");
    let failed = session.command(said.clone(), command("c1")).await.unwrap_err();
    assert_eq!(failed, LogError::Unavailable("injected".to_owned()).into());
    assert_eq!(kit.store.disk().dump(session.id()).len(), 1, "nothing is half written");
    session.command(said, command("c1")).await.unwrap();
    assert_eq!(replies(&rounds(&session, 1).await), ["You said: User: one"]);
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_fenced_commit_fails_the_command_and_changes_nothing() {
    let kit = failing(1, Fault::Fenced, 1);
    let engine = kit.start().await;
    let session = engine.open(opening(vec![agent("Ann")], Settings::default())).await.unwrap();
    let said = say(session.id(), "m1", "one");
    let fenced = session.command(said.clone(), command("c1")).await.unwrap_err();
    assert_eq!(fenced, LogError::Fenced { epoch: 2 }.into());
    assert_eq!(kit.store.disk().dump(session.id()).len(), 1);
    session.command(said, command("c1")).await.unwrap();
    rounds(&session, 1).await;
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn bad_input_is_refused_with_what_to_do_and_changes_nothing() {
    let kit = polite();
    let engine = kit.start().await;
    let session = engine.open(opening(vec![agent("Ann")], Settings::default())).await.unwrap();
    let before = session.state().await.unwrap();
    let long = "x".repeat(256 * 1024 + 1);
    let refusals = [
        ("", "the message is empty; send a text, or continue without a message"),
        (" \n\t", "the message is empty; send a text, or continue without a message"),
        (&long, "the message has 262145 bytes; the limit is 262144"),
    ];
    for (text, why) in refusals {
        let refused = session.command(say(session.id(), "m1", text), None).await.unwrap_err();
        assert_eq!(refused.to_string(), why);
    }
    let second = session
        .command(Command::Open(Box::new(opening(vec![agent("Ann")], Settings::default()))), None);
    assert_eq!(second.await, Err(Reject::Exists { session: session.id().clone() }.into()));
    assert_eq!(session.state().await.unwrap(), before);
    assert_eq!(kit.store.disk().dump(session.id()).len(), 1);

    let nowhere = SessionId::new("nowhere").unwrap();
    let not_found = EngineError::from(Reject::NotFound { session: nowhere.clone() });
    let unknown = engine.session(&nowhere);
    assert_eq!(unknown.command(say(&nowhere, "m1", "Hello?"), None).await, Err(not_found.clone()));
    assert_eq!(unknown.command(Command::Stop, None).await, Err(not_found.clone()));
    assert_eq!(unknown.state().await.err(), Some(not_found));
    assert_eq!(
        unknown.state().await.err().unwrap().to_string(),
        "session ses_nowhere was not found; list the sessions to find its id"
    );

    session.command(Command::Complete { reason: "over".to_owned() }, None).await.unwrap();
    let closed = session.command(say(session.id(), "m1", "Hello?"), None).await.unwrap_err();
    assert_eq!(
        closed.to_string(),
        "session is not active: it is completed; open another session, or fork this one"
    );
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn s03_an_id_of_another_kind_is_named_as_one() {
    let wrong = "agt_ann".parse::<SessionId>().unwrap_err();
    assert_eq!(
        wrong.to_string(),
        "\"agt_ann\" is not a session id; a session id begins with \"ses_\""
    );
    for hostile in ["ses_../../etc", "ses_*", "ses_a.>", "ses_%00", "ses_\0"] {
        assert!(hostile.parse::<SessionId>().is_err(), "{hostile:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_an_opening_lacks_is_named_and_no_session_is_left_behind() {
    let kit = polite().tool(FnTool::echo("pay").effect(Effect::Effectful));
    let engine = kit.start().await;
    let mut stranger = agent("Ann");
    stranger.model = "gpt-9".to_owned();
    let mut seated = Settings::default();
    seated.seats.push(AgentId::new("bob").unwrap());
    let tool = ToolDecl::handler("search", Effect::Pure);
    let none = Settings { total_rounds: Some(0), ..Settings::default() };
    let openings = [
        (
            opening(vec![stranger], Settings::default()),
            "unknown model \"gpt-9\"; registered: scripted",
        ),
        (
            opening(vec![armed("Ann", [tool])], Settings::default()),
            "unknown tool \"search\"; registered: pay",
        ),
        (
            opening(
                vec![armed("Ann", [ToolDecl::handler("pay", Effect::Pure)])],
                Settings::default(),
            ),
            "Ann declares tool \"pay\" as safer to repeat than the tool itself does; use the tool's effect class",
        ),
        (
            opening(vec![agent("Ann"), agent("Ann")], Settings::default()),
            "duplicate agent agt_ann; give each agent its own name",
        ),
        (
            opening(Vec::new(), Settings::default()),
            "a session needs 1 to 64 agents; this one has 0",
        ),
        (opening(vec![agent("Ann")], seated), "agent agt_bob is not in this session"),
        (opening(vec![agent("Ann")], none), "rounds must be at least 1"),
    ];
    for (opening, why) in openings {
        let id = SessionId::new("mine").unwrap();
        let refused = engine.open_as(&id, opening, command("c1")).await.err().unwrap();
        assert_eq!(refused.to_string(), why);
        assert!(matches!(
            engine.session(&id).state().await,
            Err(EngineError::Reject(Reject::NotFound { .. }))
        ));
    }
    tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    assert_eq!(engine.loaded(), 0);
    assert_eq!(engine.parts().store.directory.list(10).await.unwrap(), []);
    engine.shutdown().await;
}
