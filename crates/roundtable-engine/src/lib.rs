//! The drivers of Roundtable: sessions that run, recover and stream.
//!
//! Each session has one task that receives, decides, commits, and reconciles what the session
//! wants with what is running. The decisions are `roundtable-core`'s; this crate acts.

mod adapter;
mod config;
mod cut;
mod effect;
mod engine;
mod error;
mod handle;
mod inbox;
mod parts;
mod permit;
mod quota;
mod scheduler;
mod speech;
mod subscribe;
mod system;
mod task;
mod toolset;

pub use config::Config;
pub use cut::{CutCall, CutTarget};
pub use engine::{DELETED, Engine, Parking};
pub use error::EngineError;
pub use handle::SessionHandle;
pub use parts::Parts;
pub use subscribe::{Delta, Subscription, Update};
pub use system::{SystemClock, UuidIds};
pub use task::SNAPSHOT_VERSION;
pub use toolset::Toolset;
