//! Rankings: who puts whose answer where, and what that comes to.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::loose;
use roundtable_core::id::AgentId;
use roundtable_core::prompt::OutputSchema;

/// Rank of an answer in a council.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Place {
    /// 1 is the best.
    pub rank: u32,
    /// The agent whose answer was ranked.
    #[serde(rename = "agentId")]
    pub agent: AgentId,
    /// Mean rank over all ballots.
    #[serde(rename = "meanPlace")]
    pub mean: f64,
}

/// How a council ranked the answers of a round.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Ranking {
    /// How many members ranked.
    #[serde(skip)]
    pub ballots: usize,
    /// All ranked answers, best first.
    pub places: Vec<Place>,
}

impl Ranking {
    /// The ranking by these ballots; nothing without a ballot.
    pub(super) fn of(ballots: &[Vec<AgentId>], ranked: &[AgentId]) -> Option<Self> {
        let place = |(rank, (agent, mean))| Place { rank, agent, mean };
        let places: Vec<Place> = (1..).zip(tally(ballots, ranked)).map(place).collect();
        (!places.is_empty()).then_some(Self { ballots: ballots.len(), places })
    }
}

/// Reads a ranking, best first; `find` tells who is meant by a name. Each counts once; nothing when
/// nobody is named.
pub fn read(text: &str, find: impl Fn(&str) -> Option<AgentId>) -> Option<Vec<AgentId>> {
    let named: Vec<String> = match loose::json(text) {
        Some(Value::Object(map)) => loose::Fields(map).texts("ranking"),
        Some(Value::Array(list)) => list.iter().map(loose::text).collect(),
        _ => text.lines().map(after_number).collect(),
    };
    let mut ranking: Vec<AgentId> = Vec::new();
    for agent in named.iter().filter_map(|name| find(name)) {
        if !ranking.contains(&agent) {
            ranking.push(agent);
        }
    }
    (!ranking.is_empty()).then_some(ranking)
}

/// `1. Member B: clear` without the number and what follows the name.
fn after_number(line: &str) -> String {
    let line = line.trim().trim_start_matches(|c: char| c.is_ascii_digit() || ".) -*".contains(c));
    line.split([':', '–', '(', ',']).next().unwrap_or_default().trim().trim_matches('*').to_owned()
}

/// What rankings come to: everyone with its mean place, best first. Who is left out of a ranking is
/// last in it.
pub fn tally(rankings: &[Vec<AgentId>], ranked: &[AgentId]) -> Vec<(AgentId, f64)> {
    if rankings.is_empty() {
        return Vec::new();
    }
    let place = |ranking: &Vec<AgentId>, agent: &AgentId| {
        ranking.iter().position(|one| one == agent).map_or(ranked.len(), |place| place + 1)
    };
    let mean = |agent: &AgentId| {
        let sum: usize = rankings.iter().map(|ranking| place(ranking, agent)).sum();
        (sum as f64 / rankings.len() as f64 * 100.0).round() / 100.0
    };
    let mut places: Vec<(AgentId, f64)> =
        ranked.iter().map(|agent| (agent.clone(), mean(agent))).collect();
    places.sort_by(|one, other| one.1.total_cmp(&other.1));
    places
}

/// What a model is held to.
pub(super) fn schema() -> OutputSchema {
    OutputSchema::or_text(
        "ranking",
        json!({
            "type": "object",
            "properties": {
                "ranking": { "type": "array", "items": { "type": "string" } },
                "reasons": { "type": "string" }
            },
            "required": ["ranking", "reasons"],
            "additionalProperties": false
        }),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(name: &str) -> Option<AgentId> {
        let suffix = name.strip_prefix("Member ")?;
        (suffix.len() == 1).then(|| AgentId::new(&suffix.to_lowercase()).ok()).flatten()
    }

    fn ids(suffixes: &[&str]) -> Vec<AgentId> {
        suffixes.iter().map(|suffix| AgentId::new(suffix).unwrap()).collect()
    }

    #[test]
    fn a_ranking_is_read_from_data_and_from_lines() {
        let data = r#"{"ranking": ["Member B", "Member A", "Member B", "nobody"], "reasons": "…"}"#;
        assert_eq!(read(data, find), Some(ids(&["b", "a"])));
        assert_eq!(
            read("1. **Member C**: clear\n2) Member A (short)", find),
            Some(ids(&["c", "a"]))
        );
        assert_eq!(read("I cannot say.", find), None);
    }

    #[test]
    fn who_is_left_out_of_a_ranking_is_last_in_it() {
        let places = tally(&[ids(&["b", "a", "c"]), ids(&["b"])], &ids(&["a", "b", "c"]));
        let shown: Vec<_> = places.iter().map(|(id, mean)| (id.suffix(), *mean)).collect();
        assert_eq!(shown, [("b", 1.0), ("a", 2.5), ("c", 3.0)]);
    }
}
