//! How far a panel agreed, and what the debate added.

use roundtable::core::id::{AgentId, SessionId};
use roundtable::debate::{Added as CoreAdded, Judgement, Ranking, Vote as CoreVote};
use schemars::JsonSchema;
use serde::Serialize;

use crate::debate::answer::{Level, Side, Usage};

/// Agents that share a view.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Cluster {
    #[schemars(with = "Vec<String>")]
    pub agents: Vec<AgentId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub view: Option<String>,
}

/// An issue on which agents disagree.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Disagreement {
    pub issue: String,
    pub views: Vec<Side>,
}

/// Rank of an answer in a council.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Place {
    /// 1 is the best.
    pub rank: u32,
    #[schemars(with = "String")]
    pub agent_id: AgentId,
    /// Mean rank over all ballots.
    pub mean_place: f64,
}

/// Agreement measured with embeddings, without a model. It compares topics and does not detect
/// negation.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Measured {
    /// Name of the embedder.
    pub by: String,
    pub agreement: f64,
    pub clusters: Vec<Cluster>,
    /// Change of each position since the previous round, from 0 to 1.
    pub drift: Vec<Drift>,
}

/// Change of an agent's position.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Drift {
    #[schemars(with = "String")]
    pub agent_id: AgentId,
    pub change: f64,
}

/// Consensus of a round.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Consensus {
    #[schemars(with = "String")]
    pub session_id: SessionId,
    pub round_number: u32,
    pub consensus_level: Level,
    /// Agreement from 0 to 1: the analyst's figure, or the measured one if there is no analysis.
    pub agreement: f64,
    /// Summary in a few sentences.
    pub summary: String,
    pub clusters: Vec<Cluster>,
    pub common_ground: Vec<String>,
    pub disagreements: Vec<Disagreement>,
    pub partial_agreements: Vec<String>,
    pub conditions: Vec<String>,
    pub uncertainties: Vec<String>,
    /// Why the agreement may be unreliable.
    pub groupthink_warning: Option<String>,
    /// Reasons not to rely on the round: failed agents, missing positions, wrong stances,
    /// unanswered required requests, demo models.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub reservations: Vec<String>,
    /// Ranking of the answers by the members of a council, best first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub ranking: Vec<Place>,
    /// Verdict of the council's chair.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// Agreement measured without a model.
    pub measured: Option<Measured>,
    /// Why there is no analysis by a model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub analysis_error: Option<String>,
    /// What the later rounds changed. Present from the second round on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added: Option<Added>,
}

impl Consensus {
    pub fn of(session: &SessionId, judgement: Judgement, added: Option<CoreAdded>) -> Self {
        let consensus = judgement.consensus.unwrap_or_default();
        let measure = judgement.measure;
        let told = consensus.clusters.into_iter();
        let told = told.map(|cluster| Cluster { agents: cluster.agents, view: Some(cluster.view) });
        let clusters: Vec<Cluster> = told.collect();
        let measured = measure.map(|measure| Measured {
            by: measure.by,
            agreement: measure.agreement,
            clusters: measure
                .clusters
                .into_iter()
                .map(|agents| Cluster { agents, view: None })
                .collect(),
            drift: measure
                .drift
                .into_iter()
                .map(|it| Drift { agent_id: it.agent, change: it.change })
                .collect(),
        });
        let usual =
            || measured.as_ref().map(|measured| measured.clusters.clone()).unwrap_or_default();
        let disagreement = |it: roundtable::debate::Disagreement| Disagreement {
            issue: it.issue,
            views: it.views.into_iter().map(side).collect(),
        };
        Self {
            session_id: session.clone(),
            round_number: judgement.number,
            consensus_level: judgement.level.into(),
            agreement: judgement.agreement,
            summary: judgement.summary,
            clusters: if clusters.is_empty() { usual() } else { clusters },
            common_ground: consensus.common_ground,
            disagreements: consensus.disagreements.into_iter().map(disagreement).collect(),
            partial_agreements: consensus.partial_agreements,
            conditions: consensus.conditions,
            uncertainties: consensus.uncertainties,
            groupthink_warning: judgement.groupthink,
            reservations: judgement.reservations.iter().map(ToString::to_string).collect(),
            ranking: judgement.ranking.map(places).unwrap_or_default(),
            verdict: judgement.verdict.map(|verdict| verdict.position),
            measured,
            analysis_error: judgement.failure,
            added: added.map(Added::of),
        }
    }
}

pub(crate) fn places(ranking: Ranking) -> Vec<Place> {
    let place = |(place, rank): (roundtable::debate::Place, u32)| Place {
        rank,
        agent_id: place.agent,
        mean_place: place.mean,
    };
    ranking.places.into_iter().zip(1..).map(place).collect()
}

fn side(view: roundtable::debate::View) -> Side {
    Side { agent_id: view.agent, view: view.view }
}

/// Number of agents per stance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Vote {
    pub yes: u32,
    pub no: u32,
    pub neutral: u32,
    /// Agents without a stance.
    pub open: u32,
}

impl From<CoreVote> for Vote {
    fn from(vote: CoreVote) -> Self {
        Self { yes: vote.yes, no: vote.no, neutral: vote.neutral, open: vote.open }
    }
}

/// A changed position.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Changed {
    #[schemars(with = "String")]
    pub agent_id: AgentId,
    pub before: String,
    pub after: String,
}

/// Comparison of the first round with the last one, and the cost of the rounds between them.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Added {
    pub first_vote: Vote,
    pub last_vote: Vote,
    pub agreement_before: f64,
    pub agreement_after: f64,
    pub changed: Vec<Changed>,
    /// Usage of all rounds after the first.
    pub usage: Usage,
}

impl Added {
    fn of(added: CoreAdded) -> Self {
        let changed = added.changed.into_iter().map(|changed| Changed {
            agent_id: changed.agent,
            before: changed.before.position,
            after: changed.after.position,
        });
        Self {
            first_vote: added.first.into(),
            last_vote: added.last.into(),
            agreement_before: added.agreement_before,
            agreement_after: added.agreement_after,
            changed: changed.collect(),
            usage: Usage::of(added.spent),
        }
    }
}
