//! Whoever computes something for a program: vectors, a draw, a lookup.

use async_trait::async_trait;
use roundtable_core::id::{RoundId, SessionId};
use roundtable_core::stage::Name;
use serde_json::Value;

/// What is to be computed, and for whom.
#[derive(Debug, Clone, PartialEq)]
pub struct JobRequest {
    /// What, in the program's own word.
    pub name: Name,
    /// For which session.
    pub session: SessionId,
    /// For which round or aside of it.
    pub round: RoundId,
    /// Which job of that round or aside, from 1.
    pub ordinal: u32,
    /// On whose behalf.
    pub actor: Option<String>,
    /// For which tenant.
    pub tenant: Option<String>,
    /// What the program gives it.
    pub input: Value,
}

impl JobRequest {
    /// The same whenever the same job is run again: what a job changes elsewhere is to be keyed by it.
    pub fn key(&self) -> String {
        format!("{}.{}", self.round, self.ordinal)
    }
}

/// Why a job has no result. The program decides what that means.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct JobError(pub String);

/// Whoever computes something for a program.
///
/// The first result is recorded. After a crash the same job may be run again, with the same key and
/// the same input, so it has to come to the same or to be repeatable.
#[async_trait]
pub trait Job: Send + Sync {
    /// Computes it.
    async fn run(&self, request: JobRequest) -> Result<Value, JobError>;
}
