//! Tools and a prompt that need something of the client before they can answer, in the newer era of the
//! protocol: they say what, and the client asks again with it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ContentBlock,
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, InputRequests, InputRequiredResult,
    InputResponses, PromptMessage, Role,
};
use serde_json::{Value, json};

/// The tools.
pub const TOOLS: [&str; 9] = [
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
    "test_input_required_result_request_state",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_multi_round",
    "test_input_required_result_tampered_state",
    "test_input_required_result_capabilities",
    "test_streaming_elicitation",
];

/// The prompt.
pub const PROMPT: &str = "test_input_required_result_prompt";

/// The states that were given out. A state is a name for what is known here; one that is not among
/// them was made up or changed.
#[derive(Clone, Default)]
pub struct States(Arc<Mutex<BTreeSet<String>>>);

impl States {
    pub fn issue(&self, what: &str) -> String {
        let mut issued = self.0.lock().unwrap();
        let state = format!("{what}-{}", issued.len());
        issued.insert(state.clone());
        state
    }

    /// What a state that comes back stands for.
    pub fn check(&self, state: Option<&str>) -> Result<Option<String>, ErrorData> {
        let Some(state) = state else { return Ok(None) };
        if self.0.lock().unwrap().contains(state) {
            return Ok(state.rsplit_once('-').map(|(what, _)| what.to_owned()));
        }
        Err(ErrorData::invalid_params("requestState is none that this server gave out", None))
    }
}

/// A question to the person: its message, and the one field of the answer with its type.
pub fn question(message: &str, field: &str, kind: &str) -> Value {
    let schema = json!({
        "type": "object", "properties": { field: { "type": kind } }, "required": [field],
    });
    let params = json!({ "mode": "form", "message": message, "requestedSchema": schema });
    json!({ "method": "elicitation/create", "params": params })
}

fn sampling(text: &str) -> Value {
    let message = json!({ "role": "user", "content": { "type": "text", "text": text } });
    json!({ "method": "sampling/createMessage", "params": { "messages": [message], "maxTokens": 100 } })
}

fn roots() -> Value {
    json!({ "method": "roots/list", "params": {} })
}

pub fn required(requests: Value, state: Option<String>) -> InputRequiredResult {
    let requests: InputRequests = serde_json::from_value(requests).unwrap();
    InputRequiredResult::new(Some(requests), state)
}

/// What the client brought under a name, if it is an object.
pub fn brought<'a>(responses: Option<&'a InputResponses>, name: &str) -> Option<&'a Value> {
    responses?.get(name).filter(|value| value.is_object())
}

fn said(text: impl Into<String>) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(text)]).into()
}

/// Calls one of the tools.
pub fn call(
    states: &States,
    request: &CallToolRequestParams,
    client: Option<ClientCapabilities>,
) -> Result<CallToolResponse, ErrorData> {
    let responses = request.input_responses.as_ref();
    let known = states.check(request.request_state.as_deref())?;
    let name = request.name.strip_prefix("test_input_required_result_").unwrap_or(&request.name);
    let asked = match name {
        "elicitation" | "test_streaming_elicitation" => match brought(responses, "user_name") {
            Some(answer) => return Ok(said(format!("Hello, {}!", answer["content"]["name"]))),
            None => json!({ "user_name": question("What is your name?", "name", "string") }),
        },
        "sampling" => match brought(responses, "capital_question") {
            Some(answer) => return Ok(said(answer["content"].to_string())),
            None => json!({ "capital_question": sampling("What is the capital of France?") }),
        },
        "list_roots" => match brought(responses, "client_roots") {
            Some(answer) => return Ok(said(answer["roots"].to_string())),
            None => json!({ "client_roots": roots() }),
        },
        "capabilities" => capable(client.unwrap_or_default()),
        "multiple_inputs" if known.is_none() => json!({
            "user_name": question("What is your name?", "name", "string"),
            "greeting": sampling("Generate a greeting"),
            "client_roots": roots(),
        }),
        "multi_round" => return Ok(rounds(states, known.as_deref(), responses)),
        _ => match (known, brought(responses, "confirm").or(brought(responses, "greeting"))) {
            (Some(_), Some(_)) => return Ok(said("state-ok")),
            _ => json!({ "confirm": question("Please confirm", "ok", "boolean") }),
        },
    };
    let stateful = ["request_state", "multiple_inputs", "tampered_state"].contains(&name);
    Ok(required(asked, stateful.then(|| states.issue(name))).into())
}

/// One question after another, each with a state of its own.
fn rounds(
    states: &States,
    known: Option<&str>,
    responses: Option<&InputResponses>,
) -> CallToolResponse {
    let ask = |step: &str, message: &str, field: &str| {
        let asked = json!({ step: question(message, field, "string") });
        required(asked, Some(states.issue(step))).into()
    };
    match known {
        Some("step2") if brought(responses, "step2").is_some() => said("both steps are done"),
        Some("step1") if brought(responses, "step1").is_some() => {
            ask("step2", "Step 2: What is your favorite color?", "color")
        }
        _ => ask("step1", "Step 1: What is your name?", "name"),
    }
}

/// What a client says that it can answer, and nothing else.
fn capable(client: ClientCapabilities) -> Value {
    let mut asked = json!({});
    let client = serde_json::to_value(client).unwrap();
    if client.get("sampling").is_some() {
        asked["capital_question"] = sampling("What is the capital of France?");
    }
    if client.get("elicitation").is_some() {
        asked["user_name"] = question("What is your name?", "name", "string");
    }
    asked
}

/// The prompt that needs to know something first.
pub fn prompt(request: &GetPromptRequestParams) -> GetPromptResponse {
    match brought(request.input_responses.as_ref(), "user_context") {
        Some(answer) => {
            let text = format!("Use this context: {}", answer["content"]["context"]);
            GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).into()
        }
        None => {
            let message = "What context should the prompt use?";
            required(json!({ "user_context": question(message, "context", "string") }), None).into()
        }
    }
}
