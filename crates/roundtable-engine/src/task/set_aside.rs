//! What happens to a envelope whose consequences the store refuses for good: it is answered or
//! recorded as a failure, and the session goes on. Decided again, it would be refused again.

use roundtable_core::event::Seq;
use roundtable_core::input::{Input, Ran, Report, Unanswered};
use roundtable_ports::{EvaluateError, LogError};

use super::envelope::Envelope;
use super::{Halt, SessionTask, load};
use crate::error::EngineError;

impl SessionTask<'_> {
    /// Finds the envelopes that cannot be stored and lets each of them fail; the others count.
    pub(super) async fn set_aside(
        &mut self,
        mut envelopes: Vec<Envelope>,
        what: &str,
    ) -> Result<(), Halt> {
        let parts = self.engine.parts();
        match load::read(parts, &self.session, &self.session, Seq(u64::MAX)).await {
            Ok(live) => self.live = live,
            Err(error) => {
                let error = EngineError::from(error);
                envelopes.into_iter().for_each(|envelope| envelope.refuse(&error));
                return Err(Halt::Lost(error));
            }
        }
        if envelopes.len() > 1 {
            for envelope in envelopes {
                Box::pin(self.process(vec![envelope])).await?;
            }
            return Ok(());
        }
        let error = LogError::Unstorable { what: what.to_owned() };
        let Some(envelope) = envelopes.pop() else { return Ok(()) };
        match envelope {
            Envelope::Command { reply, .. } => reply.refuse(error.into()),
            Envelope::Commit { reply, .. } => {
                drop(reply.send(Err(EvaluateError::Refused(error.to_string()))));
            }
            Envelope::Evaluate { reply, .. } => {
                drop(reply.send(Err(EvaluateError::Refused(error.to_string()))));
            }
            Envelope::Report { report, partials } => {
                let Some(failure) = failure(&report, &error) else {
                    return Err(Halt::Lost(error.into()));
                };
                let envelope = Envelope::Report { report: failure.into(), partials };
                return Box::pin(self.process(vec![envelope])).await;
            }
            // These carry nothing of their own that could be left out.
            envelope
            @ (Envelope::Look(_) | Envelope::Wake | Envelope::Idle | Envelope::Discard) => {
                let error = EngineError::from(error);
                envelope.refuse(&error);
                return Err(Halt::Lost(error));
            }
        }
        Ok(())
    }
}

/// The report that its effect failed, in place of one that cannot be stored. There is none for a
/// report that says so already.
fn failure(report: &Input, error: &LogError) -> Option<Report> {
    let Input::Report(report) = report else { return None };
    match &**report {
        Report::ModelReplied { iteration, attempt, reply } => Some(Report::ModelFailed {
            iteration: iteration.clone(),
            attempt: *attempt,
            error: format!("the answer was refused: {error}"),
            // The provider has answered, and bills that.
            unanswered: Unanswered::BrokenOff { arrived: reply.bytes() },
        }),
        Report::ToolRan { tool_call, attempt, ran: Ran::Returned(_) } => Some(Report::ToolRan {
            tool_call: tool_call.clone(),
            attempt: *attempt,
            // The tool has run, so a call with effects may have had them.
            ran: Ran::CutOff(format!("the result was refused: {error}")),
        }),
        _ => None,
    }
}
