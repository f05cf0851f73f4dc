//! The programs and jobs of a test engine.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use roundtable_core::program::{Program, Programs};
use roundtable_core::stage::Name;
use roundtable_debate::{Debate, Measuring};
use roundtable_models::local::HashedEmbedder;
use roundtable_ports::{Embedder as _, Job, JobError, JobRequest};
use serde_json::Value;

/// The programs that sessions of a test engine run, and what those have computed.
#[derive(Clone)]
pub struct ProgramSet {
    /// The programs.
    pub programs: Programs,
    /// The jobs, by name.
    pub jobs: BTreeMap<Name, Arc<dyn Job>>,
}

impl Default for ProgramSet {
    /// Debates, whose positions are measured by hashed words.
    fn default() -> Self {
        let nothing = Self { programs: Programs::default(), jobs: BTreeMap::new() };
        nothing.program(Debate).job(Measuring::JOB, Measure)
    }
}

impl ProgramSet {
    /// The same with one more program.
    #[must_use]
    pub fn program(mut self, program: impl Program) -> Self {
        self.programs = self.programs.with(program);
        self
    }

    /// The same with one more job.
    #[must_use]
    pub fn job(mut self, name: Name, job: impl Job + 'static) -> Self {
        self.jobs.insert(name, Arc::new(job));
        self
    }
}

/// Measures how far a panel agrees, by hashed words.
struct Measure;

#[async_trait]
impl Job for Measure {
    async fn run(&self, request: JobRequest) -> Result<Value, JobError> {
        let failed = |error: serde_json::Error| JobError(error.to_string());
        let measuring: Measuring = serde_json::from_value(request.input).map_err(failed)?;
        let embedder = HashedEmbedder::default();
        let vectors = embedder.embed(&measuring.texts).await;
        let vectors = vectors.map_err(|error| JobError(error.to_string()))?;
        let measure = measuring.finish(&embedder.space().to_string(), vectors);
        serde_json::to_value(measure).map_err(failed)
    }
}
