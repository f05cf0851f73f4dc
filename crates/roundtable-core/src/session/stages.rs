//! What a program decides: stages, jobs, the end of a round or an aside, and the state that goes
//! with it. Each decision is recorded whole, so nothing is asked twice.

use serde_json::Value;

use super::close::closed;
use super::follow::With;
use super::{AsideKey, Draft, Session};
use crate::event::{
    AcceptedInput, Body, Change, MessageRef, RoundEvent, RoundOutcome, SessionEvent, Task,
    TurnEvent,
};
use crate::id::RoundId;
use crate::live::Starts;
use crate::message_context::MessageContext;
use crate::program::{AnyProgram, Aside, Folds, Next, Scope};
use crate::round::Round;
use crate::scope::Place;
use crate::stage::{Name, Stage};
use crate::state;
use crate::window::Window;

/// A round that is about to open.
pub(super) struct Opens {
    pub number: u32,
    pub take: u32,
    pub input: MessageContext,
    pub said: Option<MessageRef>,
}

impl Session {
    /// A round opens, with the stages that its program gives it.
    pub(super) fn open_round(&self, opens: Opens, with: &With<'_>) -> Vec<Draft> {
        let Opens { number, take, input, said } = opens;
        let id = RoundId::derive(self.id.as_str(), format_args!("{number}.{take}"));
        let place = Place::round(&id);
        let again = self.redo.as_ref().map(|mark| (mark.number, mark.take));
        let answers = with.window.input_of(&input, again);
        let scope = Scope { number, take, aside: None, input: answers, answered: 0 };
        let due = with.program.next(self.folds(with), scope, None);
        if is_held(&due.next, with) {
            return Vec::new();
        }
        let changed = due.state.and_then(|new| self.change(new));
        let (stages, rest) = match self.bounded(due.next, 0, 0) {
            BoundedNext::Stages(stages) => (stages, None),
            BoundedNext::Job(name) => (Vec::new(), Some(job_started(name, 1))),
            BoundedNext::Close { note, .. } => {
                let notes = [changed.as_ref().and_then(note_of), note];
                (Vec::new(), Some(closed(RoundOutcome::Failed, None, notes.into_iter().flatten())))
            }
        };
        let audience = due.audience;
        let opened = RoundEvent::RoundOpened { number, take, stages, input, said, audience };
        let opened = Body::Round(opened);
        // Takes undo what lies inside a round, so the change comes behind its opening.
        let bodies = [opened].into_iter().chain(changed).chain(rest);
        let mut drafts = self.retitle(due.title);
        drafts.extend(bodies.map(|body| (place.clone(), body)));
        drafts
    }

    /// The title that a program gives the session, if it can be one.
    fn retitle(&self, title: Option<String>) -> Vec<Draft> {
        if title.is_none() {
            return Vec::new();
        }
        self.change_listing(&Change { title, archived: None }).unwrap_or_default()
    }

    /// The next seat begins, or the program is asked what comes next.
    pub(super) fn follow_stages(&self, scope: &Round, with: &With<'_>) -> Vec<Draft> {
        if let Some(seat) = scope.next_seat() {
            let task = Task::Seat { stage: scope.stage, seat: scope.begun };
            let place = scope.place().turn(&task.turn_id(scope.id.as_str()));
            let agent = seat.agent.clone();
            return vec![(place, Body::Turn(TurnEvent::TurnStarted { agent, task }))];
        }
        if !scope.is_done() {
            return Vec::new();
        }
        let record = with.window.find_round(&scope.id);
        let input = record.and_then(|record| record.input.as_ref());
        let due = with.program.next(self.folds(with), scope_of(scope, input), record);
        if is_held(&due.next, with) {
            return Vec::new();
        }
        let changed = due.state.and_then(|new| self.change(new));
        let mut asides = Vec::new();
        let body = match self.bounded(due.next, scope.stages.len(), scope.jobs) {
            BoundedNext::Stages(stages) => {
                Body::Round(RoundEvent::StagesAdded { stages, audience: due.audience })
            }
            BoundedNext::Job(name) => job_started(name, scope.jobs + 1),
            BoundedNext::Close { ends, note, asides: wanted } => {
                let outcome = scope.outcome();
                let completed = outcome == RoundOutcome::Completed;
                let ends = ends.filter(|_| completed && scope.aside.is_none());
                asides.extend(wanted.into_iter().filter(|_| completed));
                let notes = [changed.as_ref().and_then(note_of), note].into_iter().flatten();
                closed(outcome, ends, scope.notes.iter().cloned().chain(notes))
            }
        };
        let bodies = changed.into_iter().chain([body]);
        let mut drafts = self.retitle(due.title);
        drafts.extend(bodies.map(|body| (scope.place(), body)));
        drafts.extend(self.open_asides(&asides));
        drafts
    }

    /// What a job is given.
    pub(crate) fn job_input(
        &self,
        window: &Window,
        program: &dyn AnyProgram,
        scope: &Round,
    ) -> Option<Value> {
        let job = scope.job.as_ref()?;
        let record = window.find_round(&scope.id);
        let input = record.and_then(|record| record.input.as_ref());
        let folds = Folds { session: self, window };
        Some(program.input(folds, scope_of(scope, input), record, &job.name))
    }

    fn folds<'a>(&'a self, with: &With<'a>) -> Folds<'a> {
        Folds { session: self, window: with.window }
    }

    /// What a program decided, within the limits of a round or an aside that has so many stages and
    /// jobs. Who does not take part has no seat.
    fn bounded(&self, next: Next, stages: usize, jobs: u32) -> BoundedNext {
        let most = self.settings.max_stages as usize;
        let end = |what: &str| BoundedNext::Close {
            ends: None,
            note: Some(format!("it ended because it reached the limit of {most} {what}")),
            asides: Vec::new(),
        };
        match next {
            Next::Stages(mut added) => {
                for stage in &mut added {
                    stage.seats.retain(|seat| self.find_agent(&seat.agent).is_some());
                }
                added.retain(|stage| !stage.seats.is_empty());
                match added.len() {
                    0 => BoundedNext::Close { ends: None, note: None, asides: Vec::new() },
                    more if stages + more > most => end("stages"),
                    _ => BoundedNext::Stages(added),
                }
            }
            Next::Job(_) if jobs as usize >= most => end("jobs"),
            Next::Job(name) => BoundedNext::Job(name),
            Next::Close { ends, note, asides } => BoundedNext::Close { ends, note, asides },
        }
    }

    /// Opens what is to be done beside the rounds, except what is under way or done.
    pub(super) fn open_asides(&self, asides: &[Aside]) -> Vec<Draft> {
        let mut drafts: Vec<Draft> = Vec::new();
        for Aside { purpose, number, take, stages } in asides {
            let (purpose, number, take) = (purpose.clone(), *number, *take);
            let key = AsideKey::new(purpose.clone(), number, take, stages);
            // What it is about has to be there for it.
            let is_there = self.marks.iter().any(|mark| mark.is(number, take));
            if !is_there || self.has_aside(&key) {
                continue;
            }
            let ordinal = self.asides_opened as usize + drafts.len() + 1;
            let Ok(input) = MessageContext::new(&format!("aside_{ordinal}"), &self.id, None) else {
                continue;
            };
            let id = RoundId::derive(self.id.as_str(), format_args!("aside.{ordinal}"));
            let stages = stages.clone();
            let opened = RoundEvent::RoundAsideOpened { number, take, purpose, stages, input };
            drafts.push((Place::round(&id), Body::Round(opened)));
        }
        drafts
    }

    /// The change of the program's state, if there is one. One that cannot be recorded is dropped,
    /// and the note says so.
    pub(super) fn change(&self, new: Result<Value, String>) -> Option<Body> {
        let most = self.settings.max_state_bytes as usize;
        let fits = |new: Value| {
            let bytes = new.to_string().len();
            if bytes <= most {
                Ok(new)
            } else {
                Err(format!("it would have {bytes} bytes; the limit is {most}"))
            }
        };
        let changed = match new.and_then(fits) {
            Ok(new) if new == self.state => return None,
            Ok(new) => {
                SessionEvent::StateChanged { patch: state::diff(&self.state, &new), note: None }
            }
            Err(why) => {
                let note = Some(format!("a change of the state was dropped: {why}"));
                SessionEvent::StateChanged { patch: state::empty(), note }
            }
        };
        Some(Body::Session(changed))
    }
}

/// What comes next, within the limits.
enum BoundedNext {
    Stages(Vec<Stage>),
    Job(Name),
    Close { ends: Option<String>, note: Option<String>, asides: Vec<Aside> },
}

/// A draining engine starts nothing. Whoever comes next asks the program again.
fn is_held(next: &Next, with: &With<'_>) -> bool {
    matches!(next, Next::Job(_)) && with.starts == Starts::Held
}

fn job_started(name: Name, ordinal: u32) -> Body {
    Body::Round(RoundEvent::JobStarted { name, ordinal })
}

fn note_of(body: &Body) -> Option<String> {
    match body {
        Body::Session(SessionEvent::StateChanged { note, .. }) => note.clone(),
        _ => None,
    }
}

fn scope_of<'a>(scope: &'a Round, input: Option<&'a AcceptedInput>) -> Scope<'a> {
    Scope {
        number: scope.number,
        take: scope.take,
        aside: scope.aside.as_ref().map(|key| &key.purpose),
        input,
        answered: scope.answered,
    }
}
