//! Debates as a program: a round is framed where points of view have to be named, argued, judged and
//! measured; what the analyst names is recorded, so nobody reads it twice.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::prompt::{self, TurnPrompt};
use super::{Measure, Measuring, Perspective, Purpose, Record, Rules};
use roundtable_core::Reject;
use roundtable_core::event::{ImportedSession, Opening, RoundOutcome};
use roundtable_core::id::AgentId;
use roundtable_core::input::Command;
use roundtable_core::program::{
    Act, Aside, Brief, Done, Program, Progress, RoundView, SeatView, SessionView, Step,
};
use roundtable_core::session::{Mark, Session};
use roundtable_core::settings::{ProgramRef, Settings};
use roundtable_core::stage::Name;

/// The program of debates.
#[derive(Debug, Clone, Copy, Default)]
pub struct Debate;

/// What changes while a debate is held.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    /// The points of view that were named for the panel, if they had to be.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub perspectives: Vec<Perspective>,
}

impl Debate {
    /// The kind of sessions that are debates.
    pub const KIND: Name = Name::constant("debate");

    /// What a caller asks for who wants a debate summed up; the data is who is to do it, or null.
    const SYNTHESIZE: Name = Name::constant("synthesize");

    /// Sum a debate up as it stands, also when it is over. Doing it again for the same rounds does
    /// nothing. Without an agent, the analyst does it, the chair, or the first seat.
    pub fn synthesize(agent: Option<&AgentId>) -> Command {
        let data = agent.map_or(Value::Null, |agent| Value::from(agent.as_str()));
        Command::Act { name: Self::SYNTHESIZE, data }
    }
}

impl From<&Rules> for ProgramRef {
    fn from(rules: &Rules) -> Self {
        Self { name: Debate::NAME, rules: serde_json::to_value(rules).unwrap_or_default() }
    }
}

impl Rules {
    /// The rules of a debate, if the session is one.
    pub fn of(settings: &Settings) -> Option<Self> {
        settings.program.rules::<Debate>()
    }
}

impl Program for Debate {
    type Rules = Rules;
    type State = State;
    const NAME: Name = Self::KIND;
    const VERSION: u32 = 5;

    fn check(&self, rules: &Rules, opening: &Opening) -> Result<(), String> {
        rules.check(opening)
    }

    fn next(&self, progress: &Progress<'_, Self>) -> Step<State> {
        let takes_part = |id: &AgentId| progress.session.find_agent(id).is_some();
        let seats = progress.session.seats();
        let has =
            |purposes: &[Purpose]| purposes.iter().any(|purpose| progress.has(&purpose.name()));
        if progress.scope.aside.is_some() {
            return Step::close();
        }
        if progress.last().is_none() {
            let frame = progress.rules.frame(progress.scope.number, takes_part);
            return Step::stages(if frame.is_empty() {
                progress.rules.answers(&seats)
            } else {
                frame
            });
        }
        if !has(&[Purpose::Answer]) {
            let answers = Step::stages(progress.rules.answers(&seats));
            let named = progress.last().and_then(Done::text);
            return match named.and_then(|text| Perspective::read(text, seats.len())) {
                Some(perspectives) => answers.with(State { perspectives }),
                None => answers,
            };
        }
        if progress.scope.answered == 0 {
            return Step::close();
        }
        if let Some(Done::Job { .. }) = progress.last() {
            return close(progress);
        }
        let judged = has(&[Purpose::Rank, Purpose::Verdict, Purpose::Analyze]);
        let judges = if judged { Vec::new() } else { progress.rules.judges(&seats, takes_part) };
        if judges.is_empty() { Step::job(Measuring::JOB) } else { Step::stages(judges) }
    }

    fn input(&self, progress: &Progress<'_, Self>, _job: &Name) -> Value {
        serde_json::to_value(Measuring::of(progress)).unwrap_or_default()
    }

    fn brief(&self, view: &SeatView<'_, Self>) -> Brief {
        let purpose = Purpose::of(&view.stage.purpose);
        let named = named(view);
        let told = TurnPrompt {
            session: view.session,
            rules: view.rules,
            purpose,
            agent: view.agent,
            round: view.round,
            named: &named,
        };
        let output = Some(prompt::output(purpose));
        Brief { output, ..Brief::new(purpose.prompt_name(), told.system(), told.ask()) }
    }

    fn render_round(&self, view: &SeatView<'_, Self>, round: &RoundView<'_>) -> String {
        let mut text = String::new();
        if let Some(focus) = prompt::focus(view.session, round) {
            text = format!("Asked in particular: {focus}\n\n");
        }
        let measure = measure_of(round);
        let panel = prompt::panel(view.session, view.rules);
        panel.push_round(&mut text, round.spoken(), measure.as_ref());
        text
    }

    fn pseudonym(&self, rules: &Rules, session: &Session, agent: &AgentId) -> Option<String> {
        rules.pseudonyms(&session.seats()).remove(agent)
    }

    fn act(
        &self,
        now: &SessionView<'_, Self>,
        name: &Name,
        data: &Value,
    ) -> Result<Act<State>, Reject> {
        if *name != Self::SYNTHESIZE {
            return Err(invalid(format!("a debate cannot {name}")));
        }
        let asked = Option::<AgentId>::deserialize(data)
            .map_err(|error| invalid(format!("invalid agent id of the synthesizer: {error}")))?;
        let agent = synthesizer(now.session, now.rules, asked)?;
        let counts = |mark: &&Mark| mark.active && mark.outcome == Some(RoundOutcome::Completed);
        let last = now.session.marks.iter().filter(counts).max_by_key(|mark| mark.number);
        let Some(mark) = last else {
            return Err(invalid("no round is finished yet; run a round before the synthesis"));
        };
        let stages = vec![Purpose::Synthesize.stage([agent])];
        let (number, take) = (mark.number, mark.take);
        let aside = Aside { purpose: Purpose::Synthesize.name(), number, take, stages };
        Ok(Act { state: None, aside: Some(aside) })
    }

    fn check_import(&self, imported: &ImportedSession) -> Result<(), String> {
        let record = Record::deserialize(&imported.data)
            .map_err(|error| format!("invalid debate record: {error}"))?;
        record.check()
    }
}

impl Record {
    /// The record as a session takes it in.
    pub fn imported(&self) -> ImportedSession {
        ImportedSession {
            program: Debate::NAME,
            topic: self.topic.clone(),
            total_rounds: self.total_rounds,
            completed: self.rounds_completed(),
            last: self.last_round().unwrap_or_default(),
            data: serde_json::to_value(self).unwrap_or_default(),
        }
    }
}

/// What was measured in a round.
pub(super) fn measure_of(round: &RoundView<'_>) -> Option<Measure> {
    Measure::deserialize(round.result(&Measuring::JOB)?).ok()
}

/// A round is over. It ends the debate only where the debate is to end so, nobody waits for an
/// answer of people, and the panel has heard all answers that it was given.
fn close(progress: &Progress<'_, Debate>) -> Step<State> {
    let measure = progress.result(&Measuring::JOB).and_then(|data| Measure::deserialize(data).ok());
    let quiet = progress.session.required().next().is_none() && progress.session.carried.is_empty();
    match measure.and_then(|measure| measure.exit).filter(|_| quiet) {
        Some(exit) => Step::end(exit.reason()),
        None => Step::close(),
    }
}

/// The points of view that were named. Logs of earlier versions have them in the words of the
/// analyst alone.
fn named(view: &SeatView<'_, Debate>) -> Vec<Perspective> {
    if !view.state.perspectives.is_empty() || !view.rules.frames() {
        return view.state.perspectives.clone();
    }
    let seats = view.session.seats().len();
    let rounds = view.earlier.iter().chain([&view.round]);
    let frames = rounds.flat_map(|round| super::transcript::of(round.spoken(), Purpose::Frame));
    frames.filter_map(|said| Perspective::read(&said.text, seats)).last().unwrap_or_default()
}

/// Who sums up: who is asked to, else the analyst, the chair or the first seat.
fn synthesizer(
    session: &Session,
    rules: &Rules,
    asked: Option<AgentId>,
) -> Result<AgentId, Reject> {
    let here = |id: &AgentId| session.find_agent(id).map(|agent| agent.id.clone());
    if let Some(agent) = asked {
        return here(&agent).ok_or(Reject::UnknownAgent { agent });
    }
    let judges = [&rules.analyst, &rules.chair].into_iter().flatten();
    let seats = session.seats();
    judges.chain(&seats).find_map(here).ok_or_else(|| invalid("this debate has no agents"))
}

fn invalid(what: impl Into<String>) -> Reject {
    Reject::Invalid { what: what.into() }
}
