//! Why there is no answer.

use thiserror::Error;

/// Why a request was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum StartError {
    /// Too many wait already.
    #[error("the local model is busy: {waiting} requests are queued; try again later")]
    Busy {
        /// How many wait.
        waiting: usize,
    },
}

/// Why a request that was taken has no answer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum GenerateError {
    /// The prompt leaves no room for an answer.
    #[error(
        "the prompt has {tokens} tokens; the limit for prompt and answer is {limit}. Shorten it"
    )]
    TooLong {
        /// How many it has, at least.
        tokens: usize,
        /// How many the whole may have.
        limit: usize,
    },
    /// The shortest answer that the mask allows does not fit.
    #[error("the shortest answer needs up to {needed} tokens; the limit is {allowed}. Raise it")]
    NoRoom {
        /// How many it needs at most.
        needed: usize,
        /// How many there may be.
        allowed: usize,
    },
    /// The model has no tokens to write any answer that the mask allows.
    #[error("the model cannot generate any of the allowed answers; use other characters")]
    Unwritable,
    /// The thread that worked on it stopped in the middle.
    #[error("the local model stopped in the middle of the answer; this is a bug. Try again")]
    Broken,
}
