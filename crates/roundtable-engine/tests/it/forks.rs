//! Sessions that go on from another one's past.

use roundtable_backend::{Fault, Faults, MemoryStore};
use roundtable_core::Reject;
use roundtable_core::event::{Origin, RoundOutcome, Seq};
use roundtable_core::id::SessionId;
use roundtable_core::settings::Settings;
use roundtable_engine::{EngineError, SessionHandle};
use roundtable_models::scripted::{Reply, Script};
use roundtable_testing::{Kit, agent, opening, rounds, say};

use crate::seen::{count, replies, round_ends};

fn echoing() -> Kit {
    Kit::new(
        Script::default()
            .voice("ann", [Reply::text("Ann: {input}")])
            .voice("bob", [Reply::text("Bob: {input}")]),
    )
}

/// A session of Ann's after two rounds, and the ends of those.
async fn told(engine: &roundtable_engine::Engine) -> (SessionHandle, Vec<Seq>) {
    let session = engine.open(opening(vec![agent("Ann")], Settings::default())).await.unwrap();
    for (id, text) in [("m1", "one"), ("m2", "two")] {
        session.command(say(session.id(), id, text), None).await.unwrap();
    }
    let events = rounds(&session, 2).await;
    let closed = events.iter().filter(|event| event.body.kind() == "round_closed");
    let ends = closed.map(|event| event.seq).collect();
    (session, ends)
}

fn origin(session: &SessionHandle, seq: Seq) -> Origin {
    Origin { session: session.id().clone(), seq }
}

#[tokio::test(start_paused = true)]
async fn a_fork_shares_the_past_and_nothing_after_it() {
    let kit = echoing();
    let engine = kit.start().await;
    let (session, ends) = told(&engine).await;
    let before = kit.store.disk().dump(session.id()).len();
    let fork = engine.fork(origin(&session, ends[0]), Some(vec![agent("Bob")])).await.unwrap();
    fork.command(say(fork.id(), "m9", "three"), None).await.unwrap();
    let events = rounds(&fork, 2).await;
    assert_eq!(replies(&events), ["Ann: User: one", "Bob: User: three"]);
    assert_eq!(round_ends(&events), [RoundOutcome::Completed; 2]);
    assert_eq!(count(&events, "session_forked"), 1);
    assert!(events.iter().enumerate().all(|(index, event)| event.seq.0 == index as u64 + 1));
    let prompt = kit.model.received().pop().unwrap().prompt;
    assert!(prompt.contains("Ann: User: one") && !prompt.contains("two"), "{prompt}");
    // Storage does not copy the past, and the origin has not noticed.
    assert_eq!(kit.store.disk().dump(fork.id()).len() as u64, events.len() as u64 - ends[0].0);
    assert_eq!(kit.store.disk().dump(session.id()).len(), before);
    engine.shutdown().await;

    let engine = Kit { node: "two", ..kit }.start().await;
    let again = engine.session(fork.id());
    again.command(say(fork.id(), "m10", "four"), None).await.unwrap();
    assert_eq!(replies(&rounds(&again, 3).await)[2], "Bob: User: four");
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_fork_that_cannot_be_is_refused_and_leaves_no_session() {
    let kit = echoing();
    let engine = kit.start().await;
    let (session, ends) = told(&engine).await;
    let nowhere = Origin { session: SessionId::new("nowhere").unwrap(), seq: Seq(1) };
    let refusals = [
        (origin(&session, Seq(ends[0].0 - 1)), "a fork must start at the end of a round"),
        (origin(&session, Seq(1000)), "has no event 1000"),
        (nowhere, "session ses_nowhere has no event 1"),
    ];
    for (origin, why) in refusals {
        let refused = engine.fork(origin, None).await.err().unwrap();
        assert!(matches!(refused, EngineError::Reject(Reject::Invalid { .. })));
        assert!(refused.to_string().contains(why), "{refused}");
    }
    let stranger = roundtable_core::agent::Agent { model: "gpt-9".to_owned(), ..agent("Bob") };
    let refused = engine.fork(origin(&session, ends[0]), Some(vec![stranger])).await.err().unwrap();
    assert_eq!(refused.to_string(), "unknown model \"gpt-9\"; registered: scripted");
    assert_eq!(engine.parts().store.directory.list(10).await.unwrap().len(), 1);
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn f02_a_fork_whose_acknowledgement_is_lost_exists_once() {
    /// The answer to the first commit of anything but the origin is lost.
    struct Lost(Seq);
    impl Faults for Lost {
        fn on_append(&self, session: &SessionId, expect: Seq) -> Fault {
            let first = session.suffix() != "fresh1" && expect == self.0;
            if first { Fault::AckLost } else { Fault::None }
        }
    }
    let mut kit = echoing();
    let faults = std::sync::Arc::new(Lost(Seq(10)));
    kit.store = std::sync::Arc::new(MemoryStore::with_faults(kit.store.disk().clone(), faults));
    let engine = kit.start().await;
    let (session, ends) = told(&engine).await;
    assert_eq!(ends[0], Seq(10), "where the fault is");
    let fork = engine.fork(origin(&session, ends[0]), None).await.unwrap();
    fork.command(say(fork.id(), "m9", "three"), None).await.unwrap();
    let events = rounds(&fork, 2).await;
    assert_eq!(count(&events, "session_forked"), 1);
    assert_eq!(replies(&events)[1], "Ann: User: three");
    engine.shutdown().await;
}
