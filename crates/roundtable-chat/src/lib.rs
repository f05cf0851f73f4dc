//! Chats: a person talks to a supervisor, who answers or delegates to workers.
//!
//! The crate decides who answers a message and with which prompt. Delegation, questions to the
//! person, queues and budgets are the core's, for every program.

mod brief;
mod command;
mod program;
mod team;

pub use program::{ANSWER, CHAT, Chat, TITLE};
pub use team::{Background, EarlierMessage, Member, Rules, Team};
