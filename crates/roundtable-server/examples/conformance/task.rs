//! Tools that go on after their call was answered: the tasks of the newer era of the protocol.

use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ContentBlock,
    CreateTaskResult, InputRequest,
};
use rmcp::task_manager::{TaskContext, TaskExit, TaskFuture, TaskManager, TaskOptions};
use serde_json::Value;

use crate::input::{States, brought, question, required};

/// The tools.
pub const TOOLS: [&str; 7] = [
    "greet",
    "slow_compute",
    "failing_job",
    "protocol_error_job",
    "confirm_delete",
    "multi_input",
    "test_tool_with_task",
];

fn said(text: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}

/// Calls one of the tools.
pub async fn call(
    tasks: &TaskManager,
    states: &States,
    request: &CallToolRequestParams,
    client: Option<ClientCapabilities>,
) -> Result<CallToolResponse, ErrorData> {
    let arguments = request.arguments.clone().unwrap_or_default();
    let text = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
    if request.name == "greet" {
        return Ok(said(format!("Hello, {}!", text("name"))).into());
    }
    let seconds = arguments.get("seconds").and_then(Value::as_f64).unwrap_or_default();
    let takes = Duration::from_secs_f64(seconds.clamp(0.0, 60.0));
    if !client.is_some_and(|client| client.supports_tasks()) {
        // What can be answered at once is; the rest needs a client that comes back for it.
        if request.name == "slow_compute" {
            tokio::time::sleep(takes).await;
            return Ok(said("computed").into());
        }
        let wanted = ClientCapabilities::builder().enable_tasks().build();
        return Err(ErrorData::missing_required_client_capability(wanted));
    }
    let mut name = String::new();
    if request.name == "test_tool_with_task" {
        states.check(request.request_state.as_deref())?;
        match brought(request.input_responses.as_ref(), "user_name") {
            Some(answer) => name = answer["content"]["name"].to_string(),
            None => {
                let asked = question("What is your name?", "name", "string");
                let asked = serde_json::json!({ "user_name": asked });
                return Ok(required(asked, Some(states.issue("task"))).into());
            }
        }
    }
    let tool = request.name.to_string();
    let options = TaskOptions::new().with_poll_interval_ms(100);
    let task = tasks.spawn(options, move |context| work(tool, takes, name, context));
    Ok(CreateTaskResult::new(task).into())
}

fn work(tool: String, takes: Duration, name: String, context: TaskContext) -> TaskFuture {
    Box::pin(async move {
        match tool.as_str() {
            "failing_job" => Ok(CallToolResult::error(vec![ContentBlock::text("it failed")])),
            "protocol_error_job" => {
                Err(TaskExit::Error(ErrorData::internal_error("it broke", None)))
            }
            "confirm_delete" => {
                let answer = context.request_input("confirm", asks("Really?")).await?;
                Ok(said(format!("deleted: {}", answer["action"])))
            }
            "multi_input" => {
                let (one, two) = tokio::join!(
                    context.request_input("one", asks("First?")),
                    context.request_input("two", asks("Second?"))
                );
                Ok(said(format!("{} and {}", one?["action"], two?["action"])))
            }
            "test_tool_with_task" => Ok(said(format!("Hello, {name}!"))),
            _ => tokio::select! {
                () = tokio::time::sleep(takes) => Ok(said("computed")),
                () = context.cancelled() => Err(TaskExit::Cancelled),
            },
        }
    })
}

fn asks(message: &str) -> InputRequest {
    serde_json::from_value(question(message, "ok", "boolean")).unwrap()
}
