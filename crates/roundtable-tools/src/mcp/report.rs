//! What the operator should know of a server.

use super::pins::Definition;

/// What the operator should know of a server.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The server.
    pub server: String,
    /// What there is to know.
    pub finding: Finding,
}

/// What there is to know of a server.
#[derive(Debug, Clone, PartialEq)]
pub enum Finding {
    /// It cannot be used at all.
    Misconfigured {
        /// Why.
        why: String,
    },
    /// It could not be reached. Approved tools stay; a call tries again.
    Unreachable {
        /// Why.
        why: String,
    },
    /// A tool is not offered to models.
    Withheld {
        /// The tool, as the server calls it.
        tool: String,
        /// Why.
        why: Withheld,
    },
    /// A tool that was approved is not there any more.
    Gone {
        /// The tool, as the server calls it.
        tool: String,
    },
}

/// Why a tool is not offered to models.
#[derive(Debug, Clone, PartialEq)]
pub enum Withheld {
    /// Nobody has approved it yet.
    New {
        /// What the server says it is.
        offered: Definition,
    },
    /// It is not what was approved.
    Changed {
        /// What was approved.
        approved: Definition,
        /// What the server says it is now.
        offered: Definition,
    },
    /// It cannot be used, approved or not.
    Unusable {
        /// Why.
        why: String,
    },
}

impl Report {
    /// The tool that models are not offered because of this.
    pub(super) fn tool(&self) -> Option<String> {
        match &self.finding {
            Finding::Withheld { tool, .. } | Finding::Gone { tool } => Some(tool.clone()),
            Finding::Misconfigured { .. } | Finding::Unreachable { .. } => None,
        }
    }
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let server = &self.server;
        match &self.finding {
            Finding::Misconfigured { why } => write!(f, "MCP server \"{server}\": {why}"),
            Finding::Unreachable { why } => {
                write!(f, "MCP server \"{server}\" is not available: {why}")
            }
            Finding::Gone { tool } => {
                write!(f, "MCP server \"{server}\" no longer has the tool \"{tool}\"")
            }
            Finding::Withheld { tool, why } => {
                write!(f, "\"{tool}\" of MCP server \"{server}\" {why}")
            }
        }
    }
}

impl std::fmt::Display for Withheld {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::New { .. } => f.write_str("is new and needs approval"),
            Self::Unusable { why } => write!(f, "cannot be used: {why}"),
            Self::Changed { approved, offered } => {
                let parts = [
                    ("description", approved.description != offered.description),
                    ("parameters", approved.schema != offered.schema),
                    ("effect", approved.effect != offered.effect),
                ];
                let changed = parts.iter().filter(|(_, changed)| *changed).map(|(part, _)| *part);
                let changed: Vec<&str> = changed.collect();
                write!(
                    f,
                    "changed since it was approved ({}) and needs approval",
                    changed.join(", ")
                )
            }
        }
    }
}
