//! A tool of a server, as the engine runs it.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use rmcp::model::{CallToolRequestParams, CallToolResponse, JsonObject, RequestMetaObject};
use rmcp::service::ServiceError;
use roundtable_core::digest::Digest;
use roundtable_core::tool::{ToolDecl, ToolResult};
use roundtable_ports::{DynTool, ToolContext, ToolError, ToolSpec};
use serde_json::Value;

use super::catalog::name_here;
use super::connection::{Connection, was_turned_away};
use super::pins::Pin;
use super::result::result;
use super::server::McpServer;
use super::source::SourceHandle;

/// The key under which a server is told the id of the tool call: the same in every attempt.
const CALL_ID: &str = "roundtable/toolCallId";
/// Callers that set no time limit of their own get an answer after the tool's limit and this.
const BACKSTOP: Duration = Duration::from_secs(5);

/// A tool of a server, as it was approved.
pub(super) struct McpTool {
    server: Arc<McpServer>,
    tool: String,
    digest: Digest,
    spec: ToolSpec,
    source: SourceHandle,
}

impl McpTool {
    pub fn new(server: Arc<McpServer>, tool: &str, pin: Pin, source: SourceHandle) -> Self {
        let spec = ToolSpec {
            name: name_here(&server.name, tool),
            description: pin.definition.description,
            schema: pin.definition.schema,
            effect: pin.definition.effect,
            timeout: server.timeout,
        };
        Self { server, tool: tool.to_owned(), digest: pin.digest, spec, source }
    }

    async fn call(&self, params: CallToolRequestParams) -> Result<ToolResult, ToolError> {
        let mut connection = self.source.lease(&self.tool, &self.digest).await?;
        let mut answer = self.ask(&connection, params.clone()).await;
        if answer.as_ref().is_err_and(was_turned_away) {
            connection.close();
            connection = self.source.lease(&self.tool, &self.digest).await?;
            answer = self.ask(&connection, params).await;
        }
        match answer {
            Ok(CallToolResponse::Complete(done)) => Ok(result(done, self.server.max_output)),
            Ok(_) => Err(self.says("it requires a feature that is not supported").into()),
            Err(ServiceError::McpError(error)) => Err(self.says(&error.message).into()),
            Err(error) => {
                // A connection that failed once is not trusted again.
                connection.close();
                Err(self.lost(&error))
            }
        }
    }

    /// Calls the tool. If nobody waits for the answer any more, the server is asked whether it is
    /// still there: one that hangs is ended.
    async fn ask(
        &self,
        connection: &Arc<Connection>,
        params: CallToolRequestParams,
    ) -> Result<CallToolResponse, ServiceError> {
        let mut waiting = Waiting { source: &self.source, connection: Some(connection) };
        let answer = connection.call(params).await;
        waiting.connection = None;
        answer
    }

    /// The call was sent, and the server went away before it answered: it may have happened, so
    /// "failed" would be a guess.
    fn lost(&self, error: &ServiceError) -> ToolError {
        let why = match error {
            ServiceError::TransportClosed => "it ended during the call".to_owned(),
            error => error.to_string(),
        };
        ToolError::Unknown(self.says(&why))
    }

    fn says(&self, what: &str) -> String {
        let what: String = what.chars().take(1000).collect();
        format!("the MCP server \"{}\": {what}", self.server.name)
    }
}

/// A call whose answer has not come. Dropped in this state, it was given up.
struct Waiting<'a> {
    source: &'a SourceHandle,
    connection: Option<&'a Arc<Connection>>,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if let Some(connection) = self.connection {
            self.source.suspect(connection.clone());
        }
    }
}

impl DynTool for McpTool {
    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    fn declare(&self) -> ToolDecl {
        let declared = self.spec.declare();
        if self.server.approval.is_needed(self.spec.effect) {
            declared.with_approval()
        } else {
            declared
        }
    }

    fn run_json<'a>(
        &'a self,
        arguments: Value,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async move {
            let arguments = match arguments {
                Value::Object(arguments) => arguments,
                Value::Null => JsonObject::new(),
                _ => return Err("the arguments must be an object".into()),
            };
            let mut params =
                CallToolRequestParams::new(self.tool.clone()).with_arguments(arguments);
            if let Some(call) = &context.scope.ids.place.tool_call {
                let id = Value::String(call.as_str().to_owned());
                params.meta = Some(RequestMetaObject::from(JsonObject::from_iter([(
                    CALL_ID.to_owned(),
                    id,
                )])));
            }
            let backstop = self.spec.timeout + BACKSTOP;
            tokio::select! {
                biased;
                () = context.scope.cancellation.cancelled() => Err("the call was cancelled".into()),
                answer = tokio::time::timeout(backstop, self.call(params)) => match answer {
                    Ok(answer) => answer,
                    Err(_) => Err(ToolError::Unknown(self.says("it did not answer in time"))),
                },
            }
        })
    }
}
