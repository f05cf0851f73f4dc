//! `provide`: answers to context requests, each recorded and cleared in one commit.

use crate::context_request::{About, ContextResult};
use crate::event::{Body, ContextEvent, ToolCallEvent};
use crate::reject::Reject;
use crate::scope::Place;
use crate::session::{Draft, Session, Status};
use crate::tool::{ToolOutcome, ToolResult};

/// The most answers that are taken at once.
const MOST_RESULTS: usize = 256;

impl Session {
    /// The first answer to a pending request counts. One that was answered before, or never
    /// issued, is passed over; [`Session::unknown_requests`] names the latter.
    pub(crate) fn provide(&self, results: &[ContextResult]) -> Result<Vec<Draft>, Reject> {
        self.record(results, |_| true)
    }

    /// The same, without approvals: the calls that they are about are being cut off.
    pub(crate) fn provide_and_cut(&self, results: &[ContextResult]) -> Result<Vec<Draft>, Reject> {
        self.record(results, |about| !matches!(about, About::Approval { .. }))
    }

    fn record(
        &self,
        results: &[ContextResult],
        counts: impl Fn(&About) -> bool,
    ) -> Result<Vec<Draft>, Reject> {
        // A paused session takes answers: a call that waits for approval is not a new round. To say
        // nothing changes nothing, also when it is over.
        if self.status == Status::Completed && !results.is_empty() {
            self.check_active()?;
        }
        if results.len() > MOST_RESULTS {
            let what = format!(
                "{} results were sent; at most {MOST_RESULTS} are taken at once",
                results.len()
            );
            return Err(Reject::Invalid { what });
        }
        self.check_bytes("the results together", results.iter().map(ContextResult::bytes).sum())?;
        let mut drafts = Vec::new();
        for (index, result) in results.iter().enumerate() {
            let again = results[..index].iter().any(|earlier| earlier.request == result.request);
            let Some(request) = self.requests.iter().find(|request| request.id == result.request)
            else {
                continue;
            };
            if again || !counts(&request.about) {
                continue;
            }
            drafts.push((
                Place::session(),
                Body::Context(ContextEvent::ContextProvided(result.clone())),
            ));
            if let (About::Approval { tool_call }, false) = (&request.about, result.success) {
                drafts.extend(self.refuse(tool_call, result));
            }
        }
        Ok(drafts)
    }

    /// Which of these answers are to requests that this session never issued.
    pub fn unknown_requests<'a>(&self, results: &'a [ContextResult]) -> Vec<&'a ContextResult> {
        let known = |result: &ContextResult| {
            self.requests.iter().any(|request| request.id == result.request)
                || self.answered.contains(&result.request)
        };
        results.iter().filter(|result| !known(result)).collect()
    }

    fn refuse(&self, tool_call: &crate::id::ToolCallId, result: &ContextResult) -> Option<Draft> {
        let place = self.place_of_call(tool_call)?;
        let why = result.error.as_deref().or(result.result.as_deref()).unwrap_or("no reason given");
        let outcome =
            ToolOutcome::Returned(ToolResult::failed(format!("A person refused this call: {why}")));
        Some((place, Body::ToolCall(ToolCallEvent::ToolCallFinished(outcome))))
    }
}
