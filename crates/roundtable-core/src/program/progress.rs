//! What was done and said, as programs see it.

use serde_json::Value;

use crate::audience::Viewer;
use crate::event::AcceptedInput;
use crate::job::JobOutcome;
use crate::stage::{Name, Stage};
use crate::window::{RoundRecord, Utterance};

/// A stage or a job that is over.
#[derive(Debug, Clone)]
pub enum Done<'a> {
    /// A stage.
    Stage {
        /// The stage.
        stage: &'a Stage,
        /// The turns of its seats, in the order in which they ended.
        turns: Vec<&'a Utterance>,
    },
    /// A job.
    Job {
        /// What was computed.
        name: &'a Name,
        /// How it ended.
        outcome: &'a JobOutcome,
    },
}

impl Done<'_> {
    /// What the first of the stage's seats said, where that was told; nothing for a job.
    pub fn text(&self) -> Option<&str> {
        let Self::Stage { turns, .. } = self else { return None };
        turns.iter().find(|turn| turn.visible).map(|turn| turn.text.as_str())
    }
}

/// Everything that a round or an aside has done, in its order.
pub(super) fn all(record: &RoundRecord) -> Vec<Done<'_>> {
    let mut done = Vec::new();
    for index in 0..=record.stages.len() {
        let jobs = record.jobs.iter().filter(|job| job.after == index);
        done.extend(jobs.map(|job| Done::Job { name: &job.name, outcome: &job.outcome }));
        if let Some(stage) = record.stages.get(index).map(|record| &record.stage) {
            let own = |turn: &&Utterance| turn.stage as usize == index;
            done.push(Done::Stage { stage, turns: record.turns.iter().filter(own).collect() });
        }
    }
    done
}

/// A round, as far as someone received it.
#[derive(Debug, Clone, Copy)]
pub struct RoundView<'a> {
    record: &'a RoundRecord,
    viewer: &'a Viewer,
}

impl<'a> RoundView<'a> {
    /// All of a round.
    pub(crate) fn all(record: &'a RoundRecord) -> Self {
        Self { record, viewer: &Viewer::Everything }
    }

    /// What someone received of a round.
    pub(crate) fn of(record: &'a RoundRecord, viewer: &'a Viewer) -> Self {
        Self { record, viewer }
    }

    pub(crate) fn record(&self) -> &'a RoundRecord {
        self.record
    }

    /// Whether the viewer was present when it opened.
    pub(crate) fn was_present(&self) -> bool {
        self.viewer.received(self.record.present.as_ref(), self.record.from)
    }

    /// Whether the viewer knows nothing of it: it was absent, and nothing was said to it.
    pub(crate) fn is_unknown(&self) -> bool {
        !self.was_present() && self.input().is_none() && self.spoken().next().is_none()
    }

    /// Its number.
    pub fn number(&self) -> u32 {
        self.record.number
    }

    /// Which take of that number.
    pub fn take(&self) -> u32 {
        self.record.take
    }

    /// The input that it answers; nothing where the viewer did not receive it.
    pub fn input(&self) -> Option<&'a AcceptedInput> {
        self.record.input_for(self.viewer)
    }

    /// The messages of its agents. Answers in private stages are not among them.
    pub fn messages(&self) -> impl Iterator<Item = &'a Utterance> + Clone + use<'a> {
        self.spoken().filter(|spoken| spoken.said.is_some())
    }

    /// The messages of its agents, and the answers in private stages that the viewer received: what
    /// of those a prompt shows is the program's decision.
    pub fn spoken(&self) -> impl Iterator<Item = &'a Utterance> + Clone + use<'a> {
        self.record.spoken_to(self.viewer)
    }

    /// The result of the last job with this name, if it has one. It has no audience: what of it a
    /// prompt shows is the program's decision.
    pub fn result(&self, job: &Name) -> Option<&'a Value> {
        let mut own = self.record.jobs.iter().rev().filter(|record| record.name == *job);
        own.find_map(|record| record.outcome.data())
    }
}
