//! Stores for Roundtable sessions.
//!
//! [`MemoryStore`] keeps them in memory: for trying things out, and as the simulator that fails
//! on purpose.

mod memory;

pub use memory::{Disk, Fault, Faults, MemoryStore, StoredEvent};
