//! What happens to envelopes while the store takes nothing: the disk is full, or another process holds
//! the write lock. Callers are told. What an effect brought is kept and committed when there is room:
//! a model that has answered is not asked again.

use std::time::Duration;

use roundtable_core::input::{Input, Ran, Report};
use roundtable_ports::LogError;
use tokio::sync::OwnedSemaphorePermit;

use super::commit::Failed;
use super::envelope::Envelope;
use super::{BATCH, Halt, SessionTask};
use crate::error::EngineError;

/// How often a store that takes nothing is tried again.
const TRY_EVERY: Duration = Duration::from_secs(1);

/// How much a kept envelope counts at least, in KiB: many small ones take room as well.
const LEAST: usize = 64;

/// What is left of envelopes that were not committed.
struct Keeping {
    kept: Vec<Envelope>,
    /// Whether there was room for all that is worth keeping. If not, the session is let go as in a
    /// crash: what was running is declared lost, and done again when the store is back.
    all: bool,
}

impl SessionTask<'_> {
    /// Commits envelopes, however long that takes, as far as they are worth keeping.
    pub(super) async fn process(&mut self, mut envelopes: Vec<Envelope>) -> Result<(), Halt> {
        // The places of the envelopes that are kept; those are always the first.
        let mut places = Vec::new();
        loop {
            let Err(failed) = self.try_commit(envelopes).await else { return Ok(()) };
            let Failed { envelopes: back, error, fresh } = failed;
            if let EngineError::Log(LogError::Unstorable { what }) = &error {
                return self.set_aside(back, what).await;
            }
            if !fresh {
                back.into_iter().for_each(|envelope| envelope.refuse(&error));
                return Err(Halt::Lost(error));
            }
            let Keeping { kept, all } = self.keep(back, &mut places, &error);
            if !all || (kept.is_empty() && self.running.is_empty()) {
                kept.into_iter().for_each(|envelope| envelope.refuse(&error));
                return Err(Halt::Lost(error));
            }
            envelopes = kept;
            tokio::time::sleep(TRY_EVERY).await;
            envelopes.extend(self.take_envelopes());
        }
    }

    /// Keeps what an effect brought, as long as there is room in memory, and refuses the rest.
    fn keep(
        &self,
        envelopes: Vec<Envelope>,
        places: &mut Vec<OwnedSemaphorePermit>,
        error: &EngineError,
    ) -> Keeping {
        let mut keeping = Keeping { kept: Vec::new(), all: true };
        for (index, envelope) in envelopes.into_iter().enumerate() {
            let Some(bytes) = kept_bytes(&envelope) else {
                envelope.refuse(error);
                continue;
            };
            if index >= places.len() {
                match self.place_for(bytes) {
                    Some(place) => places.push(place),
                    None => keeping.all = false,
                }
            }
            keeping.kept.push(envelope);
        }
        keeping
    }

    fn place_for(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let kib = u32::try_from((bytes / 1024).max(LEAST)).ok()?;
        self.engine.kept().clone().try_acquire_many_owned(kib).ok()
    }

    /// The envelopes that have come meanwhile, and a look at the time.
    fn take_envelopes(&mut self) -> Vec<Envelope> {
        let mut envelopes = Vec::new();
        while envelopes.len() < BATCH
            && let Ok(envelope) = self.reports.try_recv().or_else(|_| self.mailbox.try_recv())
        {
            envelopes.push(envelope);
        }
        envelopes.push(Envelope::Wake);
        envelopes
    }
}

/// How much memory a envelope takes that is worth keeping; none for those whose senders can send them
/// again.
fn kept_bytes(envelope: &Envelope) -> Option<usize> {
    match envelope {
        Envelope::Report { report, partials } => {
            let partials = partials.iter().flatten().map(|(_, text)| text.len()).sum::<usize>();
            Some(partials + input_bytes(report))
        }
        Envelope::Commit { report, .. } => Some(input_bytes(report)),
        Envelope::Evaluate { prompt, .. } => {
            Some(serde_json::to_vec(prompt).map_or(usize::MAX, |json| json.len()))
        }
        Envelope::Command { .. }
        | Envelope::Look(_)
        | Envelope::Wake
        | Envelope::Idle
        | Envelope::Discard => None,
    }
}

fn input_bytes(input: &Input) -> usize {
    let Input::Report(report) = input else { return 0 };
    match &**report {
        Report::ModelReplied { reply, .. } => {
            let payloads = reply.thoughts.iter().map(|thought| thought.payload.to_string().len());
            usize::try_from(reply.bytes()).unwrap_or(usize::MAX) + payloads.sum::<usize>()
        }
        Report::ModelFailed { error, .. } | Report::ModelRetries { error, .. } => error.len(),
        Report::ToolRan { ran: Ran::Returned(result), .. } => {
            serde_json::to_vec(result).map_or(usize::MAX, |json| json.len())
        }
        Report::Publish { topic, data, .. } => topic.len() + data.to_string().len(),
        Report::ToolRan { ran: Ran::Refused(why) | Ran::CutOff(why), .. } => why.len(),
        Report::JobRan { outcome, .. } => {
            serde_json::to_vec(outcome).map_or(usize::MAX, |json| json.len())
        }
        Report::EffectBegins { .. }
        | Report::Evaluate { .. }
        | Report::Woke
        | Report::WriterChanged => 0,
    }
}
