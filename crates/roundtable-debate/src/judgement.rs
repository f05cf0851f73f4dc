//! How far a panel agreed in a round: by a model, without one, and the figure that counts.

use super::ranking::{self, Ranking};
use super::record::{Record, RecordedRound, RecordedTurn};
use super::reservation::{self, Reservation};
use super::{Consensus, Level, Measure, Position, Purpose, Response};
use roundtable_core::event::TurnOutcome;
use roundtable_core::id::AgentId;

/// How far the panel agreed in a round, by a model and without one.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// The round.
    pub number: u32,
    /// What the analyst says, if there is one and it could say.
    pub consensus: Option<Consensus>,
    /// Why it could not.
    pub failure: Option<String>,
    /// The measure without a model.
    pub measure: Option<Measure>,
    /// The figure that counts: the analyst's, else the measured one.
    pub agreement: f64,
    /// The consensus level: by the agreement, and never high with reservations.
    pub level: Level,
    /// Reasons not to rely on the round.
    pub reservations: Vec<Reservation>,
    /// How the members of a council ranked the answers.
    pub ranking: Option<Ranking>,
    /// The verdict of a council's chair.
    pub verdict: Option<Position>,
    /// In a few sentences, whoever says it.
    pub summary: String,
    /// Why the agreement may be worth less than it looks.
    pub groupthink: Option<String>,
}

impl Record {
    /// How far the panel agreed in a round.
    pub fn judgement(&self, number: u32) -> Option<Judgement> {
        let round = self.round(number)?;
        let names = self.names();
        let analysis = round.turns_for(Purpose::Analyse).last();
        let consensus = analysis
            .filter(|turn| turn.answered())
            .and_then(|turn| Consensus::read(&turn.text, |name| names.find(name)));
        let failure = analysis.filter(|_| consensus.is_none()).map(|turn| match &turn.outcome {
            Some(TurnOutcome::Failed { error }) => error.clone(),
            None => "it is not done yet".to_owned(),
            Some(_) => "the analyst's answer has no agreement score".to_owned(),
        });
        let measured = round.measure.as_ref().map(|measure| measure.agreement);
        let agreement =
            consensus.as_ref().map(|consensus| consensus.agreement).or(measured).unwrap_or(0.0);
        let verdict = round
            .turns_for(Purpose::Verdict)
            .filter(|turn| turn.answered())
            .last()
            .map(RecordedTurn::position);
        let summary = consensus
            .as_ref()
            .map(|consensus| consensus.summary.clone())
            .filter(|text| !text.is_empty());
        let groupthink = consensus.as_ref().and_then(|consensus| consensus.groupthink.clone());
        let reservations = self.reservations(round, &self.responses(number));
        Some(Judgement {
            number,
            level: reservation::level(agreement, &reservations),
            reservations,
            ranking: self.ranking(round),
            summary: summary.unwrap_or_else(|| self.measured_summary(round)),
            groupthink: groupthink.or_else(|| self.suspicion(number)),
            consensus,
            failure,
            measure: round.measure.clone(),
            agreement,
            verdict,
        })
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

    /// Whether everyone agrees, is sure and names no source: then nothing was tested.
    fn suspicion(&self, number: u32) -> Option<String> {
        let measure = self.round(number)?.measure.as_ref()?;
        let responses = self.responses(number);
        let sure =
            |response: &Response| response.position.confidence.is_some_and(|value| value >= 0.85);
        let bare = responses
            .iter()
            .all(|response| response.citations.is_empty() && response.tools.is_empty());
        (responses.len() > 1 && measure.agreement >= 0.9 && responses.iter().all(sure) && bare)
            .then(|| {
                "All agents agree with high confidence, but none cited a source: verify the result."
                    .to_owned()
            })
    }
}
