//! An operation: what it is called, what it takes and answers, and the function that does it.
//!
//! [`Operation::call`] is the only way to that function. It finds the session that a request names,
//! authorizes the caller, reads the input strictly, runs the function and writes the answer. Every
//! transport calls it, so none of them can forget a step.

mod describe;
mod http;
mod prefer;

use std::sync::Arc;
use std::time::Duration;

use ::http::{Method, StatusCode};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use roundtable::core::id::SessionId;
use schemars::generate::SchemaGenerator;
use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::app::App;
use crate::attachment::Download;
use crate::auth::Principal;
use crate::debate::{Caller, Watch};
use crate::export::Export;
use crate::key::Key;
use crate::openapi::{SchemaOf, schema_of};
use crate::problem::Problem;
use crate::schema::Misfit;
use crate::sessions::{Action, Authorized};

/// The field that names the session of an operation.
pub(crate) const SESSION: &str = "sessionId";

/// What an operation does to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Does {
    /// It reads.
    Reads,
    /// It adds to a session, with models.
    Adds,
    /// It changes what a session is, or which there are.
    Changes,
}

impl Does {
    fn action(self) -> Action {
        match self {
            Self::Reads => Action::Read,
            Self::Adds | Self::Changes => Action::Change,
        }
    }
}

/// What an operation is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// The caller's sessions as a whole, or the server.
    Nothing,
    /// One session, which the request names.
    Session,
}

/// How calls travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// A method and a path; see [`Operation::http`].
    Http,
    /// A tool of the MCP server.
    Mcp,
    /// A frame of a WebSocket.
    WebSocket,
    /// An event of Socket.IO.
    SocketIo,
}

/// An operation, for those who look at the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationInfo {
    /// Its name in the description of the HTTP API.
    pub name: &'static str,
    /// What it does.
    pub does: Does,
    /// Whether it is about one session, which the request names.
    pub on_session: bool,
    /// The fields of its input that a request has to have, the session aside.
    pub required: Vec<String>,
    /// Its HTTP endpoint.
    pub http: Option<(Method, &'static str)>,
    /// Its names on the other transports.
    pub names: Vec<(Transport, &'static str)>,
}

impl OperationInfo {
    pub(crate) fn of(operation: &Operation) -> Self {
        let named = [Transport::Mcp, Transport::WebSocket, Transport::SocketIo];
        let named = named.into_iter().filter_map(|it| Some((it, operation.name_on(it)?)));
        Self {
            name: operation.name,
            does: operation.does,
            on_session: operation.target == Target::Session,
            required: operation.required(),
            http: operation.http.as_ref().map(|it| (it.method.clone(), it.path)),
            names: named.collect(),
        }
    }
}

/// The HTTP endpoint of an operation.
#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    pub method: Method,
    pub path: &'static str,
    pub summary: &'static str,
}

/// The MCP tool of an operation. A model reads these texts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToolText {
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
}

/// The schema of a type, for the descriptions of both protocols.
#[derive(Clone, Copy)]
pub(crate) struct Type {
    /// As a reference into a document of schemas.
    pub within: SchemaOf,
    /// As a schema of its own.
    pub whole: fn(SchemaGenerator) -> Schema,
}

impl Type {
    fn of<T: JsonSchema>() -> Self {
        Self { within: schema_of::<T>(), whole: SchemaGenerator::into_root_schema_for::<T> }
    }
}

/// No parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Nothing {}

/// Who calls, and how: all that a function may know besides its input.
#[derive(Clone)]
pub(crate) struct Call {
    pub app: App,
    pub principal: Principal,
    /// How the call came.
    pub by: Caller,
    /// Who wants to know how it goes meanwhile.
    pub watch: Arc<dyn Watch>,
    /// The key of the request, if it has one.
    pub key: Option<Key>,
    /// Whether to answer as soon as the request is stored, without waiting for the result.
    pub at_once: bool,
}

/// A request, as a transport hands it over.
pub(crate) struct Envelope<F> {
    /// The idempotency key that the transport itself carries.
    pub key: Option<String>,
    /// What names the session.
    pub target: Option<Value>,
    /// The other fields. They are asked for after the caller was authorized.
    pub fields: F,
}

/// What an operation answers.
pub(crate) enum OperationAnswer {
    Json(Value),
    /// A text that may be too long to be held several times.
    Export(Export),
    /// The bytes of a file.
    Download(Download),
}

impl OperationAnswer {
    /// As one value, for callers that cannot read a stream.
    pub fn into_value(self) -> Result<Value, Problem> {
        match self {
            Self::Json(value) => Ok(value),
            Self::Export(export) => value(export.inline()?),
            Self::Download(download) => value(download),
        }
    }
}

type Answering = BoxFuture<'static, Result<OperationAnswer, Problem>>;
type Run = Box<dyn Fn(Call, Option<Authorized<SessionId>>, Value) -> Answering + Send + Sync>;

/// An operation: one row of the table.
pub(crate) struct Operation {
    /// Its name in the description of the HTTP API, and in the digests of idempotency keys.
    pub name: &'static str,
    pub does: Does,
    pub target: Target,
    pub http: Option<Endpoint>,
    pub mcp: Option<ToolText>,
    web_socket: Option<&'static str>,
    socket_io: Option<&'static str>,
    pub input: Type,
    pub output: Type,
    /// Whether the answer may come while its round is still running.
    pub waits: bool,
    /// Whether its body may have files in it.
    pub takes_files: bool,
    /// Whether its answer is the bytes of a file.
    pub downloads: bool,
    /// What else may go wrong, besides what may with every operation of its sort.
    pub problems: Vec<(u16, &'static str)>,
    run: Run,
}

impl Operation {
    /// An operation on one session.
    pub fn on_session<I, O, F>(
        name: &'static str,
        does: Does,
        run: fn(Call, Authorized<SessionId>, I) -> F,
    ) -> Self
    where
        I: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema,
        F: Future<Output = Result<O, Problem>> + Send + 'static,
    {
        let run: Run = Box::new(move |call, session, fields| {
            async move {
                let session = session.ok_or_else(|| Problem::no_session(""))?;
                let input = call.read(&fields)?;
                answer(run(call, session, input).await?)
            }
            .boxed()
        });
        Self::new::<I, O>(name, does, Target::Session, run)
    }

    /// An operation on no session in particular.
    pub fn on_nothing<I, O, F>(name: &'static str, does: Does, run: fn(Call, I) -> F) -> Self
    where
        I: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema,
        F: Future<Output = Result<O, Problem>> + Send + 'static,
    {
        let run: Run = Box::new(move |call, _, fields| {
            async move {
                let input = call.read(&fields)?;
                answer(run(call, input).await?)
            }
            .boxed()
        });
        Self::new::<I, O>(name, does, Target::Nothing, run)
    }

    /// An operation on one session whose answer is an export.
    pub fn export<I, O, F>(name: &'static str, run: fn(Call, Authorized<SessionId>, I) -> F) -> Self
    where
        I: DeserializeOwned + JsonSchema + Send + 'static,
        O: JsonSchema,
        F: Future<Output = Result<Export, Problem>> + Send + 'static,
    {
        let run: Run = Box::new(move |call, session, fields| {
            async move {
                let session = session.ok_or_else(|| Problem::no_session(""))?;
                let input = call.read(&fields)?;
                run(call, session, input).await.map(OperationAnswer::Export)
            }
            .boxed()
        });
        Self::new::<I, O>(name, Does::Reads, Target::Session, run)
    }

    /// An operation on one session whose answer is a file.
    pub fn download<I, F>(name: &'static str, run: fn(Call, Authorized<SessionId>, I) -> F) -> Self
    where
        I: DeserializeOwned + JsonSchema + Send + 'static,
        F: Future<Output = Result<Download, Problem>> + Send + 'static,
    {
        let run: Run = Box::new(move |call, session, fields| {
            async move {
                let session = session.ok_or_else(|| Problem::no_session(""))?;
                let input = call.read(&fields)?;
                run(call, session, input).await.map(OperationAnswer::Download)
            }
            .boxed()
        });
        let operation = Self::new::<I, Download>(name, Does::Reads, Target::Session, run);
        Self { downloads: true, ..operation }
    }

    fn new<I: JsonSchema, O: JsonSchema>(
        name: &'static str,
        does: Does,
        target: Target,
        run: Run,
    ) -> Self {
        Self {
            name,
            does,
            target,
            http: None,
            mcp: None,
            web_socket: None,
            socket_io: None,
            input: Type::of::<I>(),
            output: Type::of::<O>(),
            waits: false,
            takes_files: false,
            downloads: false,
            problems: Vec::new(),
            run,
        }
    }

    /// The same, reached over HTTP. Parts of the path are fields of the input, or `{sessionId}`.
    #[must_use]
    pub fn http(mut self, method: Method, path: &'static str, summary: &'static str) -> Self {
        self.http = Some(Endpoint { method, path, summary });
        self
    }

    /// The same, reached as a tool over MCP.
    #[must_use]
    pub fn mcp(
        mut self,
        name: &'static str,
        title: &'static str,
        description: &'static str,
    ) -> Self {
        self.mcp = Some(ToolText { name, title, description });
        self
    }

    /// The same, reached under this name over WebSocket and Socket.IO.
    #[must_use]
    pub fn frames(mut self, name: &'static str) -> Self {
        self.web_socket = Some(name);
        self.socket_io = Some(name);
        self
    }

    /// The same, where the body may have files in it.
    #[must_use]
    pub fn takes_files(mut self) -> Self {
        self.takes_files = true;
        self
    }

    /// The same, where this may go wrong as well.
    #[must_use]
    pub fn problem(mut self, status: u16, what: &'static str) -> Self {
        self.problems.push((status, what));
        self
    }

    /// The same, where an answer may come while the round is still running.
    #[must_use]
    pub fn waits(mut self) -> Self {
        self.waits = true;
        self
    }

    /// What it is called by those who call it by name.
    pub fn name_on(&self, transport: Transport) -> Option<&'static str> {
        match transport {
            Transport::Http => self.http.as_ref().map(|_| self.name),
            Transport::Mcp => self.mcp.map(|tool| tool.name),
            Transport::WebSocket => self.web_socket,
            Transport::SocketIo => self.socket_io,
        }
    }

    /// A request of a transport that names the session in a field.
    pub fn envelope(
        &self,
        key: Option<String>,
        mut fields: Map<String, Value>,
    ) -> Envelope<impl Future<Output = Result<Map<String, Value>, Problem>> + Send> {
        let target = match self.target {
            Target::Session => fields.remove(SESSION),
            Target::Nothing => None,
        };
        Envelope { key, target, fields: std::future::ready(Ok(fields)) }
    }

    /// Does it: finds the session, authorizes the caller, reads the input, runs, writes the answer.
    /// A refusal is worded for the caller's transport.
    pub async fn call<F>(
        &self,
        call: Call,
        envelope: Envelope<F>,
    ) -> Result<OperationAnswer, Problem>
    where
        F: Future<Output = Result<Map<String, Value>, Problem>> + Send,
    {
        let by = call.by;
        self.attempt(call, envelope).await.map_err(|problem| problem.for_caller(by))
    }

    async fn attempt<F>(
        &self,
        call: Call,
        envelope: Envelope<F>,
    ) -> Result<OperationAnswer, Problem>
    where
        F: Future<Output = Result<Map<String, Value>, Problem>> + Send,
    {
        let session = match self.target {
            Target::Nothing => None,
            Target::Session => {
                let id = named(envelope.target)?;
                let action = self.does.action();
                Some(call.app.sessions.authorize(&call.principal, action, &id).await?)
            }
        };
        let fields = envelope.fields.await?;
        let key = Key::of(self.name, envelope.key.as_deref(), &fields)?;
        (self.run)(Call { key, ..call }, session, Value::Object(fields)).await
    }
}

/// The id of the session that a request is about.
fn named(target: Option<Value>) -> Result<String, Problem> {
    match target {
        Some(Value::String(id)) => Ok(id),
        Some(_) => Err(Problem::bad_request("invalid", "sessionId must be a string")),
        None => Err(Problem::bad_request("invalid", "missing field `sessionId`")),
    }
}

impl Call {
    pub fn new(app: App, principal: Principal, by: Caller, watch: Arc<dyn Watch>) -> Self {
        Self { app, principal, by, watch, key: None, at_once: false }
    }

    /// How long the caller waits for a result.
    pub fn wait_budget(&self) -> Duration {
        if self.at_once { Duration::ZERO } else { self.app.limits.wait_budget }
    }

    fn read<I: DeserializeOwned + JsonSchema + 'static>(
        &self,
        fields: &Value,
    ) -> Result<I, Problem> {
        self.app.schemas.read(fields).map_err(|Misfit { reason, what }| {
            let hint = match self.by {
                Caller::Http | Caller::WebSocket => "GET /openapi.json describes the request",
                Caller::Model | Caller::ModelForPerson => "see the input schema of the tool",
            };
            Problem::bad_request(reason, format!("invalid input: {what}; {hint}"))
        })
    }
}

fn answer(answer: impl Serialize) -> Result<OperationAnswer, Problem> {
    value(answer).map(OperationAnswer::Json)
}

fn value(answer: impl Serialize) -> Result<Value, Problem> {
    serde_json::to_value(answer).map_err(|error| {
        let what = format!("the response cannot be serialized: {error}");
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", what)
    })
}
