//! The session's messages, picked from its events as they pass: what was said, by whom, in which round.

use std::collections::{BTreeMap, BTreeSet};

use roundtable_core::agent::Agent;
use roundtable_core::event::{
    Body, Event, IterationEvent, RoundEvent, Said, Seq, SessionEvent, Task, TurnEvent,
};
use roundtable_core::id::{AgentId, RoundId, TurnId};
use roundtable_core::scope::Place;
use roundtable_debate::Rules;

/// Something that was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Statement {
    /// The agent, or whoever sent a message.
    pub agent: String,
    /// The agent's name, where it has another one.
    pub name: String,
    /// The round.
    pub round: u32,
    take: u32,
    /// The event that holds the words.
    pub seq: Seq,
}

impl Statement {
    /// Whether this participant said it; the name is in lower case.
    pub fn is_by(&self, name: &str) -> bool {
        let id = self.agent.to_lowercase();
        id == name || id.strip_prefix("agt_") == Some(name) || self.name.to_lowercase() == name
    }
}

impl std::fmt::Display for Statement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { agent, name, round, seq, .. } = self;
        if name == agent {
            write!(f, "{name}, round {round}, event {seq}")
        } else {
            write!(f, "{name} ({agent}), round {round}, event {seq}")
        }
    }
}

struct OpenTurn {
    agent: AgentId,
    stage: Option<u32>,
    words: BTreeMap<Seq, String>,
}

/// What is known of the session so far. Texts are kept only until their message is complete.
pub(super) struct Record<'a> {
    here: &'a Place,
    names: BTreeMap<AgentId, String>,
    rules: Option<Rules>,
    hidden: BTreeMap<AgentId, String>,
    inputs: BTreeMap<Seq, (String, String)>,
    round: Option<(RoundId, u32, u32)>,
    turns: BTreeMap<TurnId, OpenTurn>,
    own_stage: Option<u32>,
    held: Vec<(Option<u32>, Statement, String)>,
    superseded: BTreeSet<(u32, u32)>,
}

impl<'a> Record<'a> {
    /// A record for a reader in this place.
    pub fn new(here: &'a Place) -> Self {
        Self {
            here,
            names: BTreeMap::new(),
            rules: None,
            hidden: BTreeMap::new(),
            inputs: BTreeMap::new(),
            round: None,
            turns: BTreeMap::new(),
            own_stage: None,
            held: Vec::new(),
            superseded: BTreeSet::new(),
        }
    }

    /// The message that is complete with this event, if the reader may know of it.
    pub fn next(&mut self, event: &Event) -> Option<(Statement, String)> {
        match &event.body {
            Body::Session(body) => {
                self.session(event.seq, body);
                None
            }
            Body::Round(RoundEvent::RoundOpened { number, take, said, .. }) => {
                self.round = Some((event.place.round.clone()?, *number, *take));
                // A round that is run again has the same input once more, so the last one is kept.
                self.inputs = self.inputs.split_off(&said.as_ref()?.seq);
                let (sender, text) = self.inputs.get(&said.as_ref()?.seq)?.clone();
                Some((self.statement(&sender, sender.clone(), *said)?, text))
            }
            Body::Turn(TurnEvent::TurnStarted { agent, task }) => {
                let stage = match task {
                    Task::Seat { stage, .. } => Some(*stage),
                    Task::Delegated { .. } | Task::Nested { .. } => None,
                };
                if event.place.turn == self.here.turn {
                    self.own_stage = stage;
                }
                let open = OpenTurn { agent: agent.clone(), stage, words: BTreeMap::new() };
                self.turns.insert(event.place.turn.clone()?, open);
                None
            }
            Body::Iteration(
                IterationEvent::ModelCallFinished { text, .. }
                | IterationEvent::ModelCallCancelled { partial: text, .. },
            ) => {
                let turn = self.turns.get_mut(event.place.turn.as_ref()?)?;
                turn.words.insert(event.seq, text.clone());
                None
            }
            Body::Turn(TurnEvent::TurnEnded { said, .. }) => {
                let mut turn = self.turns.remove(event.place.turn.as_ref()?)?;
                let text = turn.words.remove(&said.as_ref()?.seq)?;
                let hidden = self.hidden.get(&turn.agent);
                let id = hidden.cloned().unwrap_or_else(|| turn.agent.as_str().to_owned());
                let name = hidden.or_else(|| self.names.get(&turn.agent)).unwrap_or(&id).clone();
                let statement = self.statement(&id, name, *said)?;
                if self.round.as_ref().map(|(id, ..)| id) != self.here.round.as_ref() {
                    return Some((statement, text));
                }
                self.held.push((turn.stage, statement, text));
                None
            }
            _ => None,
        }
    }

    /// Whether the take that a statement belongs to has been replaced since.
    pub fn is_superseded(&self, statement: &Statement) -> bool {
        self.superseded.contains(&(statement.round, statement.take))
    }

    fn session(&mut self, seq: Seq, body: &SessionEvent) {
        match body {
            SessionEvent::SessionOpened(opening) => {
                self.learn(&opening.agents);
                self.rules = Rules::of(&opening.settings);
                self.hide(&opening.settings.seats);
            }
            SessionEvent::SessionForked { agents, seats, .. } => {
                self.learn(agents);
                self.hide(seats);
            }
            SessionEvent::SessionInputAccepted(input) | SessionEvent::SessionInputEdited(input) => {
                if let Some(text) = &input.text {
                    self.inputs.insert(seq, (input.sender.clone(), text.clone()));
                }
            }
            SessionEvent::SessionRoundSuperseded { number, take, .. } => {
                self.superseded.insert((*number, *take));
            }
            SessionEvent::SessionTakeSelected { number, take } => {
                self.superseded.remove(&(*number, *take));
            }
            SessionEvent::SessionInputDropped { .. }
            | SessionEvent::SessionPaused
            | SessionEvent::SessionResumed
            | SessionEvent::SessionCompleted { .. }
            | SessionEvent::SessionImported(_)
            | SessionEvent::SessionChanged(_)
            | SessionEvent::StateChanged { .. } => {}
        }
    }

    /// In a debate without names a tool must not tell them either.
    fn hide(&mut self, seats: &[AgentId]) {
        self.hidden = self.rules.as_ref().map(|rules| rules.pseudonyms(seats)).unwrap_or_default();
    }

    fn learn(&mut self, agents: &[Agent]) {
        self.names.extend(agents.iter().map(|agent| (agent.id.clone(), agent.name.clone())));
    }

    /// What the reader may know of the round in which it speaks. Seats of one stage do not hear each
    /// other, and a tool must not be a way around that: only the stages before its own are shown.
    pub fn heard(&mut self) -> Vec<(Statement, String)> {
        let held = std::mem::take(&mut self.held).into_iter();
        let heard = held.filter(|(stage, ..)| stage.is_some() && *stage < self.own_stage);
        heard.map(|(_, statement, text)| (statement, text)).collect()
    }

    fn statement(&self, agent: &str, name: String, said: Option<Said>) -> Option<Statement> {
        let (_, round, take) = self.round.as_ref()?;
        let seq = said?.seq;
        Some(Statement { agent: agent.to_owned(), name, round: *round, take: *take, seq })
    }
}
