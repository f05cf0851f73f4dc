//! Waiting for a round that someone else began, or that a restart interrupted.

use roundtable_core::Reject;

use super::Session;
use crate::answer::{RoundReport, collect};
use crate::error::Result;

impl Session {
    /// Waits for the round that is under way and reports it, as [`Session::ask`] does: the round of
    /// the last input that waits, or else the round that is open, or else the last one that closed.
    /// After a restart this is all that is needed: the engine goes on with interrupted rounds.
    ///
    /// # Errors
    /// [`crate::Error`] when no round has begun, or the log cannot be read.
    pub async fn wait_current(&self) -> Result<RoundReport> {
        let state = self.state().await?;
        let waiting = state.waiting.back().map(|waiting| &waiting.context);
        let Some(input) = waiting.or(state.marks.back().map(|mark| &mark.input)) else {
            let what = "no round has started yet; send a message first".to_owned();
            return Err(Reject::Invalid { what }.into());
        };
        collect(self, input.message_id()).await
    }
}
