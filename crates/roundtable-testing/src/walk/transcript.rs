//! A minute-book that knows only events: what was said in which take of which round, to whom, by the
//! events that messages point to. Prompts have to say the same, and nothing that went to others.

use std::collections::BTreeMap;

use roundtable_core::audience::Audience;
use roundtable_core::event::{
    Body, Event, IterationEvent, RoundEvent, Seq, SessionEvent, Task, TurnEvent, TurnOutcome,
};
use roundtable_core::id::{AgentId, RoundId, TurnId};
use roundtable_core::session::Session;
use roundtable_core::stage::Stage;

#[derive(Debug, Default)]
pub struct Transcript {
    /// What each event says, if it says something, and to whom.
    texts: BTreeMap<Seq, String>,
    whispers: BTreeMap<Seq, Audience>,
    turns: BTreeMap<TurnId, Turn>,
    scopes: BTreeMap<RoundId, Scope>,
    rounds: BTreeMap<(u32, u32), Vec<Line>>,
    present: BTreeMap<(u32, u32), Option<Audience>>,
    open: (u32, u32),
}

/// A turn: whose, where, and what it said last.
#[derive(Debug)]
struct Turn {
    agent: AgentId,
    /// The round or aside, and the seat in it; those of the turn that waits, for a child.
    scope: RoundId,
    seat: (u32, u32),
    is_child: bool,
    words: Vec<Seq>,
}

/// A round or an aside: its stages, with those who are present in each, and where each began.
#[derive(Debug)]
struct Scope {
    present: Option<Audience>,
    stages: Vec<(Stage, Option<Audience>)>,
    began: BTreeMap<u32, Seq>,
    /// Who waits for the children of which tool call is known by the turn that made it.
    calls: BTreeMap<String, TurnId>,
}

#[derive(Debug)]
struct Line {
    speaker: Option<AgentId>,
    words: Seq,
    cut_off: bool,
    /// Whether it is no message, and a program may show it all the same.
    private: bool,
    /// Who was present, whom it was meant for, and where it was complete.
    present: Option<Audience>,
    to: Option<Audience>,
    at: Seq,
}

impl Line {
    fn went_to(&self, agent: &AgentId) -> bool {
        let within = |audience: &Option<Audience>| audience.as_ref().is_none_or(|a| a.has(agent));
        self.speaker.as_ref() == Some(agent) || (within(&self.present) && within(&self.to))
    }
}

impl Transcript {
    pub fn see(&mut self, event: &Event) {
        match &event.body {
            Body::Session(
                SessionEvent::SessionInputAccepted(accepted)
                | SessionEvent::SessionInputEdited(accepted),
            ) => {
                self.texts.extend(accepted.text.clone().map(|text| (event.seq, text)));
                self.whispers.extend(accepted.to.clone().map(|to| (event.seq, to)));
            }
            Body::Iteration(
                IterationEvent::ModelCallFinished { text, .. }
                | IterationEvent::ModelCallCancelled { partial: text, .. },
            ) => {
                self.texts.insert(event.seq, text.clone());
                let turn = event.place.turn.as_ref().expect("a turn");
                self.turns.get_mut(turn).expect("known").words.push(event.seq);
            }
            Body::Round(body) => self.see_round(body, event),
            Body::Turn(body) => self.see_turn(body, event),
            Body::ToolCall(_) => {
                let place = &event.place;
                let (turn, call) = (place.turn.clone(), place.tool_call.as_ref());
                let scope = self.scopes.get_mut(place.round.as_ref().expect("a round"));
                let calls = &mut scope.expect("known").calls;
                calls.insert(call.expect("a call").to_string(), turn.expect("a turn"));
            }
            _ => {}
        }
    }

    fn see_round(&mut self, body: &RoundEvent, event: &Event) {
        let id = event.place.round.clone().expect("a round");
        match body {
            RoundEvent::RoundOpened { number, take, said, stages, audience, .. } => {
                self.open = (*number, *take);
                self.present.insert(self.open, audience.clone());
                let input = said.map(|said| Line {
                    speaker: None,
                    words: said.seq,
                    cut_off: false,
                    private: false,
                    present: audience.clone(),
                    to: self.whispers.get(&said.seq).cloned(),
                    at: event.seq,
                });
                self.rounds.insert(self.open, input.into_iter().collect());
                self.scopes.insert(id, Scope::opened(stages, audience.clone()));
            }
            RoundEvent::RoundAsideOpened { stages, .. } => {
                self.scopes.insert(id, Scope::opened(stages, None));
            }
            RoundEvent::StagesAdded { stages, audience } => {
                let scope = self.scopes.get_mut(&id).expect("known");
                let before = scope.stages.last().map_or(&scope.present, |(_, present)| present);
                let present = audience.clone().or(before.clone());
                scope.stages.extend(stages.iter().map(|stage| (stage.clone(), present.clone())));
            }
            _ => {}
        }
    }

    fn see_turn(&mut self, body: &TurnEvent, event: &Event) {
        let turn = event.place.turn.clone().expect("a turn");
        let id = event.place.round.clone().expect("a round");
        match body {
            TurnEvent::TurnStarted { agent, task } => {
                let scope = self.scopes.get_mut(&id).expect("known");
                let seat = match task {
                    Task::Seat { stage, seat } => {
                        scope.began.entry(*stage).or_insert(event.seq);
                        (*stage, *seat)
                    }
                    Task::Delegated { tool_call, .. } | Task::Nested { tool_call, .. } => {
                        self.turns[&scope.calls[tool_call.as_str()]].seat
                    }
                };
                let (agent, is_child) = (agent.clone(), task.tool_call().is_some());
                let words = Vec::new();
                self.turns.insert(turn, Turn { agent, scope: id, seat, is_child, words });
            }
            TurnEvent::TurnEnded { outcome, said } => {
                let Turn { agent, scope, seat: (stage, seat), is_child, words } =
                    &self.turns[&turn];
                let (stage, present) = &self.scopes[scope].stages[*stage as usize];
                let last = words.last().filter(|_| !is_child && !stage.public);
                let Some(words) = said.map(|said| said.seq).or(last.copied()) else { return };
                let line = Line {
                    speaker: Some(agent.clone()),
                    words,
                    cut_off: *outcome != TurnOutcome::Answered,
                    private: said.is_none(),
                    present: present.clone(),
                    to: stage.seats[*seat as usize].audience.clone(),
                    at: event.seq,
                };
                self.rounds.get_mut(&self.open).expect("known").push(line);
            }
        }
    }

    /// The rounds before the open one, in the takes that count, as the prompt of a turn tells them.
    pub fn history(&self, session: &Session, turn: &TurnId) -> String {
        let agent = &self.turns[turn].agent;
        let active = session.marks.iter().filter(|mark| mark.active && mark.outcome.is_some());
        let mut takes: Vec<_> = active.map(|mark| (mark.number, mark.take)).collect();
        takes.sort_unstable();
        let mut text = String::new();
        for take in takes {
            let lines: Vec<_> =
                self.rounds[&take].iter().filter(|line| line.went_to(agent)).collect();
            let present = self.present[&take].as_ref();
            let known = |line: &&&Line| !line.private || !line.cut_off;
            if lines.iter().filter(known).count() == 0 && present.is_some_and(|all| !all.has(agent))
            {
                continue;
            }
            text.push_str(&format!("[Round {}]\n", take.0));
            for line in lines.iter().filter(|line| !line.private) {
                let name = line.speaker.as_ref().map_or("User", |id| {
                    &session.find_agent(id).expect("an agent of the session").name
                });
                let cut_off = if line.cut_off { " [cut off]" } else { "" };
                text.push_str(&format!("{name}: {}{cut_off}\n", self.texts[&line.words]));
            }
        }
        text
    }

    /// No message is in the prompt of a turn that did not go to its agent before its stage began. An
    /// agent knows its own words, and what is delegated to it is its agent's to tell.
    pub fn check_received(&self, turn: &TurnId, prompt: &str) {
        let Turn { agent, scope, seat: (stage, _), words, .. } = &self.turns[turn];
        let until = self.scopes[scope].began[stage];
        for line in self.rounds.values().flatten() {
            let text = &self.texts[&line.words];
            let known = line.went_to(agent) && line.at < until;
            // Other lines may say the same, and so may this turn.
            let again = |other: &Line| {
                other.went_to(agent) && other.at < until && self.texts[&other.words] == *text
            };
            let own = words.iter().any(|seq| self.texts[seq].contains(text.as_str()));
            if !known && !own && !self.rounds.values().flatten().any(again) {
                let leaks = text.len() > 9 && prompt.contains(text.as_str());
                assert!(!leaks, "{agent} did not receive \"{text}\", and its prompt has it");
            }
        }
    }
}

impl Scope {
    fn opened(stages: &[Stage], present: Option<Audience>) -> Self {
        let stages = stages.iter().map(|stage| (stage.clone(), present.clone())).collect();
        Self { present, stages, began: BTreeMap::new(), calls: BTreeMap::new() }
    }
}

/// The text without the blocks of provided information, and without empty lines.
pub fn without_answers(text: &str) -> String {
    let mut kept = String::new();
    let mut inside = false;
    for line in text.split_inclusive('\n') {
        if line.starts_with("<context-results-") {
            inside = true;
        }
        if !inside && line != "\n" {
            kept.push_str(line);
        }
        if line.starts_with("</context-results-") {
            inside = false;
        }
    }
    kept
}
