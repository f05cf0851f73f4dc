//! What has to be measured when a round of a debate is over: texts in, vectors from outside, a
//! measure out.

use serde::{Deserialize, Serialize};

use super::measure::{Measure, PositionVector};
use super::program::Debate;
use super::transcript::of;
use super::{Analysis, Exit, Position, Purpose, prompt};
use roundtable_core::id::AgentId;
use roundtable_core::program::Progress;
use roundtable_core::stage::Name;
use roundtable_core::window::Utterance;

/// A measurement that waits for vectors: what the measure job is given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measuring {
    /// What has to become vectors, in this order: the question, and the positions behind it.
    pub texts: Vec<String>,
    now: Vec<(AgentId, Position)>,
    before: Vec<(AgentId, Position)>,
    /// How many argue, those who failed included.
    seats: usize,
    /// How many took another side than their roles require.
    #[serde(default)]
    off_stance: usize,
    /// What the analyst says of the agreement.
    judged: Option<f64>,
    /// Whether the debate is to end when the panel agrees.
    may_end: bool,
}

impl Measuring {
    /// The name of the job.
    pub const JOB: Name = Name::constant("measure");

    /// What has to be measured in the round that is ending.
    pub(super) fn of(progress: &Progress<'_, Debate>) -> Self {
        let (session, rules) = (progress.session, progress.rules);
        let names = prompt::panel(session, rules).names;
        let seats = session.seats();
        // By seat, and not by who was done first: that is another order after a crash.
        let positions = |answers: Vec<&Utterance>| -> Vec<(AgentId, Position)> {
            let mut answers = answers;
            answers.sort_by_key(|answer| seats.iter().position(|seat| *seat == answer.agent));
            let read = |answer: &Utterance| {
                let mut position = Position::read(&answer.text);
                let seat = seats.iter().position(|seat| *seat == answer.agent);
                let side = seat.and_then(|seat| rules.mode.side(seat, seats.len()));
                position.stance = position.stance.or(side);
                (answer.agent.clone(), position)
            };
            // An answer without a position agrees to nothing.
            answers.into_iter().map(read).filter(|(_, position)| position.has_content()).collect()
        };
        let off_stance = of(progress.spoken(), Purpose::Answer).filter(|answer| {
            let seat = seats.iter().position(|seat| *seat == answer.agent);
            let required = seat.and_then(|seat| rules.mode.role(seat, seats.len()).stance);
            required.is_some_and(|side| Position::read(&answer.text).stance != Some(side))
        });
        let off_stance = off_stance.count();
        let now = positions(of(progress.spoken(), Purpose::Answer).collect());
        let earlier =
            progress.earlier.last().map(|round| of(round.spoken(), Purpose::Answer).collect());
        let before = earlier.map(positions).unwrap_or_default();
        let analysis = of(progress.spoken(), Purpose::Analyze).last();
        let consensus =
            analysis.and_then(|said| Analysis::read(&said.text, |name| names.find(name)));
        let text = |position: &str| PositionVector::text(&session.topic, position);
        let positions = now.iter().chain(&before).map(|(_, position)| text(&position.position));
        let texts = std::iter::once(text("")).chain(positions).collect();
        Self {
            texts,
            now,
            before,
            seats: seats.len(),
            off_stance,
            judged: consensus.map(|consensus| consensus.agreement),
            may_end: rules.exit_on_consensus,
        }
    }

    /// The measure, with what made the vectors. Vectors that are missing count as no likeness.
    pub fn finish(self, by: &str, vectors: Vec<Vec<f32>>) -> Measure {
        let mut vectors = vectors.into_iter();
        let question = vectors.next().unwrap_or_default();
        let mut take = |positions: &[(AgentId, Position)]| -> Vec<PositionVector> {
            let one = |(agent, position): &(AgentId, Position)| {
                let vector = vectors.next().unwrap_or_default();
                PositionVector::new(agent.clone(), position.stance, vector, &question)
            };
            positions.iter().map(one).collect()
        };
        let (now, before) = (take(&self.now), take(&self.before));
        let mut measure = Measure::of(by, &now, &before);
        // Who did not answer agrees to nothing, and a role that nobody filled was not heard.
        let complete = self.now.len() == self.seats && self.off_stance == 0;
        let agreement = self.judged.unwrap_or(measure.agreement);
        let steady = measure.is_steady(self.seats);
        let confidences: Vec<Option<f64>> =
            self.now.iter().map(|(_, position)| position.confidence).collect();
        measure.exit = Exit::find(agreement, steady, &confidences)
            .filter(|_| self.may_end && complete && self.now.len() > 1);
        measure
    }
}
