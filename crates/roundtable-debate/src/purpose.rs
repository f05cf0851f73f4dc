//! What a stage of a debate is for, and the stages that a round has because of it.

use serde::{Deserialize, Serialize};

use super::{Mode, Rules};
use roundtable_core::id::AgentId;
use roundtable_core::stage::{ANSWER, Name, Stage, Tools};

/// What a stage of a debate, and so a turn in it, is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// To name points of view before the first round.
    Frame,
    /// To take a position.
    #[default]
    Answer,
    /// To put the answers of the others in order, without knowing whose they are.
    Rank,
    /// To write the verdict of the panel.
    Verdict,
    /// To judge how far the panel agrees.
    #[serde(rename = "analyse")]
    Analyze,
    /// To sum the whole debate up.
    #[serde(rename = "synthesise")]
    Synthesize,
}

const PURPOSES: [Purpose; 6] = [
    Purpose::Frame,
    Purpose::Answer,
    Purpose::Rank,
    Purpose::Verdict,
    Purpose::Analyze,
    Purpose::Synthesize,
];

impl Purpose {
    /// The purpose with this name. Stages of other programs are answers.
    pub fn of(name: &Name) -> Self {
        PURPOSES.into_iter().find(|purpose| purpose.name() == *name).unwrap_or_default()
    }

    /// Its name in the log.
    pub fn name(self) -> Name {
        match self {
            Self::Frame => Name::constant("frame"),
            Self::Answer => ANSWER,
            Self::Rank => Name::constant("rank"),
            Self::Verdict => Name::constant("verdict"),
            Self::Analyze => Name::constant("analyze"),
            Self::Synthesize => Name::constant("synthesize"),
        }
    }

    /// A stage for it. Whoever judges has nothing to look up.
    pub(crate) fn stage(self, agents: impl IntoIterator<Item = AgentId>) -> Stage {
        Stage {
            public: self.speaks(),
            counts: matches!(self, Self::Answer | Self::Synthesize),
            tools: if self == Self::Answer { Tools::Own } else { Tools::None },
            ..Stage::new(self.name(), agents)
        }
    }

    /// Whether the answer of such a turn is a message of the session.
    pub fn speaks(self) -> bool {
        matches!(self, Self::Answer | Self::Verdict)
    }

    /// The name of its prompt.
    pub fn prompt_name(self) -> &'static str {
        match self {
            Self::Answer => "seat",
            Self::Frame => "frame",
            Self::Rank => "rank",
            Self::Verdict => "verdict",
            Self::Analyze => "analyze",
            Self::Synthesize => "synthesize",
        }
    }
}

impl Rules {
    /// Whether points of view have to be named before the first round.
    pub(crate) fn frames(&self) -> bool {
        self.mode == Mode::ExpertPanel && self.perspectives.is_empty() && self.analyst.is_some()
    }

    /// The stages that name points of view before the round with this number. Whoever no longer
    /// takes part has no seat, here and below.
    pub(crate) fn frame(&self, number: u32, takes_part: impl Fn(&AgentId) -> bool) -> Vec<Stage> {
        let analyst = self.analyst.clone().filter(takes_part);
        let frame = analyst.filter(|_| self.frames() && number == 1);
        frame.into_iter().map(|agent| Purpose::Frame.stage([agent])).collect()
    }

    /// The stages in which the panel argues.
    pub(crate) fn answers(&self, seats: &[AgentId]) -> Vec<Stage> {
        Stage::answers(self.mode.order(), seats.to_vec())
    }

    /// The stages that judge what was argued.
    pub(crate) fn judges(
        &self,
        seats: &[AgentId],
        takes_part: impl Fn(&AgentId) -> bool,
    ) -> Vec<Stage> {
        let analyst = self.analyst.clone().filter(&takes_part);
        let chair = self.chair.clone().filter(&takes_part);
        let council = self.mode == Mode::Council;
        let rank = council.then(|| Purpose::Rank.stage(seats.iter().cloned()));
        let verdict = chair.filter(|_| council).map(|chair| Purpose::Verdict.stage([chair]));
        let analyze = analyst.map(|analyst| Purpose::Analyze.stage([analyst]));
        [rank, verdict, analyze].into_iter().flatten().collect()
    }
}
