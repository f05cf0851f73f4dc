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
    #[error("session {session} was not found; list the sessions to see which there are")]
    NotFound {
        /// The id that was given.
        session: SessionId,
    },
    /// The session was opened before.
    #[error("session {session} exists already; choose another id, or send your message to it")]
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
    /// Required context requests are pending (R000-8: this text is fixed).
    #[error("{}", required_text(missing))]
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
    #[error("{waiting} messages are waiting already; send again when the open round has closed")]
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
    #[error(
        "\"{id}\" cannot be an id; use letters, digits, \"_\" and \"-\", at most 64 characters"
    )]
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
    #[error("this session was written by a newer version; update to go on with it (reading works)")]
    Newer,
    /// A result arrived for something that has ended: cancelled, timed out or done elsewhere.
    #[error("{what} has ended already; this result is not recorded")]
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

/// The text of R000-8, to the letter.
fn required_text(missing: &[ContextRequest]) -> String {
    let lines: Vec<String> =
        missing.iter().map(|r| format!("- [{}] ({}): {}", r.id, r.agent, r.query)).collect();
    format!(
        "Cannot continue: {} required context request(s) pending.\n\n\
         You MUST provide contextResults for these requests:\n{}\n\n\
         Use WebSearch or other tools to fulfill these requests, then call continue_roundtable with contextResults.",
        missing.len(),
        lines.join("\n")
    )
}
