//! From a request to a round: a new hidden session, or the turn that waits for the results of tools.

use http::StatusCode;
use jiff::Timestamp;
use roundtable::chat::{Message, Team};
use roundtable::core::MessageContext;
use roundtable::core::context_request::{About, ContextResult};
use roundtable::core::digest::Digest;
use roundtable::core::event::{Opening, RoundOutcome, Seq};
use roundtable::core::id::{CommandId, ContextRequestId, SessionId};
use roundtable::core::input::Command;
use roundtable::core::session::{Session as State, Status};
use roundtable::core::tool::Runs;
use roundtable::ports::CommandKey;

use super::history::{History, ToolAnswer};
use super::model::Model;
use super::request::{CompletionRequest, invalid, unsupported};
use super::tool;
use crate::app::App;
use crate::auth::Principal;
use crate::key::Key;
use crate::problem::Problem;
use crate::quota::Begin;
use crate::sessions::{Action, Authorized, Sessions};

/// The one message of a hidden session.
const MESSAGE: &str = "request";

/// How long a turn waits for the results of the caller's tools: many callers never send them.
const TOOLS_WITHIN_MS: u64 = 24 * 60 * 60 * 1000;

/// How many model calls a turn may make that uses tools of the caller: it is the caller's loop.
const MAX_ITERATIONS: u32 = 100;

/// How many characters a question to a panel may have.
const MAX_QUESTION: usize = 10_000;

/// How many characters of a request name its session.
const MAX_TOPIC: usize = 80;

/// Where the answer to a request is in the log of its session.
pub(super) struct Begun {
    pub session: Authorized<SessionId>,
    /// The take of the round.
    pub take: u32,
    /// What was answered before comes up to this event.
    pub after: Seq,
    pub is_panel: bool,
}

impl Begun {
    /// When the session was opened.
    pub fn created_at(&self) -> Timestamp {
        self.session.listed().created_at
    }
}

pub(super) async fn begin(
    app: &App,
    caller: &Principal,
    model: &Model,
    asked: CompletionRequest,
    key: Option<&Key>,
) -> Result<Begun, Problem> {
    let first = asked.history.results.first();
    if let Some(id) = first.and_then(|result| tool::session_of(&result.id)) {
        return resume(app, caller, &id, &asked.history.results).await;
    }
    open(app, caller, model, asked, key).await
}

/// Opens a session for a request. A repeated request finds its own.
async fn open(
    app: &App,
    caller: &Principal,
    model: &Model,
    asked: CompletionRequest,
    key: Option<&Key>,
) -> Result<Begun, Problem> {
    let id = app.sessions.completion_id(caller, key);
    let (opening, text) = prepare(&app.sessions, caller, model, asked)?;
    let command = CommandId::derive(id.as_str(), "open");
    let command = CommandKey { id: command, digest: key.map(Key::digest) };
    let known = app.sessions.find_conversation(caller, &id).await?;
    let admitted = match &known {
        Some(_) => None,
        None => app.admit(&caller.owner(), Begin::Session).await?,
    };
    let opened = app.sessions.open_completion(caller, &id, opening, command);
    let session = app.stored(opened).await?;
    let handle = app.sessions.get(&session);
    let message = Message::new(MessageContext::new(MESSAGE, &id, None)?, text);
    app.stored(handle.send(message)).await?;
    drop(admitted);
    let is_panel = matches!(model, Model::Panel(_));
    let begun = |take, after| Begun { session: session.clone(), take, after, is_panel };
    if known.is_none() {
        return Ok(begun(1, Seq(0)));
    }
    let state = handle.state().await?;
    let (take, outcome) = last_take(&state);
    match outcome {
        None | Some(RoundOutcome::Completed) => Ok(begun(take, Seq(0))),
        // It was cut off, or nobody could answer: whoever sends it again wants an answer.
        Some(RoundOutcome::Incomplete | RoundOutcome::Failed) => {
            if state.status == Status::Completed {
                return Err(was_stopped());
            }
            let again = CommandId::derive(id.as_str(), format_args!("again.{take}"));
            let again = app.stored(handle.command_once(Command::Regenerate, again)).await?;
            Ok(begun(take + 1, again.after))
        }
    }
}

/// The last take of the round, and how it ended.
fn last_take(state: &State) -> (u32, Option<RoundOutcome>) {
    match (&state.round, state.marks.back()) {
        (Some(round), _) => (round.take, None),
        (None, Some(mark)) => (mark.take, mark.outcome),
        (None, None) => (1, None),
    }
}

fn was_stopped() -> Problem {
    let what = "the request was stopped when its client disconnected; send it again with another \
                Idempotency-Key";
    Problem::new(StatusCode::CONFLICT, "stopped", what)
}

/// Brings the results of the caller's tools to the turn that waits for them. Sent again, they change
/// nothing.
async fn resume(
    app: &App,
    caller: &Principal,
    id: &SessionId,
    results: &[ToolAnswer],
) -> Result<Begun, Problem> {
    let found = app.sessions.authorize(caller, Action::Change, id.as_str()).await;
    let session = found.map_err(|problem| match problem.status {
        StatusCode::NOT_FOUND => unknown_call(results),
        _ => problem,
    })?;
    let handle = app.sessions.get(&session);
    let ids: Vec<&str> = results.iter().map(|result| result.id.as_str()).collect();
    let texts: Vec<&str> = results.iter().map(|result| result.text.as_str()).collect();
    let key = CommandKey {
        id: CommandId::derive(id.as_str(), format_args!("results.{}", ids.join("."))),
        digest: Some(Digest::of_json(&texts)),
    };
    let state = handle.state().await?;
    let after = match handle.find_receipt(&key).await? {
        Some(receipt) => receipt.after,
        None => {
            let answers = match_results(&state, id, results)?;
            app.stored(handle.command_keyed(Command::Provide(answers), key)).await?.after
        }
    };
    let (take, _) = last_take(&state);
    Ok(Begun { session, take, after, is_panel: false })
}

/// The requests that the results answer: all that wait, and no others.
fn match_results(
    state: &State,
    session: &SessionId,
    results: &[ToolAnswer],
) -> Result<Vec<ContextResult>, Problem> {
    let waiting: Vec<(String, &ContextRequestId)> = state
        .requests
        .iter()
        .filter_map(|request| match &request.about {
            About::Question { tool_call } => Some((tool::call_id(session, tool_call), &request.id)),
            About::Information | About::Approval { .. } | About::Outcome { .. } => None,
        })
        .collect();
    let given = |id: &str| results.iter().any(|result| result.id == id);
    let missing: Vec<&str> =
        waiting.iter().map(|(id, _)| id.as_str()).filter(|id| !given(id)).collect();
    if !waiting.is_empty() && !missing.is_empty() {
        let why = format!("no result for the tool calls {}; send one for each", missing.join(", "));
        return Err(invalid("messages", &why));
    }
    let find = |result: &ToolAnswer| {
        let (_, request) = waiting.iter().find(|(id, _)| *id == result.id)?;
        Some(ContextResult::found((*request).clone(), &result.text))
    };
    let found: Option<Vec<ContextResult>> = results.iter().map(find).collect();
    found.ok_or_else(|| unknown_call(results))
}

fn unknown_call(results: &[ToolAnswer]) -> Problem {
    let id = results.first().map_or("", |result| result.id.as_str());
    let shown: String = id.chars().filter(|c| !c.is_control()).take(64).collect();
    let what = format!(
        "no turn waits for the tool call {shown}: it is over or deleted. Send the conversation \
         without it"
    );
    Problem::bad_request("tool_call_not_found", what).with("param", "messages")
}

/// What the session is opened with, and its message.
fn prepare(
    sessions: &Sessions,
    caller: &Principal,
    model: &Model,
    asked: CompletionRequest,
) -> Result<(Opening, String), Problem> {
    // Results that are not of a session here were called for elsewhere.
    let history = asked.history.clone().with_results_told();
    let text = history.text.clone().unwrap_or_else(|| CONTINUE.to_owned());
    let opening = match model {
        Model::Panel(mode) => {
            let question = panel_question(history, &asked)?;
            let debate = sessions.new_debate(caller, &question).mode(*mode).rounds(1);
            return Ok((debate.without_context_requests().opening()?, question));
        }
        Model::Team => team_opening(sessions.team(&[])?, sessions, history, asked, &text)?,
        Model::Agent(agent) => {
            let team = sessions.team(&[agent.to_string()])?;
            team_opening(team, sessions, history, asked, &text)?
        }
    };
    Ok((opening, text))
}

/// What is answered when the messages end with results of tools that were called elsewhere.
const CONTINUE: &str = "Continue with the results of the tools.";

fn panel_question(history: History, asked: &CompletionRequest) -> Result<String, Problem> {
    if !asked.tools.is_empty() {
        return Err(unsupported("tools", "a panel debates without the caller's tools"));
    }
    if asked.output.is_some() {
        return Err(unsupported("response_format", "a panel answers with a report"));
    }
    let question = history.into_question();
    match question.chars().count() {
        length if length > MAX_QUESTION => {
            let why = format!(
                "the messages have {length} characters together; a panel reads at most {MAX_QUESTION}"
            );
            Err(invalid("messages", &why))
        }
        _ => Ok(question),
    }
}

fn team_opening(
    team: Team,
    sessions: &Sessions,
    history: History,
    asked: CompletionRequest,
    text: &str,
) -> Result<Opening, Problem> {
    if let Some(tool) = asked.tools.iter().find(|tool| sessions.has_tool(&tool.name)) {
        let why = format!("the name {} is taken by a tool of the server; rename it", tool.name);
        return Err(invalid("tools", &why));
    }
    let uses_tools = !asked.tools.is_empty();
    let team = team.background(history.background).with_supervisor(|agent| {
        agent.max_tokens = asked.max_tokens.map_or(agent.max_tokens, |it| it.min(agent.max_tokens));
        agent.output = asked.output.or(agent.output.take());
        if uses_tools {
            agent.max_iterations = agent.max_iterations.max(MAX_ITERATIONS);
        }
        agent.tools.extend(asked.tools);
    });
    // Nobody is there to be asked but the caller, who reads the answer.
    let team = team.without(|tool| matches!(tool.runs, Runs::Ask | Runs::RequestContext));
    let topic: String = text.chars().filter(|c| !c.is_control()).take(MAX_TOPIC).collect();
    let mut opening = team.opening(&topic);
    if uses_tools {
        opening.settings.round_limits.time_ms = Some(TOOLS_WITHIN_MS);
    }
    Ok(opening)
}
