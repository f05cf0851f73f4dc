//! Running a job of a program.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;
use roundtable_core::input::Report;
use roundtable_core::job::JobOutcome;
use roundtable_ports::JobRequest;

use crate::engine::Engine;
use crate::permit;

/// Runs a job. It ends in any case: what is not there, takes too long or panics has failed, and the
/// program decides what that means.
pub(crate) async fn run(engine: Engine, request: JobRequest) -> Report {
    let _permit = permit::take(engine.permits()).await;
    let (round, ordinal) = (request.round.clone(), request.ordinal);
    let outcome = match compute(&engine, request).await {
        Ok(data) => JobOutcome::Done { data },
        Err(error) => JobOutcome::Failed { error },
    };
    Report::JobRan { round, ordinal, outcome }
}

async fn compute(engine: &Engine, request: JobRequest) -> Result<serde_json::Value, String> {
    let parts = engine.parts();
    let name = request.name.clone();
    let Some(job) = parts.jobs.get(&name) else {
        return Err(format!("unknown job \"{name}\""));
    };
    let within = parts.config.job_within;
    let run = AssertUnwindSafe(job.run(request)).catch_unwind();
    match tokio::time::timeout(within, run).await {
        Ok(Ok(result)) => result.map_err(|error| error.to_string()),
        Ok(Err(_)) => Err(format!("the job \"{name}\" panicked")),
        Err(_) => Err(format!("the job \"{name}\" took longer than {} s", within.as_secs())),
    }
}
