//! What was said in a debate, as the panel reads it. The same words give the same bytes.

use std::fmt::Write as _;

use super::names::Names;
use super::{Level, Measure, Position, Purpose, Rules, Stance, ranking};
use roundtable_core::id::AgentId;
use roundtable_core::window::Utterance;

/// A panel, as its transcript needs to know it.
pub(super) struct Panel<'a> {
    pub rules: &'a Rules,
    pub names: Names,
    pub seats: Vec<AgentId>,
}

impl Panel<'_> {
    /// What an agent is called. Who has no seat any more has no name either.
    pub fn name(&self, agent: &AgentId) -> String {
        self.names.shown(agent).unwrap_or_else(|| "A former participant".to_owned())
    }

    /// An answer, with who gave it, from which side and how surely.
    pub fn push_answer(&self, text: &mut String, spoken: &Utterance) {
        let position = Position::read(&spoken.text);
        let seat = self.seats.iter().position(|seat| *seat == spoken.agent);
        let title = seat.map(|seat| self.rules.mode.role(seat, self.seats.len()).title);
        let _ = write!(text, "## {}", self.name(&spoken.agent));
        if let Some(title) = title.filter(|title| *title != "Member") {
            let _ = write!(text, ", {title}");
        }
        let stance = position.stance.map(|stance| format!("stance {}", stance.word()));
        let confidence = position.confidence.map(|value| format!("confidence {value:.2}"));
        let cut = spoken.is_partial().then(|| "cut off".to_owned());
        let notes: Vec<String> = [stance, confidence, cut].into_iter().flatten().collect();
        if !notes.is_empty() {
            let _ = write!(text, " ({})", notes.join(", "));
        }
        text.push('\n');
        self.push_position(text, &position);
    }

    fn push_position(&self, text: &mut String, position: &Position) {
        let _ = writeln!(text, "{}", self.names.mask(&position.position));
        if !position.reasoning.is_empty() {
            let _ = writeln!(text, "Reasoning: {}", self.names.mask(&position.reasoning));
        }
        for point in &position.key_points {
            let _ = writeln!(text, "- {}", self.names.mask(point));
        }
        for source in &position.citations {
            let parts = [&source.title, &source.url, &source.quote];
            let parts: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
            let _ = writeln!(text, "Source: {}", parts.join(" | "));
        }
        text.push('\n');
    }

    /// What was said in a round, as later rounds read it.
    pub fn push_round<'a>(
        &self,
        text: &mut String,
        spoken: impl Iterator<Item = &'a Utterance> + Clone,
        measure: Option<&Measure>,
    ) {
        for answer in of(spoken.clone(), Purpose::Answer) {
            self.push_answer(text, answer);
        }
        self.push_ranking(text, spoken.clone());
        for verdict in of(spoken.clone(), Purpose::Verdict) {
            text.push_str("## The chair's verdict\n");
            self.push_position(text, &Position::read(&verdict.text));
        }
        if self.rules.mode.policy().shows_figures() {
            self.push_figures(text, spoken, measure);
        }
    }

    /// What the rankings of a round come to.
    pub fn push_ranking<'a>(
        &self,
        text: &mut String,
        spoken: impl Iterator<Item = &'a Utterance> + Clone,
    ) {
        let read = |ranked: &Utterance| ranking::read(&ranked.text, |name| self.names.find(name));
        let rankings: Vec<Vec<AgentId>> =
            of(spoken.clone(), Purpose::Rank).filter_map(read).collect();
        let answered: Vec<AgentId> =
            of(spoken, Purpose::Answer).map(|answer| answer.agent.clone()).collect();
        let places = ranking::tally(&rankings, &answered);
        if places.is_empty() {
            return;
        }
        let shown: Vec<String> = places
            .iter()
            .map(|(agent, mean)| format!("{} (mean place {mean:.2})", self.name(agent)))
            .collect();
        let _ = writeln!(
            text,
            "Ranking by {} members, best first: {}\n",
            rankings.len(),
            shown.join(", ")
        );
    }

    /// The figures of a round, without names.
    fn push_figures<'a>(
        &self,
        text: &mut String,
        spoken: impl Iterator<Item = &'a Utterance>,
        measure: Option<&Measure>,
    ) {
        let positions: Vec<Position> =
            of(spoken, Purpose::Answer).map(|answer| Position::read(&answer.text)).collect();
        let _ = write!(
            text,
            "Figures of this round: {} of {} answered",
            positions.len(),
            self.seats.len()
        );
        let mut confidences: Vec<f64> =
            positions.iter().filter_map(|position| position.confidence).collect();
        confidences.sort_by(f64::total_cmp);
        if let (Some(least), Some(most)) = (confidences.first(), confidences.last()) {
            let mean = confidences.iter().sum::<f64>() / confidences.len() as f64;
            let middle = confidences[confidences.len() / 2];
            let _ = write!(
                text,
                "; confidence mean {mean:.2}, median {middle:.2}, from {least:.2} to {most:.2}"
            );
        }
        let count = |stance: Stance| {
            positions.iter().filter(|position| position.stance == Some(stance)).count()
        };
        if positions.iter().any(|position| position.stance.is_some()) {
            let counts = [Stance::Yes, Stance::No, Stance::Neutral]
                .map(|stance| format!("{} {}", stance.word(), count(stance)));
            let _ = write!(text, "; stances {}", counts.join(", "));
        }
        if let Some(measure) = measure {
            let sizes: Vec<String> =
                measure.clusters.iter().map(|group| group.len().to_string()).collect();
            let level = Level::of(measure.agreement).word();
            let _ = write!(
                text,
                "; agreement {:.2} ({level}), groups of {}",
                measure.agreement,
                sizes.join(", ")
            );
        }
        text.push_str(".\n\n");
    }
}

/// What was said for a purpose.
pub(super) fn of<'a>(
    spoken: impl Iterator<Item = &'a Utterance>,
    purpose: Purpose,
) -> impl Iterator<Item = &'a Utterance> {
    let name = purpose.name();
    spoken.filter(move |spoken| spoken.purpose == name)
}
