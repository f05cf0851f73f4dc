//! What agents can do: typed tools that people write, and their erased twins that are stored.

use std::future::Future;
use std::time::Duration;

use futures_util::future::BoxFuture;
use roundtable_core::tool::{Effect, ToolDecl, ToolResult};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::tool_context::ToolContext;

/// An error in a handler. Anything with a text becomes a failure with `?`; the model receives the
/// text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolError {
    /// It was not done.
    Failed(String),
    /// It was begun, and whether it was done cannot be told. If the tool is effectful, a person is
    /// asked; it is neither guessed nor repeated.
    Unknown(String),
}

impl ToolError {
    /// What happened, in words.
    pub fn message(&self) -> &str {
        match self {
            Self::Failed(message) | Self::Unknown(message) => message,
        }
    }
}

impl<E: std::fmt::Display> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self::Failed(error.to_string())
    }
}

/// A tool: a name, typed parameters, and a handler that is given the context of its call.
///
/// ```
/// use roundtable_core::tool::{Effect, ToolResult};
/// use roundtable_ports::{Tool, ToolContext, ToolError};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Add { a: i64, b: i64 }
///
/// struct Adder;
///
/// impl Tool for Adder {
///     type Params = Add;
///     fn name(&self) -> &str { "add" }
///     fn description(&self) -> &str { "Adds two numbers." }
///     fn effect(&self) -> Effect { Effect::Pure }
///     async fn run(&self, params: Add, _context: &ToolContext) -> Result<ToolResult, ToolError> {
///         Ok(ToolResult::ok((params.a + params.b).to_string()))
///     }
/// }
/// ```
///
/// A handler that does not take the context is not a tool (R002-3): it does not compile,
///
/// ```compile_fail,E0050
/// # use roundtable_core::tool::{Effect, ToolResult};
/// # use roundtable_ports::{Tool, ToolContext, ToolError};
/// # #[derive(serde::Deserialize, schemars::JsonSchema)]
/// # struct Add { a: i64, b: i64 }
/// struct Forgetful;
///
/// impl Tool for Forgetful {
///     type Params = Add;
///     fn name(&self) -> &str { "add" }
///     fn description(&self) -> &str { "Adds two numbers." }
///     fn effect(&self) -> Effect { Effect::Pure }
///     async fn run(&self, params: Add) -> Result<ToolResult, ToolError> {
///         Ok(ToolResult::ok((params.a + params.b).to_string()))
///     }
/// }
/// ```
///
/// and nobody can call one without: there is no default to fall back on.
///
/// ```compile_fail,E0061
/// # use roundtable_ports::DynTool;
/// async fn run(tool: &dyn DynTool) {
///     let _ = tool.run_json(serde_json::json!({})).await;
/// }
/// ```
///
/// With the context, the same call compiles.
///
/// ```
/// # use roundtable_ports::{DynTool, ToolContext};
/// async fn run(tool: &dyn DynTool, context: &ToolContext) {
///     let _ = tool.run_json(serde_json::json!({}), context).await;
/// }
/// ```
pub trait Tool: Send + Sync + 'static {
    /// What the model has to say to call it.
    type Params: DeserializeOwned + JsonSchema + Send;

    /// The name that the model uses.
    fn name(&self) -> &str;

    /// What it does, for the model.
    fn description(&self) -> &str;

    /// What repeating a call would do.
    fn effect(&self) -> Effect;

    /// How long a call may take.
    fn timeout(&self) -> Duration {
        Duration::from_secs(60)
    }

    /// Carries a call out. Its result is its only way to have an effect on the session.
    fn run(
        &self,
        params: Self::Params,
        context: &ToolContext,
    ) -> impl Future<Output = Result<ToolResult, ToolError>> + Send;
}

/// The description of a tool that models receive.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The JSON Schema of its parameters.
    pub schema: Value,
    /// What repeating a call would do.
    pub effect: Effect,
    /// How long a call may take.
    pub timeout: Duration,
}

impl ToolSpec {
    /// How many bytes the description adds to a prompt.
    pub fn prompt_bytes(&self) -> u64 {
        (self.name.len() + self.description.len() + self.schema.to_string().len()) as u64
    }

    /// The tool as a session records it.
    pub fn declare(&self) -> ToolDecl {
        ToolDecl { prompt_bytes: self.prompt_bytes(), ..ToolDecl::handler(&self.name, self.effect) }
    }
}

/// A tool whose parameters are JSON: every [`Tool`] is one.
pub trait DynTool: Send + Sync {
    /// The description that models receive.
    fn spec(&self) -> ToolSpec;

    /// The declaration that a session records. A tool that needs a person's approval declares it
    /// here.
    fn declare(&self) -> ToolDecl {
        self.spec().declare()
    }

    /// Carries a call out.
    fn run_json<'a>(
        &'a self,
        arguments: Value,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>>;
}

impl<T: Tool> DynTool for T {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: self.name().to_owned(),
            description: self.description().to_owned(),
            schema: schemars::schema_for!(T::Params).to_value(),
            effect: self.effect(),
            timeout: self.timeout(),
        }
    }

    fn run_json<'a>(
        &'a self,
        arguments: Value,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async move {
            let params = serde_json::from_value(arguments)?;
            self.run(params, context).await
        })
    }
}
