//! What Roundtable asks of the world: small traits, and errors that a caller can act on.
//!
//! [`Store`] keeps sessions, [`Model`] speaks for agents, [`Tool`] acts for them, [`Embedder`] makes
//! vectors of texts, [`Job`] computes something for a program, [`Clock`] and [`Ids`] are the only sources of time and chance.

mod attempts;
mod clock;
mod embedder;
mod job;
mod model;
mod store;
mod tool;
mod tool_context;
mod toolkit;

pub use attempts::{Attempts, Grant};
pub use clock::{Clock, Ids};
pub use embedder::{Embedder, EmbedderError, Space};
pub use job::{Job, JobError, JobRequest};
pub use model::{Chunk, Facts, Listener, Model, ModelError, ModelRequest, ModelStream, ToolChoice};
pub use roundtable_core::prompt::OutputSchema;
pub use store::{
    Allowances, Answered, Batch, Bell, CRASH_LIMIT, CRASH_WINDOW, CommandKey, CommandRecord, Crash,
    Crashes, Directory, Drafts, FoundMessage, FoundVector, Holdings, Inbox, LeaseError, Leases,
    LogError, MessageFilter, MessageKey, MessageSearch, MessageText, MessageVector, NewVector,
    Owner, Ownership, PostedCommand, Quotas, Receipt, Rings, SearchViewer, Selection,
    SessionListing, SessionLog, Snapshot, Store, VectorScope, VectorSearch, Vectors, VectorsError,
};
pub use tool::{DynTool, Tool, ToolError, ToolSpec};
pub use tool_context::{
    Adapter, Budget, Bus, EvaluateError, Evaluation, EventBus, RunScope, SessionReader, ToolContext,
};
pub use toolkit::Toolkit;
