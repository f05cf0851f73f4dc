//! Stores for Roundtable sessions.
//!
//! [`SqliteStore`] keeps them in a directory: durable, shared by any number of processes.
//! [`MemoryStore`] keeps them in memory: for trying things out, and as the simulator that fails
//! on purpose.

mod memory;
mod sqlite;

pub use memory::{Disk, Fault, Faults, MemoryStore, StoredEvent};
pub use sqlite::{OpenError, SqliteStore};
