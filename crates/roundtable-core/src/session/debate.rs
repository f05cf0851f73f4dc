//! What a debate adds to a session's state: stages with a purpose, a measure, a way to end early,
//! and something done between rounds.

use jiff::Timestamp;

use super::{SYNTHESES, Session, Status, Synthesised};
use crate::budget::Account;
use crate::debate::{Exit, Perspective, Purpose, Record};
use crate::event::{Event, RoundOutcome, Task};
use crate::id::{AgentId, RoundId};
use crate::message_context::MessageContext;
use crate::round::{self, Round};
use crate::settings::Kind;

impl Session {
    /// The stages of the round with this number.
    pub(crate) fn stages(&self, number: u32) -> Vec<Vec<AgentId>> {
        match &self.settings.debate {
            None => round::stages(self.settings.order, self.seats()),
            Some(rules) => rules.stages(number, &self.seats(), |id| self.find_agent(id).is_some()),
        }
    }

    /// What a turn of the open round is for.
    pub(crate) fn purpose_of(&self, task: &Task) -> Purpose {
        let (Some(rules), Some(round), Task::Seat { stage, .. }) =
            (&self.settings.debate, &self.round, task)
        else {
            return Purpose::Answer;
        };
        if round.aside {
            Purpose::Synthesise
        } else {
            rules.purpose(*stage as usize, &round.stages)
        }
    }

    /// Whether a round that is otherwise over has still to be measured. Without an answer there is
    /// nothing to measure.
    pub(crate) fn wants_measure(&self, round: &Round) -> bool {
        self.settings.debate.is_some()
            && !round.aside
            && !round.measured
            && round.outcome() == Some(RoundOutcome::Completed)
    }

    /// Where nobody answered, there is nothing to rank, to decide or to analyse.
    pub(super) fn skip_judges(&mut self) {
        let (Some(rules), Some(round)) = (&self.settings.debate, &mut self.round) else { return };
        let judges = matches!(
            rules.purpose(round.stage as usize, &round.stages),
            Purpose::Rank | Purpose::Verdict | Purpose::Analyse
        );
        if round.answered == 0 && judges && !round.aside {
            round.skip_rest();
        }
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
        if turn.is_some_and(|turn| turn.purpose == Purpose::Frame)
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
        agent: &AgentId,
        input: &MessageContext,
        at: Timestamp,
    ) -> Round {
        Round {
            id,
            number,
            take,
            input: input.clone(),
            stages: vec![vec![agent.clone()]],
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
    pub(super) fn close_aside(&mut self, aside: Round, outcome: RoundOutcome) {
        self.account.settle_rest();
        let agent = aside.stages.into_iter().flatten().next();
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
