//! A durable engine for conversations among several LLM agents.
//!
//! Nothing leaks, nothing is lost, nothing is done twice: a session is an append-only log with one
//! writer, and everything else is derived from it.
//!
//! ```
//! use roundtable::prelude::*;
//!
//! #[tokio::main]
//! async fn main() -> roundtable::Result<()> {
//!     let script = Script::default().voice("ann", [Reply::text("Yes.")]).voice("bob", [Reply::text("No.")]);
//!     let engine = Engine::builder().custom_model("scripted", ScriptedModel::new(script)).build().await?;
//!     let debate = engine.debate("Should we rewrite it in Rust?").agent("Ann").agent("Bob").rounds(2).run().await?;
//!     let mut events = debate.events(Since::Start).await?;
//!     while let Some(event) = events.next().await {
//!         println!("{}", event?);
//!     }
//!     engine.shutdown().await;
//!     Ok(())
//! }
//! ```
//!
//! The parts are there to be used on their own: [`core`] decides, [`ports`] are what it asks of the
//! world, [`driver`] acts.

mod answer;
#[cfg(feature = "sqlite")]
mod archive;
mod builder;
pub mod chat;
pub mod debate;
mod engine;
mod error;
pub mod program;
mod reader;
pub mod search;
mod session;
mod session_builder;
mod turn;

pub use answer::{Answer, RoundReport};
#[cfg(feature = "sqlite")]
pub use archive::{Archive, Damage, Verification};
pub use builder::Builder;
pub use engine::Engine;
pub use error::{Error, Result};
pub use reader::Reader;
pub use session::{Events, Session, Since};
pub use session_builder::SessionBuilder;

pub use roundtable_core::Keep;

pub use roundtable_core as core;
pub use roundtable_ports as ports;

/// Stores for sessions.
pub mod backend {
    pub use roundtable_backend::{Disk, Fault, Faults, MemoryStore};
    #[cfg(feature = "sqlite")]
    pub use roundtable_backend::{
        EraseError, OpenError, PermissionNotice, SqliteStore, Words, prepare_directory,
    };
}

/// What drives sessions.
pub mod driver {
    pub use roundtable_engine::{
        Config, CutCall, CutTarget, DELETED, Delta, Engine, EngineError, Parking, SessionHandle,
        Subscription, SystemClock, Update, UuidIds,
    };
}

/// Models for agents.
pub mod models {
    #[cfg(feature = "vendors")]
    pub use roundtable_models::{
        Caps, Catalog, CatalogError, ClientError, Endpoint, Environment, Fallback, HttpModel,
        Profile, Retry, RetryPolicy, Secret, Timeouts, Tuning, VendorModel, catalog, price,
    };
    pub use roundtable_models::{local, scripted};
}

/// Tools for agents.
pub mod tools {
    #[cfg(feature = "mcp-tools")]
    pub use roundtable_tools::mcp;
    pub use roundtable_tools::{FactCheck, Now, builtin};
    #[cfg(feature = "fetch-url")]
    pub use roundtable_tools::{FetchUrl, fetch_url};
}

/// What most programs need.
pub mod prelude {
    pub use crate::debate::{ContinueRequest, Debate, DebateFilter, Mode, Perspective, Stance};
    pub use crate::{Answer, Engine, Events, RoundReport, Session, Since};
    pub use futures_util::StreamExt;
    pub use roundtable_core::agent::Agent;
    pub use roundtable_core::context_request::{
        ContextRequest, ContextResult, Decision, RequestKind,
    };
    pub use roundtable_core::id::SessionId;
    pub use roundtable_core::message::Image;
    pub use roundtable_core::prompt::{OutputSchema, Params, Prompt, Section};
    pub use roundtable_core::tool::{Effect, ToolDecl, ToolResult};
    pub use roundtable_models::scripted::{Call, Reply, Script, ScriptedModel};
    pub use roundtable_ports::{Tool, ToolContext, ToolError};
}

/// The examples of the guides compile.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/models.md")]
mod models_guide {}

/// The examples of the guides compile.
#[cfg(all(doctest, feature = "fetch-url", feature = "mcp-tools"))]
#[doc = include_str!("../../../docs/guides/tools.md")]
mod tools_guide {}

/// The examples of the guides compile.
#[cfg(all(doctest, feature = "local"))]
#[doc = include_str!("../../../docs/guides/local-model.md")]
mod local_model_guide {}

/// The examples of the guides compile.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/programs.md")]
mod programs_guide {}

/// The examples of the guides compile.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/chats.md")]
mod chats_guide {}

/// The examples of the guides compile.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/debates.md")]
mod debates_guide {}
