//! A job ended.

use crate::event::{Body, RoundEvent};
use crate::id::RoundId;
use crate::job::JobOutcome;
use crate::json;
use crate::reject::Reject;
use crate::session::{Draft, Session};

impl Session {
    /// The first result of a job is recorded, if it can be.
    pub(crate) fn job_ran(
        &self,
        id: &RoundId,
        ordinal: u32,
        outcome: &JobOutcome,
    ) -> Result<Vec<Draft>, Reject> {
        let open = self.find_scope(id).and_then(|scope| Some((scope, scope.job.as_ref()?)));
        let Some((scope, job)) = open.filter(|(_, job)| job.ordinal == ordinal) else {
            return Err(Reject::Stale { what: format!("job {ordinal} of {id}") });
        };
        let outcome = match outcome {
            JobOutcome::Done { data } => match self.check_result(data) {
                Ok(()) => outcome.clone(),
                Err(error) => JobOutcome::Failed { error },
            },
            JobOutcome::Failed { error } => {
                let most = self.settings.max_message_bytes as usize;
                JobOutcome::Failed { error: error[..error.floor_char_boundary(most)].to_owned() }
            }
        };
        let name = job.name.clone();
        let finished = RoundEvent::JobFinished { name, ordinal, outcome, ends: None };
        Ok(vec![(scope.place(), Body::Round(finished))])
    }

    fn check_result(&self, data: &serde_json::Value) -> Result<(), String> {
        json::check(data).map_err(|error| format!("the result is {error}"))?;
        let (bytes, most) = (data.to_string().len(), self.settings.max_message_bytes as usize);
        if bytes > most {
            return Err(format!("the result has {bytes} bytes; the limit is {most}"));
        }
        Ok(())
    }
}
