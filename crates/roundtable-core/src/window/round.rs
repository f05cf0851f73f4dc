//! What happened in a round or an aside: what was asked, answered, computed and spent.

use jiff::Timestamp;

use crate::audience::{Audience, Viewer};
use crate::budget::Charge;
use crate::context_request::{ContextRequest, ContextResult};
use crate::event::{AcceptedInput, MessageRef, RoundOutcome, Seq, TurnOutcome};
use crate::id::{AgentId, RoundId, TurnId};
use crate::job::JobOutcome;
use crate::message::Citation;
use crate::message_context::MessageContext;
use crate::projection::Receivers;
use crate::stage::{Name, Stage};

/// An answer that people gave to an agent's question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProvidedResult {
    /// What was asked.
    pub query: String,
    /// What was answered.
    pub result: ContextResult,
    /// Whether prompts show it. Decisions on tool calls are kept for readers alone.
    pub shown: bool,
}

/// A seat's turn, and what was said in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Utterance {
    /// The turn.
    pub turn: TurnId,
    /// Its first event.
    pub since: Seq,
    /// Who.
    pub agent: AgentId,
    /// In which stage.
    pub stage: u32,
    /// Which seat of the stage.
    pub seat: u32,
    /// What the stage is for.
    pub purpose: Name,
    /// What; as far as it got, if it was cut off.
    pub text: String,
    /// How the turn ended; nothing while it is open.
    pub outcome: Option<TurnOutcome>,
    /// Where it ended; nothing while it is open.
    pub ended: Option<Seq>,
    /// Its message, if it is one.
    pub said: Option<MessageRef>,
    /// Who received it; everyone, where it says nothing.
    pub audience: Option<Audience>,
    /// Whether programs may show it to others: it is a message, or a whole answer of a private stage.
    pub visible: bool,
    /// The sources that the provider named.
    pub citations: Vec<Citation>,
    /// The model that answered last, once one did.
    pub model: Option<String>,
    /// The tools that ran, each as often as it did. A call that was refused did not run.
    pub tools: Vec<String>,
    /// What people should know of the answer, whatever it says.
    pub notice: Option<String>,
    /// What the turn took, turns that it started included.
    pub spent: Charge,
}

impl Utterance {
    /// Whether it was cut off.
    pub fn is_partial(&self) -> bool {
        self.outcome != Some(TurnOutcome::Answered)
    }

    /// The last words count; an empty reply takes nothing back.
    pub(super) fn say(&mut self, text: &str) {
        if !text.is_empty() {
            text.clone_into(&mut self.text);
        }
    }
}

/// A stage of a round or an aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageRecord {
    /// The stage.
    pub stage: Stage,
    /// Who is present in it; everyone, where it says nothing.
    pub present: Option<Audience>,
    /// Where its first turn began; nothing before that.
    pub began: Option<Seq>,
}

/// A job that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobRecord {
    /// What was computed.
    pub name: Name,
    /// Which job of its round or aside.
    pub ordinal: u32,
    /// How it ended.
    pub outcome: JobOutcome,
    /// How many stages had been decided before it.
    pub after: usize,
}

/// A round, or an aside.
#[derive(Debug, Clone, PartialEq)]
pub struct RoundRecord {
    /// Its id.
    pub id: RoundId,
    /// Its number; for an aside, that of the round that it is about.
    pub number: u32,
    /// Which take of that number.
    pub take: u32,
    /// Whether this is the take that counts.
    pub active: bool,
    /// The last round that was over when it was opened.
    pub covers: u32,
    /// Its first event.
    pub from: Seq,
    /// When it opened.
    pub opened_at: Timestamp,
    /// When it closed.
    pub closed_at: Option<Timestamp>,
    /// How it ended; nothing while it is open.
    pub outcome: Option<RoundOutcome>,
    /// Why the session ends with it, if it does.
    pub ends: Option<String>,
    /// The ids of the input that opened it.
    pub context: MessageContext,
    /// Who was present when it opened; everyone, where it says nothing.
    pub present: Option<Audience>,
    /// The input, if it said something.
    pub input: Option<AcceptedInput>,
    /// The input's message.
    pub said: Option<MessageRef>,
    /// The answers that it was given.
    pub provided: Vec<ProvidedResult>,
    /// What it asked for.
    pub requests: Vec<ContextRequest>,
    /// The turns of its seats that ended, in that order.
    pub turns: Vec<Utterance>,
    /// Its stages, as far as they are decided.
    pub stages: Vec<StageRecord>,
    /// Its jobs that ended, in their order.
    pub jobs: Vec<JobRecord>,
    /// The missions that were answered in it, in that order.
    pub missions: Vec<MissionRecord>,
}

/// What an agent was asked by another one, and answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissionRecord {
    /// Who was asked.
    pub agent: AgentId,
    /// What.
    pub mission: String,
    /// What it answered.
    pub answer: String,
}

impl RoundRecord {
    pub(super) fn opened(
        id: RoundId,
        (number, take): (u32, u32),
        context: MessageContext,
        (from, opened_at): (Seq, Timestamp),
    ) -> Self {
        Self {
            id,
            number,
            take,
            active: true,
            covers: number.saturating_sub(1),
            from,
            opened_at,
            closed_at: None,
            outcome: None,
            ends: None,
            context,
            present: None,
            input: None,
            said: None,
            provided: Vec::new(),
            requests: Vec::new(),
            turns: Vec::new(),
            stages: Vec::new(),
            jobs: Vec::new(),
            missions: Vec::new(),
        }
    }

    /// More stages are decided, with these agents present from there on, where that changes.
    pub(super) fn add(&mut self, stages: impl IntoIterator<Item = Stage>, now: Option<&Audience>) {
        let before = self.stages.last().map_or(&self.present, |last| &last.present);
        let present = now.or(before.as_ref()).cloned();
        let record = |stage| StageRecord { stage, present: present.clone(), began: None };
        self.stages.extend(stages.into_iter().map(record));
    }

    /// The view of an agent that has a seat in a stage, at the point where the stage began.
    pub(super) fn viewer(&self, stage: u32, agent: &AgentId) -> Option<Viewer> {
        let until = self.stages.get(stage as usize)?.began?;
        Some(Viewer::Agent { id: agent.clone(), until })
    }

    /// Who receives the answer of a seat: those present, narrowed by the seat, and its agent.
    pub(super) fn audience_of(&self, stage: u32, seat: u32) -> Option<Audience> {
        let stage = self.stages.get(stage as usize)?;
        let seat = stage.stage.seats.get(seat as usize)?;
        let audience = Audience::both(stage.present.as_ref(), seat.audience.as_ref())?;
        Some(audience.and(&seat.agent))
    }

    /// The input, if someone received it.
    pub(crate) fn input_for(&self, viewer: &Viewer) -> Option<&AcceptedInput> {
        let input = self.input.as_ref()?;
        let audience = self.input_receivers().agents;
        viewer.received(audience.as_ref(), self.from).then_some(input)
    }

    pub(super) fn input_receivers(&self) -> Receivers {
        let to = self.input.as_ref().and_then(|input| input.to.as_ref());
        let agents = Audience::both(self.present.as_ref(), to);
        Receivers { agents, is_whisper: to.is_some() }
    }

    pub(super) fn turn_receivers(&self, turn: &TurnId) -> Option<Receivers> {
        let spoken = self.turns.iter().rev().find(|spoken| spoken.turn == *turn)?;
        let seat = self.stages.get(spoken.stage as usize)?.stage.seats.get(spoken.seat as usize)?;
        let is_whisper = seat.audience.is_some();
        Some(Receivers { agents: spoken.audience.clone(), is_whisper })
    }

    /// What someone received of what was said, in the order in which it was.
    pub(crate) fn spoken_to<'a>(
        &'a self,
        viewer: &'a Viewer,
    ) -> impl Iterator<Item = &'a Utterance> + Clone + use<'a> {
        self.turns.iter().filter(move |spoken| {
            let ended = spoken.ended.filter(|_| spoken.visible);
            ended.is_some_and(|ended| viewer.received(spoken.audience.as_ref(), ended))
        })
    }

    pub(super) fn is(&self, number: u32, take: u32) -> bool {
        self.number == number && self.take == take
    }
}
