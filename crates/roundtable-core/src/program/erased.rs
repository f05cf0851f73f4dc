//! Programs without their types: what the core calls. Products never see it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::progress::{self, RoundView};
use super::{Act, Brief, Next, Program, Progress, Scope, SeatView, SessionView};
use crate::audience::Audience;
use crate::event::{ImportedSession, Opening};
use crate::id::AgentId;
use crate::json;
use crate::reject::Reject;
use crate::session::Session;
use crate::stage::{Name, Seat, Stage};
use crate::state;
use crate::window::{RoundRecord, Window};

/// The two folds of a session's log.
#[derive(Clone, Copy)]
pub(crate) struct Folds<'a> {
    pub session: &'a Session,
    pub window: &'a Window,
}

/// What comes next, without types.
pub(crate) struct Due {
    /// The new state, if there is one that can be recorded.
    pub state: Option<Result<Value, String>>,
    pub title: Option<String>,
    /// Who is present from here on, where that changes.
    pub audience: Option<Audience>,
    pub next: Next,
}

/// Who is told something, where.
#[derive(Clone, Copy)]
pub(crate) struct SeatInput<'a> {
    pub agent: &'a AgentId,
    pub stage: &'a Stage,
    pub seat: &'a Seat,
    pub round: RoundView<'a>,
    pub aside: Option<RoundView<'a>>,
    /// The state that the words depend on.
    pub state: &'a Value,
}

/// A program without its types.
pub(crate) trait AnyProgram: Send + Sync {
    fn version(&self) -> u32;
    fn check(&self, opening: &Opening) -> Result<(), String>;
    fn check_import(&self, imported: &ImportedSession) -> Result<(), String>;
    /// `record` is none for a round that is about to open.
    fn next(&self, folds: Folds<'_>, scope: Scope<'_>, record: Option<&RoundRecord>) -> Due;
    fn input(
        &self,
        folds: Folds<'_>,
        scope: Scope<'_>,
        record: Option<&RoundRecord>,
        job: &Name,
    ) -> Value;
    fn brief(&self, session: &Session, who: SeatInput<'_>, earlier: &[RoundView<'_>]) -> Brief;
    /// Earlier rounds, as the agent reads them.
    fn render_rounds(
        &self,
        session: &Session,
        who: SeatInput<'_>,
        earlier: &[RoundView<'_>],
    ) -> Vec<String>;
    /// What others call an agent whose name they must not know.
    fn pseudonym(&self, session: &Session, agent: &AgentId) -> Option<String>;
    fn act(
        &self,
        folds: Folds<'_>,
        name: &Name,
        data: &Value,
    ) -> Result<Act<Result<Value, String>>, Reject>;
}

impl<P: Program> AnyProgram for P {
    fn version(&self) -> u32 {
        P::VERSION
    }

    fn check(&self, opening: &Opening) -> Result<(), String> {
        let rules = P::Rules::deserialize(&opening.settings.program.rules)
            .map_err(|error| format!("invalid rules for a {} session: {error}", P::NAME))?;
        Program::check(self, &rules, opening)
    }

    fn check_import(&self, imported: &ImportedSession) -> Result<(), String> {
        Program::check_import(self, imported)
    }

    fn next(&self, folds: Folds<'_>, scope: Scope<'_>, record: Option<&RoundRecord>) -> Due {
        let Some(rules) = rules::<P>(folds.session) else { return closed() };
        let state = read_state::<P>(&folds.session.state);
        let step = Program::next(self, &at(folds, &rules, &state, scope, record));
        let state = step.state.map(write_state);
        Due { state, title: step.title, audience: step.audience, next: step.next }
    }

    fn input(
        &self,
        folds: Folds<'_>,
        scope: Scope<'_>,
        record: Option<&RoundRecord>,
        job: &Name,
    ) -> Value {
        let Some(rules) = rules::<P>(folds.session) else { return Value::Null };
        let state = read_state::<P>(&folds.session.state);
        Program::input(self, &at(folds, &rules, &state, scope, record), job)
    }

    fn brief(&self, session: &Session, who: SeatInput<'_>, earlier: &[RoundView<'_>]) -> Brief {
        let Some(rules) = rules::<P>(session) else { return Brief::new("seat", "", "") };
        let state = read_state::<P>(who.state);
        Program::brief(self, &view(session, &rules, &state, who, earlier))
    }

    fn render_rounds(
        &self,
        session: &Session,
        who: SeatInput<'_>,
        earlier: &[RoundView<'_>],
    ) -> Vec<String> {
        let Some(rules) = rules::<P>(session) else { return Vec::new() };
        let state = read_state::<P>(who.state);
        let view: SeatView<'_, P> = view(session, &rules, &state, who, earlier);
        earlier.iter().map(|round| Program::render_round(self, &view, round)).collect()
    }

    fn pseudonym(&self, session: &Session, agent: &AgentId) -> Option<String> {
        Program::pseudonym(self, &rules::<P>(session)?, session, agent)
    }

    fn act(
        &self,
        folds: Folds<'_>,
        name: &Name,
        data: &Value,
    ) -> Result<Act<Result<Value, String>>, Reject> {
        let session = folds.session;
        let Some(rules) = rules::<P>(session) else {
            return Err(Reject::Invalid {
                what: format!("invalid rules in this {} session", P::NAME),
            });
        };
        let state = read_state::<P>(&session.state);
        let rounds = folds.window.earlier(session, None).into_iter().map(RoundView::all).collect();
        let now = SessionView { session, rules: &rules, state: &state, rounds };
        let act = Program::act(self, &now, name, data)?;
        Ok(Act { state: act.state.map(write_state), aside: act.aside })
    }
}

/// The rules were read when the session was opened; a log that says otherwise is not driven.
fn rules<P: Program>(session: &Session) -> Option<P::Rules> {
    P::Rules::deserialize(&session.settings.program.rules).ok()
}

fn closed() -> Due {
    let note = Some("invalid rules in this session".to_owned());
    let next = Next::Close { ends: None, note, asides: Vec::new() };
    Due { state: None, title: None, audience: None, next }
}

fn read_state<P: Program>(state: &Value) -> P::State {
    // A program without state has nothing to read, and an error costs more than it.
    if size_of::<P::State>() == 0 {
        return P::State::default();
    }
    P::State::deserialize(state).unwrap_or_default()
}

/// A state as it is recorded; an error where it cannot be.
fn write_state<S: Serialize>(new: S) -> Result<Value, String> {
    let value = serde_json::to_value(new).map_err(|error| error.to_string())?;
    json::check(&value).map_err(|error| error.to_string())?;
    Ok(state::normal(value))
}

fn at<'a, P: Program>(
    Folds { session, window }: Folds<'a>,
    rules: &'a P::Rules,
    state: &'a P::State,
    scope: Scope<'a>,
    record: Option<&'a RoundRecord>,
) -> Progress<'a, P> {
    let earlier = window.earlier(session, record.map(|record| &record.id));
    Progress {
        session,
        rules,
        state,
        scope,
        done: record.map(progress::all).unwrap_or_default(),
        earlier: earlier.into_iter().map(RoundView::all).collect(),
    }
}

fn view<'a, P: Program>(
    session: &'a Session,
    rules: &'a P::Rules,
    state: &'a P::State,
    who: SeatInput<'a>,
    earlier: &[RoundView<'a>],
) -> SeatView<'a, P> {
    let SeatInput { agent, stage, seat, round, aside, .. } = who;
    let earlier = earlier.to_vec();
    SeatView { session, rules, state, agent, stage, seat, round, aside, earlier }
}
