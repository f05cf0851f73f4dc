//! Stores for Roundtable sessions.
//!
//! [`SqliteStore`] keeps them in a directory: durable, shared by any number of processes.
//! [`SqliteArchive`] only reads such a directory.
//! [`MemoryStore`] keeps them in memory: for trying things out, and as the simulator that fails
//! on purpose.

mod memory;
#[cfg(feature = "sqlite")]
mod sqlite;

pub use memory::{Disk, Fault, Faults, MemoryStore, StoredEvent};
#[cfg(feature = "sqlite")]
pub use sqlite::{
    DeleteError, EraseError, OpenError, PermissionNotice, SceneMessage, SceneRound, SessionRow,
    SnapshotRow, SqliteArchive, SqliteStore, Words, prepare_directory,
};

/// Rings, one for each time that a value has changed.
fn rings(receiver: tokio::sync::watch::Receiver<u64>) -> roundtable_ports::Rings {
    let rings = futures_util::stream::unfold(receiver, |mut receiver| async {
        receiver.changed().await.ok()?;
        Some(((), receiver))
    });
    Box::pin(rings)
}
