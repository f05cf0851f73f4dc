//! What a round, and the debate, came to: a few lines for people.

use roundtable::core::context_request::{ContextRequest, Priority};
use roundtable::debate::{
    Action, Cluster, Consensus, Findings, Gain, Quote, Recommendation, Record, Vote, dollars,
};

/// How many points of a list are shown.
const SHOWN: usize = 3;

/// What a round came to.
pub(super) fn round(record: &Record, findings: &Findings) -> Vec<String> {
    let consensus = &findings.consensus;
    let (level, agreement) = (consensus.level.word(), consensus.agreement);
    let mut lines = vec![format!("Consensus: {level} (agreement {agreement:.2})")];
    lines.push(consensus.summary.clone());
    lines.extend(consensus.reservations.iter().map(|one| format!("Reservation: {one}")));
    lines.extend(
        consensus.ranking.as_ref().map(|one| format!("Ranking: {}", record.ranking_line(one))),
    );
    lines.extend(groups(record, consensus));
    lines.extend(list("Common ground", consensus.common_ground.iter().map(String::as_str)));
    let issues = findings.evidence.conflicts.iter().map(|conflict| conflict.issue.as_str());
    lines.extend(list("In dispute", issues));
    if let Some(why) = &consensus.failure {
        lines.push(format!("No analysis: {why}. The agreement is measured without a model."));
    }
    lines.extend(consensus.groupthink.as_ref().map(|warning| format!("Warning: {warning}")));
    lines.push(format!("Total so far: {}", findings.total_spent));
    lines
}

/// The groups that the analyst sees; those of the measure are in its summary.
fn groups(record: &Record, consensus: &Consensus) -> Option<String> {
    let group = |cluster: &Cluster| {
        let names: Vec<String> = cluster.agents.iter().map(|id| record.name_of(id)).collect();
        Some(format!("{} ({})", names.join(", "), cluster.view.as_ref()?))
    };
    let groups: Vec<String> = consensus.clusters.iter().filter_map(group).collect();
    (groups.len() > 1).then(|| format!("Groups: {}.", groups.join("; ")))
}

fn list<'a>(title: &str, points: impl Iterator<Item = &'a str>) -> Option<String> {
    let points: Vec<&str> = points.map(|point| point.trim_end_matches('.')).collect();
    let more = match points.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let shown = points.iter().take(SHOWN).copied().collect::<Vec<_>>().join("; ");
    (!points.is_empty()).then(|| format!("{title}: {shown}{more}."))
}

/// What the debate came to.
pub(super) fn end(record: &Record, findings: &Findings) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(why) = &findings.completed_because {
        lines.push(format!("The debate is over: {why}."));
    }
    lines.extend(findings.decision.as_ref().map(|decision| {
        let Recommendation { action, reason } = &decision.recommendation;
        format!("Recommendation: {} ({})", word(*action), bare(reason))
    }));
    if let Some(verdict) = &findings.consensus.verdict {
        lines.push(format!("Verdict: {}", verdict.position));
    }
    let added = record.added().map(|added| gain(record, &added));
    lines.extend(added.map(|gain| format!("Effect of the debate: {gain}.")));
    lines.push(format!("Total: {}", findings.total_spent));
    lines
}

fn word(action: Action) -> &'static str {
    match action {
        Action::Proceed => "proceed",
        Action::Verify => "verify",
        Action::QueryDetail => "read the positions",
    }
}

fn bare(sentence: &str) -> &str {
    sentence.trim_end_matches('.')
}

fn gain(record: &Record, added: &Gain) -> String {
    let (before, after) = (added.agreement_before, added.agreement_after);
    let mut parts = vec![match (before - after).abs() < 0.005 {
        true => format!("agreement stayed at {after:.2}"),
        false => format!("agreement changed from {before:.2} to {after:.2}"),
    }];
    if added.first != added.last {
        parts.push(format!("votes changed from {} to {}", vote(added.first), vote(added.last)));
    }
    let changed = added.changed.iter().map(|changed| {
        let name = record.name_of(&changed.agent);
        match (changed.before.stance, changed.after.stance) {
            (Some(before), Some(after)) if before != after => {
                format!("{name} ({} to {})", before.word(), after.word())
            }
            _ => name,
        }
    });
    let changed: Vec<String> = changed.collect();
    parts.push(match changed.as_slice() {
        [] => "nobody changed position".to_owned(),
        names => format!("{} changed position", names.join(", ")),
    });
    format!("{} (for {})", parts.join("; "), added.spent)
}

fn vote(vote: Vote) -> String {
    let parts = [
        (vote.yes, "YES"),
        (vote.no, "NO"),
        (vote.neutral, "NEUTRAL"),
        (vote.open, "without a side"),
    ];
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    parts.map(|(count, word)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
}

/// What it may cost, when that is known and something.
pub(super) fn quote(quote: &Quote) -> Option<String> {
    let cost = quote.cost.filter(|cost| *cost > 0)?;
    Some(format!(
        "Estimated cost: at most {} for {} model calls; tool calls are extra.",
        dollars(cost),
        quote.calls
    ))
}

/// A request, as it is put to a person.
pub(super) fn question(name: &str, request: &ContextRequest) -> String {
    let must = match request.priority {
        Priority::Required => "required",
        Priority::Optional => "optional",
    };
    format!("{name} asks ({must}): {}\n  because: {}", request.query, request.reason)
}
