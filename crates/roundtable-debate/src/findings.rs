//! What a round came to, as whoever asked the question wants to know it.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::record::{Record, RecordedRound, Spent};
use super::{
    Consensus, EarlyExit, FullResponse, Level, Mode, Place, Ranking, Response, Source, Stance,
    View, citation, reservation, usage,
};
use roundtable_core::context_request::{ContextRequest, Priority, RequestKind};
use roundtable_core::document;
use roundtable_core::event::RoundOutcome;
use roundtable_core::id::{AgentId, SessionId};
use roundtable_core::session::Status;

/// Status of a debate after a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RoundStatus {
    /// The round is over. Another round can follow.
    InProgress,
    /// contextRequests are pending. Only required ones block the next round. If there is no
    /// decision, the round is open and waits for a decision on a tool call.
    NeedsContext,
    /// The debate is over.
    Completed,
    /// The round is still running. Ask again with afterRound.
    Running,
    /// No agent could answer.
    Failed,
    /// An agent uses your own model. Answer turn.prompt and send the answer as contribution.
    NeedsTurn,
}

/// Recommended action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Act on the result.
    Proceed,
    /// Verify the result first.
    Verify,
    /// Read the full responses first.
    QueryDetail,
}

/// Recommended action and its reason.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Recommendation {
    /// Recommended action.
    #[serde(rename = "type")]
    pub action: Action,
    /// The reason.
    pub reason: String,
}

/// Result of the round.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Decision {
    /// Consensus level: high from an agreement of 0.7, medium from 0.4. It is never high while
    /// verificationHints list a problem, such as a failed agent or a demo model.
    #[serde(rename = "consensusLevel")]
    pub level: Level,
    /// Agreement from 0 (opposed) to 1 (unanimous).
    #[serde(rename = "agreementScore")]
    pub agreement: f64,
    /// Recommended action and its reason.
    #[serde(rename = "actionRecommendation")]
    pub recommendation: Recommendation,
}

/// An issue on which agents hold opposite views.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Conflict {
    /// The issue.
    pub issue: String,
    /// Who holds which view.
    pub sides: Vec<View>,
}

/// Evidence for the result.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Evidence {
    /// How many sources the round has.
    pub total_citations: usize,
    /// What is in dispute.
    pub conflicts: Vec<Conflict>,
    /// How far the panel agrees, in a few sentences.
    pub consensus_summary: String,
}

/// References and verification hints.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    /// Resource with all responses of the round.
    pub detail_reference: String,
    /// What to verify before you rely on the result.
    pub verification_hints: Vec<String>,
    /// Whether there are responses to read in full.
    pub has_more_details: bool,
}

/// The result of a round. The JSON form omits what other calls return in full.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Findings {
    /// Session id. Send it in every further call about this debate.
    #[serde(rename = "sessionId")]
    pub session: SessionId,
    /// The question.
    pub topic: String,
    /// Debate mode.
    pub mode: Mode,
    /// Number of the round in this answer.
    #[serde(rename = "roundNumber")]
    pub number: u32,
    /// Which take of it.
    #[serde(skip)]
    pub take: u32,
    /// Maximum number of rounds.
    pub total_rounds: Option<u32>,
    /// Number of finished rounds.
    #[serde(rename = "currentRound")]
    pub rounds_completed: u32,
    /// The status of the debate.
    pub status: RoundStatus,
    /// Whether the round is still open.
    #[serde(skip)]
    pub open: bool,
    /// Result of the round. Absent while the round is running.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// Names of the agents that are answering now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub speaking: Vec<String>,
    /// The answers, in the order of the seats, failed ones included.
    #[serde(rename = "agentResponses")]
    pub responses: Vec<Response>,
    /// Evidence for the result.
    pub evidence: Evidence,
    /// References and verification hints.
    pub metadata: Metadata,
    /// Ranking of the answers by the members of a council, best first.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<Place>", default)]
    pub ranking: Option<Ranking>,
    /// Requests of agents. Answer the required ones with contextResults before the next round.
    #[serde(
        rename = "contextRequests",
        serialize_with = "document::context_requests",
        skip_serializing_if = "Vec::is_empty"
    )]
    #[schemars(with = "Vec<document::ContextRequest>", default)]
    pub requests: Vec<ContextRequest>,
    /// Why the debate ended early.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit: Option<EarlyExit>,
    /// Why the debate is over, if it is.
    #[serde(skip)]
    pub completed_because: Option<String>,
    /// How far the panel agrees.
    #[serde(skip)]
    pub consensus: Consensus,
    /// The sources of the round, each once.
    #[serde(skip)]
    pub sources: Vec<Source>,
    /// What the round took.
    #[serde(skip)]
    pub spent: Spent,
    /// What the debate has spent so far.
    #[serde(rename = "usage", serialize_with = "usage::usage")]
    #[schemars(with = "document::Usage")]
    pub total_spent: Spent,
}

impl Record {
    /// The result of a round; nothing if the round does not exist.
    pub fn findings(&self, number: u32) -> Option<Findings> {
        let round = self.round(number)?;
        let consensus = self.consensus_of(round);
        let responses = self.responses(number);
        let sources = self.sources(Some(number), None);
        let status = self.round_status(round);
        let exit = round.measure.as_ref().and_then(|measure| measure.exit);
        let speaking = round.turns.iter().filter(|turn| turn.outcome.is_none());
        let open = round.outcome.is_none();
        Some(Findings {
            session: self.session.clone(),
            topic: self.topic.clone(),
            mode: self.rules.mode,
            number,
            take: round.take,
            total_rounds: self.total_rounds,
            rounds_completed: self.rounds_completed(),
            status,
            open,
            decision: (!open).then(|| decide(&consensus, &responses)),
            speaking: speaking.map(|turn| self.name_of(&turn.agent)).collect(),
            evidence: Evidence {
                total_citations: sources.len(),
                conflicts: conflicts(&consensus, &responses),
                consensus_summary: consensus.summary.clone(),
            },
            metadata: self.metadata(&consensus, &responses),
            ranking: consensus.ranking.clone(),
            requests: self.open_requests(round),
            exit: exit.filter(|_| status == RoundStatus::Completed).map(EarlyExit::from),
            completed_because: self.completed_because.clone(),
            spent: round.spent(),
            total_spent: self.spent(),
            sources,
            responses,
            consensus,
        })
    }

    /// The result of a round with all details: the full responses and the consensus. Nothing if the
    /// round does not exist.
    pub fn report(&self, number: u32) -> Option<Value> {
        let findings = self.findings(number)?;
        let mut report = serde_json::to_value(&findings).ok()?;
        let responses = findings.responses.into_iter();
        let responses = responses.map(|response| FullResponse::new(number, response));
        report["agentResponses"] = json!(responses.collect::<Vec<_>>());
        report["consensus"] = json!(self.consensus(number));
        report["completedBecause"] = json!(findings.completed_because);
        Some(report)
    }

    fn metadata(&self, consensus: &Consensus, responses: &[Response]) -> Metadata {
        let reservations = consensus.reservations.iter().map(ToString::to_string);
        let (session, number) = (&self.session, consensus.number);
        Metadata {
            detail_reference: format!("roundtable://sessions/{session}/rounds/{number}"),
            verification_hints: consensus.groupthink.iter().cloned().chain(reservations).collect(),
            has_more_details: !responses.is_empty(),
        }
    }

    /// Number of finished rounds.
    pub fn rounds_completed(&self) -> u32 {
        let over =
            self.rounds.iter().filter(|round| round.outcome == Some(RoundOutcome::Completed));
        u32::try_from(over.count()).unwrap_or(u32::MAX)
    }

    /// The number of the last round that began.
    pub fn last_round(&self) -> Option<u32> {
        self.rounds.last().map(|round| round.number)
    }

    /// The sources of the debate, of one round, of one agent: each once.
    pub fn sources(&self, number: Option<u32>, agent: Option<&AgentId>) -> Vec<Source> {
        let rounds =
            self.rounds.iter().filter(|round| number.is_none_or(|number| round.number == number));
        let named = rounds.flat_map(|round| {
            let responses = self.responses(round.number).into_iter();
            let wanted =
                responses.filter(|response| agent.is_none_or(|agent| response.agent == *agent));
            wanted.flat_map(|response| {
                let (agent, number) = (response.agent, round.number);
                response
                    .citations
                    .into_iter()
                    .map(move |citation| (agent.clone(), number, citation))
            })
        });
        citation::collect(named)
    }

    fn round_status(&self, round: &RecordedRound) -> RoundStatus {
        match round.outcome {
            None if self.pending_context_requests.iter().any(is_decision) => {
                RoundStatus::NeedsContext
            }
            None => RoundStatus::Running,
            Some(RoundOutcome::Failed) => RoundStatus::Failed,
            Some(_) if self.status == Status::Completed => RoundStatus::Completed,
            Some(_) if !self.open_requests(round).is_empty() => RoundStatus::NeedsContext,
            Some(_) => RoundStatus::InProgress,
        }
    }

    /// This round's pending requests, and older required ones.
    fn open_requests(&self, round: &RecordedRound) -> Vec<ContextRequest> {
        let own =
            |request: &ContextRequest| round.requests.iter().any(|asked| asked.id == request.id);
        let pending = self.pending_context_requests.iter();
        pending.filter(|request| own(request) || is_required(request)).cloned().collect()
    }

    /// What people call an agent.
    pub fn name_of(&self, agent: &AgentId) -> String {
        self.member(agent).map_or_else(|| agent.suffix().to_owned(), |member| member.name.clone())
    }
}

/// Whether a person has to decide on a tool call.
fn is_decision(request: &ContextRequest) -> bool {
    request.kind() != RequestKind::Question
}

fn is_required(request: &ContextRequest) -> bool {
    request.priority == Priority::Required
}

pub(super) fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

fn decide(consensus: &Consensus, responses: &[Response]) -> Decision {
    let (agreement, level) = (consensus.agreement, consensus.level);
    let reservations = &consensus.reservations;
    let (action, reason) = if !reservations.is_empty() {
        let why = reservation::summary(reservations, responses.len());
        (Action::Verify, format!("agreement {agreement:.2}; {why}"))
    } else if let Some(warning) = &consensus.groupthink {
        (Action::Verify, warning.clone())
    } else {
        match level {
            Level::High => (Action::Proceed, format!("the panel agrees ({agreement:.2})")),
            Level::Medium => (
                Action::Verify,
                format!("the panel agrees in part ({agreement:.2}); check the disagreements"),
            ),
            Level::Low => (
                Action::QueryDetail,
                format!("the panel is divided ({agreement:.2}); read the positions"),
            ),
        }
    };
    Decision { level, agreement, recommendation: Recommendation { action, reason } }
}

/// What is in dispute: what the analyst names, else who takes opposite sides.
fn conflicts(consensus: &Consensus, responses: &[Response]) -> Vec<Conflict> {
    if consensus.is_analyzed {
        let named = consensus.disagreements.iter();
        let conflict =
            named.map(|found| Conflict { issue: found.issue.clone(), sides: found.views.clone() });
        return conflict.collect();
    }
    let sides = |stance: Stance| {
        let takes =
            responses.iter().filter(move |response| response.position.stance == Some(stance));
        let view = |response: &Response| View {
            agent: response.agent.clone(),
            view: response.position.position.clone(),
        };
        takes.map(view).collect::<Vec<_>>()
    };
    let (yes, no) = (sides(Stance::Yes), sides(Stance::No));
    if yes.is_empty() || no.is_empty() {
        return Vec::new();
    }
    let issue = "whether the answer is YES or NO".to_owned();
    vec![Conflict { issue, sides: [yes, no].concat() }]
}
