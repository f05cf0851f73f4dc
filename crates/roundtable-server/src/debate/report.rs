//! What a debate came to, for a program that holds it itself: spelt as over MCP and HTTP, with all
//! that the calls for details would add.

use roundtable::debate::{Record, Spent};
use serde_json::{Value, json};

use super::answer::{RoundAnswer, Usage};
use super::consent::Caller;
use super::detail::{Consensus, FullResponse};

/// Usage in the format of HTTP and MCP: calls, tokens, and dollars or null.
pub fn usage(spent: Spent) -> Value {
    serde_json::to_value(Usage::of(spent)).unwrap_or_default()
}

/// What a round came to, in the words of MCP and HTTP: the answer to a call for it, with everyone's
/// whole response and how far the panel agrees. `next_step` says what to do now, in the words of
/// whoever reports it. Nothing when there is no such round.
pub fn report(record: &Record, number: u32, next_step: &str) -> Option<Value> {
    let findings = record.findings(number)?;
    let consensus = Consensus::of(&findings.session, findings.judgement.clone(), record.added());
    let full = |response| FullResponse::of(number, response);
    let responses: Vec<FullResponse> = findings.responses.iter().map(full).collect();
    let answer = RoundAnswer::of(&findings, Caller::Http, None, Vec::new());
    let mut report = serde_json::to_value(answer).ok()?;
    report["agentResponses"] = serde_json::to_value(responses).ok()?;
    report["consensus"] = serde_json::to_value(consensus).ok()?;
    report["completedBecause"] = json!(findings.completed_because);
    report["nextStep"] = json!(next_step);
    Some(report)
}
