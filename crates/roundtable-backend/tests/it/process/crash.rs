//! A process dies before and after every append of a story, with the real file, and another one
//! goes on.

use roundtable_core::agent::Agent;
use roundtable_core::event::Event;
use roundtable_core::id::{CommandId, SessionId};
use roundtable_core::input::Command;
use roundtable_core::session::Session;
use roundtable_core::settings::{Order as Turns, Settings};
use roundtable_core::tool::{Effect, ToolDecl};
use roundtable_testing::oracle::{Answer, Evidence, Order};
use roundtable_testing::{agent, answer_to, opening, say};

use super::evidence::{People, check, kinds, reading};
use super::{Ask, CrashAt, Node, Tell, ledger};
use crate::table::session;

/// How often a point that a run did not come to is tried again: what happens side by side is not
/// always committed in the same portions.
const TRIES: usize = 8;

/// An agent with the tools of all stories.
pub fn worker(name: &str) -> Agent {
    let mut agent = agent(name);
    agent.tools = vec![
        ToolDecl::handler("look", Effect::Pure),
        ToolDecl::handler("note", Effect::Idempotent),
        ToolDecl::handler("send", Effect::Effectful),
        ToolDecl::handler("ponder", Effect::Pure),
        ToolDecl::request_context(),
    ];
    agent
}

pub fn open(names: &[&str]) -> Command {
    let settings = Settings { order: Turns::Parallel, ..Settings::default() };
    Command::Open(Box::new(opening(names.iter().map(|name| worker(name)).collect(), settings)))
}

/// A story: who is there, and how many messages are sent, one after another.
struct Story {
    names: &'static [&'static str],
    messages: usize,
}

/// Someone who tells the story to whatever process there is, and knows what was answered.
struct Teller {
    session: SessionId,
    orders: Vec<Order>,
    seen: Vec<Event>,
    torn: Vec<Vec<Event>>,
}

impl Teller {
    fn new() -> Self {
        Self { session: session("story"), orders: Vec::new(), seen: Vec::new(), torn: Vec::new() }
    }

    /// Tells the story to a process; nothing when it dies before the end.
    fn tell(&mut self, story: &Story, node: &mut Node) -> Option<Session> {
        let watch = node.watch(&self.session);
        self.torn.push(std::mem::take(&mut self.seen));
        // What was sent to a process that died is sent again, answered or not.
        for index in 0..self.orders.len() {
            self.send(node, index)?;
        }
        self.order(node, "open", || open(story.names))?;
        for message in 1..=story.messages {
            let (id, session) = (format!("m{message}"), self.session.clone());
            self.order(node, &id, || say(&session, &id, "Go on."))?;
            // What is asked is answered, until everything has come to rest.
            loop {
                let state = self.rest(node, watch)?;
                let Some(request) = state.requests.first() else { break };
                let answer = answer_to(request, true, "as it happens, yes");
                self.order(node, request.id.suffix(), || Command::Provide(vec![answer]))?;
            }
        }
        let number = node.ask(Ask::State { session: self.session.clone() });
        match node.answer(number)? {
            Tell::State(state) => Some(*state),
            other => panic!("{other:?}"),
        }
    }

    /// Sends a command, unless it was sent before.
    fn order(
        &mut self,
        node: &mut Node,
        id: &str,
        command: impl FnOnce() -> Command,
    ) -> Option<()> {
        let id = CommandId::new(id).unwrap();
        if self.orders.iter().any(|order| order.id.as_ref() == Some(&id)) {
            return Some(());
        }
        let (session, answer) = (self.session.clone(), Answer::Open);
        self.orders.push(Order { session, id: Some(id), command: command(), answer });
        self.send(node, self.orders.len() - 1)
    }

    /// Sends a command until it is answered, always with the same answer.
    fn send(&mut self, node: &mut Node, index: usize) -> Option<()> {
        let Order { session, id, command, answer } = self.orders[index].clone();
        loop {
            let (session, id, command) = (session.clone(), id.clone(), command.clone());
            let number = node.ask(Ask::Send { session, id: id.clone(), command });
            let told = match node.answer(number)? {
                Tell::Done(receipt) => Answer::Acknowledged(receipt),
                // The process is on its way out.
                Tell::Unsure(_) => continue,
                other => panic!("{id:?}: {other:?}"),
            };
            assert!(answer == Answer::Open || answer == told, "{id:?}: {answer:?}, then {told:?}");
            self.orders[index].answer = told;
            return Some(());
        }
    }

    /// Reads on until no round is open and nothing waits.
    fn rest(&mut self, node: &mut Node, watch: u64) -> Option<Session> {
        let told = self.orders.iter().filter_map(|order| match &order.answer {
            Answer::Acknowledged(receipt) => Some(receipt.seq),
            _ => None,
        });
        let told = told.max().unwrap_or_default();
        loop {
            let mut state = Session::new(self.session.clone());
            self.seen.iter().for_each(|event| state.evolve(event));
            if state.head >= told && state.round.is_none() && state.waiting.is_empty() {
                return Some(state);
            }
            self.seen.push(node.next_event(watch)?);
        }
    }
}

/// Tells a story to a process that may die, then to others that do not, and checks everything.
/// Says whether the first one died.
fn tell(story: &Story, label: &str, crash: Option<CrashAt>) -> (bool, u64, Evidence) {
    let directory = tempfile::tempdir().unwrap();
    let mut teller = Teller::new();
    let mut node = Node::on(directory.path(), crash);
    let mut state = teller.tell(story, &mut node);
    let died = state.is_none();
    while state.is_none() {
        drop(node);
        node = Node::on(directory.path(), None);
        state = teller.tell(story, &mut node);
    }
    node.quit();
    let Teller { session, orders, seen, torn } = teller;
    let people = People {
        orders,
        readings: vec![reading(&session, seen)],
        torn: torn.into_iter().map(|events| reading(&session, events)).collect(),
        states: state.into_iter().collect(),
    };
    let evidence = check(label, directory.path(), people);
    (died, ledger::appends(directory.path()), evidence)
}

/// Tries every point of a story. `check` is given what came of each.
fn everywhere(story: &Story, check: impl Fn(&str, &Evidence)) {
    let undisturbed = (0..3).map(|_| tell(story, "undisturbed", None).1);
    let commits = undisturbed.min().unwrap();
    let mut visited = 0;
    for append in 0..commits {
        for after in [false, true] {
            let label = format!("append {append}, {}", if after { "after" } else { "before" });
            let mut tries =
                (0..TRIES).map(|_| tell(story, &label, Some(CrashAt { append, after })));
            let (_, _, evidence) = tries.find(|(died, _, _)| *died).expect("a process that dies");
            check(&label, &evidence);
            visited += 1;
        }
    }
    println!("{:?}: {commits} commits, {visited} crash points", story.names);
    assert!(commits > 1 && visited == 2 * commits);
}

/// How often something is in the logs.
fn count(evidence: &Evidence, kind: &str) -> usize {
    kinds(evidence).get(kind).copied().unwrap_or_default()
}

#[test]
fn parallel_turns_survive_a_crash_at_every_append() {
    let story = Story { names: &["Ann", "Bob", "Cyd"], messages: 1 };
    everywhere(&story, |label, evidence| {
        assert_eq!(count(evidence, "round_closed"), 1, "{label}");
        assert_eq!(count(evidence, "turn_ended"), 3, "{label}");
    });
}

#[test]
fn nested_turns_survive_a_crash_at_every_append() {
    let story = Story { names: &["Eve"], messages: 1 };
    everywhere(&story, |label, evidence| {
        assert_eq!(count(evidence, "model_call_finished"), 4, "{label}");
        assert_eq!(count(evidence, "turn_ended"), 3, "{label}");
    });
}

#[test]
fn a_request_and_its_answer_survive_a_crash_at_every_append() {
    let story = Story { names: &["Fay"], messages: 2 };
    everywhere(&story, |label, evidence| {
        assert_eq!(count(evidence, "context_requested"), 1, "{label}");
        assert_eq!(count(evidence, "context_provided"), 1, "{label}");
        assert_eq!(count(evidence, "round_closed"), 2, "{label}");
    });
}

#[test]
fn an_effectful_tool_survives_a_crash_at_every_append() {
    let story = Story { names: &["Gus"], messages: 1 };
    everywhere(&story, |label, evidence| {
        assert!(evidence.executions.len() <= 1, "{label}: it was run twice");
        let asked = count(evidence, "context_requested");
        assert!(evidence.executions.len() + asked >= 1, "{label}: neither run nor asked about");
        assert_eq!(count(evidence, "round_closed"), 1, "{label}");
    });
}

/// A process that dies at the commit of the first message; then another one, to which the message
/// is sent twice more.
fn first_message(at: CrashAt, between: impl Fn(&mut Node)) -> Evidence {
    let directory = tempfile::tempdir().unwrap();
    let session = session("story");
    let (open, say) = (open(&["Cyd"]), say(&session, "m1", "Hello?"));
    let mut node = Node::on(directory.path(), Some(at));
    let opened = node.done(&session, "open", open.clone());
    let told = node.send(&session, "m1", say.clone());
    assert!(told.is_none(), "not acknowledged: {told:?}");
    let mut node = Node::on(directory.path(), None);
    between(&mut node);
    let receipt = node.done(&session, "m1", say.clone());
    assert_eq!(receipt.after.0, 1, "it follows on the opening");
    assert_eq!(node.done(&session, "m1", say.clone()), receipt, "the first answer stands");
    let other =
        node.send(&session, "m1", roundtable_testing::say(&session, "m1", "Something else"));
    assert!(matches!(other, Some(Tell::Refused(_))), "S31: {other:?}");
    let watch = node.watch(&session);
    while node.next_event(watch).expect("a process that lives").body.kind() != "round_closed" {}
    let state = node.state(&session);
    node.quit();
    let orders =
        [("open", open, opened), ("m1", say, receipt)].map(|(id, command, receipt)| Order {
            session: session.clone(),
            id: Some(CommandId::new(id).unwrap()),
            command,
            answer: Answer::Acknowledged(receipt),
        });
    let people = People { orders: orders.to_vec(), states: vec![state], ..People::default() };
    check(&format!("{at:?}"), directory.path(), people)
}

#[test]
fn f01_what_was_not_committed_is_not_acknowledged_and_sending_it_again_runs_it_once() {
    let evidence = first_message(CrashAt { append: 1, after: false }, |node| {
        assert_eq!(node.state(&session("story")).head.0, 1, "nothing of it was kept");
    });
    assert_eq!(count(&evidence, "round_opened"), 1);
    assert_eq!(evidence.received.len(), 1, "{:?}", evidence.received);
}

#[test]
fn f02_what_was_committed_before_the_answer_is_answered_as_the_first_time() {
    let evidence = first_message(CrashAt { append: 1, after: true }, |node| {
        assert!(node.state(&session("story")).head.0 > 1, "all of it was kept");
    });
    assert_eq!(count(&evidence, "round_opened"), 1, "no second round");
    let billed = evidence.received.iter().filter(|call| call.usage.is_some());
    assert_eq!(billed.count(), 1, "{:?}", evidence.received);
}
