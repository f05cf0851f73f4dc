//! A debate as minutes that one would send to colleagues, in Markdown.
//!
//! Words of others are text, not markup: they add no structure to the minutes, and load nothing.

use std::fmt::Write as _;

use super::markdown::{capital, line, plain, target};
use super::names::is_named_after;
use super::record::{Record, RecordedRound};
use super::{Disagreement, Place, Position, Ranking, Response, Stance, Synthesis, View, Vote};
use roundtable_core::id::AgentId;
use roundtable_core::session::Status;

/// How many characters a position may have to stand as a headline without anything below it.
const HEADLINE: usize = 160;

impl Record {
    /// The minutes: the result first, then who took part, the rounds, what the debate added, sources.
    pub fn minutes(&self) -> String {
        let mut text = format!("# {}\n\n", line(&self.topic));
        self.push_head(&mut text);
        self.push_result(&mut text);
        self.push_members(&mut text);
        for round in &self.rounds {
            self.push_round(&mut text, round);
        }
        self.push_added(&mut text);
        self.push_sources(&mut text);
        self.push_pending(&mut text);
        text.truncate(text.trim_end().len());
        text.push('\n');
        text
    }

    fn push_head(&self, text: &mut String) {
        let rounds = match self.total_rounds {
            Some(total) => format!("{} of {total} rounds", self.rounds_completed()),
            None => format!("{} rounds", self.rounds_completed()),
        };
        let state = match (self.status, &self.completed_because) {
            (Status::Completed, Some(reason)) => format!("over: {}", line(reason)),
            (Status::Completed, None) => "over".to_owned(),
            (Status::Paused, _) => "paused".to_owned(),
            (Status::Active, _) => "not over yet".to_owned(),
        };
        let date = self.created_at.strftime("%Y-%m-%d %H:%M UTC");
        let _ = writeln!(
            text,
            "*{} debate, {date}, {rounds}, {state}.*\n",
            capital(self.rules.mode.name())
        );
        for (notice, names) in self.notices() {
            let _ = writeln!(text, "**{}:** {}\n", names.join(", "), line(notice));
        }
    }

    /// What people should know of answers, and whose these are, each said once.
    fn notices(&self) -> Vec<(&str, Vec<String>)> {
        let mut notices: Vec<(&str, Vec<String>)> = Vec::new();
        let asides = self.syntheses.iter().map(|one| &one.turn);
        for turn in self.rounds.iter().flat_map(|round| &round.turns).chain(asides) {
            let Some(notice) = turn.notice.as_deref() else { continue };
            let name = line(&self.name_of(&turn.agent));
            match notices.iter_mut().find(|(known, _)| *known == notice) {
                Some((_, names)) if names.contains(&name) => {}
                Some((_, names)) => names.push(name),
                None => notices.push((notice, vec![name])),
            }
        }
        notices
    }

    fn push_result(&self, text: &mut String) {
        let Some(consensus) = self.rounds.last().map(|round| self.consensus_of(round)) else {
            text.push_str("No round has begun yet.\n\n");
            return;
        };
        let _ = writeln!(text, "## Result\n\n{}\n", plain(&consensus.summary));
        let level = consensus.level.word();
        let _ = write!(text, "- **Agreement:** {:.2} ({level})", consensus.agreement);
        if let Some(measured) = consensus.measured.as_ref().filter(|_| consensus.is_analyzed) {
            let _ = write!(text, "; {:.2} as measured without a model", measured.agreement);
        }
        text.push('\n');
        if let Some(verdict) = &consensus.verdict {
            let _ = writeln!(text, "- **The chair's verdict:** {}", line(&verdict.position));
        }
        if let Some(ranking) = &consensus.ranking {
            let _ = writeln!(text, "- **Ranking:** {}", line(&self.ranking_line(ranking)));
        }
        for reservation in &consensus.reservations {
            let _ = writeln!(text, "- **Reservation:** {}", line(&reservation.to_string()));
        }
        if let Some(warning) = &consensus.groupthink {
            let _ = writeln!(text, "- **Caution:** {}", line(warning));
        }
        text.push('\n');
        if let Some(synthesis) = self.syntheses.iter().rev().find(|one| one.turn.answered()) {
            push_synthesis(text, &Synthesis::read(&synthesis.turn.text));
        }
        // A synthesis has said so already.
        if !self.syntheses.iter().any(|one| one.turn.answered()) {
            push_list(text, "Common ground", &consensus.common_ground);
        }
        let dispute = |found: &Disagreement| {
            let view = |view: &View| format!("{}: {}", self.name_of(&view.agent), view.view);
            let views: Vec<String> = found.views.iter().map(view).collect();
            match views.is_empty() {
                true => found.issue.clone(),
                false => format!("{} ({})", found.issue, views.join("; ")),
            }
        };
        let disputes: Vec<String> = consensus.disagreements.iter().map(dispute).collect();
        push_list(text, "Disagreements", &disputes);
        push_list(text, "Partial agreement", &consensus.partial_agreements);
        push_list(text, "Conditions", &consensus.conditions);
        push_list(text, "Uncertainties", &consensus.uncertainties);
    }

    /// A council's ranking in one line, best first.
    pub fn ranking_line(&self, ranking: &Ranking) -> String {
        let place = |place: &Place| {
            let name = self.name_of(&place.agent);
            format!("{}. {name} (mean place {:.2})", place.rank, place.mean)
        };
        let places: Vec<String> = ranking.places.iter().map(place).collect();
        let by = match ranking.ballots {
            1 => "1 member".to_owned(),
            ballots => format!("{ballots} members"),
        };
        format!("{}, ranked by {by}", places.join(", "))
    }

    fn push_members(&self, text: &mut String) {
        text.push_str("## Participants\n\n| | as | model |\n|---|---|---|\n");
        let perspectives = self.perspectives();
        let of = self.seats().count();
        for member in &self.members {
            let role = match member.seat {
                Some(seat) if !perspectives.is_empty() => {
                    let seat = seat as usize;
                    format!(
                        "{}, {}",
                        self.rules.mode.role(seat, of).title,
                        perspectives[seat % perspectives.len()].name
                    )
                }
                Some(seat) => self.rules.mode.role(seat as usize, of).title.to_owned(),
                None if self.rules.chair.as_ref() == Some(&member.id) => "Chair".to_owned(),
                None => "Analyst, without a vote".to_owned(),
            };
            let _ = writeln!(
                text,
                "| {} | {} | {} |",
                line(&member.name),
                line(&role),
                line(&member.model)
            );
        }
        text.push('\n');
    }

    fn push_round(&self, text: &mut String, round: &RecordedRound) {
        let _ = writeln!(text, "## Round {}\n", round.number);
        if let Some(focus) = &round.focus {
            let _ = writeln!(text, "Asked in particular: *{}*\n", line(focus));
        }
        for result in &round.provided {
            let _ = writeln!(
                text,
                "Provided on request {}: {}\n",
                result.request,
                line(&result.shown())
            );
        }
        for response in self.responses(round.number) {
            push_response(text, &response);
        }
        let consensus = self.consensus_of(round);
        if let Some(ranking) = &consensus.ranking {
            let _ = writeln!(text, "*Ranking:* {}\n", line(&self.ranking_line(ranking)));
        }
        if let Some(verdict) = &consensus.verdict {
            text.push_str("### The chair's verdict\n\n");
            push_position(text, verdict);
        }
        let level = consensus.level.word();
        let _ = writeln!(
            text,
            "*After this round:* agreement {:.2} ({level}). {}\n",
            consensus.agreement,
            plain(&consensus.summary)
        );
        for request in &round.requests {
            let _ = writeln!(
                text,
                "*{} asked to know:* {} ({})\n",
                line(&self.name_of(&request.agent)),
                line(&request.query),
                line(&request.reason)
            );
        }
    }

    fn push_added(&self, text: &mut String) {
        let Some(added) = self.added() else { return };
        text.push_str("## Effect of the debate\n\n");
        // Where nobody takes a side there was no vote.
        if added.first.sides() + added.last.sides() > 0 {
            let (first, last) = (votes(added.first), votes(added.last));
            let _ = writeln!(text, "- **Vote:** {first} before any exchange, {last} at the end.");
        }
        let _ = writeln!(
            text,
            "- **Agreement:** {:.2} before, {:.2} after.",
            added.agreement_before, added.agreement_after
        );
        let names: Vec<String> = added
            .changed
            .iter()
            .map(|changed| {
                let side = |position: &Position| position.stance.map_or("no side", Stance::word);
                let name = line(&self.name_of(&changed.agent));
                if changed.before.stance == changed.after.stance {
                    name
                } else {
                    format!("{name} ({} to {})", side(&changed.before), side(&changed.after))
                }
            })
            .collect();
        let who = if names.is_empty() { "nobody".to_owned() } else { names.join(", ") };
        let _ = writeln!(text, "- **Changed their position:** {who}.");
        let _ = writeln!(
            text,
            "- **Cost of the rounds after the first:** {}; of the whole debate: {}.\n",
            added.spent,
            self.spent()
        );
    }

    fn push_sources(&self, text: &mut String) {
        let sources = self.sources(None, None);
        if sources.is_empty() {
            return;
        }
        text.push_str("## Sources\n\n");
        for (index, source) in sources.iter().enumerate() {
            let title = source
                .citation
                .title
                .as_deref()
                .or(source.citation.url.as_deref())
                .unwrap_or("without a title");
            let url = source.citation.url.as_deref();
            let named = match (url, url.and_then(target)) {
                (_, Some(target)) => format!("[{}](<{target}>)", line(title)),
                (Some(url), None) => format!("{} ({})", line(title), line(url)),
                (None, None) => line(title),
            };
            let who: Vec<String> =
                source.agents.iter().map(|agent: &AgentId| line(&self.name_of(agent))).collect();
            let _ = write!(text, "{}. {named}, named by {}", index + 1, who.join(", "));
            if let Some(quote) = &source.citation.quote {
                let _ = write!(text, ": “{}”", line(quote));
            }
            text.push('\n');
        }
        text.push('\n');
    }

    fn push_pending(&self, text: &mut String) {
        if self.pending_context_requests.is_empty() {
            return;
        }
        text.push_str("## Open questions to people\n\n");
        for request in &self.pending_context_requests {
            let _ = writeln!(
                text,
                "- [{}] {}: {}",
                request.id,
                line(&self.name_of(&request.agent)),
                line(&request.query)
            );
        }
    }
}

fn push_synthesis(text: &mut String, synthesis: &Synthesis) {
    let _ = writeln!(text, "### Conclusion\n\n{}\n", plain(&synthesis.conclusion));
    if !synthesis.recommendation.is_empty() {
        let _ = writeln!(text, "**Recommendation:** {}\n", plain(&synthesis.recommendation));
    }
    if let Some(confidence) = synthesis.confidence {
        let _ = writeln!(text, "Confidence of the synthesis: {confidence:.2}.\n");
    }
    push_list(text, "Common ground", &synthesis.common_ground);
    push_list(text, "Key differences", &synthesis.key_differences);
    if !synthesis.evolution_summary.is_empty() {
        let _ =
            writeln!(text, "**How positions moved:** {}\n", plain(&synthesis.evolution_summary));
    }
}

fn push_list(text: &mut String, title: &str, items: &[String]) {
    if items.is_empty() {
        return;
    }
    let _ = writeln!(text, "**{title}**\n");
    for item in items {
        let _ = writeln!(text, "- {}", line(item));
    }
    text.push('\n');
}

fn push_response(text: &mut String, response: &Response) {
    let stance = response.position.stance.map(|stance| stance.word().to_owned());
    let change = response
        .confidence_change
        .filter(|change| *change != 0.0)
        .map(|change| format!(" ({change:+.2})"));
    let confidence = response
        .position
        .confidence
        .map(|value| format!("confidence {value:.2}{}", change.unwrap_or_default()));
    let role = (!is_named_after(&response.name, &response.role)).then(|| response.role.clone());
    let notes: Vec<String> = [role, stance, confidence].into_iter().flatten().collect();
    let notes = if notes.is_empty() { String::new() } else { format!(": {}", notes.join(", ")) };
    let _ = writeln!(text, "### {}{notes}\n", line(&response.name));
    if let Some(failure) = &response.error {
        let _ = writeln!(text, "*No answer: {}.*\n", line(failure));
        return;
    }
    if response.off_stance {
        text.push_str("*This is not the side that the role requires.*\n\n");
    }
    push_position(text, &response.position);
}

/// The position as the headline of what follows; plain where nothing follows a long one.
fn push_position(text: &mut String, position: &Position) {
    let bare = position.reasoning.is_empty() && position.key_points.is_empty();
    if bare && position.position.chars().count() > HEADLINE {
        let _ = writeln!(text, "{}\n", plain(&position.position));
    } else {
        // Words that cannot be printed leave nothing, and an empty headline would be a rule.
        let headline = line(&position.position);
        if !headline.is_empty() {
            let _ = writeln!(text, "**{headline}**\n");
        }
    }
    if !position.reasoning.is_empty() {
        let _ = writeln!(text, "{}\n", plain(&position.reasoning));
    }
    for point in &position.key_points {
        let _ = writeln!(text, "- {}", line(point));
    }
    if !position.key_points.is_empty() {
        text.push('\n');
    }
}

fn votes(vote: Vote) -> String {
    let Vote { yes, no, neutral, open } = vote;
    let mut parts = Vec::new();
    for (count, word) in [(yes, "YES"), (no, "NO"), (neutral, "NEUTRAL"), (open, "without a side")]
    {
        if count > 0 {
            parts.push(format!("{count} {word}"));
        }
    }
    if parts.is_empty() { "nobody".to_owned() } else { parts.join(", ") }
}
