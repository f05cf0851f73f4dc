//! The response of an agent in a round: in short, and in full.

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::findings::rounded;
use super::record::{Record, RecordedRound, RecordedTurn, Spent};
use super::{Mode, Position, Purpose};
use roundtable_core::budget::Exhausted;
use roundtable_core::document::Usage;
use roundtable_core::event::TurnOutcome;
use roundtable_core::id::AgentId;
use roundtable_core::message::Citation;

/// Response of an agent in a round.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AgentResponse")]
#[non_exhaustive]
pub struct Response {
    /// Agent id.
    #[serde(rename = "agentId")]
    pub agent: AgentId,
    /// Its name.
    #[serde(rename = "agentName")]
    pub name: String,
    /// Role of the agent. In an expert panel, its perspective.
    pub role: String,
    /// The model that answered. Before an answer, the configured model.
    pub model: String,
    /// How its turn ended; nothing while it is open.
    #[serde(skip)]
    pub outcome: Option<TurnOutcome>,
    /// What it holds.
    #[serde(flatten)]
    pub position: Position,
    /// True if the agent did not take the side that its role requires.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub off_stance: bool,
    /// Change of confidence since the agent's previous answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence_change: Option<f64>,
    /// Sources that the agent cited.
    #[serde(rename = "evidenceUsed", serialize_with = "best_names")]
    #[schemars(with = "Vec<String>")]
    pub citations: Vec<Citation>,
    /// The tools that it used.
    #[serde(skip)]
    pub tools: Vec<String>,
    /// A notice for people, for example that a demo model answered. Show it to the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
    /// The error, if the agent could not answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What it took.
    #[serde(skip)]
    pub spent: Spent,
}

/// Full response of an agent in a round.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FullResponse {
    /// Round number.
    #[serde(rename = "roundNumber")]
    pub number: u32,
    /// In short.
    #[serde(flatten)]
    pub response: Response,
    /// Reasoning of the agent.
    pub reasoning: String,
    /// The sources that it or its provider named.
    pub citations: Vec<Citation>,
    /// The tools that it used.
    pub tools_used: Vec<String>,
    /// What the response cost.
    pub usage: Usage,
}

impl FullResponse {
    /// A response to the round with this number.
    pub fn new(number: u32, response: Response) -> Self {
        Self {
            number,
            reasoning: response.position.reasoning.clone(),
            citations: response.citations.clone(),
            tools_used: response.tools.clone(),
            usage: response.spent.into(),
            response,
        }
    }
}

/// Writes sources by the best names that they have.
fn best_names<S: Serializer>(citations: &[Citation], serializer: S) -> Result<S::Ok, S::Error> {
    let best = |citation: &Citation| citation.url.clone().or_else(|| citation.title.clone());
    serializer.collect_seq(citations.iter().filter_map(best))
}

/// What went wrong, if an agent did not answer.
fn failure(outcome: Option<&TurnOutcome>, position: &Position) -> Option<String> {
    let said_nothing = position.position.is_empty();
    let why = match outcome? {
        TurnOutcome::Failed { error } => error,
        TurnOutcome::Cancelled if said_nothing => "it was stopped",
        TurnOutcome::Exhausted { budget } if said_nothing => match budget {
            Exhausted::Calls => "its budget of calls is exhausted",
            Exhausted::Tokens => "its budget of tokens is exhausted",
            Exhausted::Cost => "its budget of money is exhausted",
            Exhausted::Time => "it timed out",
        },
        _ => return None,
    };
    Some(why.to_owned())
}

impl Record {
    /// All responses of a round, in seat order.
    pub fn responses(&self, number: u32) -> Vec<Response> {
        let Some(round) = self.round(number) else { return Vec::new() };
        let mut turns: Vec<&RecordedTurn> = round.turns_for(Purpose::Answer).collect();
        turns.sort_by_key(|turn| self.member(&turn.agent).and_then(|member| member.seat));
        turns.into_iter().map(|turn| self.response(round, turn)).collect()
    }

    fn response(&self, round: &RecordedRound, turn: &RecordedTurn) -> Response {
        let position = turn.position();
        let (seat, of) = (self.seat_of(&turn.agent), self.seats().count());
        let role = self.rules.mode.role(seat, of);
        let earlier = self.rounds.iter().rev().filter(|earlier| earlier.number < round.number);
        let before = earlier
            .flat_map(|earlier| earlier.turns_for(Purpose::Answer))
            .find(|earlier| earlier.agent == turn.agent && earlier.answered())
            .and_then(|earlier| earlier.position().confidence);
        let off_stance =
            turn.answered() && role.stance.is_some_and(|wanted| position.stance != Some(wanted));
        let mut citations = position.citations.clone();
        citations.extend(
            turn.citations.iter().filter(|named| !position.citations.contains(named)).cloned(),
        );
        Response {
            agent: turn.agent.clone(),
            name: self.name_of(&turn.agent),
            role: self.role_of(seat),
            model: turn.model.clone().unwrap_or_else(|| self.model_of(&turn.agent)),
            outcome: turn.outcome.clone(),
            off_stance,
            confidence_change: position
                .confidence
                .zip(before)
                .map(|(now, before)| rounded(now - before)),
            error: failure(turn.outcome.as_ref(), &position),
            position,
            citations,
            tools: turn.tools.clone(),
            notice: turn.notice.clone(),
            spent: turn.spent,
        }
    }

    /// The role of a seat; in an expert panel, its perspective.
    fn role_of(&self, seat: usize) -> String {
        let perspectives = self.perspectives();
        match self.rules.mode {
            Mode::ExpertPanel if !perspectives.is_empty() => {
                perspectives[seat % perspectives.len()].name.clone()
            }
            mode => mode.role(seat, self.seats().count()).title.to_owned(),
        }
    }

    fn model_of(&self, agent: &AgentId) -> String {
        self.member(agent).map(|member| member.model.clone()).unwrap_or_default()
    }

    pub(super) fn seat_of(&self, agent: &AgentId) -> usize {
        self.member(agent).and_then(|member| member.seat).unwrap_or_default() as usize
    }
}

impl RecordedTurn {
    /// What it says, read as a position.
    pub fn position(&self) -> Position {
        Position::read(&self.text)
    }
}
