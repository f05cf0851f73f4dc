//! From a session to the record of its debate.

use serde::Deserialize as _;

use super::{Member, Record, RecordedRound, RecordedSynthesis, RecordedTurn, Spent};
use crate::{Debate, Measure, Measuring, Purpose, Rules};
use roundtable_core::Live;
use roundtable_core::agent::Agent;
use roundtable_core::event::Event;
use roundtable_core::id::{AgentId, SessionId};
use roundtable_core::program::Programs;
use roundtable_core::session::{Session, Status};
use roundtable_core::window::{Keep, RoundRecord, Utterance, Window};

impl Record {
    /// The debate that a log tells of; nothing when the session is not one.
    pub fn fold<'a>(session: &SessionId, log: impl IntoIterator<Item = &'a Event>) -> Option<Self> {
        let programs = Programs::default().with(Debate);
        let mut live = Live::reader(session.clone(), &programs, Keep::All);
        log.into_iter().for_each(|event| live.apply(event));
        Self::of(&live)
    }

    /// The debate that a session is; nothing when it is not one, or when not all of its log is kept.
    pub fn of(live: &Live) -> Option<Self> {
        let (state, window) = (&live.session, &live.window);
        let chronicle = window.chronicle()?;
        let (created_at, updated_at) = chronicle.times?;
        let imported = chronicle.imported.as_ref();
        if let Some(imported) = imported.and_then(|data| Self::deserialize(data).ok()) {
            let imported_from = Some(imported.session);
            let (session, status) = (state.id.clone(), Status::Completed);
            return Some(Self { session, status, imported_from, ..imported });
        }
        let active = window.rounds().filter(|round| round.active);
        let mut rounds: Vec<_> = active.map(|round| recorded(state, window, round)).collect();
        rounds.sort_by_key(|round| round.number);
        let mut record = Self {
            session: state.id.clone(),
            topic: state.topic.clone(),
            rules: Rules::of(&state.settings)?,
            members: members(&state.agents, &state.seats()),
            total_rounds: state.settings.total_rounds,
            status: state.status,
            completed_because: chronicle.ended_because.clone(),
            created_at,
            updated_at,
            rounds,
            pending_context_requests: state.requests.clone(),
            syntheses: window
                .asides()
                .iter()
                .filter_map(|aside| synthesis(window, aside))
                .collect(),
            total: Some(Spent::of(&state.account)),
            imported_from: None,
        };
        record.name_experts();
        Some(record)
    }
}

fn recorded(state: &Session, window: &Window, round: &RoundRecord) -> RecordedRound {
    let focus = round.input.as_ref().and_then(|input| input.text.clone());
    RecordedRound {
        number: round.number,
        take: round.take,
        opened_at: round.opened_at,
        closed_at: round.closed_at,
        outcome: round.outcome,
        focus: focus.filter(|text| *text != state.topic),
        provided: round.provided.iter().map(|provided| provided.result.clone()).collect(),
        turns: window.turns_of(round).into_iter().map(recorded_turn).collect(),
        requests: round.requests.clone(),
        measure: measure(round),
    }
}

fn recorded_turn(turn: &Utterance) -> RecordedTurn {
    RecordedTurn {
        agent: turn.agent.clone(),
        purpose: Purpose::of(&turn.purpose),
        outcome: turn.outcome.clone(),
        model: turn.model.clone(),
        text: turn.text.clone(),
        citations: turn.citations.clone(),
        tools: turn.tools.clone(),
        notice: turn.notice.clone(),
        spent: turn.spent.into(),
    }
}

/// What was measured. Where it would have ended the debate and something was still open, the debate
/// went on.
fn measure(round: &RoundRecord) -> Option<Measure> {
    let results = round.jobs.iter().rev().filter(|job| job.name == Measuring::JOB);
    let mut measures = results.filter_map(|job| Measure::deserialize(job.outcome.data()?).ok());
    let mut measure = measures.next()?;
    if round.outcome.is_some() && round.ends.is_none() {
        measure.exit = None;
    }
    Some(measure)
}

fn synthesis(window: &Window, aside: &RoundRecord) -> Option<RecordedSynthesis> {
    let turn = recorded_turn(window.turns_of(aside).first()?);
    Some(RecordedSynthesis { number: aside.number, take: aside.take, turn })
}

fn members(agents: &[Agent], seats: &[AgentId]) -> Vec<Member> {
    let member = |agent: &Agent| Member {
        id: agent.id.clone(),
        name: agent.name.clone(),
        model: agent.model.clone(),
        seat: seats
            .iter()
            .position(|seat| *seat == agent.id)
            .and_then(|seat| u32::try_from(seat).ok()),
    };
    let mut members: Vec<Member> = agents.iter().map(member).collect();
    members.sort_by_key(|member| member.seat.unwrap_or(u32::MAX));
    members
}
