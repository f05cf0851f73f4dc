//! `contribute`: someone brings in a turn that waits for the model of whoever calls.

use crate::agent::HOST;
use crate::event::CallRecord;
use crate::id::IterationId;
use crate::input::{Env, Reply};
use crate::iteration::Phase;
use crate::reject::Reject;
use crate::session::{Draft, Session};

impl Session {
    /// The same as if a model had said it. One that nobody waits for is stale, and so is a second one.
    pub(crate) fn contribute(
        &self,
        id: &IterationId,
        text: &str,
        env: &Env,
    ) -> Result<Vec<Draft>, Reject> {
        self.check_bytes("a contribution", text.len())?;
        let iterations = self.host_turns().filter_map(|turn| turn.iteration.as_ref());
        let waiting = iterations.filter(|iteration| iteration.id == *id);
        let attempt = waiting.map(|iteration| &iteration.phase).find_map(|phase| match phase {
            Phase::AwaitingModel { attempt, .. } => Some(*attempt),
            Phase::Pending | Phase::AwaitingTools(_) | Phase::Over => None,
        });
        let stale =
            || Reject::Stale { what: format!("turn {id} does not wait for a contribution") };
        let record = CallRecord { model: HOST.to_owned(), ..CallRecord::default() };
        let reply = Reply { text: text.to_owned(), record, ..Reply::default() };
        self.model_replied(id, attempt.ok_or_else(stale)?, &reply, env)
    }
}
