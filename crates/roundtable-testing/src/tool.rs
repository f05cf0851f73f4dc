//! Tools whose handlers a test writes in place.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use roundtable_core::tool::{Effect, ToolDecl, ToolResult};
use roundtable_ports::{DynTool, ToolContext, ToolError, ToolSpec};
use serde_json::{Value, json};

/// What a handler promises to come to.
pub type Handled<'a> = BoxFuture<'a, Result<ToolResult, ToolError>>;

type Handler = dyn for<'a> Fn(Value, &'a ToolContext) -> Handled<'a> + Send + Sync;

/// A tool with a handler that a test writes in place; pure, of any object, and with a minute's time
/// unless the test says otherwise.
#[derive(Clone)]
pub struct FnTool {
    spec: ToolSpec,
    handler: Arc<Handler>,
}

impl FnTool {
    /// A tool with this name and handler.
    pub fn new<F>(name: &str, handler: F) -> Self
    where
        F: for<'a> Fn(Value, &'a ToolContext) -> Handled<'a> + Send + Sync + 'static,
    {
        let spec = ToolSpec {
            name: name.to_owned(),
            description: format!("{name}, for a test."),
            schema: json!({ "type": "object" }),
            effect: Effect::Pure,
            timeout: Duration::from_secs(60),
        };
        Self { spec, handler: Arc::new(handler) }
    }

    /// A tool that hands its arguments back as text.
    pub fn echo(name: &str) -> Self {
        Self::new(name, |arguments, _| {
            Box::pin(async move { Ok(ToolResult::ok(arguments.to_string())) })
        })
    }

    /// The same tool with another effect class.
    #[must_use]
    pub fn effect(mut self, effect: Effect) -> Self {
        self.spec.effect = effect;
        self
    }

    /// The same tool with another time limit.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.spec.timeout = timeout;
        self
    }

    /// The same tool with another schema.
    #[must_use]
    pub fn schema(mut self, schema: Value) -> Self {
        self.spec.schema = schema;
        self
    }

    /// The tool as an agent is given it.
    pub fn declare(&self) -> ToolDecl {
        self.spec.declare()
    }
}

impl DynTool for FnTool {
    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    fn run_json<'a>(&'a self, arguments: Value, context: &'a ToolContext) -> Handled<'a> {
        (self.handler)(arguments, context)
    }
}
