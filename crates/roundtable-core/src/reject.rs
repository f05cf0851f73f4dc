//! Refusals: what is wrong, and what to do. A refused input changes nothing.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::context_request::ContextRequest;
use crate::id::{AgentId, ParseIdError, SessionId};

/// Why an input was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Reject {
    /// There is no such session.
    #[error("session {session} was not found; list the sessions to find its id")]
    NotFound {
        /// The id that was given.
        session: SessionId,
    },
    /// The session was opened before.
    #[error("session {session} already exists; choose another id, or send your message to it")]
    Exists {
        /// The id that was given.
        session: SessionId,
    },
    /// The session is paused or has ended.
    #[error("session is not active: it is {status}; {hint}")]
    NotActive {
        /// Its status in words.
        status: Cow<'static, str>,
        /// What to do.
        hint: Cow<'static, str>,
    },
    /// Required context requests are pending.
    #[error("{}", required_context(missing, "Answer these requests, then continue the session."))]
    ContextRequired {
        /// Those that the caller did not answer.
        missing: Vec<ContextRequest>,
    },
    /// A round is open and the caller did not want to wait.
    #[error("round {round} is still running; wait for it, stop it, or send with on_busy = queue")]
    Busy {
        /// The open round.
        round: u32,
    },
    /// Too many messages wait already.
    #[error("{waiting} messages are already queued; retry when the running round is over")]
    QueueFull {
        /// How many.
        waiting: usize,
    },
    /// The input is malformed: too long, empty, or of the wrong shape.
    #[error("{what}")]
    Invalid {
        /// What is wrong and what to do.
        what: String,
    },
    /// An id that a client chose cannot be used.
    #[error("invalid id \"{id}\"; use letters, digits, \"_\" and \"-\", at most 64 characters")]
    BadId {
        /// The id.
        id: String,
    },
    /// No agent of the session has this id.
    #[error("agent {agent} is not in this session")]
    UnknownAgent {
        /// The id.
        agent: AgentId,
    },
    /// The log holds events of a newer version.
    #[error(
        "this session was written by a newer version; update roundtable to continue it (reading works)"
    )]
    Newer,
    /// A result arrived for something that has ended: cancelled, timed out or done elsewhere.
    #[error("{what} has already ended; this result is not recorded")]
    Stale {
        /// What ended.
        what: String,
    },
}

impl From<ParseIdError> for Reject {
    fn from(error: ParseIdError) -> Self {
        Self::Invalid { what: error.to_string() }
    }
}

/// The text of R000-8, to the letter. `how_to_answer` is its last sentence, in which each transport
/// describes its own way.
pub fn required_context(missing: &[ContextRequest], how_to_answer: &str) -> String {
    let lines: Vec<String> =
        missing.iter().map(|r| format!("- [{}] ({}): {}", r.id, r.agent, r.query)).collect();
    format!(
        "Cannot continue: {} required context request(s) pending.\n\n\
         You MUST provide contextResults for these requests:\n{}\n\n{how_to_answer}",
        missing.len(),
        lines.join("\n")
    )
}
