//! Who may write a session. The epoch is the fencing token.

use async_trait::async_trait;
use roundtable_core::id::{NodeId, SessionId};

/// The right to write a session, until someone else claims it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ownership {
    /// The session.
    pub session: SessionId,
    /// The node that owns it.
    pub node: NodeId,
    /// Grows with every claim. An append with an old one fails in the commit itself.
    pub epoch: u64,
}

/// Why a session cannot be claimed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LeaseError {
    /// A living node owns it.
    #[error("the session is owned by {node}; send the command there, or wait until it lets go")]
    Held {
        /// That node.
        node: NodeId,
    },
    /// The store did not answer.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
}

/// Who may write which session.
#[async_trait]
pub trait Leases: Send + Sync {
    /// Takes a session over from nobody, or from a node that is gone.
    async fn claim_one(&self, session: &SessionId, node: &NodeId) -> Result<Ownership, LeaseError>;
    /// Says that a node lives. Once per node, never per step.
    async fn renew(&self, node: &NodeId) -> Result<(), LeaseError>;
    /// Lets a session go. Letting go of what another has claimed since changes nothing.
    async fn release(&self, own: &Ownership) -> Result<(), LeaseError>;
}
