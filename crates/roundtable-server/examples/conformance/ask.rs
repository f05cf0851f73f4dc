//! Tools that ask the client while they run, in the older era of the protocol, and tools that log.

use std::time::Duration;

use rmcp::model::{
    CallToolResult, ContentBlock, JsonObject, LoggingLevel, LoggingMessageNotificationParam,
    ProgressNotificationParam, ServerRequest,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};

/// The tools.
pub const TOOLS: [&str; 7] = [
    "test_sampling",
    "test_elicitation",
    "test_elicitation_sep1034_defaults",
    "test_elicitation_sep1330_enums",
    "test_tool_with_logging",
    "test_logging_tool",
    "test_tool_with_progress",
];

/// Those that ask.
pub const NEED_A_SESSION: [&str; 4] = [TOOLS[0], TOOLS[1], TOOLS[2], TOOLS[3]];

type Context = RequestContext<RoleServer>;

/// Calls one of the tools.
pub async fn call(
    name: &str,
    arguments: &JsonObject,
    context: &Context,
) -> Result<CallToolResult, ErrorData> {
    let text = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
    let said = match name {
        "test_sampling" => sample(context, text("prompt")).await?,
        "test_elicitation" => {
            let answer = elicit(context, text("message"), &person()).await?;
            format!("User response: {answer}")
        }
        "test_elicitation_sep1034_defaults" => {
            let answer = elicit(context, "Please check your data", &defaults()).await?;
            format!("Elicitation completed: {answer}")
        }
        "test_elicitation_sep1330_enums" => {
            let answer = elicit(context, "Please choose", &choices()).await?;
            format!("Elicitation completed: {answer}")
        }
        "test_tool_with_logging" => {
            let steps =
                ["Tool execution started", "Tool processing data", "Tool execution completed"];
            for step in steps {
                log(context, LoggingLevel::Info, step).await;
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            "logged".to_owned()
        }
        // Where a request says what it wants to hear, it hears nothing if it says nothing.
        "test_logging_tool" => {
            if let Some(level) = context.meta.log_level() {
                log(context, level, "as it was asked for").await;
            }
            "ok".to_owned()
        }
        _ => {
            progress(context).await;
            "done".to_owned()
        }
    };
    Ok(CallToolResult::success(vec![ContentBlock::text(said)]))
}

async fn sample(context: &Context, prompt: &str) -> Result<String, ErrorData> {
    let message = json!({ "role": "user", "content": { "type": "text", "text": prompt } });
    let params = json!({ "messages": [message], "maxTokens": 100 });
    let answer = ask(context, "sampling/createMessage", params).await?;
    Ok(format!("LLM response: {}", answer["content"]["text"]))
}

async fn elicit(context: &Context, message: &str, schema: &Value) -> Result<String, ErrorData> {
    let params = json!({ "mode": "form", "message": message, "requestedSchema": schema });
    let answer = ask(context, "elicitation/create", params).await?;
    let action = answer["action"].as_str().unwrap_or_default();
    Ok(format!("action={action}, content={}", answer["content"]))
}

/// Asks the client, and waits for its answer.
async fn ask(context: &Context, method: &str, params: Value) -> Result<Value, ErrorData> {
    let request = json!({ "method": method, "params": params });
    let request: ServerRequest = serde_json::from_value(request).unwrap();
    let answer = context.peer.send_request(request).await;
    let answer = answer.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    Ok(serde_json::to_value(answer).unwrap())
}

fn person() -> Value {
    json!({
        "type": "object",
        "properties": {
            "username": { "type": "string", "description": "User's response" },
            "email": { "type": "string", "description": "User's email address" },
        },
        "required": ["username", "email"],
    })
}

fn defaults() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "default": "John Doe" },
            "age": { "type": "integer", "default": 30 },
            "score": { "type": "number", "default": 95.5 },
            "status": { "type": "string", "enum": ["active", "inactive", "pending"], "default": "active" },
            "verified": { "type": "boolean", "default": true },
        },
    })
}

fn choices() -> Value {
    let titled = |what: &str| {
        let of = |(value, order): (&str, &str)| json!({ "const": value, "title": format!("{order} {what}") });
        [("value1", "First"), ("value2", "Second"), ("value3", "Third")].map(of)
    };
    let plain = ["option1", "option2", "option3"];
    json!({
        "type": "object",
        "properties": {
            "untitledSingle": { "type": "string", "enum": plain },
            "titledSingle": { "type": "string", "oneOf": titled("Option") },
            "legacyEnum": {
                "type": "string", "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": { "type": "array", "items": { "type": "string", "enum": plain } },
            "titledMulti": { "type": "array", "items": { "anyOf": titled("Choice") } },
        },
    })
}

async fn log(context: &Context, level: LoggingLevel, text: &str) {
    let message = LoggingMessageNotificationParam::new(level, json!(text));
    // Whoever does not listen any more misses nothing.
    let _ = context.peer.notify_logging_message(message).await;
}

async fn progress(context: &Context) {
    for done in [0.0, 50.0, 100.0] {
        if let Some(token) = context.meta.get_progress_token() {
            let mut progress = ProgressNotificationParam::new(token, done);
            progress.total = Some(100.0);
            let _ = context.peer.notify_progress(progress).await;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
