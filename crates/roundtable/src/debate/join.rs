//! Which round a request for another one means: one that is there, or the next.

use roundtable_core::Reject;
use roundtable_core::context_request::{ContextResult, RequestKind};
use roundtable_core::session::{Session as State, Status};

use super::handle::{ContinueOutcome, ContinueRequest, invalid};
use crate::error::Result;

impl ContinueRequest {
    /// Whether it would begin a round in this state: not when it joins one that exists, decides on
    /// what an open one waits for, or is refused.
    pub fn begins_round(&self, state: &State) -> bool {
        matches!((decides(state, self), join(state, self)), (Ok(None), Ok(None)))
    }

    /// Whether there is nothing in it that a running round would not know.
    pub(super) fn says_nothing(&self) -> bool {
        self.focus.is_none() && self.results.is_empty() && self.budget.is_none()
    }
}

/// The open round, when a request brings decisions on tool calls that it waits for.
///
/// # Errors
/// [`Reject::Busy`] when there is something among them that only the next round can be told.
pub(super) fn decides(state: &State, request: &ContinueRequest) -> Result<Option<u32>> {
    let Some(open) = running(state) else { return Ok(None) };
    let follows = |after: u32| after.checked_add(1) == Some(open);
    if !request.after_round.is_none_or(follows) {
        return Ok(None);
    }
    let pending =
        |result: &ContextResult| state.requests.iter().find(|request| request.id == result.request);
    let pending: Vec<_> = request.results.iter().filter_map(pending).collect();
    let asks = pending.iter().any(|request| request.kind() == RequestKind::Question);
    let new_focus = request.focus.is_some() && request.after_round.is_none();
    match pending.is_empty() {
        true => Ok(None),
        false if asks || new_focus => Err(Reject::Busy { round: open }.into()),
        false => Ok(Some(open)),
    }
}

/// What is said of answers that came with a request for a round that exists already: each that is not
/// a repetition is named.
pub(super) fn unused(state: &State, request: &ContinueRequest, number: u32) -> Vec<String> {
    let pending = request
        .results
        .iter()
        .filter(|result| state.requests.iter().any(|request| request.id == result.request));
    let pending = pending.map(|result| {
        format!(
            "{} is still pending: round {number} already exists, so this answer was not used; send it with afterRound {}",
            result.request, state.last_number
        )
    });
    state.result_warnings(&request.results, false).into_iter().chain(pending).collect()
}

fn running(state: &State) -> Option<u32> {
    state.round.as_ref().map(|round| round.number)
}

/// Whether a request only repeats answers that were taken before.
fn repeats(state: &State, request: &ContinueRequest) -> bool {
    let taken = |result: &ContextResult| state.answered.contains(&result.request);
    request.focus.is_none() && request.results.iter().all(taken)
}

/// The round that answers a request already, if there is one.
pub(super) fn join(state: &State, request: &ContinueRequest) -> Result<Option<ContinueOutcome>> {
    let joined = |number: u32| {
        let warnings = unused(state, request, number);
        Some(ContinueOutcome { number, joined: true, warnings })
    };
    let running = running(state);
    let Some(after) = request.after_round else {
        return match running {
            Some(number) if repeats(state, request) => Ok(joined(number)),
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
        return Err(invalid(format!("round {after} does not exist yet; the last round is {last}")));
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
