//! Operations as tools of the MCP server, and decisions on tool calls that go to the person.

use std::collections::BTreeSet;
use std::sync::Arc;

use ::http::request::Parts;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, JsonObject, Tool,
    ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use roundtable::core::document::ContextRequest;
use roundtable::core::id::ContextRequestId;
use serde_json::{Value, json};

use super::elicit::{self, Waiting, Way};
use super::progress::Progress;
use crate::app::App;
use crate::auth::Principal;
use crate::debate::Caller;
use crate::key;
use crate::openapi::schema_settings;
use crate::operation::{Call, Does, Operation, SESSION, Target, ToolText, Transport, Type};
use crate::operations;
use crate::problem::Problem;
use crate::schema::ID;
use crate::wire::ContextResult;

/// All tools: the operations that have one.
pub(crate) fn all() -> Vec<Tool> {
    operations::all().iter().filter_map(tool).collect()
}

fn tool(operation: &Operation) -> Option<Tool> {
    let ToolText { name, title, description } = operation.mcp?;
    let hints = ToolAnnotations::with_title(title);
    let hints = match operation.does {
        Does::Reads => hints.read_only(true).idempotent(true).open_world(false),
        Does::Adds => hints.read_only(false).destructive(false).idempotent(false).open_world(true),
        Does::Changes => {
            hints.read_only(false).destructive(true).idempotent(true).open_world(false)
        }
    };
    let tool = Tool::new(name, description, input_schema(operation)).with_title(title);
    let output = Arc::new(output_schema(operation));
    Some(tool.with_raw_output_schema(output).with_annotations(hints))
}

/// A schema with everything in its place: some clients do not follow references.
fn schema(of: Type) -> JsonObject {
    let settings = schema_settings().with(|settings| settings.inline_subschemas = true);
    let schema = (of.whole)(settings.into_generator());
    let mut object = schema.to_value().as_object().cloned().unwrap_or_default();
    object.remove("title");
    // An object without fields has to say that it is one.
    object.entry("properties").or_insert_with(|| json!({}));
    object
}

/// The schema of the arguments: the input of the operation, and the session that it is about.
fn input_schema(operation: &Operation) -> JsonObject {
    let mut object = schema(operation.input);
    if operation.target == Target::Session {
        let session = json!({ "type": "string", "maxLength": ID, "description": "The debate." });
        if let Some(Value::Object(properties)) = object.get_mut("properties") {
            properties.insert(SESSION.to_owned(), session);
        }
        if let Value::Array(required) = object.entry("required").or_insert_with(|| json!([])) {
            required.push(SESSION.into());
        }
    }
    object
}

/// The schema of an answer. Some clients hold refusals against it, too, so it has room for them.
fn output_schema(operation: &Operation) -> JsonObject {
    let mut object = schema(operation.output);
    let required = object.remove("required").unwrap_or_else(|| json!([]));
    if let Some(properties) = object.get_mut("properties").and_then(Value::as_object_mut) {
        let what = "Error message. Present only if the call was refused.";
        properties.insert("error".to_owned(), json!({ "type": "string", "description": what }));
    }
    let either = json!([{ "required": required }, { "required": ["error"] }]);
    object.insert("anyOf".to_owned(), either);
    object
}

/// Calls a tool. What goes wrong is an answer that the client's model can read.
pub(super) async fn call(
    app: &App,
    caller: &Principal,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let Ok(operation) = operations::find(Transport::Mcp, &request.name) else {
        let name: String = request.name.chars().filter(|c| !c.is_control()).take(64).collect();
        return Err(ErrorData::invalid_params(format!("Unknown tool: {name}"), None));
    };
    let calling = Calling { app, caller, context, watch: Arc::new(Progress::of(context)) };
    Ok(match calling.answer(operation, request).await {
        Ok(response) => response,
        Err(problem) => refused(&problem).into(),
    })
}

/// A call, and whoever made it.
struct Calling<'a> {
    app: &'a App,
    caller: &'a Principal,
    context: &'a RequestContext<RoleServer>,
    watch: Arc<Progress>,
}

impl Calling<'_> {
    async fn answer(
        &self,
        operation: &Operation,
        request: CallToolRequestParams,
    ) -> Result<CallToolResponse, Problem> {
        let Some(state) = request.request_state else {
            let headers = self.context.extensions.get::<Parts>().map(|parts| &parts.headers);
            let key = headers.and_then(key::header);
            let arguments = request.arguments.unwrap_or_default();
            let answer = self.run(operation, key, arguments).await?;
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
        let pending = self.pending(&waiting).await?;
        let responses = request.input_responses.unwrap_or_default();
        let decided = elicit::decisions(&pending, &responses);
        let asked = responses.keys().filter_map(|id| id.parse().ok()).collect();
        let answer = self.continue_with(&waiting, decided).await?;
        self.put_to_person(answer, asked).await
    }

    async fn run(
        &self,
        operation: &Operation,
        key: Option<String>,
        arguments: JsonObject,
    ) -> Result<Value, Problem> {
        let arguments = checked(arguments)?;
        let (app, by) = (self.app.clone(), Caller::mcp(self.app));
        let call = Call::new(app, self.caller.clone(), by, self.watch.clone());
        operation.call(call, operation.envelope(key, arguments)).await?.into_value()
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
            let pending = self.pending(&waiting).await?;
            let open = elicit::undecided(pending, &asked);
            let Some(request) = open.first() else { break };
            if way == Way::InputRequired {
                let required = elicit::input_required(&waiting, &open);
                return Ok(required.map_or_else(|| done(answer).into(), Into::into));
            }
            asked.insert(request.id.clone());
            let Some(decided) = elicit::ask(self.context, request, self.watch.as_ref()).await
            else {
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
        let mut warnings = Vec::new();
        if !decided.is_empty() {
            let fields = [("contextResults", json!(decided))];
            let mut provided = self.run_on(waiting, "provideContext", fields).await?;
            warnings.extend(
                provided["warnings"].as_array_mut().map(std::mem::take).unwrap_or_default(),
            );
        }
        let after_round = waiting.round_number.saturating_sub(1);
        let fields = [("afterRound", after_round.into())];
        let mut answer = self.run_on(waiting, "continueDebate", fields).await?;
        if !warnings.is_empty() {
            let mut all = answer["warnings"].as_array().cloned().unwrap_or_default();
            all.extend(warnings);
            answer["warnings"] = all.into();
        }
        Ok(answer)
    }

    /// What the session of a round still asks for.
    async fn pending(&self, waiting: &Waiting) -> Result<Vec<ContextRequest>, Problem> {
        let mut session = self.run_on(waiting, "getSession", []).await?;
        let pending = session["pendingContextRequests"].take();
        Ok(serde_json::from_value(pending).unwrap_or_default())
    }

    /// Calls an operation on the session of a round.
    async fn run_on<const N: usize>(
        &self,
        waiting: &Waiting,
        operation: &str,
        fields: [(&str, Value); N],
    ) -> Result<Value, Problem> {
        let operation = operations::find(Transport::Http, operation)?;
        let session = (SESSION.to_owned(), waiting.session_id.clone().into());
        let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value));
        self.run(operation, None, fields.chain([session]).collect()).await
    }
}

/// Refuses arguments that could not be stored.
fn checked(arguments: JsonObject) -> Result<JsonObject, Problem> {
    let arguments = Value::Object(arguments);
    roundtable::core::json::check(&arguments).map_err(|error| {
        Problem::bad_request("json", format!("the arguments are {error}; use fewer levels"))
    })?;
    match arguments {
        Value::Object(fields) if fields.iter().all(is_plain) => Ok(fields),
        _ => Err(Problem::bad_request("json", "a string contains a NUL character; remove it")),
    }
}

/// Whether every text in a field is one that everything can store.
fn is_plain((name, value): (&String, &Value)) -> bool {
    let is_plain_value = |value: &Value| is_plain((&String::new(), value));
    !name.contains('\0')
        && match value {
            Value::String(text) => !text.contains('\0'),
            Value::Array(values) => values.iter().all(is_plain_value),
            Value::Object(object) => object.iter().all(is_plain),
            Value::Null | Value::Bool(_) | Value::Number(_) => true,
        }
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
