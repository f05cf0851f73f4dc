//! Waiting for a round that someone else began, or that a restart interrupted.

use roundtable_core::Reject;
use roundtable_core::event::{Body, RoundEvent, Seq};
use roundtable_core::session::Mark;

use super::Session;
use crate::answer::{RoundReport, collect};
use crate::error::Result;

/// How many events are read together while the beginning of a round is looked for.
const PAGE: usize = 256;

impl Session {
    /// Waits for the round that is under way and reports it, as [`Session::ask`] does: the round of
    /// the last input that waits, or else the round that is open, or else the last one that closed.
    /// After a restart this is all that is needed: the engine goes on with interrupted rounds.
    ///
    /// # Errors
    /// [`crate::Error`] when no round has begun, or the log cannot be read.
    pub async fn wait_current(&self) -> Result<RoundReport> {
        let state = self.state().await?;
        let answered: Vec<_> = state.answered.iter().cloned().collect();
        if let Some(waiting) = state.waiting.back() {
            return collect(&self.handle, waiting.seq, waiting.context.message_id(), &answered)
                .await;
        }
        let Some(mark) = state.marks.back() else {
            let what = "no round has begun yet; send a message first".to_owned();
            return Err(Reject::Invalid { what }.into());
        };
        let before = self.before_round(mark).await?;
        collect(&self.handle, before, mark.input.message_id(), &answered).await
    }

    /// The position before a round's first event. Two takes of a round have the same input, so the
    /// input alone does not find it.
    async fn before_round(&self, mark: &Mark) -> Result<Seq> {
        let mut next = mark.from;
        loop {
            let page = self.read(next, PAGE).await?;
            let Some(last) = page.last() else { return Ok(mark.from) };
            let opens = |body: &Body| {
                matches!(body, Body::Round(RoundEvent::RoundOpened { number, take, .. })
                    if (*number, *take) == (mark.number, mark.take))
            };
            if let Some(opened) = page.iter().find(|event| opens(&event.body)) {
                return Ok(Seq(opened.seq.0.saturating_sub(1)));
            }
            next = last.seq.next();
        }
    }
}
