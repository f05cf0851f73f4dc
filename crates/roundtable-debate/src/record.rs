//! A debate, folded from its log: what people ask about it is a function of this.

mod fold;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Measure, Names, Perspective, Purpose, Rules, is_named_after};
use roundtable_core::budget::{Account, Charge, Spend};
use roundtable_core::context_request::{ContextRequest, ContextResult};
use roundtable_core::event::{RoundOutcome, TurnOutcome};
use roundtable_core::id::{AgentId, SessionId};
use roundtable_core::message::Citation;
use roundtable_core::session::Status;

/// An agent of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Member {
    /// Its id.
    pub id: AgentId,
    /// Its name.
    pub name: String,
    /// Model of the agent.
    pub model: String,
    /// Its seat, from 0; none for analyst and chair.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seat: Option<u32>,
}

/// What model calls took: the one figure that every answer shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Spent {
    /// Requests to providers that are over, retries and those that failed included.
    pub calls: u64,
    /// Tokens of prompts and replies.
    pub tokens: u64,
    /// Millionths of a dollar; unknown when the price of a token is.
    pub cost: Option<u64>,
    /// Whether part of the usage is estimated because a provider did not report it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
}

impl Default for Spent {
    fn default() -> Self {
        Self { calls: 0, tokens: 0, cost: Some(0), estimated: false }
    }
}

impl From<Charge> for Spent {
    fn from(charge: Charge) -> Self {
        let Charge { calls, tokens, cost, estimated } = charge;
        Self { calls, tokens, cost, estimated }
    }
}

impl Spent {
    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            calls: self.calls.saturating_add(other.calls),
            tokens: self.tokens.saturating_add(other.tokens),
            cost: self.cost.zip(other.cost).map(|(one, two)| one.saturating_add(two)),
            estimated: self.estimated || other.estimated,
        }
    }

    /// What a session has spent, by its account.
    pub fn of(account: &Account) -> Self {
        let Spend { calls, tokens, cost } = account.spent;
        let cost = (!account.unpriced).then_some(cost);
        Self { calls, tokens, cost, estimated: account.estimated }
    }
}

/// A turn of a debate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedTurn {
    /// Whose.
    pub agent: AgentId,
    /// What for.
    pub purpose: Purpose,
    /// How it ended; nothing while it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<TurnOutcome>,
    /// The model that answered, once one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What was said; as far as it got, if it was cut off.
    pub text: String,
    /// The sources that the provider named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub citations: Vec<Citation>,
    /// The tools that ran, each as often as it did. A call that was refused did not run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// What people should know of the answer, whatever it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
    /// What it took, turns that it started included.
    pub spent: Spent,
}

impl RecordedTurn {
    /// Whether something was said that counts.
    pub fn answered(&self) -> bool {
        match &self.outcome {
            Some(TurnOutcome::Answered) => true,
            Some(TurnOutcome::Exhausted { .. } | TurnOutcome::Cancelled) => !self.text.is_empty(),
            Some(TurnOutcome::Failed { .. }) | None => false,
        }
    }
}

/// A round of a debate, in the take that counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedRound {
    /// Its number.
    pub number: u32,
    /// Which take of that number.
    pub take: u32,
    /// When it opened.
    pub opened_at: Timestamp,
    /// When it closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed_at: Option<Timestamp>,
    /// How it ended; nothing while it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<RoundOutcome>,
    /// The focus question of the round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub focus: Option<String>,
    /// The answers to earlier requests that it was given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub provided: Vec<ContextResult>,
    /// Its turns, in the order in which they began.
    pub turns: Vec<RecordedTurn>,
    /// What it asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<ContextRequest>,
    /// How far the panel agrees, without a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measure: Option<Measure>,
}

impl RecordedRound {
    /// Its turns with this purpose.
    pub fn turns_for(&self, purpose: Purpose) -> impl Iterator<Item = &RecordedTurn> {
        self.turns.iter().filter(move |turn| turn.purpose == purpose)
    }

    /// What it took.
    pub fn spent(&self) -> Spent {
        self.turns.iter().fold(Spent::default(), |sum, turn| sum.plus(turn.spent))
    }
}

/// A debate summed up, and up to which round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedSynthesis {
    /// Last round that the synthesis covers.
    pub number: u32,
    /// The take of that round.
    pub take: u32,
    /// Turn id.
    pub turn: RecordedTurn,
}

/// A debate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// The session.
    pub session: SessionId,
    /// The question.
    pub topic: String,
    /// How it is run.
    pub rules: Rules,
    /// Who takes part: the seats from the first, then the others.
    pub members: Vec<Member>,
    /// After how many rounds it is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_rounds: Option<u32>,
    /// Whether it opens rounds.
    pub status: Status,
    /// Why it is over, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_because: Option<String>,
    /// Start time.
    pub created_at: Timestamp,
    /// When something last happened.
    pub updated_at: Timestamp,
    /// Its rounds, in the takes that count.
    pub rounds: Vec<RecordedRound>,
    /// The requests that are pending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pending_context_requests: Vec<ContextRequest>,
    /// The debate summed up, newest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub syntheses: Vec<RecordedSynthesis>,
    /// What all of it took so far, takes that no longer count included: the session's account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<Spent>,
    /// The session that it was exported from, if it was imported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported_from: Option<SessionId>,
}

impl Record {
    /// The round with this number.
    pub fn round(&self, number: u32) -> Option<&RecordedRound> {
        self.rounds.iter().find(|round| round.number == number)
    }

    /// The member with this id.
    pub fn member(&self, agent: &AgentId) -> Option<&Member> {
        self.members.iter().find(|member| member.id == *agent)
    }

    /// Those who argue, in the order of their seats.
    pub fn seats(&self) -> impl Iterator<Item = &Member> {
        self.members.iter().filter(|member| member.seat.is_some())
    }

    /// What it took so far: the same figure as the session's. Exports of earlier versions have no
    /// total, and are summed up.
    pub fn spent(&self) -> Spent {
        if let Some(total) = self.total {
            return total;
        }
        let rounds = self.rounds.iter().map(RecordedRound::spent);
        rounds
            .chain(self.syntheses.iter().map(|one| one.turn.spent))
            .fold(Spent::default(), Spent::plus)
    }

    pub(crate) fn names(&self) -> Names {
        let seats = self.seats().map(|member| (member.id.clone(), member.name.clone())).collect();
        Names::new(self.rules.mode, seats)
    }

    /// Gives experts that were made for the panel the names of their perspectives, which a model
    /// may have chosen in the first round.
    pub(super) fn name_experts(&mut self) {
        if self.rules.mode != super::Mode::ExpertPanel {
            return;
        }
        let perspectives = self.perspectives();
        let seats = self.seats().count();
        if perspectives.is_empty() || self.rounds.is_empty() {
            return;
        }
        let titles = perspectives.iter().map(|one| one.name.clone()).cycle().take(seats);
        let names = super::numbered(&titles.collect::<Vec<_>>());
        for member in &mut self.members {
            let role = |seat: u32| self.rules.mode.role(seat as usize, seats).title;
            if let Some(seat) = member.seat.filter(|seat| is_named_after(&member.name, role(*seat)))
            {
                member.name.clone_from(&names[seat as usize]);
            }
        }
    }

    /// The points of view of the seats: given, named by a model, or none.
    pub fn perspectives(&self) -> Vec<Perspective> {
        if !self.rules.perspectives.is_empty() {
            return self.rules.perspectives.clone();
        }
        let framed = self.rounds.iter().flat_map(|round| round.turns_for(Purpose::Frame));
        let named =
            framed.filter_map(|turn| Perspective::read(&turn.text, self.seats().count())).last();
        match (named, self.rules.mode) {
            (Some(named), _) => named,
            (None, super::Mode::ExpertPanel) => Perspective::usual(),
            (None, _) => Vec::new(),
        }
    }
}
