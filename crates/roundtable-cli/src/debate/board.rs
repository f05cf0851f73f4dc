//! A debate while it is held, as the terminal shows it: who sits where, who is speaking, what is being
//! said. All of it but the words of running calls is read from the session.

use std::collections::BTreeMap;

use roundtable::core::Live;
use roundtable::core::event::{Body, Event, IterationEvent};
use roundtable::core::id::{AgentId, IterationId, TurnId};
use roundtable::core::window::{RoundRecord, Utterance};
use roundtable::debate::{Mode, Perspective, Purpose, Rules, is_named_after};

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
        let role = self.role(agent).filter(|role| !is_named_after(name, role));
        match (self.perspective(agent).filter(|known| !is_named_after(name, known)), role) {
            // An expert without a name of its own carries the name of its perspective.
            (Some(perspective), None) => heading = perspective,
            (Some(perspective), Some(_)) => heading.push_str(&format!(" · {perspective}")),
            (None, Some(role)) => heading.push_str(&format!(" · {}", role.to_lowercase())),
            (None, None) => {}
        }
        if let Some(agent) = self.0.session.find_agent(agent) {
            heading.push_str(&format!(" · {}", agent.model));
        }
        heading
    }

    fn role(self, agent: &AgentId) -> Option<&'static str> {
        Some(self.mode().role(self.seat(agent)?, self.0.session.settings.seats.len()).title)
    }

    /// The seat of an agent, from 0. The analyst and the chair have no seat.
    pub fn seat(self, agent: &AgentId) -> Option<usize> {
        self.0.session.settings.seats.iter().position(|seat| seat == agent)
    }

    fn mode(self) -> Mode {
        Rules::of(&self.0.session.settings).map(|rules| rules.mode).unwrap_or_default()
    }

    /// The perspective that a model chose for an agent of an expert panel.
    fn perspective(self, agent: &AgentId) -> Option<String> {
        let seat = self.seat(agent).filter(|_| self.mode() == Mode::ExpertPanel)?;
        let Live { session, window, .. } = self.0;
        let turns = window.rounds().rev().flat_map(|round| window.turns_of(round));
        let mut frames = turns.filter(|turn| purpose(turn) == Purpose::Frame);
        let seats = session.settings.seats.len();
        let chosen = frames.find_map(|turn| Perspective::read(&turn.text, seats))?;
        Some(chosen.get(seat.checked_rem(chosen.len())?)?.name.clone())
    }

    /// Topic, mode, size and models of the debate.
    pub fn introduction(self) -> Vec<String> {
        let session = &self.0.session;
        let rounds = match session.settings.total_rounds {
            Some(1) => "1 round".to_owned(),
            Some(total) => format!("{total} rounds"),
            None => "any number of rounds".to_owned(),
        };
        let seats = &session.settings.seats;
        let mut models: Vec<(&str, Vec<&str>)> = Vec::new();
        for agent in seats.iter().filter_map(|seat| session.find_agent(seat)) {
            match models.iter_mut().find(|(model, _)| *model == agent.model) {
                Some((_, names)) => names.push(&agent.name),
                None => models.push((&agent.model, vec![&agent.name])),
            }
        }
        let models = match models.as_slice() {
            [(model, _)] => (*model).to_owned(),
            several => {
                let one =
                    |(model, names): &(&str, Vec<&str>)| format!("{model} ({})", names.join(", "));
                several.iter().map(one).collect::<Vec<_>>().join(", ")
            }
        };
        vec![
            format!("Topic: {}", session.topic),
            format!("Mode: {}, {} agents, {rounds}", self.mode(), seats.len()),
            format!("Models: {models}"),
        ]
    }

    /// Who is at work in the last round; nothing when nobody is.
    pub fn activity(self) -> Option<String> {
        let round = self.round()?;
        let (mut open, over): (Vec<&Utterance>, Vec<&Utterance>) =
            self.turns().into_iter().partition(|turn| turn.outcome.is_none());
        open.sort_by_key(|turn| (turn.stage, turn.seat));
        let one = open.first()?;
        let done = over.iter().filter(|turn| turn.stage == one.stage).count();
        let of = self.seats(one.stage);
        let names: Vec<&str> = open.iter().map(|turn| self.name(&turn.agent)).collect();
        let what = match purpose(one) {
            Purpose::Frame => "choosing perspectives".to_owned(),
            Purpose::Answer if of == 1 => format!("{} is thinking", names.join(", ")),
            Purpose::Answer => format!("{} ({done} of {of} have answered)", names.join(", ")),
            Purpose::Rank => format!("ranking the answers: {}", names.join(", ")),
            Purpose::Verdict => format!("{} is writing the verdict", names.join(", ")),
            Purpose::Analyze => "analyzing the consensus".to_owned(),
            Purpose::Synthesize => "summing up".to_owned(),
        };
        Some(format!("{}: {what}", self.round_of(round.number)))
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
