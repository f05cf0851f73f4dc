//! The messages of a session, as someone received them.

use std::sync::Arc;

use super::{RoundRecord, Window};
use crate::audience::Viewer;
use crate::event::{MessageRef, Seq};
use crate::id::{AgentId, RoundId, TurnId};
use crate::live::Live;
use crate::projection::Receivers;
use crate::session::Session;

/// A message that someone received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedMessage {
    /// Its number in the session.
    pub number: u64,
    /// The event that has its text.
    pub seq: Seq,
    /// Its round.
    pub round: u32,
    /// Whether the take of the round that it belongs to counts.
    pub counts: bool,
    /// The agent that said it; none for a message of a person, and where the program hides who it was.
    pub agent: Option<AgentId>,
    /// What its sender is called.
    pub sender: String,
    /// What it says.
    pub text: String,
}

impl Live {
    /// The messages that someone received, of the rounds that are kept, in the order of the rounds.
    pub fn messages(&self, viewer: &Viewer) -> Vec<ReceivedMessage> {
        self.window.rounds().flat_map(|round| self.messages_of(round, viewer)).collect()
    }

    /// The messages that someone received, of the rounds that no prompt draws on any more. Those
    /// rounds are dropped: whoever reads a long log need not hold all of it.
    pub fn drain_messages(&mut self, viewer: &Viewer) -> Vec<ReceivedMessage> {
        let left = self.window.drain(&self.session);
        left.iter().flat_map(|round| self.messages_of(round, viewer)).collect()
    }

    fn messages_of(&self, round: &RoundRecord, viewer: &Viewer) -> Vec<ReceivedMessage> {
        let message = |said: MessageRef, agent: Option<AgentId>, sender: String, text: &str| {
            let MessageRef { number, seq } = said;
            let (round, counts, text) = (round.number, round.active, text.to_owned());
            ReceivedMessage { number, seq, round, counts, agent, sender, text }
        };
        let input = round.input_for(viewer).and_then(|input| {
            Some(message(round.said?, None, input.sender.clone(), input.text.as_ref()?))
        });
        let spoken = round.spoken_to(viewer).filter_map(|spoken| {
            let (agent, sender) = match self.pseudonym(&spoken.agent) {
                Some(hidden) => (None, hidden),
                None => {
                    let name = self.session.name_of(&spoken.agent).to_owned();
                    (Some(spoken.agent.clone()), name)
                }
            };
            Some(message(spoken.said?, agent, sender, &spoken.text))
        });
        input.into_iter().chain(spoken).collect()
    }
}

impl Window {
    /// Who received the message of a turn, or the input of a round. Nobody, where that is not known any
    /// more.
    pub(crate) fn receivers(&self, round: &RoundId, turn: Option<&TurnId>) -> Receivers {
        let known = self.find_round(round).and_then(|round| match turn {
            None => Some(round.input_receivers()),
            Some(turn) => round.turn_receivers(turn),
        });
        known.unwrap_or_else(Receivers::nobody)
    }

    fn drain(&mut self, session: &Session) -> Vec<Arc<RoundRecord>> {
        let known = |round: &Arc<RoundRecord>| {
            let mut marks = session.marks.iter();
            round.outcome.is_none() || marks.any(|mark| mark.is(round.number, round.take))
        };
        let (kept, left): (Vec<_>, Vec<_>) = self.rounds.drain(..).partition(known);
        self.rounds.extend(kept);
        left
    }
}
