//! What is being said while it is said: hints, in order, never instead of the finished text.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use roundtable_backend::{Disk, Fault, Faults, MemoryStore};
use roundtable_core::event::{Body, IterationEvent, Seq};
use roundtable_core::id::SessionId;
use roundtable_core::input::Command;
use roundtable_core::settings::Settings;
use roundtable_engine::{Delta, SessionHandle, Subscription, Update};
use roundtable_models::scripted::{Reply, Script};
use roundtable_ports::Drafts as _;
use roundtable_testing::{Kit, agent, events_until, opening, rounds, say, until};

use crate::seen::next;

const WORDS: &str = "Grüße aus der Ferne: a long answer, said bit by bit, with ünusual letters.";

fn slowly() -> Script {
    Script::default().voice("ann", [Reply::text(WORDS).in_pieces(3, 10)]).voice(
        "bob",
        [Reply::text("Bob interrupts nobody, he waits for his turn.").in_pieces(5, 7)],
    )
}

async fn updates(subscription: &mut Subscription, rounds: usize) -> Vec<Update> {
    let mut updates = Vec::new();
    let mut closed = 0;
    while closed < rounds {
        let update = next(subscription).await;
        if let Update::Event(event) = &update {
            closed += usize::from(event.body.kind() == "round_closed");
        }
        updates.push(update);
    }
    updates
}

/// Checks what every reader may rely on, and returns the texts as they were put together, by the
/// events that started them.
fn put_together(updates: &[Update]) -> BTreeMap<Seq, String> {
    let mut said: BTreeMap<Seq, String> = BTreeMap::new();
    let mut over: Vec<Seq> = Vec::new();
    let mut started = BTreeMap::new();
    for update in updates {
        match update {
            Update::Delta(Delta { since, iteration, attempt, offset, text }) => {
                assert_eq!(started.get(iteration), Some(&(*since, *attempt)), "after its start");
                assert!(!over.contains(since), "nothing is said after the end");
                let so_far = said.entry(*since).or_default();
                assert_eq!(*offset, so_far.len(), "without a gap");
                so_far.push_str(text);
            }
            Update::Event(event) => {
                let Body::Iteration(body) = &event.body else { continue };
                let iteration = event.place.iteration.clone().unwrap();
                let text = match body {
                    IterationEvent::ModelCallStarted { attempt, .. } => {
                        started.insert(iteration, (event.seq, *attempt));
                        continue;
                    }
                    IterationEvent::ModelCallFinished { text, .. } => text,
                    IterationEvent::ModelCallCancelled { partial, .. } => partial,
                    _ => continue,
                };
                let since = started[&iteration].0;
                let so_far = said.entry(since).or_default();
                assert!(text.starts_with(so_far.as_str()), "a prefix of what is recorded");
                over.push(since);
            }
        }
    }
    said
}

async fn opened(kit: &Kit) -> (roundtable_engine::Engine, SessionHandle) {
    let engine = kit.start().await;
    let opening = opening(vec![agent("Ann"), agent("Bob")], Settings::default());
    let session = engine.open(opening).await.unwrap();
    (engine, session)
}

#[tokio::test(start_paused = true)]
async fn a_reader_hears_every_word_as_it_is_said() {
    let kit = Kit::new(slowly());
    let (engine, session) = opened(&kit).await;
    let mut subscription = session.subscribe(Seq(1)).await.unwrap();
    session.command(say(session.id(), "m1", "Go."), None).await.unwrap();
    let updates = updates(&mut subscription, 1).await;
    let said = put_together(&updates);
    let mut texts: Vec<_> = said.into_values().collect();
    texts.sort();
    // Every piece but the last is heard before the answer is recorded; that one may come with it.
    assert_eq!(texts.len(), 2);
    assert!(texts[0].len() > 30 && texts[1].len() > 60, "{texts:?}");
    let deltas = updates.iter().filter(|update| matches!(update, Update::Delta(_))).count();
    assert!(deltas > 20, "{deltas} pieces");
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_late_reader_gets_the_text_so_far_wherever_it_begins() {
    let kit = Kit::new(slowly());
    let (engine, session) = opened(&kit).await;
    session.command(say(session.id(), "m1", "Go."), None).await.unwrap();
    let mut first = session.subscribe(Seq(1)).await.unwrap();
    let mut heard = 0;
    while heard < 10 {
        heard += usize::from(matches!(next(&mut first).await, Update::Delta(_)));
    }
    let head = session.state().await.unwrap().head;
    // From the start of the log, and from its end: the start of the call lies before.
    for from in [Seq(1), head.next()] {
        let mut late = session.subscribe(from).await.unwrap();
        let mut so_far = BTreeMap::new();
        while so_far.len() < 2 {
            if let Update::Delta(delta) = next(&mut late).await {
                assert_eq!(delta.offset, 0);
                so_far.insert(delta.since, delta.text);
            }
        }
        let ann = so_far.values().find(|text| text.starts_with("Gr")).unwrap();
        assert!(ann.len() > 5 && WORDS.starts_with(ann.as_str()), "{ann}");
    }
    rounds(&session, 1).await;
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_begins_after_the_end_of_a_call_hears_nothing_of_it() {
    let kit = Kit::new(slowly());
    let (engine, session) = opened(&kit).await;
    session.command(say(session.id(), "m1", "Go."), None).await.unwrap();
    let closed = rounds(&session, 1).await;
    session.command(say(session.id(), "m2", "Again."), None).await.unwrap();
    let mut late = session.subscribe(closed.last().unwrap().seq.next()).await.unwrap();
    let updates = updates(&mut late, 1).await;
    let Update::Event(event) = &updates[0] else { panic!("an event first") };
    assert_eq!(event.body.kind(), "session_input_accepted");
    assert_eq!(put_together(&updates).len(), 2);
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn f27_a_stop_while_streaming_keeps_what_was_said_and_marks_it() {
    let kit = Kit::new(slowly());
    let (engine, session) = opened(&kit).await;
    let mut subscription = session.subscribe(Seq(1)).await.unwrap();
    session.command(say(session.id(), "m1", "Go."), None).await.unwrap();
    let mut seen = Vec::new();
    while seen.iter().filter(|update| matches!(update, Update::Delta(_))).count() < 12 {
        seen.push(next(&mut subscription).await);
    }
    session.command(Command::Stop, None).await.unwrap();
    seen.extend(updates(&mut subscription, 1).await);
    let heard = put_together(&seen);
    let events = rounds(&session, 1).await;
    let partials: BTreeMap<_, _> = events
        .iter()
        .filter_map(|event| match &event.body {
            Body::Iteration(IterationEvent::ModelCallCancelled { partial, .. }) => {
                Some((event.place.turn.clone().unwrap(), partial.clone()))
            }
            _ => None,
        })
        .collect();
    assert_eq!(partials.len(), 2);
    for heard in heard.values() {
        assert!(partials.values().any(|partial| partial.starts_with(heard.as_str())));
    }
    // What was said is a message of the session, and the next round reads it as cut off.
    assert_eq!(session.state().await.unwrap().last_message, 3);
    session.command(say(session.id(), "m2", "Go on."), None).await.unwrap();
    until("the next round", || kit.model.count() == 4).await;
    let prompt = &kit.model.received()[2].prompt;
    let ann = partials.values().find(|partial| partial.starts_with("Gr")).unwrap();
    assert!(prompt.contains(&format!("Ann: {ann} [cut off]")), "{prompt}");
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn f27_a_stop_that_races_the_answer_gives_exactly_one_end() {
    // The stop arrives at every moment around the end of the answer.
    for moment in 0..40 {
        let kit = Kit::new(Script::default().voice("ann", [Reply::text("abcdef").in_pieces(2, 5)]));
        let engine = kit.start().await;
        let session = engine.open(opening(vec![agent("Ann")], Settings::default())).await.unwrap();
        session.command(say(session.id(), "m1", "Go."), None).await.unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(moment)).await;
        session.command(Command::Stop, None).await.unwrap();
        let events = events_until(&session, |event| event.body.kind() == "round_closed").await;
        let ends = events.iter().filter(|event| match &event.body {
            Body::Iteration(body) => matches!(
                body,
                IterationEvent::ModelCallFinished { .. }
                    | IterationEvent::ModelCallCancelled { .. }
            ),
            _ => false,
        });
        assert_eq!(ends.count(), 1, "after {moment} ms");
        for kind in ["iteration_closed", "turn_ended", "round_closed"] {
            assert_eq!(crate::seen::count(&events, kind), 1, "{kind} after {moment} ms");
        }
        let head = session.state().await.unwrap().head;
        engine.shutdown().await;
        assert_eq!(
            kit.store.disk().dump(session.id()).len() as u64,
            head.0,
            "and nothing after it"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_noted_of_a_running_reply_is_forgotten_when_the_round_is_over() {
    let mut kit = Kit::new(slowly());
    kit.config.draft_bytes = 10;
    let (engine, session) = opened(&kit).await;
    session.command(say(session.id(), "m1", "Go."), None).await.unwrap();
    let noted = async || kit.store.list_drafts(session.id()).await.unwrap();
    let mut most = 0;
    while session.state().await.unwrap().round.is_some() {
        most = most.max(noted().await.values().map(String::len).max().unwrap_or(0));
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    assert!(most > 40, "{most}");
    assert!(noted().await.is_empty());
    engine.shutdown().await;
}

/// Counts how often the log is read.
#[derive(Default)]
struct Reads(AtomicUsize);

impl Faults for Reads {
    fn on_append(&self, _: &SessionId, _: Seq) -> Fault {
        Fault::None
    }

    fn on_read(&self, _: &SessionId) -> bool {
        self.0.fetch_add(1, Ordering::Relaxed);
        false
    }
}

#[tokio::test(start_paused = true)]
async fn words_alone_are_no_reason_to_read_the_log() {
    let reads = Arc::new(Reads::default());
    let store = MemoryStore::with_faults(Arc::new(Disk::default()), reads.clone());
    let words = "word ".repeat(500);
    let script = Script::default().voice("ann", [Reply::text(words).in_pieces(5, 1)]);
    let kit = Kit { store: Arc::new(store), ..Kit::new(script) };
    let engine = kit.start().await;
    let session = engine.open(opening(vec![agent("Ann")], Settings::default())).await.unwrap();
    let mut subscription = session.subscribe(Seq(1)).await.unwrap();
    session.command(say(session.id(), "m1", "Talk."), None).await.unwrap();
    let updates = updates(&mut subscription, 1).await;
    let deltas = updates.iter().filter(|update| matches!(update, Update::Delta(_))).count();
    let reads = reads.0.load(Ordering::Relaxed);
    assert!(deltas > 400 && reads < 20, "{deltas} deltas, {reads} reads");
    engine.shutdown().await;
}
