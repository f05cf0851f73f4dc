//! What agents were asked by others and answered: the short history of a worker, and what of a
//! worker's answer reaches the agent that asked. Nothing of it is stored besides the turns.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{ChildRecord, MissionRecord, RoundRecord, TurnRecord, Window};
use crate::event::{Task, TurnOutcome};
use crate::id::{AgentId, RoundId};
use crate::session::Session;

/// How many of its last missions a worker is told of.
const REMEMBERED: usize = 8;

/// How many characters of an earlier mission, and of its answer, a worker is told.
const SHOWN: usize = 2_000;

impl Window {
    /// A mission was answered: its worker is told of it with the next ones.
    pub(super) fn note_mission(
        &mut self,
        round: &RoundId,
        turn: &TurnRecord,
        outcome: &TurnOutcome,
    ) {
        let Task::Delegated { mission, .. } = &turn.task else { return };
        if *outcome != TurnOutcome::Answered {
            return;
        }
        let (agent, mission) = (turn.utterance.agent.clone(), mission.clone());
        let answer = turn.utterance.text.clone();
        if let Some(round) = self.record_at(Some(round)) {
            round.missions.push(MissionRecord { agent, mission, answer });
        }
    }

    /// The last missions of a worker in earlier rounds that count, oldest first, with their rounds.
    pub(super) fn earlier_missions<'a>(
        &'a self,
        session: &Session,
        round: &RoundId,
        worker: &'a AgentId,
    ) -> Vec<(&'a RoundRecord, &'a MissionRecord)> {
        let earlier = self.earlier(session, Some(round)).into_iter();
        let of = |round: &'a RoundRecord| done_by(round, worker).map(move |it| (round, it));
        last(earlier.flat_map(of).collect())
    }

    /// What a worker is asked, after what it was asked and answered before.
    pub(super) fn mission_text(
        &self,
        session: &Session,
        round: &RoundId,
        worker: &AgentId,
        (mission, rationale): (&str, &str),
    ) -> String {
        let mut text = String::new();
        let earlier = self.earlier_missions(session, round, worker).into_iter();
        let own = self.find_round(round).into_iter().flat_map(|own| done_by(own, worker));
        for earlier in last(earlier.map(|(_, mission)| mission).chain(own).collect()) {
            if text.is_empty() {
                text.push_str("Your earlier missions in this conversation:\n");
            }
            let (asked, answered) = (cut(&earlier.mission), cut(&earlier.answer));
            let _ = writeln!(text, "\n[Mission]\n{asked}\n[Your answer]\n{answered}");
        }
        if !text.is_empty() {
            text.push_str("\nYour mission now:\n");
        }
        text.push_str(mission);
        if !rationale.is_empty() {
            let _ = write!(text, "\n\nWhy you: {rationale}");
        }
        text
    }
}

/// What the agent that asked receives: the words of the worker, and its sources as data.
pub(super) fn answer(child: &ChildRecord) -> (String, Option<Value>) {
    let sources = (!child.citations.is_empty()).then(|| json!({ "citations": child.citations }));
    (child.text.clone(), sources)
}

fn done_by<'a>(
    round: &'a RoundRecord,
    worker: &'a AgentId,
) -> impl Iterator<Item = &'a MissionRecord> {
    round.missions.iter().filter(move |mission| mission.agent == *worker)
}

fn last<T>(mut all: Vec<T>) -> Vec<T> {
    all.drain(..all.len().saturating_sub(REMEMBERED));
    all
}

fn cut(text: &str) -> String {
    if text.chars().count() <= SHOWN {
        return text.to_owned();
    }
    format!("{} […]", text.chars().take(SHOWN).collect::<String>())
}
