//! What is known of a debate while it is held: who sits where, who is speaking, what was said so far.

use std::collections::BTreeMap;

use roundtable::core::agent::Agent;
use roundtable::core::debate::{Purpose, Rules, is_named_after};
use roundtable::core::event::{
    Body, Event, IterationEvent, Opening, RoundEvent, SessionEvent, Task, ToolCallEvent, TurnEvent,
    legacy,
};
use roundtable::core::id::{AgentId, IterationId, RoundId, TurnId};
use roundtable::core::settings::Settings;
use roundtable::core::stage::Stage;

/// What is known of a debate.
#[derive(Default)]
pub(super) struct Board {
    agents: Vec<Agent>,
    settings: Settings,
    pub round: Option<Round>,
}

/// The open round.
pub(super) struct Round {
    pub id: RoundId,
    pub number: u32,
    pub stages: Vec<Stage>,
    pub speeches: BTreeMap<TurnId, Speech>,
}

/// A turn of the open round.
pub(super) struct Speech {
    pub agent: AgentId,
    /// The stage, and the seat in it.
    pub place: (u32, u32),
    pub purpose: Purpose,
    /// Whether nobody else speaks in its stage.
    pub alone: bool,
    pub over: bool,
    /// The model call that is under way or was the last one.
    pub iteration: Option<IterationId>,
    /// What was said in it so far.
    pub said: String,
    /// The last whole answer.
    pub answer: String,
    pub tools: Vec<String>,
}

impl Board {
    /// Takes an event in.
    pub fn take(&mut self, event: &Event) {
        match &event.body {
            Body::Session(SessionEvent::SessionOpened(opening)) => self.open(opening),
            Body::Round(RoundEvent::RoundOpened { number, stages, .. }) => {
                self.round = event.place.round.clone().map(|id| Round {
                    id,
                    number: *number,
                    stages: legacy::stages(stages, &self.settings).into_owned(),
                    speeches: BTreeMap::new(),
                });
            }
            Body::Round(RoundEvent::StagesAdded { stages, .. }) => {
                let id = event.place.round.as_ref();
                if let Some(round) = self.round.as_mut().filter(|round| Some(&round.id) == id) {
                    round.stages.extend(stages.iter().cloned());
                }
            }
            Body::Turn(TurnEvent::TurnStarted { agent, task: Task::Seat { stage, seat } }) => {
                self.begin(event, agent, (*stage, *seat));
            }
            Body::Turn(TurnEvent::TurnEnded { .. }) => {
                self.change(event, |speech| speech.over = true);
            }
            Body::Iteration(body) => self.hear(event, body),
            Body::ToolCall(ToolCallEvent::ToolCallRequested { name, .. }) => {
                let name = name.clone();
                self.change(event, |speech| speech.tools.push(name));
            }
            _ => {}
        }
    }

    fn open(&mut self, opening: &Opening) {
        self.agents.clone_from(&opening.agents);
        self.settings = opening.settings.clone();
    }

    fn begin(&mut self, event: &Event, agent: &AgentId, place: (u32, u32)) {
        let (Some(round), Some(turn)) = (&mut self.round, &event.place.turn) else { return };
        if event.place.round.as_ref() != Some(&round.id) {
            return;
        }
        let stage = round.stages.get(place.0 as usize);
        let speech = Speech {
            agent: agent.clone(),
            place,
            purpose: stage.map(|stage| Purpose::of(&stage.purpose)).unwrap_or_default(),
            alone: stage.is_some_and(|stage| stage.seats.len() == 1),
            over: false,
            iteration: None,
            said: String::new(),
            answer: String::new(),
            tools: Vec::new(),
        };
        round.speeches.insert(turn.clone(), speech);
    }

    fn hear(&mut self, event: &Event, body: &IterationEvent) {
        let iteration = event.place.iteration.clone();
        self.change(event, |speech| match body {
            IterationEvent::ModelCallStarted { .. } => {
                speech.iteration = iteration;
                speech.said.clear();
            }
            IterationEvent::ModelCallFinished { text, .. }
            | IterationEvent::ModelCallCancelled { partial: text, .. } => {
                speech.said.clone_from(text);
                if !text.is_empty() {
                    speech.answer.clone_from(text);
                }
            }
            _ => {}
        });
    }

    fn change(&mut self, event: &Event, change: impl FnOnce(&mut Speech)) {
        if let Some(speech) = event.place.turn.as_ref().and_then(|turn| self.speech_mut(turn)) {
            change(speech);
        }
    }

    fn speech_mut(&mut self, turn: &TurnId) -> Option<&mut Speech> {
        self.round.as_mut()?.speeches.get_mut(turn)
    }

    /// A turn of the open round that is a seat of it.
    pub fn speech(&self, turn: &TurnId) -> Option<&Speech> {
        self.round.as_ref()?.speeches.get(turn)
    }

    /// The turn whose model call says something, when it says what follows on what is known.
    pub fn say(&mut self, iteration: &IterationId, offset: usize, text: &str) -> Option<TurnId> {
        let speeches = &mut self.round.as_mut()?.speeches;
        let (turn, speech) =
            speeches.iter_mut().find(|(_, speech)| speech.iteration.as_ref() == Some(iteration))?;
        if speech.over || offset != speech.said.len() {
            return None;
        }
        speech.said.push_str(text);
        Some(turn.clone())
    }

    pub fn name<'a>(&'a self, agent: &'a AgentId) -> &'a str {
        self.agent(agent).map_or(agent.suffix(), |agent| agent.name.as_str())
    }

    /// Who speaks, as what, through which model.
    pub fn heading(&self, agent: &AgentId) -> String {
        let name = self.name(agent);
        let mut heading = name.to_owned();
        if let Some(role) = self.role(agent).filter(|role| !is_named_after(name, role)) {
            heading.push_str(&format!(" · {}", role.to_lowercase()));
        }
        if let Some(agent) = self.agent(agent) {
            heading.push_str(&format!(" · {}", agent.model));
        }
        heading
    }

    fn role(&self, agent: &AgentId) -> Option<&'static str> {
        let seats = &self.settings.seats;
        let seat = seats.iter().position(|seat| seat == agent)?;
        let mode = Rules::of(&self.settings).map(|rules| rules.mode).unwrap_or_default();
        Some(mode.role(seat, seats.len()).title)
    }

    fn agent(&self, id: &AgentId) -> Option<&Agent> {
        self.agents.iter().find(|agent| agent.id == *id)
    }

    /// The round as people count it.
    pub fn round_of(&self, number: u32) -> String {
        match self.settings.total_rounds {
            Some(total) => format!("Round {number}/{total}"),
            None => format!("Round {number}"),
        }
    }
}
