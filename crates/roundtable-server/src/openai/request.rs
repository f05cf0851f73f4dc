//! A request, read field by field. Fields that only tune a model are accepted and ignored; those that
//! would change what the answer means, and that nothing here carries out, are refused.

use roundtable::core::prompt::OutputSchema;
use roundtable::core::tool::ToolDecl;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::history::{self, History};
use super::tool;
use crate::problem::Problem;

/// How many characters the name of a model, an agent or a schema may have.
pub(super) const MAX_NAME: usize = 200;

/// How the answer is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StreamOptions {
    /// Whether a last chunk says what the answer took.
    pub include_usage: bool,
}

/// A request that makes sense.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CompletionRequest {
    pub model: String,
    pub history: History,
    /// The tools that the caller runs.
    pub tools: Vec<ToolDecl>,
    /// How many tokens one reply may have.
    pub max_tokens: Option<u32>,
    /// What the answer has to look like, when it is to be data.
    pub output: Option<OutputSchema>,
    /// Absent: as one JSON object.
    pub stream: Option<StreamOptions>,
}

impl CompletionRequest {
    pub fn read(mut fields: Map<String, Value>) -> Result<Self, Problem> {
        refuse_unsupported(&fields)?;
        let model: String = required(&mut fields, "model")?;
        let messages: Vec<Value> = required(&mut fields, "messages")?;
        let history = history::read(&messages)?;
        let tools: Vec<Value> = optional(&mut fields, "tools")?.unwrap_or_default();
        let choice: Option<Value> = optional(&mut fields, "tool_choice")?;
        let tools = tool::read(&tools, choice.as_ref())?;
        let limits = ["max_completion_tokens", "max_tokens"];
        let limits = limits.map(|name| optional::<u32>(&mut fields, name));
        let [preferred, older] = limits;
        let max_tokens = preferred?.or(older?);
        if max_tokens == Some(0) {
            return Err(invalid("max_completion_tokens", "must be at least 1"));
        }
        let format: Option<Value> = optional(&mut fields, "response_format")?;
        let stream = read_stream(&mut fields)?;
        let output = format.map(|format| read_format(&format)).transpose()?.flatten();
        Ok(Self { model, history, tools, max_tokens, output, stream })
    }
}

fn read_stream(fields: &mut Map<String, Value>) -> Result<Option<StreamOptions>, Problem> {
    #[derive(Default, Deserialize)]
    struct Options {
        #[serde(default)]
        include_usage: Option<bool>,
    }
    let streams = optional::<bool>(fields, "stream")? == Some(true);
    let options: Options = optional(fields, "stream_options")?.unwrap_or_default();
    let include_usage = options.include_usage == Some(true);
    Ok(streams.then_some(StreamOptions { include_usage }))
}

/// What the answer has to look like; nothing for prose.
fn read_format(format: &Value) -> Result<Option<OutputSchema>, Problem> {
    const FIELD: &str = "response_format";
    match format["type"].as_str() {
        Some("text") => Ok(None),
        Some("json_object") => Ok(Some(OutputSchema::new("answer", json!({ "type": "object" })))),
        Some("json_schema") => {
            let given = &format["json_schema"];
            let name = given["name"].as_str().unwrap_or("answer");
            if !is_name(name) {
                return Err(invalid(
                    FIELD,
                    "a schema name must have 1 to 64 letters, digits, _ and -",
                ));
            }
            match &given["schema"] {
                schema @ Value::Object(_) => Ok(Some(OutputSchema::new(name, schema.clone()))),
                _ => Err(invalid(FIELD, "json_schema needs a schema")),
            }
        }
        _ => Err(invalid(FIELD, "type must be text, json_object or json_schema")),
    }
}

/// Whether a text can name a tool or a schema, as OpenAI's names are.
pub(super) fn is_name(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// Whether a value of a field is refused.
type IsRefused = fn(&Value) -> bool;

/// Refuses what would change the meaning of the answer.
fn refuse_unsupported(fields: &Map<String, Value>) -> Result<(), Problem> {
    let given = |name: &str| fields.get(name).filter(|value| !value.is_null());
    let is_empty = |value: &Value| {
        value.as_array().is_some_and(Vec::is_empty)
            || value.as_object().is_some_and(Map::is_empty)
            || value.as_str().is_some_and(str::is_empty)
    };
    let refusals: [(&str, IsRefused, &str); 11] = [
        ("n", |n| *n != 1, "only one answer per request is supported; send n = 1"),
        ("logprobs", |it| *it != false, "log probabilities are not supported; send false"),
        ("top_logprobs", |it| *it != 0, "log probabilities are not supported; omit it"),
        ("logit_bias", |_| true, "agents have their own sampling settings; omit it"),
        ("stop", |_| true, "stop sequences are not supported; omit it"),
        ("audio", |_| true, "answers are text; omit it"),
        ("modalities", |it| *it != json!(["text"]), "answers are text; send [\"text\"]"),
        ("functions", |_| true, "use tools instead"),
        ("function_call", |_| true, "use tool_choice instead"),
        ("parallel_tool_calls", |it| *it == false, "agents may call several tools at once"),
        ("web_search_options", |_| true, "configure the tools of an agent instead"),
    ];
    for (name, is_refused, why) in refusals {
        if given(name).is_some_and(|value| !is_empty(value) && is_refused(value)) {
            return Err(unsupported(name, why));
        }
    }
    Ok(())
}

fn required<T: DeserializeOwned>(
    fields: &mut Map<String, Value>,
    name: &str,
) -> Result<T, Problem> {
    optional(fields, name)?.ok_or_else(|| {
        let what = format!("missing required field: {name}");
        Problem::bad_request("missing_required_parameter", what).with("param", name)
    })
}

fn optional<T: DeserializeOwned>(
    fields: &mut Map<String, Value>,
    name: &str,
) -> Result<Option<T>, Problem> {
    let given = fields.remove(name).filter(|value| !value.is_null());
    let read = given.map(|value| T::deserialize(value)).transpose();
    read.map_err(|error| invalid(name, &error.to_string()))
}

/// A field with a value that makes no sense.
pub(super) fn invalid(param: &str, why: &str) -> Problem {
    Problem::bad_request("invalid_value", format!("invalid {param}: {why}")).with("param", param)
}

/// A field that nothing here carries out.
pub(super) fn unsupported(param: &str, why: &str) -> Problem {
    let what = format!("{param} is not supported: {why}");
    Problem::bad_request("unsupported_parameter", what).with("param", param)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(more: &Value) -> Result<CompletionRequest, Problem> {
        let mut fields = json!({
            "model": "chat", "messages": [{ "role": "user", "content": "Hello" }],
        });
        let fields = fields.as_object_mut().unwrap();
        fields.extend(more.as_object().unwrap().clone());
        CompletionRequest::read(fields.clone())
    }

    #[test]
    fn what_only_tunes_a_model_is_accepted() {
        let tuned = json!({
            "temperature": 0.7, "top_p": 1, "seed": 7, "user": "ann", "presence_penalty": 0,
            "frequency_penalty": 0.5, "reasoning_effort": "low", "metadata": { "a": "b" },
            "store": false, "service_tier": "auto", "n": 1, "logprobs": false, "stop": null,
            "logit_bias": {}, "modalities": ["text"], "parallel_tool_calls": true, "x-own": [1],
        });
        assert_eq!(read(&tuned), read(&json!({})));
    }

    #[test]
    fn what_would_change_the_meaning_of_the_answer_is_refused_by_name() {
        let changes = [
            ("n", json!(2)),
            ("logprobs", json!(true)),
            ("top_logprobs", json!(3)),
            ("logit_bias", json!({ "50256": -100 })),
            ("stop", json!(["\n"])),
            ("audio", json!({ "voice": "alloy" })),
            ("modalities", json!(["text", "audio"])),
            ("functions", json!([{ "name": "f" }])),
            ("parallel_tool_calls", json!(false)),
        ];
        for (name, value) in changes {
            let problem = read(&json!({ (name): value })).unwrap_err();
            assert_eq!(problem.body.reason, "unsupported_parameter", "{name}");
            assert_eq!(problem.body.more["param"], name);
        }
    }

    #[test]
    fn a_field_of_another_type_is_named() {
        for (name, value) in [
            ("model", json!(1)),
            ("messages", json!("Hello")),
            ("messages", json!([])),
            ("stream", json!("yes")),
            ("tools", json!({})),
            ("tool_choice", json!("required")),
            ("max_tokens", json!(-1)),
            ("max_completion_tokens", json!(0)),
            ("response_format", json!({ "type": "xml" })),
            ("response_format", json!({ "type": "json_schema" })),
            ("stream_options", json!(true)),
        ] {
            let problem = read(&json!({ (name): value })).unwrap_err();
            assert_eq!((problem.status.as_u16(), &problem.body.more["param"]), (400, &json!(name)));
        }
        let missing = CompletionRequest::read(Map::new()).unwrap_err();
        assert_eq!(missing.body.more["param"], "model");
    }
}
