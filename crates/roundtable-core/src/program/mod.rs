//! Programs: what decides who speaks when, and in which words. Debates are one; so is whatever an
//! embedder writes.
//!
//! A program is a pure value. It is asked what comes next when a round opens and whenever all that
//! was decided is done; the answer is recorded, and nothing is asked twice. What it makes of a
//! model's text goes into its state, which is recorded as well: replaying a log never asks a
//! program to read a text again. Contract: deterministic, total, no clock, no I/O.

mod erased;
mod panel;
mod progress;
mod registry;
mod seat;
mod step;

use serde::de::DeserializeOwned;
use serde::{Deserialize as _, Serialize};
use serde_json::Value;

pub(crate) use erased::{AnyProgram, Folds, SeatInput};
pub use panel::{NoRules, PANEL, Panel};
pub use progress::{Done, RoundView};
pub use registry::Programs;
pub use seat::{Brief, SeatView};
pub use step::{Act, Aside, Next, Step};

use crate::event::{AcceptedInput, ImportedSession, Opening};
use crate::id::AgentId;
use crate::reject::Reject;
use crate::session::Session;
use crate::settings::ProgramRef;
use crate::stage::Name;
use crate::window::Utterance;

/// What decides who speaks when, and in which words.
///
/// ```
/// use roundtable_core::program::{Progress, Brief, SeatView, Program, Step};
/// use roundtable_core::stage::{ANSWER, Name, Stage};
///
/// /// Everyone answers, side by side.
/// struct Survey;
///
/// impl Program for Survey {
///     type Rules = ();
///     type State = ();
///     const NAME: Name = Name::constant("survey");
///     const VERSION: u32 = 1;
///
///     fn next(&self, progress: &Progress<'_, Self>) -> Step<()> {
///         match progress.last() {
///             None => Step::stages(vec![Stage::new(ANSWER, progress.session.seats())]),
///             Some(_) => Step::close(),
///         }
///     }
///
///     fn brief(&self, view: &SeatView<'_, Self>) -> Brief {
///         Brief::new("survey", "Answer in one sentence.", view.asked())
///     }
/// }
/// ```
pub trait Program: Sized + Send + Sync + 'static {
    /// What a session is opened with; recorded once.
    type Rules: Serialize + DeserializeOwned + 'static;
    /// What changes while it runs: a struct or a map, `{}` at the start. Members that are null are
    /// absent, so every member needs a default.
    type State: Serialize + DeserializeOwned + Default + 'static;
    /// Its name; also the kind of its sessions.
    const NAME: Name;
    /// The version of its words; recorded with every prompt.
    const VERSION: u32;

    /// What is wrong with an opening, and what to do.
    ///
    /// # Errors
    /// A sentence for whoever opens the session.
    fn check(&self, _rules: &Self::Rules, _opening: &Opening) -> Result<(), String> {
        Ok(())
    }

    /// What comes next in a round or an aside. Asked when a round opens, and whenever all that was
    /// decided is done.
    fn next(&self, progress: &Progress<'_, Self>) -> Step<Self::State>;

    /// What a seat is told.
    fn brief(&self, view: &SeatView<'_, Self>) -> Brief;

    /// An earlier round, as that agent reads it, under the line that names it.
    fn render_round(&self, view: &SeatView<'_, Self>, round: &RoundView<'_>) -> String {
        panel::render_round(view.session, round)
    }

    /// What others call an agent whose name they must not know, in what tools read. Nothing where
    /// names are known.
    fn pseudonym(
        &self,
        _rules: &Self::Rules,
        _session: &Session,
        _agent: &AgentId,
    ) -> Option<String> {
        None
    }

    /// What a job is given. Worked out again after a restart, never stored.
    fn input(&self, _progress: &Progress<'_, Self>, _job: &Name) -> Value {
        Value::Null
    }

    /// A caller wants something that only this program knows.
    ///
    /// # Errors
    /// [`Reject`] when it is refused; nothing happens then.
    fn act(
        &self,
        _now: &SessionView<'_, Self>,
        name: &Name,
        _data: &Value,
    ) -> Result<Act<Self::State>, Reject> {
        Err(Reject::Invalid { what: format!("a {} session cannot {name}", Self::NAME) })
    }

    /// What is wrong with a record that is to be imported, and what to do.
    ///
    /// # Errors
    /// A sentence for whoever imports it.
    fn check_import(&self, _imported: &ImportedSession) -> Result<(), String> {
        Err(format!("{} sessions cannot be imported", Self::NAME))
    }
}

/// A session as its program sees it: everything; for decisions, not for prompts.
pub struct SessionView<'a, P: Program> {
    /// The session.
    pub session: &'a Session,
    /// What it was opened with.
    pub rules: &'a P::Rules,
    /// The state of the program.
    pub state: &'a P::State,
    /// The rounds that are over and count, oldest first, as far as the window reaches.
    pub rounds: Vec<RoundView<'a>>,
}

/// Where a session stands when its program is asked what comes next.
pub struct Progress<'a, P: Program> {
    /// The session.
    pub session: &'a Session,
    /// What it was opened with.
    pub rules: &'a P::Rules,
    /// The state of the program.
    pub state: &'a P::State,
    /// The round or aside that is asked about.
    pub scope: Scope<'a>,
    /// Its stages and jobs so far, in their order; nothing when it opens.
    pub done: Vec<Done<'a>>,
    /// The rounds before it that count, oldest first, as far as the window reaches.
    pub earlier: Vec<RoundView<'a>>,
}

/// A round or an aside.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'a> {
    /// Its number; for an aside, that of the round that it is about.
    pub number: u32,
    /// Which take of that number.
    pub take: u32,
    /// What it is for, when it is an aside.
    pub aside: Option<&'a Name>,
    /// The input that it answers.
    pub input: Option<&'a AcceptedInput>,
    /// How many turns have answered in stages that count.
    pub answered: u32,
}

impl<P: Program> Progress<'_, P> {
    /// What was done last; nothing when the round or aside opens.
    pub fn last(&self) -> Option<&Done<'_>> {
        self.done.last()
    }

    /// Whether there was a stage for this purpose.
    pub fn has(&self, purpose: &Name) -> bool {
        let is = |done: &Done<'_>| matches!(done, Done::Stage { stage, .. } if stage.purpose == *purpose);
        self.done.iter().any(is)
    }

    /// The result of the last job with this name, if it has one.
    pub fn result(&self, job: &Name) -> Option<&Value> {
        self.done.iter().rev().find_map(|done| match done {
            Done::Job { name, outcome } if *name == job => outcome.data(),
            Done::Job { .. } | Done::Stage { .. } => None,
        })
    }

    /// What was said so far, oldest first.
    pub fn spoken(&self) -> impl Iterator<Item = &Utterance> {
        let turns = self.done.iter().flat_map(|done| match done {
            Done::Stage { turns, .. } => turns.as_slice(),
            Done::Job { .. } => &[],
        });
        turns.copied().filter(|turn| turn.visible)
    }
}

impl Opening {
    /// The opening of a session that runs this program.
    ///
    /// # Errors
    /// A `serde_json` error when the rules cannot be written as JSON.
    pub fn of<P: Program>(
        topic: impl Into<String>,
        agents: Vec<crate::agent::Agent>,
        rules: &P::Rules,
    ) -> Result<Self, serde_json::Error> {
        let program = ProgramRef::of::<P>(rules)?;
        Ok(Self {
            kind: P::NAME,
            topic: topic.into(),
            agents,
            settings: crate::settings::Settings { program, ..Default::default() },
            actor: None,
            tenant: None,
        })
    }
}

impl ProgramRef {
    /// A program with these rules.
    ///
    /// # Errors
    /// A `serde_json` error when the rules cannot be written as JSON.
    pub fn of<P: Program>(rules: &P::Rules) -> Result<Self, serde_json::Error> {
        Ok(Self { name: P::NAME, rules: serde_json::to_value(rules)? })
    }

    /// The rules of this program, if the session runs it.
    pub fn rules<P: Program>(&self) -> Option<P::Rules> {
        (self.name == P::NAME).then(|| P::Rules::deserialize(&self.rules).ok()).flatten()
    }
}

impl Session {
    /// The state of this program, if the session runs it.
    pub fn state_of<P: Program>(&self) -> Option<P::State> {
        let own = self.settings.program.name == P::NAME;
        own.then(|| P::State::deserialize(&self.state).ok()).flatten()
    }

    /// What an agent is called: its name, or what is left of one who no longer takes part.
    pub fn name_of<'a>(&'a self, agent: &'a AgentId) -> &'a str {
        self.find_agent(agent).map_or(agent.suffix(), |agent| &agent.name)
    }
}
