//! What a round comes to, what it rests on, and what to do with it.

use roundtable::core::id::AgentId;
use roundtable::debate::{Action as CoreAction, Exit as CoreExit, Findings};
use schemars::JsonSchema;
use serde::Serialize;

/// Consensus level: high from an agreement of 0.7, medium from 0.4. It is never high while
/// verificationHints list a problem, such as a failed agent or a demo model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    High,
    Medium,
    Low,
}

impl From<roundtable::debate::Level> for Level {
    fn from(level: roundtable::debate::Level) -> Self {
        match level {
            roundtable::debate::Level::High => Self::High,
            roundtable::debate::Level::Medium => Self::Medium,
            roundtable::debate::Level::Low => Self::Low,
        }
    }
}

/// Recommended action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Action {
    /// Act on the result.
    Proceed,
    /// Verify the result first.
    Verify,
    /// Read the full responses first.
    QueryDetail,
}

/// Recommended action and its reason.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Recommendation {
    #[serde(rename = "type")]
    pub kind: Action,
    pub reason: String,
}

/// Result of the round.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Decision {
    pub consensus_level: Level,
    /// Agreement from 0 (opposed) to 1 (unanimous).
    pub agreement_score: f64,
    pub action_recommendation: Recommendation,
}

/// An issue on which agents hold opposite views.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Conflict {
    pub issue: String,
    pub sides: Vec<Side>,
}

/// The view of one agent.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Side {
    #[schemars(with = "String")]
    pub agent_id: AgentId,
    pub view: String,
}

/// Evidence for the result.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Evidence {
    pub total_citations: usize,
    pub conflicts: Vec<Conflict>,
    pub consensus_summary: String,
}

/// References and verification hints.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Metadata {
    /// Resource with all responses of the round.
    pub detail_reference: String,
    /// What to verify before you rely on the result.
    pub verification_hints: Vec<String>,
    pub has_more_details: bool,
}

/// Why a debate ended before its last round.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Exit {
    pub criterion: &'static str,
    pub reason: &'static str,
}

pub(super) fn decision(findings: &Findings) -> Decision {
    let decision = &findings.decision;
    let kind = match decision.action {
        CoreAction::Proceed => Action::Proceed,
        CoreAction::Verify => Action::Verify,
        CoreAction::QueryDetail => Action::QueryDetail,
    };
    Decision {
        consensus_level: decision.level.into(),
        agreement_score: decision.agreement,
        action_recommendation: Recommendation { kind, reason: decision.reason.clone() },
    }
}

pub(super) fn evidence(findings: &Findings) -> Evidence {
    let side =
        |(agent, view): &(AgentId, String)| Side { agent_id: agent.clone(), view: view.clone() };
    let conflicts = findings.conflicts.iter().map(|conflict| Conflict {
        issue: conflict.issue.clone(),
        sides: conflict.sides.iter().map(side).collect(),
    });
    Evidence {
        total_citations: findings.sources.len(),
        conflicts: conflicts.collect(),
        consensus_summary: findings.judgement.summary.clone(),
    }
}

pub(super) fn metadata(findings: &Findings) -> Metadata {
    let reservations = findings.judgement.reservations.iter().map(ToString::to_string);
    let hints = findings.judgement.groupthink.clone().into_iter().chain(reservations);
    Metadata {
        detail_reference: format!(
            "roundtable://sessions/{}/rounds/{}",
            findings.session, findings.number
        ),
        verification_hints: hints.collect(),
        has_more_details: !findings.responses.is_empty(),
    }
}

pub(super) fn exit(exit: CoreExit) -> Exit {
    let criterion = match exit {
        CoreExit::Agreement => "agreement",
        CoreExit::Convergence => "convergence",
        CoreExit::Confidence => "confidence",
    };
    Exit { criterion, reason: exit.reason() }
}
