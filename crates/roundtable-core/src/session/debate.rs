//! What a debate adds to a session's state: stages with a purpose, a measure, a way to end early,
//! and something done between rounds.

use jiff::Timestamp;

use super::{SYNTHESES, Session, Status, Synthesised};
use crate::budget::Account;
use crate::debate::{Exit, Perspective, Purpose, Record};
use crate::event::{Event, RoundOutcome};
use crate::id::RoundId;
use crate::message_context::MessageContext;
use crate::round::Round;
use crate::settings::Kind;
use crate::stage::Stage;

impl Session {
    /// The stages with which the round with this number opens.
    pub(crate) fn stages(&self, number: u32) -> Vec<Stage> {
        let Some(rules) = &self.settings.debate else {
            return Stage::answers(self.settings.order, self.seats());
        };
        let frame = rules.frame(number, |id| self.find_agent(id).is_some());
        if frame.is_empty() { rules.answers(&self.seats()) } else { frame }
    }

    /// The stages with which a round goes on whose stages are done.
    pub(crate) fn more_stages(&self, round: &Round) -> Vec<Stage> {
        let Some(rules) = self.settings.debate.as_ref().filter(|_| round.is_done() && !round.aside)
        else {
            return Vec::new();
        };
        let has = |wanted: &[Purpose]| {
            round.stages.iter().any(|stage| wanted.contains(&Purpose::of(&stage.purpose)))
        };
        if !has(&[Purpose::Answer]) {
            return rules.answers(&self.seats());
        }
        let judged = has(&[Purpose::Rank, Purpose::Verdict, Purpose::Analyse]);
        if judged || round.answered == 0 {
            return Vec::new();
        }
        rules.judges(&self.seats(), |id| self.find_agent(id).is_some())
    }

    /// Whether a round that is otherwise over has still to be measured. Without an answer there is
    /// nothing to measure.
    pub(crate) fn wants_measure(&self, round: &Round) -> bool {
        self.settings.debate.is_some()
            && !round.aside
            && !round.measured
            && round.outcome() == Some(RoundOutcome::Completed)
    }

    /// Why the debate ends here, if its last round says so. A message that waits goes first.
    pub(super) fn agreed(&self) -> Option<Exit> {
        if self.redo.is_some() || !self.waiting.is_empty() {
            return None;
        }
        self.marks.iter().filter(|mark| mark.active).max_by_key(|mark| mark.number)?.exit
    }

    /// Keeps the points of view that were named for the panel.
    pub(super) fn note_perspectives(&mut self, event: &Event, text: &str) {
        let round = self.round.as_ref();
        let turn = event.place.turn.as_ref().and_then(|turn| round?.find_turn(turn));
        let stage = round.zip(turn).and_then(|(round, turn)| round.stage_of(turn));
        if stage.is_some_and(|stage| Purpose::of(&stage.purpose) == Purpose::Frame)
            && let Some(named) = Perspective::read(text, self.seats().len())
        {
            self.perspectives = named;
        }
    }

    /// Something that is done between rounds, as the open scope that it is.
    pub(super) fn aside(
        &self,
        id: RoundId,
        number: u32,
        take: u32,
        stages: Vec<Stage>,
        input: &MessageContext,
        at: Timestamp,
    ) -> Round {
        Round {
            id,
            number,
            take,
            input: input.clone(),
            stages,
            stage: 0,
            begun: 0,
            done: 0,
            answered: 0,
            opened_at: at,
            account: Account::new(self.settings.round_limits),
            turns: Vec::new(),
            aside: true,
            measured: false,
        }
    }

    /// It is done, for better or worse.
    pub(super) fn close_aside(&mut self, aside: &Round, outcome: RoundOutcome) {
        self.account.settle_rest();
        let agent = aside.stages.iter().flat_map(Stage::agents).next().cloned();
        if let (RoundOutcome::Completed, Some(agent)) = (outcome, agent) {
            let (number, take) = (aside.number, aside.take);
            self.syntheses.push_back(Synthesised { number, take, agent });
        }
        if self.syntheses.len() > SYNTHESES {
            self.syntheses.pop_front();
        }
    }

    /// A debate that was held elsewhere. It has no agents here, so nobody needs their models.
    pub(super) fn imported(&mut self, record: &Record) {
        self.opened = true;
        self.kind = Kind::Debate;
        self.topic.clone_from(&record.topic);
        self.settings.total_rounds = record.total_rounds;
        self.status = Status::Completed;
        self.rounds_completed = record.rounds_completed();
        self.completed_before = self.rounds_completed;
        self.last_number = record.last_round().unwrap_or_default();
    }
}
