//! What is known of a debate while it is held: who sits where, who is speaking, what was said so far.

use std::collections::BTreeMap;

use roundtable::core::agent::Agent;
use roundtable::core::debate::{Mode, Perspective, Purpose, Rules, is_named_after};
use roundtable::core::event::{
    Body, Event, IterationEvent, Opening, RoundEvent, SessionEvent, Task, ToolCallEvent, TurnEvent,
    legacy,
};
use roundtable::core::id::{AgentId, IterationId, RoundId, ToolCallId, TurnId};
use roundtable::core::settings::Settings;
use roundtable::core::stage::Stage;

/// What is known of a debate.
#[derive(Default)]
pub(super) struct Board {
    agents: Vec<Agent>,
    settings: Settings,
    topic: String,
    /// The tools of the calls so far.
    calls: BTreeMap<ToolCallId, String>,
    /// The perspectives that a model chose, if one did.
    perspectives: Vec<Perspective>,
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
            Body::Round(RoundEvent::StagesAdded { stages }) => {
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
                self.note_perspectives(event);
            }
            Body::Iteration(body) => self.hear(event, body),
            Body::ToolCall(body) => self.take_tool_call(event, body),
            _ => {}
        }
    }

    /// A tool counts as used once it ran: a call that was refused never starts.
    fn take_tool_call(&mut self, event: &Event, body: &ToolCallEvent) {
        let Some(call) = event.place.tool_call.clone() else { return };
        match body {
            ToolCallEvent::ToolCallRequested { name, .. } => {
                self.calls.insert(call, name.clone());
            }
            ToolCallEvent::ToolCallStarted { attempt: 1 } => {
                let name = self.calls.get(&call).cloned();
                self.change(event, |speech| speech.tools.extend(name));
            }
            _ => {}
        }
    }

    fn open(&mut self, opening: &Opening) {
        self.agents.clone_from(&opening.agents);
        self.settings = opening.settings.clone();
        self.topic.clone_from(&opening.topic);
    }

    /// Notes the perspectives that a model chose for an expert panel.
    fn note_perspectives(&mut self, event: &Event) {
        let speech = event.place.turn.as_ref().and_then(|turn| self.speech(turn));
        let frame = speech.filter(|speech| speech.purpose == Purpose::Frame);
        let seats = self.settings.seats.len();
        if let Some(named) = frame.and_then(|frame| Perspective::read(&frame.answer, seats)) {
            self.perspectives = named;
        }
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

    /// All turns of the open round that are seats of it.
    pub fn speeches(&self) -> impl Iterator<Item = &Speech> {
        self.round.iter().flat_map(|round| round.speeches.values())
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
        let role = self.role(agent).filter(|role| !is_named_after(name, role));
        match (self.perspective(agent).filter(|known| !is_named_after(name, known)), role) {
            // An expert without a name of its own carries the name of its perspective.
            (Some(perspective), None) => heading = perspective.to_owned(),
            (Some(perspective), Some(_)) => heading.push_str(&format!(" · {perspective}")),
            (None, Some(role)) => heading.push_str(&format!(" · {}", role.to_lowercase())),
            (None, None) => {}
        }
        if let Some(agent) = self.agent(agent) {
            heading.push_str(&format!(" · {}", agent.model));
        }
        heading
    }

    fn role(&self, agent: &AgentId) -> Option<&'static str> {
        Some(self.mode().role(self.seat(agent)?, self.settings.seats.len()).title)
    }

    /// The seat of an agent, from 0; none for analyst and chair.
    pub fn seat(&self, agent: &AgentId) -> Option<usize> {
        self.settings.seats.iter().position(|seat| seat == agent)
    }

    fn mode(&self) -> Mode {
        Rules::of(&self.settings).map(|rules| rules.mode).unwrap_or_default()
    }

    /// The perspective of an agent, in an expert panel.
    fn perspective(&self, agent: &AgentId) -> Option<&str> {
        let seat = self.seat(agent).filter(|_| self.mode() == Mode::ExpertPanel)?;
        let count = self.perspectives.len();
        Some(&self.perspectives.get(seat.checked_rem(count)?)?.name)
    }

    /// What is debated, how, and by whom.
    pub fn introduction(&self) -> Vec<String> {
        let rounds = match self.settings.total_rounds {
            Some(1) => "1 round".to_owned(),
            Some(total) => format!("{total} rounds"),
            None => "any number of rounds".to_owned(),
        };
        let seats = &self.settings.seats;
        let mut models: Vec<(&str, Vec<&str>)> = Vec::new();
        for agent in seats.iter().filter_map(|seat| self.agent(seat)) {
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
            format!("Topic: {}", self.topic),
            format!("Mode: {}, {} agents, {rounds}", self.mode(), seats.len()),
            format!("Models: {models}"),
        ]
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
