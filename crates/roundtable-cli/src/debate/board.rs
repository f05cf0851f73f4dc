//! A debate while it is held, as the terminal shows it: who sits where, who is speaking, what is being
//! said. All of it but the words of running calls is read from the session.

use std::collections::BTreeMap;

use roundtable::core::Live;
use roundtable::core::event::{Body, Event, IterationEvent};
use roundtable::core::id::{AgentId, IterationId, TurnId};
use roundtable::core::window::{RoundRecord, Utterance};
use roundtable::debate::{Purpose, Rules, is_named_after};

/// What is being said: of each turn, its last model call and the words of that.
#[derive(Default)]
pub(super) struct Words(BTreeMap<TurnId, (IterationId, String)>);

impl Words {
    /// Takes an event in.
    pub fn take(&mut self, event: &Event) {
        let place = &event.place;
        let (Body::Iteration(body), Some(turn), Some(call)) =
            (&event.body, &place.turn, &place.iteration)
        else {
            return;
        };
        let text = match body {
            IterationEvent::ModelCallStarted { .. } => "",
            IterationEvent::ModelCallFinished { text, .. }
            | IterationEvent::ModelCallCancelled { partial: text, .. } => text,
            _ => return,
        };
        self.0.insert(turn.clone(), (call.clone(), text.to_owned()));
    }

    /// The turn whose model call says something, when it says what follows on what is known.
    pub fn say(&mut self, call: &IterationId, offset: usize, text: &str) -> Option<TurnId> {
        let mut all = self.0.iter_mut();
        let (turn, (_, said)) = all.find(|(_, (own, said))| own == call && offset == said.len())?;
        said.push_str(text);
        Some(turn.clone())
    }

    /// What a turn says in its last model call, as far as it is known.
    pub fn of(&self, turn: &TurnId) -> &str {
        self.0.get(turn).map_or("", |(_, said)| said)
    }
}

/// A debate, as the terminal shows it.
#[derive(Clone, Copy)]
pub(super) struct Board<'a>(pub &'a Live);

impl<'a> Board<'a> {
    /// The last round.
    pub fn round(self) -> Option<&'a RoundRecord> {
        self.0.window.rounds().next_back()
    }

    /// The turns of the seats of the last round.
    pub fn turns(self) -> Vec<&'a Utterance> {
        self.round().map(|round| self.0.window.turns_of(round)).unwrap_or_default()
    }

    /// A turn of the last round that is a seat of it.
    pub fn turn(self, id: &TurnId) -> Option<&'a Utterance> {
        self.turns().into_iter().find(|turn| turn.turn == *id)
    }

    /// How many speak in a stage of the last round.
    pub fn seats(self, stage: u32) -> usize {
        let stage = self.round().and_then(|round| round.stages.get(stage as usize));
        stage.map_or(0, |record| record.stage.seats.len())
    }

    pub fn name(self, agent: &'a AgentId) -> &'a str {
        self.0.session.name_of(agent)
    }

    /// Who speaks, as what, through which model.
    pub fn heading(self, agent: &AgentId) -> String {
        let name = self.0.session.name_of(agent);
        let mut heading = name.to_owned();
        if let Some(role) = self.role(agent).filter(|role| !is_named_after(name, role)) {
            heading.push_str(&format!(" · {}", role.to_lowercase()));
        }
        if let Some(agent) = self.0.session.find_agent(agent) {
            heading.push_str(&format!(" · {}", agent.model));
        }
        heading
    }

    fn role(self, agent: &AgentId) -> Option<&'static str> {
        let settings = &self.0.session.settings;
        let seat = settings.seats.iter().position(|seat| seat == agent)?;
        let mode = Rules::of(settings).map(|rules| rules.mode).unwrap_or_default();
        Some(mode.role(seat, settings.seats.len()).title)
    }

    /// The round as people count it.
    pub fn round_of(self, number: u32) -> String {
        match self.0.session.settings.total_rounds {
            Some(total) => format!("Round {number}/{total}"),
            None => format!("Round {number}"),
        }
    }
}

/// What a turn is for.
pub(super) fn purpose(turn: &Utterance) -> Purpose {
    Purpose::of(&turn.purpose)
}
