//! A minute-book that knows only events: what was said in which take of which round, by the
//! events that messages point to. Prompts have to say the same.

use std::collections::BTreeMap;

use roundtable_core::event::{
    Body, Event, IterationEvent, RoundEvent, Seq, SessionEvent, TurnEvent, TurnOutcome,
};
use roundtable_core::id::{AgentId, TurnId};
use roundtable_core::session::Session;

#[derive(Debug, Default)]
pub struct Transcript {
    /// What each event says, if it says something.
    texts: BTreeMap<Seq, String>,
    speakers: BTreeMap<TurnId, AgentId>,
    rounds: BTreeMap<(u32, u32), Vec<Line>>,
    open: (u32, u32),
}

#[derive(Debug)]
struct Line {
    speaker: Option<AgentId>,
    words: Seq,
    cut_off: bool,
}

impl Transcript {
    pub fn see(&mut self, event: &Event) {
        match &event.body {
            Body::Session(
                SessionEvent::SessionInputAccepted(accepted)
                | SessionEvent::SessionInputEdited(accepted),
            ) => {
                self.texts.extend(accepted.text.clone().map(|text| (event.seq, text)));
            }
            Body::Iteration(IterationEvent::ModelCallFinished { text, .. }) => {
                self.texts.insert(event.seq, text.clone());
            }
            Body::Iteration(IterationEvent::ModelCallCancelled { partial, .. }) => {
                self.texts.insert(event.seq, partial.clone());
            }
            Body::Round(RoundEvent::RoundOpened { number, take, said, .. }) => {
                self.open = (*number, *take);
                let input =
                    said.map(|said| Line { speaker: None, words: said.seq, cut_off: false });
                self.rounds.insert(self.open, input.into_iter().collect());
            }
            Body::Turn(TurnEvent::TurnStarted { agent, .. }) => {
                let turn = event.place.turn.clone().expect("a turn");
                self.speakers.insert(turn, agent.clone());
            }
            Body::Turn(TurnEvent::TurnEnded { outcome, said: Some(said) }) => {
                let turn = event.place.turn.as_ref().expect("a turn");
                let speaker = Some(self.speakers[turn].clone());
                let cut_off = *outcome != TurnOutcome::Answered;
                let line = Line { speaker, words: said.seq, cut_off };
                self.rounds.get_mut(&self.open).expect("known").push(line);
            }
            _ => {}
        }
    }

    /// The rounds before the open one, in the takes that count, as a prompt tells them.
    pub fn history(&self, session: &Session) -> String {
        let active = session.marks.iter().filter(|mark| mark.active && mark.outcome.is_some());
        let mut takes: Vec<_> = active.map(|mark| (mark.number, mark.take)).collect();
        takes.sort_unstable();
        let mut text = String::new();
        for take in takes {
            text.push_str(&format!("[Round {}]\n", take.0));
            for line in &self.rounds[&take] {
                let name = line.speaker.as_ref().map_or("User", |id| {
                    &session.find_agent(id).expect("an agent of the session").name
                });
                let cut_off = if line.cut_off { " [cut off]" } else { "" };
                text.push_str(&format!("{name}: {}{cut_off}\n", self.texts[&line.words]));
            }
        }
        text
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
