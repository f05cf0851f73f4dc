//! The vocabulary of Roundtable and the decisions it takes: pure, no async, no clock, no I/O.
//!
//! A session is an append-only log of [events](event::Event). [`Live`] is the fold of that log;
//! [`Live::step`] says what an [input](input::Input) makes happen, and [`session::Session::wants`]
//! what has to be done in the world. Drivers only act.

pub mod agent;
pub mod audience;
pub mod budget;
pub mod context_request;
pub mod delegation;
pub mod digest;
pub mod document;
pub mod event;
mod extract_json;
mod file;
pub mod id;
mod image;
pub mod input;
pub mod iteration;
pub mod job;
pub mod json;
mod live;
pub mod message;
mod message_context;
mod printable;
pub mod program;
pub mod projection;
pub mod prompt;
pub mod quota;
mod reject;
pub mod round;
pub mod scope;
pub mod search;
pub mod session;
pub mod settings;
pub mod stage;
pub mod state;
pub mod tool;
pub mod tool_call;
pub mod turn;
pub mod want;
pub mod window;

pub use extract_json::extract_json;
pub use jiff::Timestamp;
pub use live::{Live, Starts};
pub use message_context::MessageContext;
pub use printable::{acts, printable, spelled};
pub use reject::{Reject, required_context};
pub use window::Keep;
