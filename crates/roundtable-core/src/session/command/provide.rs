//! `provide`: answers to context requests, each recorded and cleared in one commit.

use std::collections::BTreeMap;

use crate::context_request::{About, ContextResult};
use crate::digest::Digest;
use crate::event::{Body, ContextEvent, ToolCallEvent};
use crate::id::{ContextRequestId, ToolCallId};
use crate::reject::Reject;
use crate::scope::Place;
use crate::session::{Draft, Session, Status};
use crate::tool::{ToolOutcome, ToolResult};

/// How many answers are taken at once, or as many as are pending.
const MAX_RESULTS: usize = 1024;

impl Session {
    /// The first answer to a pending request counts. One that was answered before, or never
    /// issued, is passed over; [`Session::result_warnings`] names it.
    pub(crate) fn provide(&self, results: &[ContextResult]) -> Result<Vec<Draft>, Reject> {
        self.record(results, |_| true)
    }

    /// The same, without what calls of the open round wait for: they are being cut off.
    pub(crate) fn provide_and_cut(&self, results: &[ContextResult]) -> Result<Vec<Draft>, Reject> {
        self.record(results, |about| !self.is_cut(about))
    }

    /// Whether a request ends with the open round: one of its calls waits for the answer.
    pub(crate) fn is_cut(&self, about: &About) -> bool {
        let Some(tool_call) = about.waiting_call() else { return false };
        self.round.as_ref().is_some_and(|round| round.find_call(tool_call).is_some())
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
        let limit = self.max_results();
        if results.len() > limit {
            let what =
                format!("too many results ({}); send at most {limit} at once", results.len());
            return Err(Reject::Invalid { what });
        }
        self.check_bytes(
            "the total of the results",
            results.iter().map(ContextResult::bytes).sum(),
        )?;
        let pending: BTreeMap<_, _> =
            self.requests.iter().map(|request| (&request.id, request)).collect();
        let mut taken: BTreeMap<&ContextRequestId, ContextResult> = BTreeMap::new();
        let mut drafts = Vec::new();
        for result in results {
            let Some(request) = pending.get(&result.request) else { continue };
            if !counts(&request.about) {
                continue;
            }
            let accepted = request.accept(result).map_err(|what| Reject::Invalid { what })?;
            if let Some(first) = taken.get(&request.id) {
                check_same_decision(first, &accepted)?;
                continue;
            }
            taken.insert(&request.id, accepted.clone());
            let finished = match &request.about {
                About::Approval { tool_call, .. } if !accepted.success => {
                    self.refuse(tool_call, &accepted)
                }
                About::Question { tool_call } => self.answer(tool_call, &accepted),
                _ => None,
            };
            let provided = ContextEvent::ContextProvided(accepted);
            drafts.push((Place::session(), Body::Context(provided)));
            drafts.extend(finished);
        }
        Ok(drafts)
    }

    fn max_results(&self) -> usize {
        MAX_RESULTS.max(self.requests.len())
    }

    /// What a caller has to know of answers that are accepted and not used. Asked before the answers
    /// are recorded; an answer that repeats the recorded one is a retry, and nothing is said of it.
    pub fn result_warnings(&self, results: &[ContextResult], interrupts: bool) -> Vec<String> {
        if results.len() > self.max_results() {
            // They are refused, all of them.
            return Vec::new();
        }
        let mut first: BTreeMap<&ContextRequestId, Digest> = BTreeMap::new();
        let mut warnings = Vec::new();
        for result in results {
            let id = &result.request;
            let pending = self.requests.iter().find(|request| request.id == *id);
            let accepted = pending.and_then(|request| request.accept(result).ok());
            let digest = accepted.as_ref().unwrap_or(result).digest();
            let warning = match (pending, first.get(id)) {
                (_, Some(earlier)) if *earlier == digest => None,
                (_, Some(_)) => Some(format!("duplicate answer to {id}; the first one counts")),
                (Some(request), None) if interrupts && self.is_cut(&request.about) => Some(
                    format!("{id} was withdrawn with its interrupted round; the answer is ignored"),
                ),
                (Some(_), None) => None,
                (None, None) => self.late_warning(id, &digest),
            };
            warnings.extend(warning);
            first.entry(id).or_insert(digest);
        }
        warnings
    }

    fn late_warning(&self, id: &ContextRequestId, digest: &Digest) -> Option<String> {
        if let Some(recorded) = self.answer_digests.get(id) {
            let different = recorded != digest;
            return different
                .then(|| format!("{id} already has a different answer; this one is ignored"));
        }
        Some(if self.answered.contains(id) {
            format!("{id} is no longer pending; the answer is ignored")
        } else {
            format!("unknown request {id}; the answer is ignored")
        })
    }

    /// Which of these answers are to requests that this session never issued.
    pub fn unknown_requests<'a>(&self, results: &'a [ContextResult]) -> Vec<&'a ContextResult> {
        let known = |result: &ContextResult| {
            self.requests.iter().any(|request| request.id == result.request)
                || self.answered.contains(&result.request)
        };
        results.iter().filter(|result| !known(result)).collect()
    }

    fn refuse(&self, tool_call: &ToolCallId, result: &ContextResult) -> Option<Draft> {
        let place = self.place_of_call(tool_call)?;
        let why = result.error.as_deref().or(result.result.as_deref()).unwrap_or("no reason given");
        let outcome =
            ToolOutcome::Returned(ToolResult::failed(format!("A person refused this call: {why}")));
        Some((place, Body::ToolCall(ToolCallEvent::ToolCallFinished(outcome))))
    }

    /// The person's answer is the result of the call that asked.
    fn answer(&self, tool_call: &ToolCallId, result: &ContextResult) -> Option<Draft> {
        let place = self.place_of_call(tool_call)?;
        let answer = match result.success {
            true => ToolResult::ok(result.result.clone().unwrap_or_default()),
            false => {
                let why = result.error.as_deref().unwrap_or("no reason given");
                ToolResult::failed(format!("The person did not answer: {why}"))
            }
        };
        let outcome = ToolOutcome::Returned(answer);
        Some((place, Body::ToolCall(ToolCallEvent::ToolCallFinished(outcome))))
    }
}

/// Consent is not a matter of order: two decisions on one call in one message are refused.
fn check_same_decision(first: &ContextResult, second: &ContextResult) -> Result<(), Reject> {
    if first.decision == second.decision {
        return Ok(());
    }
    let what = format!(
        "request {} has two different decisions; send one, nothing was recorded",
        first.request
    );
    Err(Reject::Invalid { what })
}
