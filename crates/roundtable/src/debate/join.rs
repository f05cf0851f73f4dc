//! Which round a wish for another one means: one that is there, or the next.

use roundtable_core::Reject;
use roundtable_core::session::{Session as State, Status};

use super::handle::{Continue, Continued, invalid};
use crate::error::Result;

impl Continue {
    /// Whether there is nothing in it that a running round would not know.
    pub(super) fn says_nothing(&self) -> bool {
        self.focus.is_none() && self.results.is_empty() && self.budget.is_none()
    }
}

/// The round that answers a wish already, if there is one.
pub(super) fn join(state: &State, wish: &Continue) -> Result<Option<Continued>> {
    let joined = |number: u32| Some(Continued { number, joined: true, warnings: Vec::new() });
    let running = state.round.as_ref().filter(|round| !round.aside).map(|round| round.number);
    let Some(after) = wish.after_round else {
        return match running {
            Some(number) if wish.says_nothing() => Ok(joined(number)),
            Some(round) => Err(Reject::Busy { round }.into()),
            None => Ok(None),
        };
    };
    // A round in which nobody could answer does not count: whoever follows on the round before it, or
    // has seen it fail, runs it again.
    let failed = state.failed_round().map(|failed| failed.number);
    let last = failed.map_or(state.last_number, |number| number - 1);
    if last > after {
        return Ok(joined(after + 1));
    }
    // Whoever asks for a round of a debate that is over is told that first.
    if last < after && state.status == Status::Completed {
        return Ok(None);
    }
    if last < after && failed != Some(after) {
        return Err(invalid(format!("there is no round {after} yet; the last one is {last}")));
    }
    match running {
        Some(round) => Err(Reject::Busy { round }.into()),
        None => Ok(None),
    }
}

pub(super) fn next_number(state: &State) -> u32 {
    state.next_number() + u32::try_from(state.waiting.len()).unwrap_or_default()
}

pub(super) fn next_take(state: &State, number: u32) -> u32 {
    let takes = state.marks.iter().filter(|mark| mark.number == number).map(|mark| mark.take);
    takes.max().unwrap_or(0) + 1
}
