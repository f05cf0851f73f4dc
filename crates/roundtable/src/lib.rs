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
//!     let engine = Engine::builder().model("scripted", ScriptedModel::new(script)).build().await?;
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
mod archive;
mod builder;
pub mod chat;
pub mod debate;
mod engine;
mod error;
pub mod program;
mod session;
mod talk;
mod turn;

pub use answer::{Answer, RoundReport};
pub use archive::{Archive, Damage, Verification};
pub use builder::Builder;
pub use engine::Engine;
pub use error::{Error, Result};
pub use session::{Events, Session, Since};
pub use talk::Talk;

pub use roundtable_backend as backend;
pub use roundtable_core as core;
pub use roundtable_engine as driver;
pub use roundtable_models as models;
pub use roundtable_ports as ports;
pub use roundtable_tools as tools;

/// What most programs need.
pub mod prelude {
    pub use crate::debate::{Continue, Debate, DebateFilter, Mode, Perspective, Stance};
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
#[doc = include_str!("../../../docs/guides/embedding.md")]
mod embedding_guide {}

/// The examples of the guides compile.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/tools.md")]
mod tools_guide {}

/// The examples of the guides compile.
#[cfg(doctest)]
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
