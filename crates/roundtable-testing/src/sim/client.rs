//! Callers: each has a session in view, a list of what it wants to do, and the patience to send
//! again what was not answered. What a client knows outlives every process.

use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use roundtable_backend::Disk;
use roundtable_core::MessageContext;
use roundtable_core::agent::Agent;
use roundtable_core::context_request::ContextResult;
use roundtable_core::event::{Body, Event, IterationEvent, Origin, RoundEvent, Seq};
use roundtable_core::id::{CommandId, SessionId};
use roundtable_core::input::{Command, OnBusy, Say};
use roundtable_core::session::{Session, Status};
use roundtable_engine::{Engine, EngineError, Subscription};

use super::act::{Act, Conduct, Sight};
use crate::oracle::{Answer, Order, Reading};

/// A caller.
pub struct Client {
    /// How to have the same world again: for the messages of failures.
    pub(super) label: String,
    name: String,
    session: SessionId,
    conduct: Conduct,
    acts: VecDeque<Act>,
    orders: Vec<Order>,
    view: Session,
    events: Vec<Arc<Event>>,
    states: Vec<Session>,
    /// Which process it is connected to, counted on whenever one does not serve it.
    at: usize,
}

/// What a client does next.
enum Move {
    Send(usize),
    SendAgain(usize),
    Look,
    Wait(Duration),
    Watch,
}

impl Client {
    /// A client of a session.
    pub fn new(name: &str, session: &SessionId, conduct: Conduct, acts: Vec<Act>) -> Self {
        Self {
            label: String::new(),
            name: name.to_owned(),
            session: session.clone(),
            conduct,
            acts: acts.into(),
            orders: Vec::new(),
            view: Session::new(session.clone()),
            events: Vec::new(),
            states: Vec::new(),
            at: session.as_str().len() + name.len(),
        }
    }

    /// Its session.
    pub fn session(&self) -> &SessionId {
        &self.session
    }

    /// What it sent and was told.
    pub fn orders(&self) -> &[Order] {
        &self.orders
    }

    /// The states that it asked for.
    pub fn states(&self) -> &[Session] {
        &self.states
    }

    /// What it read.
    pub fn reading(&self) -> Reading {
        let (session, events) = (self.session.clone(), self.events.clone());
        Reading { session, tenant: None, from: Seq(1), events }
    }

    /// In one line, what it is at.
    pub fn status(&self) -> String {
        let open: Vec<_> = self.orders.iter().filter(|o| o.answer == Answer::Open).collect();
        format!(
            "{} of {}: at {}, round {:?}, waiting {:?}, requests {:?}, next {:?}, unanswered {open:?}",
            self.name,
            self.session,
            self.view.head,
            self.view.round,
            self.view.waiting,
            self.view.requests,
            self.acts.front()
        )
    }

    /// Acts until its processes are gone. `rests` holds the last event that it has seen, whenever
    /// there is nothing left to do or to wait for.
    pub async fn run(&mut self, engines: &[Engine], disk: &Disk, rests: &Cell<Option<Seq>>) {
        let mut subscription = None;
        loop {
            let engine = &engines[self.at % engines.len()];
            self.connect(engine, &mut subscription).await;
            if let Some(subscription) = &mut subscription {
                while let Some(Ok(event)) = subscription.next_event().now_or_never() {
                    self.see(event);
                }
            }
            let next = self.next_move(disk);
            let at_rest = matches!(next, Move::Watch) && self.is_done();
            rests.set(at_rest.then_some(self.view.head));
            match next {
                Move::Send(index) => self.send(engine, index).await,
                Move::SendAgain(index) => self.send_again(engine, index).await,
                Move::Look => self.look(engine).await,
                Move::Wait(time) => tokio::time::sleep(time).await,
                Move::Watch => self.watch(&mut subscription).await,
            }
        }
    }

    /// Goes on reading after the last event that was seen.
    async fn connect(&self, engine: &Engine, subscription: &mut Option<Subscription>) {
        if subscription.is_none() {
            *subscription = engine.subscribe(&self.session, self.view.head.next()).await.ok();
        }
    }

    async fn watch(&mut self, subscription: &mut Option<Subscription>) {
        let event = match subscription {
            Some(subscription) => subscription.next_event().await.ok(),
            None => None,
        };
        match event {
            Some(event) => self.see(event),
            None => {
                *subscription = None;
                self.at += 1;
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
        }
    }

    fn see(&mut self, event: Arc<Event>) {
        // Reading on would never end if the same events came again and again.
        let (label, head) = (&self.label, self.view.head);
        assert_eq!(event.seq, head.next(), "{label}: I5: {} read out of order", self.session);
        self.view.evolve(&event);
        self.events.push(event);
    }

    fn next_move(&mut self, disk: &Disk) -> Move {
        if let Some(index) = self.orders.iter().position(|order| order.answer == Answer::Open) {
            return Move::Send(index);
        }
        if self.seems_behind() {
            return Move::Watch;
        }
        // What is to be said now is said as things stand, with requests pending or not.
        let speaks_now = matches!(
            self.acts.front(),
            Some(Act::Say(..) | Act::SayAndAnswer(_) | Act::SayOnce(_))
        );
        if !speaks_now && let Some(answer) = self.answer_pending() {
            return self.order(answer);
        }
        let Some(act) = self.acts.front().cloned() else { return Move::Watch };
        if let Act::Until(sight) = act {
            if !self.sees(sight) {
                return Move::Watch;
            }
            self.acts.pop_front();
            return Move::Wait(Duration::ZERO);
        }
        if let Act::Fork(origin, rounds, agents) = act {
            return self.fork(origin, rounds, agents, disk);
        }
        self.acts.pop_front();
        self.act(act)
    }

    fn act(&mut self, act: Act) -> Move {
        match act {
            Act::Open(opening) => self.order(Command::Open(opening)),
            Act::Say(text, on_busy) => {
                let say = self.say(text, on_busy, Vec::new());
                self.order(say)
            }
            Act::SayAndAnswer(text) => {
                let results =
                    self.view.requests.iter().map(|r| found(r, "as it was said")).collect();
                let say = self.say(text, OnBusy::Queue, results);
                self.order(say)
            }
            Act::SayOnce(text) => {
                let say = self.say(text, OnBusy::Queue, Vec::new());
                let next = self.order(say);
                self.orders.last_mut().into_iter().for_each(|order| order.id = None);
                next
            }
            Act::Send(command) => self.order(command),
            Act::AnswerAgain => {
                let again = |event: &Arc<Event>| match &event.body {
                    Body::Context(roundtable_core::event::ContextEvent::ContextRequested(
                        request,
                    )) => Some(found(request, "said once more")),
                    _ => None,
                };
                let results = self.events.iter().filter_map(again).collect();
                self.order(Command::Provide(results))
            }
            Act::SendAgain => {
                let acknowledged = |order: &Order| {
                    order.id.is_some() && matches!(order.answer, Answer::Acknowledged(_))
                };
                let last = self.orders.iter().rposition(acknowledged);
                last.map_or(Move::Wait(Duration::ZERO), Move::SendAgain)
            }
            Act::Look => Move::Look,
            Act::Wait(ms) => Move::Wait(Duration::from_millis(ms)),
            Act::Until(_) | Act::Fork(..) => unreachable!("these are not done at once"),
        }
    }

    fn fork(
        &mut self,
        session: SessionId,
        rounds: usize,
        agents: Option<Vec<Agent>>,
        disk: &Disk,
    ) -> Move {
        let stored = disk.dump(&session);
        let is_end =
            |event: &Event| matches!(event.body, Body::Round(RoundEvent::RoundClosed { .. }));
        let mut ends = stored.iter().filter(|s| is_end(&s.event)).map(|s| s.event.seq);
        match ends.nth(rounds.saturating_sub(1)) {
            Some(seq) => {
                self.acts.pop_front();
                self.order(Command::Fork { origin: Origin { session, seq }, agents })
            }
            None => Move::Wait(Duration::from_millis(700)),
        }
    }

    fn say(&self, text: String, on_busy: OnBusy, results: Vec<ContextResult>) -> Command {
        let id = format!("{}m{}", self.name, self.orders.len());
        let context = MessageContext::new(&id, &self.session, None).expect("a message id");
        Command::Say(Say { text: Some(text), on_busy, results, ..Say::new(context) })
    }

    fn order(&mut self, command: Command) -> Move {
        let id = format!("{}-{}-{}", self.session.suffix(), self.name, self.orders.len());
        self.orders.push(Order {
            session: self.session.clone(),
            id: Some(CommandId::new(&id).expect("a command id")),
            command,
            answer: Answer::Open,
        });
        Move::Send(self.orders.len() - 1)
    }

    /// An answer to everything that is pending, if it is this client who answers.
    fn answer_pending(&mut self) -> Option<Command> {
        let Conduct::Answers(dice) = &mut self.conduct else { return None };
        if self.view.requests.is_empty() || self.view.status == Status::Completed {
            return None;
        }
        let answer = |request| match dice.permille(800) {
            true => found(request, "as it happens, yes"),
            false => crate::answer_to(request, false, "nobody knows"),
        };
        Some(Command::Provide(self.view.requests.iter().map(answer).collect()))
    }

    async fn send(&mut self, engine: &Engine, index: usize) {
        let Order { command, id, .. } = self.orders[index].clone();
        if id.is_none() {
            // If the process dies now, nobody will ever know.
            self.orders[index].answer = Answer::Lost;
        }
        let answer = engine.session(&self.session).command(command, id.clone()).await;
        match answer {
            Ok(receipt) => self.orders[index].answer = Answer::Acknowledged(receipt),
            Err(EngineError::Reject(why)) => {
                self.orders[index].answer = Answer::Refused(why.to_string());
                // Whoever is refused may not have heard yet why: a ring can be lost.
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            Err(EngineError::CommandReused { id }) => {
                panic!("{}: I2: {id} was sent twice with the same content, and refused", self.label)
            }
            Err(_) => {
                self.at += 1;
                tokio::time::sleep(Duration::from_millis(250)).await;
            }
        }
    }

    async fn send_again(&mut self, engine: &Engine, index: usize) {
        let Order { command, id, answer, .. } = self.orders[index].clone();
        match engine.session(&self.session).command(command, id).await {
            Ok(receipt) => {
                let again = Answer::Acknowledged(receipt);
                assert_eq!(again, answer, "{}: I2: the first answer stands", self.label);
            }
            Err(EngineError::Reject(why)) => {
                panic!("{}: I2: acknowledged once, then refused: {why}", self.label)
            }
            Err(_) => {}
        }
    }

    async fn look(&mut self, engine: &Engine) {
        self.states.extend(engine.session(&self.session).state().await);
    }

    fn sees(&self, sight: Sight) -> bool {
        let count = |fits: fn(&Body) -> bool| self.events.iter().filter(|e| fits(&e.body)).count();
        match sight {
            Sight::Closed(times) => {
                count(|body| matches!(body, Body::Round(RoundEvent::RoundClosed { .. }))) >= times
            }
            Sight::Started(times) => {
                count(|b| matches!(b, Body::Iteration(IterationEvent::ModelCallStarted { .. })))
                    >= times
            }
            Sight::Asked(times) => {
                count(|b| {
                    matches!(
                        b,
                        Body::Context(roundtable_core::event::ContextEvent::ContextRequested(_))
                    )
                }) >= times
            }
            Sight::Rest => self.is_quiet(),
        }
    }

    /// Whether it was told of something that it has not seen yet.
    fn seems_behind(&self) -> bool {
        let told = self.orders.iter().filter_map(|order| match &order.answer {
            Answer::Acknowledged(receipt) => Some(receipt.seq),
            Answer::Open | Answer::Refused(_) | Answer::Lost => None,
        });
        told.max() > Some(self.view.head)
    }

    fn is_quiet(&self) -> bool {
        let asked = !self.view.requests.is_empty() && self.view.status != Status::Completed;
        self.view.opened
            && self.view.scopes().next().is_none()
            && self.view.waiting.is_empty()
            && !asked
    }

    fn is_done(&self) -> bool {
        self.acts.is_empty()
            && !self.seems_behind()
            && (self.is_quiet()
                || self.orders.iter().all(|o| matches!(o.answer, Answer::Refused(_))))
    }
}

fn found(request: &roundtable_core::context_request::ContextRequest, text: &str) -> ContextResult {
    crate::answer_to(request, true, text)
}
