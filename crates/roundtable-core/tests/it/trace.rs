//! Events and wants as lines that a person can read: labels by first appearance instead of ids.

use roundtable_core::context_request::{About, Priority};
use roundtable_core::event::{
    Body, ContextEvent, Event, IterationEvent, IterationOutcome, RoundEvent, SessionEvent, Task,
    ToolCallEvent, TurnEvent, TurnOutcome,
};
use roundtable_core::job::JobOutcome;
use roundtable_core::tool::ToolOutcome;
use roundtable_core::want::Want;

/// Ids in the order in which they first appeared, with the labels that stand for them.
#[derive(Debug, Clone, Default)]
pub struct Labels(Vec<(String, String)>);

impl Labels {
    /// The label of an id.
    pub fn of(&self, id: &str) -> String {
        self.0.iter().find(|(known, _)| known == id).map_or(id, |(_, label)| label).to_owned()
    }

    /// The id that a label stands for.
    pub fn id(&self, label: &str) -> &str {
        let found = self.0.iter().find(|(_, known)| known == label);
        found.map(|(id, _)| id.as_str()).unwrap_or_else(|| panic!("nothing is called {label}"))
    }

    fn learn(&mut self, id: &str, parent: Option<&str>, letter: char) {
        if self.0.iter().any(|(known, _)| known == id) {
            return;
        }
        let prefix = parent.map_or(letter.to_string(), |id| format!("{}.{letter}", self.of(id)));
        let numbered = |label: &str| {
            label.strip_prefix(&prefix).is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit()))
        };
        let number = self.0.iter().filter(|(_, label)| numbered(label)).count() + 1;
        self.0.push((id.to_owned(), format!("{prefix}{number}")));
    }

    /// Learns the ids of an event.
    pub fn see(&mut self, event: &Event) {
        let place = &event.place;
        let ids = [
            (place.round.as_ref().map(|id| id.as_str()), 'r'),
            (place.turn.as_ref().map(|id| id.as_str()), 't'),
            (place.iteration.as_ref().map(|id| id.as_str()), 'i'),
            (place.tool_call.as_ref().map(|id| id.as_str()), 'c'),
        ];
        let mut parent = None;
        for (id, letter) in ids {
            let Some(id) = id else { break };
            self.learn(id, parent, letter);
            parent = Some(id);
        }
        if let Body::Context(ContextEvent::ContextRequested(request)) = &event.body {
            self.learn(request.id.as_str(), None, 'q');
        }
    }

    /// A text in which every known id is replaced by its label.
    pub fn replace(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (id, label)| text.replace(id, label))
    }

    /// One event as one line.
    pub fn line(&self, event: &Event) -> String {
        let place = &event.place;
        let id = None
            .or(place.tool_call.as_ref().map(|id| id.as_str()))
            .or(place.iteration.as_ref().map(|id| id.as_str()))
            .or(place.turn.as_ref().map(|id| id.as_str()))
            .or(place.round.as_ref().map(|id| id.as_str()));
        self.replace(&format!("{} {}", id.unwrap_or("session"), what(&event.body)))
    }

    /// All wants as one line.
    pub fn wants(&self, wants: &[Want]) -> String {
        let words: Vec<String> = wants.iter().map(want).collect();
        let words = if words.is_empty() { "nothing".to_owned() } else { words.join(", ") };
        self.replace(&format!("  wants {words}"))
    }
}

fn want(want: &Want) -> String {
    match want {
        Want::CallModel { iteration, attempt, .. } => format!("model {iteration} #{attempt}"),
        Want::RunTool { tool_call, attempt, .. } => format!("tool {tool_call} #{attempt}"),
        Want::BeginEffect { tool_call } => format!("effect {tool_call}"),
        Want::RunJob { round, name, .. } => format!("{name} {round}"),
        Want::WakeAt(at) => format!("wake at {at}"),
    }
}

fn what(body: &Body) -> String {
    match body {
        Body::Session(body) => session(body),
        Body::Round(body) => round(body),
        Body::Turn(body) => turn(body),
        Body::Iteration(body) => iteration(body),
        Body::ToolCall(body) => tool_call(body),
        Body::Context(body) => context(body),
        Body::Unknown { kind, .. } => format!("unknown {kind}"),
        Body::Redacted => "redacted".to_owned(),
    }
}

fn session(body: &SessionEvent) -> String {
    match body {
        SessionEvent::SessionOpened(opening) => {
            format!("opened with {} agents", opening.agents.len())
        }
        SessionEvent::SessionForked { origin, .. } => {
            format!("forked from {} at {}", origin.session, origin.seq)
        }
        SessionEvent::SessionInputAccepted(accepted) => {
            let text =
                accepted.text.as_ref().map_or("nothing".to_owned(), |text| format!("{text:?}"));
            format!("accepted {} {text}", accepted.context.message_id())
        }
        SessionEvent::SessionInputEdited(accepted) => {
            let text = accepted.text.as_deref().unwrap_or_default();
            format!("edited {} {text:?}", accepted.context.message_id())
        }
        SessionEvent::SessionInputDropped { message_id, withdrawn } => {
            format!("{} {message_id}", if *withdrawn { "withdrew" } else { "dropped" })
        }
        SessionEvent::SessionPaused => "paused".to_owned(),
        SessionEvent::SessionResumed => "resumed".to_owned(),
        SessionEvent::SessionCompleted { reason } => format!("completed: {reason}"),
        SessionEvent::SessionRoundSuperseded { number, take, redo } => {
            format!("superseded round {number} take {take}{}", if *redo { ", again" } else { "" })
        }
        SessionEvent::SessionTakeSelected { number, take } => {
            format!("selected round {number} take {take}")
        }
        SessionEvent::SessionImported(imported) => format!("imported {}", imported.topic),
        SessionEvent::SessionChanged(change) => {
            let title = change.title.as_ref().map(|title| format!("title {title:?}"));
            let archived = change.archived.map(|archived| format!("archived {archived}"));
            format!("changed {}", title.into_iter().chain(archived).collect::<Vec<_>>().join(", "))
        }
        SessionEvent::StateChanged { patch, note } => {
            let note = note.as_ref().map_or(String::new(), |note| format!(" ({note})"));
            format!("state {patch}{note}")
        }
    }
}

fn round(body: &RoundEvent) -> String {
    match body {
        RoundEvent::RoundOpened { number, take, input, said, .. } => {
            let said = said.map_or(String::new(), |said| format!(" message {}", said.number));
            format!("opened as round {number} take {take} by {}{said}", input.message_id())
        }
        RoundEvent::RoundAsideOpened { number, purpose, stages, .. } => {
            let agent = stages.first().map_or("nobody", |stage| stage.seats[0].agent.as_str());
            format!("opened aside {purpose} after round {number} for {agent}")
        }
        RoundEvent::StagesAdded { stages, .. } => {
            let purposes: Vec<&str> = stages.iter().map(|stage| stage.purpose.as_str()).collect();
            format!("goes on with {}", purposes.join(", "))
        }
        RoundEvent::JobStarted { name, ordinal } => format!("started job {name} {ordinal}"),
        RoundEvent::JobFinished { name, ordinal, outcome, .. } => match outcome {
            JobOutcome::Done { data } => format!("job {name} {ordinal} gave {data}"),
            JobOutcome::Failed { error } => format!("job {name} {ordinal} failed: {error}"),
        },
        RoundEvent::RoundClosed { outcome, ends, note } => {
            let extra = ends.iter().chain(note).map(|text| format!(": {text}"));
            format!("closed {outcome:?}").to_lowercase() + &extra.collect::<String>()
        }
    }
}

fn turn(body: &TurnEvent) -> String {
    match body {
        TurnEvent::TurnStarted { agent, task } => {
            let why = match task {
                Task::Seat { stage, seat } => format!("seat {stage}.{seat}"),
                Task::Delegated { tool_call, mission, .. } => format!("for {tool_call}: {mission}"),
                Task::Nested { tool_call, ordinal, prompt } => {
                    format!("for {tool_call} nested {ordinal}: {}", prompt.input)
                }
            };
            format!("started {} {why}", agent.suffix())
        }
        TurnEvent::TurnEnded { outcome, said } => {
            let how = match outcome {
                TurnOutcome::Answered => "answered".to_owned(),
                TurnOutcome::Failed { error } => format!("failed: {error}"),
                TurnOutcome::Cancelled => "cancelled".to_owned(),
                TurnOutcome::Exhausted { budget } => format!("exhausted {}", budget.word()),
            };
            let number = said.map_or(String::new(), |said| format!(" message {}", said.number));
            format!("ended {how}{number}")
        }
    }
}

fn iteration(body: &IterationEvent) -> String {
    match body {
        IterationEvent::IterationOpened { number } => format!("opened {number}"),
        IterationEvent::ModelCallStarted { attempt, .. } => format!("model started #{attempt}"),
        IterationEvent::ModelCallInterrupted { attempt, partial, possible_duplicate, .. } => {
            let declared = if *possible_duplicate { ", possible duplicate" } else { "" };
            format!("model interrupted #{attempt} {partial:?}{declared}")
        }
        IterationEvent::ModelCallFinished { attempt, text, calls, .. } => {
            format!("model finished #{attempt} {text:?} {calls} calls")
        }
        IterationEvent::ModelCallRetried { attempt, error, .. } => {
            format!("model retried #{attempt}: {error}")
        }
        IterationEvent::ModelCallFailed { attempt, error, .. } => {
            format!("model failed #{attempt}: {error}")
        }
        IterationEvent::ModelCallCancelled { attempt, partial, .. } => {
            format!("model cancelled #{attempt} {partial:?}")
        }
        IterationEvent::IterationClosed { outcome } => match outcome {
            IterationOutcome::Exhausted { budget } => format!("closed exhausted {}", budget.word()),
            IterationOutcome::Answered => "closed answered".to_owned(),
            IterationOutcome::ToolsDone => "closed tools done".to_owned(),
            IterationOutcome::LimitReached => "closed limit reached".to_owned(),
            IterationOutcome::Failed => "closed failed".to_owned(),
            IterationOutcome::Cancelled => "closed cancelled".to_owned(),
        },
    }
}

fn tool_call(body: &ToolCallEvent) -> String {
    match body {
        ToolCallEvent::ToolCallRequested { name, arguments, effect, .. } => {
            format!("requested {name} {arguments} {}", format!("{effect:?}").to_lowercase())
        }
        ToolCallEvent::ToolCallStarted { attempt } => format!("started #{attempt}"),
        ToolCallEvent::ToolCallPublished { ordinal, topic, data } => {
            format!("published {ordinal} {topic} {data}")
        }
        ToolCallEvent::ToolCallInterrupted { attempt } => format!("interrupted #{attempt}"),
        ToolCallEvent::ToolCallFinished(outcome) => match outcome {
            ToolOutcome::Returned(result) if result.success => {
                format!("finished ok {:?}", result.message)
            }
            ToolOutcome::Returned(result) => format!("finished failed {:?}", result.message),
            ToolOutcome::Answered { turn } => format!("finished answered by {turn}"),
            ToolOutcome::Cancelled => "finished cancelled".to_owned(),
            ToolOutcome::Unknown { request } => format!("finished unknown, see {request}"),
            ToolOutcome::NotRun { reason } => format!("finished {reason}"),
        },
    }
}

fn context(body: &ContextEvent) -> String {
    match body {
        ContextEvent::ContextRequested(request) => {
            let about = match &request.about {
                About::Information => "information",
                About::Question { .. } => "question",
                About::Approval { .. } => "approval",
                About::Outcome { .. } => "outcome",
            };
            let priority = match request.priority {
                Priority::Required => "required",
                Priority::Optional => "optional",
            };
            let (id, agent) = (&request.id, request.agent.suffix());
            format!("asked {id} by {agent}, {priority} {about}: {}", request.query)
        }
        ContextEvent::ContextProvided(result) => {
            format!("provided {}: {}", result.request, result.shown())
        }
        ContextEvent::ContextWithdrawn { request } => format!("withdrew {request}"),
    }
}
