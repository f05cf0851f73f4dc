//! What a debate came to, as one line for programs: the names are those of MCP and HTTP.

use roundtable::core::context_request::ContextRequest;
use roundtable::debate::{Action, Added, Findings, Record, Response, Spent, Standing, Vote};
use serde_json::{Value, json};

/// The last line of a run.
pub(super) fn line(record: &Record, findings: &Findings) -> String {
    let decision = &findings.decision;
    let line = json!({
        "kind": "findings",
        "sessionId": findings.session,
        "topic": findings.topic,
        "mode": findings.mode,
        "roundNumber": findings.number,
        "totalRounds": findings.total_rounds,
        "currentRound": findings.rounds_completed,
        "status": standing(findings.standing),
        "completedBecause": findings.completed_because,
        "decision": {
            "consensusLevel": decision.level.word(),
            "agreementScore": decision.agreement,
            "actionRecommendation": {
                "type": match decision.action {
                    Action::Proceed => "proceed",
                    Action::Verify => "verify",
                    Action::QueryDetail => "query_detail",
                },
                "reason": decision.reason,
            },
        },
        "agentResponses": findings.responses.iter().map(response).collect::<Vec<_>>(),
        "consensus": findings.judgement.consensus,
        "measure": findings.judgement.measure,
        "summary": findings.judgement.summary,
        "verdict": findings.judgement.verdict,
        "added": record.added().map(|added| gained(&added)),
        "contextRequests": findings.requests.iter().map(request).collect::<Vec<_>>(),
        "usage": used(findings.total_spent),
    });
    format!("{line}\n")
}

fn standing(standing: Standing) -> &'static str {
    match standing {
        Standing::Running => "running",
        Standing::InProgress => "in_progress",
        Standing::NeedsContext => "needs_context",
        Standing::Completed => "completed",
        Standing::Failed => "failed",
    }
}

fn response(response: &Response) -> Value {
    json!({
        "agentId": response.agent,
        "agentName": response.name,
        "role": response.role,
        "stance": response.position.stance,
        "position": response.position.position,
        "reasoning": response.position.reasoning,
        "keyPoints": response.position.key_points,
        "confidence": response.position.confidence,
        "confidenceChange": response.confidence_change,
        "error": response.failure(),
    })
}

fn gained(added: &Added) -> Value {
    let votes = |vote: Vote| json!({ "yes": vote.yes, "no": vote.no, "neutral": vote.neutral, "open": vote.open });
    json!({
        "agreementBefore": added.agreement_before,
        "agreementAfter": added.agreement_after,
        "voteBefore": votes(added.first),
        "voteAfter": votes(added.last),
        "changed": added.changed.iter().map(|changed| &changed.agent).collect::<Vec<_>>(),
        "usage": used(added.spent),
    })
}

fn request(request: &ContextRequest) -> Value {
    json!({
        "id": request.id,
        "agentId": request.agent,
        "query": request.query,
        "reason": request.reason,
        "priority": request.priority,
    })
}

fn used(spent: Spent) -> Value {
    let cost = spent.cost.map(|cost| Value::from(cost as f64 / 1e6));
    json!({ "calls": spent.calls, "tokens": spent.tokens, "cost": cost })
}
