//! How far a panel agreed in a round: by a model, without one, and the figure that counts.

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::ranking::{self, Ranking};
use super::record::{Record, RecordedRound, RecordedTurn};
use super::reservation::{self, Reservation};
use super::{
    Analysis, Cluster, Disagreement, Gain, Measure, Place, Position, Purpose, Response, position,
};
use roundtable_core::event::TurnOutcome;
use roundtable_core::id::{AgentId, SessionId};

/// Consensus level: high from an agreement of 0.7, medium from 0.4. It is never high while
/// verificationHints list a problem, such as a failed agent or a demo model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Below 0.4.
    Low,
    /// From 0.4.
    Medium,
    /// From 0.7.
    High,
}

impl Level {
    /// The word for an agreement.
    pub fn of(agreement: f64) -> Self {
        if agreement >= 0.7 {
            Self::High
        } else if agreement >= 0.4 {
            Self::Medium
        } else {
            Self::Low
        }
    }

    /// The word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// Change of an agent's position.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Movement {
    /// Agent id.
    #[serde(rename = "agentId")]
    pub agent: AgentId,
    /// From 0 (not at all) to 1 (to the other side).
    pub change: f64,
}

/// Agreement measured with embeddings, without a model. It compares topics and does not detect
/// negation.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Measurement {
    /// Name of the embedder.
    pub by: String,
    /// Agreement from 0 (opposed) to 1 (unanimous).
    pub agreement: f64,
    /// Who holds much the same, the largest group first.
    pub clusters: Vec<Cluster>,
    /// Change of each position since the previous round, from 0 to 1.
    pub drift: Vec<Movement>,
}

impl From<Measure> for Measurement {
    fn from(measure: Measure) -> Self {
        let cluster = |agents| Cluster { agents, view: None };
        let drift = measure.drift.into_iter();
        Self {
            by: measure.by,
            agreement: measure.agreement,
            clusters: measure.clusters.into_iter().map(cluster).collect(),
            drift: drift.map(|it| Movement { agent: it.agent, change: it.change }).collect(),
        }
    }
}

/// Consensus of a round.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Consensus {
    /// The session.
    #[serde(rename = "sessionId")]
    pub session: SessionId,
    /// Round number.
    #[serde(rename = "roundNumber")]
    pub number: u32,
    /// Consensus level: high from an agreement of 0.7, medium from 0.4. It is never high while
    /// verificationHints list a problem, such as a failed agent or a demo model.
    #[serde(rename = "consensusLevel")]
    pub level: Level,
    /// Agreement from 0 to 1: the analyst's figure, or the measured one if there is no analysis.
    pub agreement: f64,
    /// Whether it is the analyst's.
    #[serde(skip)]
    pub is_analyzed: bool,
    /// Summary in a few sentences.
    pub summary: String,
    /// Groups of agents with the same view: by the analyst, else as measured.
    pub clusters: Vec<Cluster>,
    /// Common ground.
    pub common_ground: Vec<String>,
    /// What they disagree on.
    pub disagreements: Vec<Disagreement>,
    /// What some agree on.
    pub partial_agreements: Vec<String>,
    /// What the agreement depends on.
    pub conditions: Vec<String>,
    /// What nobody knows.
    pub uncertainties: Vec<String>,
    /// Why the agreement may be unreliable.
    #[serde(rename = "groupthinkWarning")]
    pub groupthink: Option<String>,
    /// Reasons not to rely on the round: failed agents, missing positions, wrong stances,
    /// unanswered required requests, demo models.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<String>", default)]
    pub reservations: Vec<Reservation>,
    /// Ranking of the answers by the members of a council, best first.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<Place>", default)]
    pub ranking: Option<Ranking>,
    /// Verdict of the council's chair.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "verdict")]
    #[schemars(with = "Option<String>")]
    pub verdict: Option<Position>,
    /// Agreement measured without a model.
    pub measured: Option<Measurement>,
    /// Why there is no analysis by a model.
    #[serde(rename = "analysisError", skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// What the later rounds changed. Present from the second round on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added: Option<Gain>,
}

fn verdict<S: Serializer>(verdict: &Option<Position>, serializer: S) -> Result<S::Ok, S::Error> {
    match verdict {
        Some(verdict) => position::words(verdict, serializer),
        None => serializer.serialize_none(),
    }
}

impl Record {
    /// How far the panel agreed in a round; after the last one, with what the debate added.
    pub fn consensus(&self, number: u32) -> Option<Consensus> {
        let round = self.round(number)?;
        let added = self.added().filter(|_| self.last_round() == Some(number));
        Some(Consensus { added, ..self.consensus_of(round) })
    }

    /// The same without what the debate added.
    pub(super) fn consensus_of(&self, round: &RecordedRound) -> Consensus {
        let analysis = self.analysis(round);
        let failure = analysis.as_ref().and_then(|analysis| analysis.as_ref().err()).cloned();
        let analysis = analysis.and_then(Result::ok);
        let (is_analyzed, agreement) = (analysis.is_some(), agreement(round, analysis.as_ref()));
        let analysis = analysis.unwrap_or_default();
        let responses = self.responses(round.number);
        let reservations = self.reservations(round, &responses);
        let measured = round.measure.clone().map(Measurement::from);
        let mut clusters = analysis.clusters;
        if clusters.is_empty() {
            clusters = measured.iter().flat_map(|measured| measured.clusters.clone()).collect();
        }
        let verdicts = round.turns_for(Purpose::Verdict).filter(|turn| turn.answered());
        Consensus {
            session: self.session.clone(),
            number: round.number,
            level: reservation::level(agreement, &reservations),
            agreement,
            is_analyzed,
            summary: Some(analysis.summary)
                .filter(|text| !text.is_empty())
                .unwrap_or_else(|| self.measured_summary(round)),
            clusters,
            common_ground: analysis.common_ground,
            disagreements: analysis.disagreements,
            partial_agreements: analysis.partial_agreements,
            conditions: analysis.conditions,
            uncertainties: analysis.uncertainties,
            groupthink: analysis.groupthink.or_else(|| suspicion(round, &responses)),
            reservations,
            ranking: self.ranking(round),
            verdict: verdicts.last().map(RecordedTurn::position),
            measured,
            failure,
            added: None,
        }
    }

    /// What the analyst says, or why it says nothing; nothing where none was asked.
    pub(super) fn analysis(&self, round: &RecordedRound) -> Option<Result<Analysis, String>> {
        let turn = round.turns_for(Purpose::Analyze).last()?;
        let names = self.names();
        let analysis = Some(turn)
            .filter(|turn| turn.answered())
            .and_then(|turn| Analysis::read(&turn.text, |name| names.find(name)));
        Some(analysis.ok_or_else(|| match &turn.outcome {
            Some(TurnOutcome::Failed { error }) => error.clone(),
            None => "it is not done yet".to_owned(),
            Some(_) => "the analyst's answer has no agreement score".to_owned(),
        }))
    }

    /// The figure that counts in a round.
    pub(super) fn agreement(&self, round: &RecordedRound) -> f64 {
        let analysis = self.analysis(round).and_then(Result::ok);
        agreement(round, analysis.as_ref())
    }

    /// How the members of a council ranked the answers of a round.
    fn ranking(&self, round: &RecordedRound) -> Option<Ranking> {
        let names = self.names();
        let ballots: Vec<Vec<AgentId>> = round
            .turns_for(Purpose::Rank)
            .filter(|turn| turn.answered())
            .filter_map(|turn| ranking::read(&turn.text, |name| names.find(name)))
            .collect();
        let answers = round.turns_for(Purpose::Answer).filter(|turn| turn.answered());
        let ranked: Vec<AgentId> = answers.map(|turn| turn.agent.clone()).collect();
        Ranking::of(&ballots, &ranked)
    }

    /// What the measure says, in words.
    fn measured_summary(&self, round: &RecordedRound) -> String {
        let Some(measure) = &round.measure else { return "The round was not measured.".to_owned() };
        let group = |agents: &Vec<AgentId>| {
            let names: Vec<String> = agents.iter().map(|agent| self.name_of(agent)).collect();
            names.join(", ")
        };
        match measure.clusters.as_slice() {
            [] => "Nobody answered.".to_owned(),
            [alone] if alone.len() == 1 => {
                format!("Only {} answered, so there is nothing to compare.", group(alone))
            }
            [_] => "The positions are close to each other.".to_owned(),
            clusters => {
                let groups: Vec<String> = clusters.iter().map(group).collect();
                let count = clusters.len();
                format!("The positions fall into {count} groups: {}.", groups.join("; "))
            }
        }
    }
}

/// The analyst's figure, else the measured one.
fn agreement(round: &RecordedRound, analysis: Option<&Analysis>) -> f64 {
    let measured = || round.measure.as_ref().map(|measure| measure.agreement);
    analysis.map(|analysis| analysis.agreement).or_else(measured).unwrap_or(0.0)
}

/// Whether everyone agrees, is sure and names no source: then nothing was tested.
fn suspicion(round: &RecordedRound, responses: &[Response]) -> Option<String> {
    let measure = round.measure.as_ref()?;
    let sure =
        |response: &Response| response.position.confidence.is_some_and(|value| value >= 0.85);
    let bare = |response: &Response| response.citations.is_empty() && response.tools.is_empty();
    let suspicious = responses.len() > 1
        && measure.agreement >= 0.9
        && responses.iter().all(|response| sure(response) && bare(response));
    suspicious.then(|| {
        "All agents agree with high confidence, but none cited a source: verify the result."
            .to_owned()
    })
}
