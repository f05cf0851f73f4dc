//! What a turn of a debate is for, and the stages that a round has because of it.

use serde::{Deserialize, Serialize};

use super::{Mode, Rules};
use crate::id::AgentId;
use crate::round;

/// What a turn of a debate is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// To name points of view before the first round.
    Frame,
    /// To take a position. Turns of any other kind of session are for this, too.
    #[default]
    Answer,
    /// To put the answers of the others in order, without knowing whose they are.
    Rank,
    /// To write what the panel comes to.
    Verdict,
    /// To say how far the panel agrees.
    Analyse,
    /// To sum the whole debate up.
    Synthesise,
}

impl Purpose {
    /// Whether such a turn speaks in the conversation: what it says is a message.
    pub fn speaks(self) -> bool {
        matches!(self, Self::Answer | Self::Verdict)
    }

    /// Whether a round is worth something because of such a turn.
    pub(crate) fn counts(self) -> bool {
        matches!(self, Self::Answer | Self::Synthesise)
    }

    /// The name of its prompt.
    pub fn prompt_name(self) -> &'static str {
        match self {
            Self::Answer => "seat",
            Self::Frame => "frame",
            Self::Rank => "rank",
            Self::Verdict => "verdict",
            Self::Analyse => "analyse",
            Self::Synthesise => "synthesise",
        }
    }
}

impl Rules {
    /// Whether points of view have to be named before the first round.
    pub(crate) fn frames(&self) -> bool {
        self.mode == Mode::ExpertPanel && self.perspectives.is_empty() && self.analyst.is_some()
    }

    /// The stages of a round with this number. Whoever no longer takes part has none.
    pub(crate) fn stages(
        &self,
        number: u32,
        seats: &[AgentId],
        takes_part: impl Fn(&AgentId) -> bool,
    ) -> Vec<Vec<AgentId>> {
        let analyst = self.analyst.clone().filter(&takes_part);
        let chair = self.chair.clone().filter(&takes_part);
        let frame = analyst.clone().filter(|_| self.frames() && number == 1);
        let mut stages: Vec<Vec<AgentId>> = frame.into_iter().map(|agent| vec![agent]).collect();
        stages.extend(round::stages(self.mode.order(), seats.to_vec()));
        if self.mode == Mode::Council {
            stages.push(seats.to_vec());
            stages.extend(chair.map(|chair| vec![chair]));
        }
        stages.extend(analyst.map(|analyst| vec![analyst]));
        stages
    }

    /// What the turns of a stage are for. Analyst and chair have no seat, so a stage tells.
    pub fn purpose(&self, stage: usize, stages: &[Vec<AgentId>]) -> Purpose {
        let sits = |agent: &Option<AgentId>| {
            agent.as_ref().is_some_and(|agent| stages.get(stage).is_some_and(|s| s.contains(agent)))
        };
        if sits(&self.analyst) {
            return if stage == 0 { Purpose::Frame } else { Purpose::Analyse };
        }
        if sits(&self.chair) {
            return Purpose::Verdict;
        }
        if self.mode == Mode::Council && stage > 0 { Purpose::Rank } else { Purpose::Answer }
    }
}
