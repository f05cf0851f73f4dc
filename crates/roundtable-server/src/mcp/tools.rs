//! The twelve tools: what each is for, what it takes, what it answers.

use std::collections::BTreeSet;
use std::sync::Arc;

use ::http::HeaderMap;
use ::http::request::Parts;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, JsonObject, Tool,
    ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use roundtable::Session;
use roundtable::core::context_request::ContextResult;
use roundtable::core::id::{ContextRequestId, SessionId};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::elicit::{self, Waiting, Way};
use super::progress::Progress;
use crate::app::App;
use crate::auth::Principal;
use crate::debate::answer::RoundAnswer;
use crate::debate::ask::{
    About, Debates, Export, GoOn, OfAgent, OfCertainRound, OfCitations, OfResponses, OfRound,
    Start, SumUp, Told,
};
use crate::debate::detail::{
    Citations, ConfiguredAgents, Consensus, Controlled, DebateList, Exported, Responses,
    RoundDetail, SynthesisAnswer, Thoughts,
};
use crate::debate::{self, By, Caller};
use crate::key::{Input, Key};
use crate::openapi::schema_settings;
use crate::problem::Problem;
use crate::schema::Misfit;
use crate::sessions::{Action, Authorized};

/// What a tool does to the world.
#[derive(Clone, Copy)]
enum Does {
    /// It reads.
    Reads,
    /// It adds to a debate, with models.
    Adds,
    /// It changes how a debate stands.
    Changes,
}

/// All tools.
pub(crate) fn all() -> Vec<Tool> {
    let mut tools = holding();
    tools.extend(reading());
    tools
}

fn holding() -> Vec<Tool> {
    vec![
        tool::<Start, RoundAnswer>(
            "start_roundtable",
            "Start a debate",
            "Puts a question to a panel of AI agents and runs the first round of their debate. Use it for decisions, designs, programs-offs and reviews where one answer is not enough. Choose the mode: collaborative (find agreement), adversarial (pro and con), socratic (probing questions), expert-panel (points of view), devils-advocate (forced yes and no), delphi (anonymous estimates), red-team-blue-team (attack and defend a plan), council (answers, ranking, verdict). Put all that the agents need to know into topic. Then do what nextStep of the answer says: usually continue_roundtable.",
            Does::Adds,
        ),
        tool::<About<GoOn>, RoundAnswer>(
            "continue_roundtable",
            "Next round",
            "Runs the next round of a debate, or returns the round that is running. If the last answer has status needs_context, first find out what its required contextRequests of kind question ask for, and pass one contextResults entry for each: {requestId, success, result} or {requestId, success: false, error}. Approvals and unknown outcomes of tool calls are decided by a person, or by {requestId, decision} where nextStep says so. Pass afterRound (the last round that you have seen), so that a repeated call never runs or pays for a round twice. A focusQuestion steers the round.",
            Does::Adds,
        ),
        tool::<About<SumUp>, SynthesisAnswer>(
            "synthesize_debate",
            "Sum up",
            "Has the debate summed up: common ground, key differences, how positions moved, conclusion, recommendation. Call it when the debate is over or has said enough. It is written once and stored; calling it again reads it.",
            Does::Adds,
        ),
        tool::<About<Told>, Controlled>(
            "control_session",
            "Pause, resume or stop",
            "Pauses a debate (no more rounds until it is resumed), resumes a paused one, or stops one for good. What was said is kept.",
            Does::Changes,
        ),
    ]
}

fn reading() -> Vec<Tool> {
    vec![
        tool::<OfRound, Consensus>(
            "get_consensus",
            "How far they agree",
            "How far the panel agreed in a round (the last one if none is named): agreement, clusters, common ground, disagreements, conditions, uncertainties, and what the debate added to the first round. It was stored with the round, so it costs nothing.",
            Does::Reads,
        ),
        tool::<JsonNothing, ConfiguredAgents>(
            "get_agents",
            "Who can take part",
            "The agents of the configuration with provider and model, and whether each can be asked. Pass their ids as agents to start_roundtable; without any, a panel is made for the mode.",
            Does::Reads,
        ),
        tool::<Debates, DebateList>(
            "list_sessions",
            "Earlier debates",
            "Debates, newest first, filtered by topic, mode, status and date. Use it to find the sessionId of an earlier debate and go on with it.",
            Does::Reads,
        ),
        tool::<OfAgent, Thoughts>(
            "get_thoughts",
            "One agent's way",
            "Everything that one agent said, round by round, and how its confidence changed.",
            Does::Reads,
        ),
        tool::<Export, Exported>(
            "export_session",
            "Minutes",
            "The whole debate as Markdown minutes to send to people, or as JSON that can be imported again.",
            Does::Reads,
        ),
        tool::<OfCertainRound, RoundDetail>(
            "get_round_details",
            "A whole round",
            "What every agent said in a round, in full, with the consensus of that round.",
            Does::Reads,
        ),
        tool::<OfResponses, Responses>(
            "get_response_detail",
            "Full answers",
            "The full answers of one agent: position, reasoning, key points, citations; of one round or of all. Use it when actionRecommendation says query_detail.",
            Does::Reads,
        ),
        tool::<OfCitations, Citations>(
            "get_citations",
            "Sources",
            "The sources that agents named, each once, with who named it and when. Check those that a decision rests on.",
            Does::Reads,
        ),
    ]
}

/// No arguments.
#[derive(serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct JsonNothing {}

fn tool<I: JsonSchema, O: JsonSchema>(
    name: &'static str,
    title: &'static str,
    what: &'static str,
    does: Does,
) -> Tool {
    let hints = ToolAnnotations::with_title(title);
    let hints = match does {
        Does::Reads => hints.read_only(true).idempotent(true).open_world(false),
        Does::Adds => hints.read_only(false).destructive(false).idempotent(false).open_world(true),
        Does::Changes => {
            hints.read_only(false).destructive(true).idempotent(true).open_world(false)
        }
    };
    Tool::new(name, what, schema::<I>())
        .with_title(title)
        .with_raw_output_schema(output_schema::<O>())
        .with_annotations(hints)
}

/// A schema with everything in its place: some clients do not follow references.
fn schema<T: JsonSchema>() -> Arc<JsonObject> {
    let settings = schema_settings().with(|settings| settings.inline_subschemas = true);
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let mut object = schema.to_value().as_object().cloned().unwrap_or_default();
    object.remove("title");
    // An object without fields has to say that it is one.
    object.entry("properties").or_insert_with(|| json!({}));
    Arc::new(object)
}

/// The schema of an answer. Some clients hold refusals against it, too, so it has room for them.
fn output_schema<T: JsonSchema>() -> Arc<JsonObject> {
    let mut object = JsonObject::clone(&schema::<T>());
    let required = object.remove("required").unwrap_or_else(|| json!([]));
    if let Some(properties) = object.get_mut("properties").and_then(Value::as_object_mut) {
        let what = "What went wrong and what to do; only in a refusal.";
        properties.insert("error".to_owned(), json!({ "type": "string", "description": what }));
    }
    let either = json!([{ "required": required }, { "required": ["error"] }]);
    object.insert("anyOf".to_owned(), either);
    Arc::new(object)
}

/// Calls a tool. What goes wrong is an answer that the client's model can read.
pub(super) async fn call(
    app: &App,
    caller: &Principal,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    if !all().iter().any(|tool| tool.name == request.name) {
        let name: String = request.name.chars().filter(|c| !c.is_control()).take(64).collect();
        return Err(ErrorData::invalid_params(format!("Unknown tool: {name}"), None));
    }
    let calling = Calling { app, caller, context, watch: &Progress::of(context) };
    Ok(match calling.answer(request).await {
        Ok(response) => response,
        Err(problem) => refused(&problem).into(),
    })
}

/// A call, and whoever made it.
struct Calling<'a> {
    app: &'a App,
    caller: &'a Principal,
    context: &'a RequestContext<RoleServer>,
    watch: &'a Progress,
}

impl Calling<'_> {
    async fn answer(&self, request: CallToolRequestParams) -> Result<CallToolResponse, Problem> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        check(&arguments)?;
        let by = By { caller: Caller::mcp(self.app), watch: self.watch, at_once: false };
        let Some(state) = request.request_state else {
            let headers = self.context.extensions.get::<Parts>().map(|parts| &parts.headers);
            let name = &request.name;
            let answer = dispatch(self.app, self.caller, name, arguments, headers, by).await?;
            return self.put_to_person(answer, BTreeSet::new()).await;
        };
        // The call comes again with what the person decided. It is not carried out again: the round
        // that it asked for waits.
        let waiting = Waiting::read(&state).ok_or_else(|| {
            Problem::bad_request(
                "invalid",
                "Invalid requestState; send the one from the previous response",
            )
        })?;
        let session = self.session(&waiting).await?;
        let pending = session.pending().await?;
        let responses = request.input_responses.unwrap_or_default();
        let decided = elicit::decisions(&pending, &responses);
        let asked = responses.keys().filter_map(|id| id.parse().ok()).collect();
        let answer = self.continue_with(&waiting, decided).await?;
        self.put_to_person(answer, asked).await
    }

    /// Has the person asked for the decisions that an answer waits for, where the client can do that.
    async fn put_to_person(
        &self,
        mut answer: Value,
        mut asked: BTreeSet<ContextRequestId>,
    ) -> Result<CallToolResponse, Problem> {
        let by_person = Caller::mcp(self.app) == Caller::ModelForPerson;
        let Some(way) = Way::of(self.context).filter(|_| by_person) else {
            return Ok(done(answer).into());
        };
        while let Some(waiting) = Waiting::of(&answer) {
            let pending = self.session(&waiting).await?.pending().await?;
            let open = elicit::undecided(pending, &asked);
            let Some(request) = open.first() else { break };
            if way == Way::InputRequired {
                let required = elicit::input_required(&waiting, &open);
                return Ok(required.map_or_else(|| done(answer).into(), Into::into));
            }
            asked.insert(request.id.clone());
            let Some(decided) = elicit::ask(self.context, request, self.watch).await else {
                break;
            };
            answer = self.continue_with(&waiting, vec![decided]).await?;
        }
        Ok(done(answer).into())
    }

    /// Records what a person decided, and waits on for the round.
    async fn continue_with(
        &self,
        waiting: &Waiting,
        decided: Vec<ContextResult>,
    ) -> Result<Value, Problem> {
        let warnings = match decided.is_empty() {
            true => Vec::new(),
            false => self.session(waiting).await?.provide(decided).await?.warnings,
        };
        let session = self.authorized(waiting).await?;
        let after_round = Some(waiting.round_number.saturating_sub(1));
        let asked = GoOn { after_round, ..GoOn::default() };
        let by = By { caller: Caller::mcp(self.app), watch: self.watch, at_once: false };
        let mut answer = debate::go_on(self.app, &session, asked, None, by).await?;
        answer.warnings.extend(warnings);
        value(answer)
    }

    async fn authorized(&self, waiting: &Waiting) -> Result<Authorized<SessionId>, Problem> {
        self.app.sessions.authorize(self.caller, Action::Change, &waiting.session_id).await
    }

    async fn session(&self, waiting: &Waiting) -> Result<Session, Problem> {
        Ok(self.app.sessions.get(&self.authorized(waiting).await?))
    }
}

async fn dispatch(
    app: &App,
    caller: &Principal,
    name: &str,
    given: Value,
    headers: Option<&HeaderMap>,
    by: By<'_>,
) -> Result<Value, Problem> {
    let read = |id: String| async move { app.sessions.authorize(caller, Action::Read, &id).await };
    let change =
        |id: String| async move { app.sessions.authorize(caller, Action::Change, &id).await };
    let arguments = Arguments { app, tool: name, value: given, headers };
    match name {
        "start_roundtable" => {
            let (asked, key) = arguments.keyed()?;
            value(debate::start(app, caller, asked, key, by).await?)
        }
        "continue_roundtable" => {
            let (About { session_id, asked }, key) = arguments.about()?;
            value(debate::go_on(app, &change(session_id).await?, asked, key, by).await?)
        }
        "synthesize_debate" => {
            let (About { session_id, asked: SumUp { synthesizer } }, key) = arguments.about()?;
            let session = change(session_id).await?;
            value(debate::synthesize(app, &session, synthesizer.as_deref(), key).await?)
        }
        "control_session" => {
            let (About { session_id, asked: Told { action } }, key) = arguments.about()?;
            value(debate::control(app, &change(session_id).await?, action, key).await?)
        }
        "get_consensus" => {
            let OfRound { session_id, round_number } = arguments.read()?;
            value(debate::consensus(app, &read(session_id).await?, round_number).await?)
        }
        "get_agents" => {
            let JsonNothing {} = arguments.read()?;
            value(debate::agents(app))
        }
        "list_sessions" => value(debate::list(app, caller, arguments.read()?).await?),
        "get_thoughts" => {
            let OfAgent { session_id, agent_id } = arguments.read()?;
            value(debate::thoughts(app, &read(session_id).await?, &agent_id).await?)
        }
        "export_session" => {
            let Export { session_id, format } = arguments.read()?;
            value(debate::export(app, &read(session_id).await?, format).await?)
        }
        "get_round_details" => {
            let OfCertainRound { session_id, round_number } = arguments.read()?;
            value(debate::round(app, &read(session_id).await?, round_number).await?)
        }
        "get_response_detail" => {
            let OfResponses { session_id, agent_id, round_number } = arguments.read()?;
            value(debate::responses(app, &read(session_id).await?, &agent_id, round_number).await?)
        }
        _ => {
            let OfCitations { session_id, round_number, agent_id } = arguments.read()?;
            let session = read(session_id).await?;
            value(debate::citations(app, &session, round_number, agent_id.as_deref()).await?)
        }
    }
}

/// Refuses arguments that could not be stored.
fn check(arguments: &Value) -> Result<(), Problem> {
    roundtable::core::json::check(arguments).map_err(|error| {
        Problem::bad_request("json", format!("the arguments are {error}; send flatter ones"))
    })?;
    if is_plain(arguments) {
        return Ok(());
    }
    Err(Problem::bad_request("json", "a text has a NUL character in it; send it without"))
}

/// Whether every text in a value is one that everything can store.
fn is_plain(value: &Value) -> bool {
    match value {
        Value::String(text) => !text.contains('\0'),
        Value::Array(values) => values.iter().all(is_plain),
        Value::Object(object) => {
            object.iter().all(|(key, value)| !key.contains('\0') && is_plain(value))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    }
}

/// Reads the arguments of a tool.
struct Arguments<'a> {
    app: &'a App,
    tool: &'a str,
    value: Value,
    headers: Option<&'a HeaderMap>,
}

impl Arguments<'_> {
    /// The input of a tool that has something done, and its key: in a field, or in the header of the request.
    fn keyed<T: Input>(&self) -> Result<(T, Option<Key>), Problem> {
        Ok((self.read()?, Key::of::<T>(self.headers, &self.value)?))
    }

    /// The same for a tool that is about a debate.
    fn about<T: Input>(&self) -> Result<(About<T>, Option<Key>), Problem> {
        Ok((self.read()?, Key::of::<T>(self.headers, &self.value)?))
    }

    fn read<T: DeserializeOwned + JsonSchema + 'static>(&self) -> Result<T, Problem> {
        self.app.schemas.read(&self.value).map_err(|Misfit { reason, what }| {
            Problem::bad_request(reason, format!("{}: {what}; see its input schema", self.tool))
        })
    }
}

fn value(answer: impl Serialize) -> Result<Value, Problem> {
    serde_json::to_value(answer).map_err(|error| {
        let status = ::http::StatusCode::INTERNAL_SERVER_ERROR;
        Problem::new(status, "internal", format!("the answer cannot be written: {error}"))
    })
}

/// The answer as data, and the same as text for clients that only read text.
fn done(value: Value) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(value.to_string())]);
    result.structured_content = Some(value);
    result
}

fn refused(problem: &Problem) -> CallToolResult {
    let error = &problem.body.error;
    let mut result = CallToolResult::error(vec![ContentBlock::text(error.clone())]);
    result.structured_content = Some(json!({ "error": error }));
    result
}
