//! Reasons not to rely on a round, whatever its agreement score is.

use std::fmt;

use serde::{Serialize, Serializer};

use super::position::sentences;
use super::record::{Record, RecordedRound};
use super::{Level, Response, Stance};
use roundtable_core::context_request::Priority;

/// A reason not to rely on a round. A round with one never has a high consensus level, and the
/// recommendation is never to proceed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reservation {
    /// An agent did not answer.
    NoAnswer {
        /// The agent's name.
        name: String,
        /// The cause.
        error: String,
    },
    /// An agent answered without a position.
    NoPosition {
        /// The agent's name.
        name: String,
    },
    /// An agent did not take the side that its role requires.
    OffStance {
        /// The agent's name.
        name: String,
        /// The required side.
        required: Stance,
        /// The side that it took, if any.
        taken: Option<Stance>,
    },
    /// Required context requests are unanswered.
    MissingContext {
        /// How many.
        count: usize,
    },
    /// A model comes with a notice, for example that it is a demo model.
    Notice {
        /// The notice.
        text: String,
    },
}

impl fmt::Display for Reservation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoAnswer { name, error } => write!(f, "{name} did not answer: {error}"),
            Self::NoPosition { name } => write!(f, "{name} gave no position"),
            Self::OffStance { name, required, taken } => {
                let taken = taken.map_or("no side", Stance::word);
                write!(f, "{name} took {taken}, but its role requires {}", required.word())
            }
            Self::MissingContext { count: 1 } => {
                f.write_str("1 required context request is unanswered")
            }
            Self::MissingContext { count } => {
                write!(f, "{count} required context requests are unanswered")
            }
            Self::Notice { text } => f.write_str(text),
        }
    }
}

impl Serialize for Reservation {
    /// As the sentence that people read.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Record {
    /// The reasons not to rely on a round, worst first.
    pub(super) fn reservations(
        &self,
        round: &RecordedRound,
        responses: &[Response],
    ) -> Vec<Reservation> {
        let name = |response: &Response| response.name.clone();
        let failed = responses.iter().filter_map(|response| {
            let error = response.error.clone()?;
            Some(Reservation::NoAnswer { name: name(response), error })
        });
        let answered =
            || responses.iter().filter(|one| one.outcome.is_some() && one.error.is_none());
        let empty = answered()
            .filter(|response| !response.position.has_content())
            .map(|response| Reservation::NoPosition { name: name(response) });
        let astray = answered().filter(|response| response.off_stance).filter_map(|response| {
            let (seat, of) = (self.seat_of(&response.agent), self.seats().count());
            let required = self.rules.mode.role(seat, of).stance?;
            let taken = response.position.stance;
            Some(Reservation::OffStance { name: name(response), required, taken })
        });
        let count = self.missing_context(round);
        let missing = (count > 0).then_some(Reservation::MissingContext { count });
        let mut notices: Vec<Reservation> = Vec::new();
        for notice in responses.iter().filter_map(|response| response.notice.as_deref()) {
            let text = sentences(notice).next().unwrap_or(notice);
            let text = text.trim_end_matches('.').to_owned();
            let notice = Reservation::Notice { text };
            if !notices.contains(&notice) {
                notices.push(notice);
            }
        }
        failed.chain(empty).chain(astray).chain(missing).chain(notices).collect()
    }

    /// The required requests that are pending and were not raised after this round.
    fn missing_context(&self, round: &RecordedRound) -> usize {
        let later = |id| {
            let mut later = self.rounds.iter().filter(|other| other.number > round.number);
            later.any(|other| other.requests.iter().any(|request| request.id == id))
        };
        let pending = self.pending_context_requests.iter();
        pending
            .filter(|request| request.priority == Priority::Required && !later(request.id.clone()))
            .count()
    }
}

/// The consensus level of a round.
pub(super) fn level(agreement: f64, reservations: &[Reservation]) -> Level {
    match Level::of(agreement) {
        Level::High if !reservations.is_empty() => Level::Medium,
        level => level,
    }
}

/// All reservations in one sentence without a full stop. Causes of failures are left out: they can
/// be long.
pub(super) fn summary(reservations: &[Reservation], seats: usize) -> String {
    let is_failed = |one: &&Reservation| matches!(one, Reservation::NoAnswer { .. });
    let failed = reservations.iter().filter(is_failed).count();
    let failed = (failed > 0).then(|| format!("{failed} of {seats} agents could not answer"));
    let others = reservations.iter().filter(|one| !is_failed(one)).map(ToString::to_string);
    failed.into_iter().chain(others).collect::<Vec<_>>().join("; ")
}
