//! What a round came to, as whoever asked the question wants to know it.

use super::record::{Record, RecordedRound, RecordedTurn, Spent};
use super::{
    Exit, Judgement, Level, Mode, Position, Purpose, Source, Stance, citation, reservation,
};
use roundtable_core::context_request::{ContextRequest, Priority, RequestKind};
use roundtable_core::event::{RoundOutcome, TurnOutcome};
use roundtable_core::id::{AgentId, SessionId};
use roundtable_core::message::Citation;
use roundtable_core::session::Status;

/// How a debate stands after a round, or during it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// The round is under way.
    Running,
    /// The round is over, and another may follow.
    InProgress,
    /// Requests are pending: of this round, or required ones of earlier rounds. Only required ones
    /// hold the next round back. An open round stands so while it waits for a decision on a tool
    /// call.
    NeedsContext,
    /// The debate is over.
    Completed,
    /// Nobody could answer.
    Failed,
}

/// What an agent came to in a round.
#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    /// Who.
    pub agent: AgentId,
    /// Its name.
    pub name: String,
    /// The role of its seat; in an expert panel, its perspective.
    pub role: String,
    /// The model that answered; before an answer, the agent's own.
    pub model: String,
    /// How its turn ended; nothing while it is open.
    pub outcome: Option<TurnOutcome>,
    /// What it holds.
    pub position: Position,
    /// Whether it took another side than its role has to.
    pub off_stance: bool,
    /// How much surer it is than in its last answer.
    pub confidence_change: Option<f64>,
    /// The sources that it or its provider named.
    pub citations: Vec<Citation>,
    /// The tools that it used.
    pub tools: Vec<String>,
    /// What people should know of the answer, whatever it says.
    pub notice: Option<String>,
    /// What it took.
    pub spent: Spent,
}

impl Response {
    /// What went wrong, if the agent did not answer.
    pub fn failure(&self) -> Option<&str> {
        match &self.outcome {
            Some(TurnOutcome::Failed { error }) => Some(error),
            Some(TurnOutcome::Cancelled) if self.position.position.is_empty() => {
                Some("it was stopped")
            }
            Some(TurnOutcome::Exhausted { budget }) if self.position.position.is_empty() => {
                Some(match budget {
                    roundtable_core::budget::Exhausted::Calls => "its budget of calls is exhausted",
                    roundtable_core::budget::Exhausted::Tokens => {
                        "its budget of tokens is exhausted"
                    }
                    roundtable_core::budget::Exhausted::Cost => "its budget of money is exhausted",
                    roundtable_core::budget::Exhausted::Time => "it timed out",
                })
            }
            _ => None,
        }
    }
}

/// What to do with what a round came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Act on it.
    Proceed,
    /// Check it first.
    Verify,
    /// Look at the answers themselves.
    QueryDetail,
}

/// What a round comes to in a few words.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// How far the panel agrees, in a word.
    pub level: Level,
    /// How far it agrees: the analyst's figure, else the measured one.
    pub agreement: f64,
    /// What to do with it.
    pub action: Action,
    /// Why.
    pub reason: String,
}

/// Agents who hold opposite views on something.
#[derive(Debug, Clone, PartialEq)]
pub struct Conflict {
    /// On what.
    pub issue: String,
    /// Who holds what.
    pub sides: Vec<(AgentId, String)>,
}

/// What a round came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Findings {
    /// The session.
    pub session: SessionId,
    /// The question.
    pub topic: String,
    /// The mode.
    pub mode: super::Mode,
    /// The round.
    pub number: u32,
    /// Which take of it.
    pub take: u32,
    /// How many rounds there will be at most.
    pub total_rounds: Option<u32>,
    /// How many rounds are over.
    pub rounds_completed: u32,
    /// How the debate stands.
    pub standing: Standing,
    /// Whether the round is still open.
    pub open: bool,
    /// Who is speaking, while the round is under way.
    pub speaking: Vec<AgentId>,
    /// Why the debate ended before its last round, if it did here.
    pub exit: Option<Exit>,
    /// Why the debate is over, if it is.
    pub completed_because: Option<String>,
    /// What it comes to.
    pub decision: Decision,
    /// What everyone came to, in the order of the seats; those who failed are among them.
    pub responses: Vec<Response>,
    /// How far the panel agrees.
    pub judgement: Judgement,
    /// What is in dispute.
    pub conflicts: Vec<Conflict>,
    /// The sources of the round, each once.
    pub sources: Vec<Source>,
    /// This round's requests, and older required ones, as far as they are pending.
    pub requests: Vec<ContextRequest>,
    /// What the round took.
    pub spent: Spent,
    /// What the debate took so far.
    pub total_spent: Spent,
}

impl Record {
    /// What a round came to; nothing when there is no such round.
    pub fn findings(&self, number: u32) -> Option<Findings> {
        let round = self.round(number)?;
        let judgement = self.judgement(number)?;
        let responses = self.responses(number);
        let conflicts = conflicts(&judgement, &responses);
        let exit = round.measure.as_ref().and_then(|measure| measure.exit);
        Some(Findings {
            session: self.session.clone(),
            topic: self.topic.clone(),
            mode: self.rules.mode,
            number,
            take: round.take,
            total_rounds: self.total_rounds,
            rounds_completed: self.rounds_completed(),
            standing: self.standing(round),
            open: round.outcome.is_none(),
            speaking: round
                .turns
                .iter()
                .filter(|turn| turn.outcome.is_none())
                .map(|turn| turn.agent.clone())
                .collect(),
            exit,
            completed_because: self.completed_because.clone(),
            decision: decide(&judgement, &responses),
            sources: self.sources(Some(number), None),
            requests: self.open_requests(round),
            spent: round.spent(),
            total_spent: self.spent(),
            responses,
            judgement,
            conflicts,
        })
    }

    /// How many rounds are over.
    pub fn rounds_completed(&self) -> u32 {
        let over =
            self.rounds.iter().filter(|round| round.outcome == Some(RoundOutcome::Completed));
        u32::try_from(over.count()).unwrap_or(u32::MAX)
    }

    /// The number of the last round that began.
    pub fn last_round(&self) -> Option<u32> {
        self.rounds.last().map(|round| round.number)
    }

    /// What everyone came to in a round, in the order of the seats.
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
            position,
            citations,
            tools: turn.tools.clone(),
            notice: turn.notice.clone(),
            spent: turn.spent,
        }
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

    fn standing(&self, round: &RecordedRound) -> Standing {
        match round.outcome {
            None if self.pending_context_requests.iter().any(is_decision) => Standing::NeedsContext,
            None => Standing::Running,
            Some(RoundOutcome::Failed) => Standing::Failed,
            Some(_) if self.status == Status::Completed => Standing::Completed,
            Some(_) if !self.open_requests(round).is_empty() => Standing::NeedsContext,
            Some(_) => Standing::InProgress,
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

fn decide(judgement: &Judgement, responses: &[Response]) -> Decision {
    let (agreement, level) = (judgement.agreement, judgement.level);
    let reservations = &judgement.reservations;
    let (action, reason) = if !reservations.is_empty() {
        let why = reservation::summary(reservations, responses.len());
        (Action::Verify, format!("agreement {agreement:.2}; {why}"))
    } else if let Some(warning) = &judgement.groupthink {
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
    Decision { level, agreement, action, reason }
}

/// What is in dispute: what the analyst names, else who takes opposite sides.
fn conflicts(judgement: &Judgement, responses: &[Response]) -> Vec<Conflict> {
    if let Some(consensus) = &judgement.consensus {
        let named = consensus.disagreements.iter().map(|found| Conflict {
            issue: found.issue.clone(),
            sides: found.views.iter().map(|view| (view.agent.clone(), view.view.clone())).collect(),
        });
        return named.collect();
    }
    let takes = |stance: Stance| {
        responses.iter().filter(move |response| response.position.stance == Some(stance))
    };
    let sides = |stance: Stance| {
        takes(stance).map(|response| (response.agent.clone(), response.position.position.clone()))
    };
    if takes(Stance::Yes).next().is_none() || takes(Stance::No).next().is_none() {
        return Vec::new();
    }
    let issue = "whether the answer is YES or NO".to_owned();
    vec![Conflict { issue, sides: sides(Stance::Yes).chain(sides(Stance::No)).collect() }]
}
