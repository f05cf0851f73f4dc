//! What `roundtable.toml` can say. The types are the one description of it: the JSON Schema, the
//! refusal of unknown keys and what counts as a secret are all derived from them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use roundtable::core::budget::Limits;
use roundtable::models::Secret;
use roundtable_server::Quota;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

/// Configuration of Roundtable.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(default, deny_unknown_fields)]
#[schemars(title = "roundtable.toml")]
pub(crate) struct File {
    /// Directory of the sessions. Also ROUNDTABLE_DATA_DIR and --data-dir.
    #[schemars(with = "Option<String>")]
    pub data_dir: Option<PathBuf>,
    /// Default settings.
    pub defaults: Defaults,
    /// Model vendors by name: `openai`, `anthropic`, `ollama`, … Models are `vendor/model`.
    pub providers: BTreeMap<String, Provider>,
    /// Named models: a vendor's model with settings and fallbacks.
    pub models: BTreeMap<String, ModelEntry>,
    /// Local models that run in this process without an API key.
    pub local: Local,
    /// Agents, by id.
    pub agents: BTreeMap<String, AgentEntry>,
    /// The team that answers chats, on every transport.
    pub team: TeamEntry,
    /// Built-in tools that are disabled by default.
    pub tools: Tools,
    /// MCP servers by name. Agents use their tools as `server__tool`.
    pub mcp: BTreeMap<String, Mcp>,
    /// Settings of `roundtable serve` and `roundtable mcp`.
    pub server: ServerEntry,
    /// Limits for all callers of the server together.
    pub limits: LimitsEntry,
    /// Access tokens of the server.
    pub token: Vec<Token>,
}

/// Default settings.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Defaults {
    /// Default model: `vendor/model`, a vendor, or a name under `models`. Also ROUNDTABLE_MODEL and
    /// --model.
    pub model: Option<String>,
    /// Default agent of `roundtable ask`. Also ROUNDTABLE_AGENT and --agent.
    pub agent: Option<String>,
    /// Maximum tokens per reply.
    #[schemars(range(min = 1, max = 100_000_000))]
    pub max_tokens: Option<u32>,
    /// Maximum model calls per turn.
    #[schemars(range(min = 1, max = 100_000_000))]
    pub max_iterations: Option<u32>,
    /// Retries of failed model calls.
    pub retry: Retry,
    /// Timeouts of model calls.
    pub timeouts: Timeouts,
}

/// A model vendor.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Provider {
    /// API key. Prefer an environment variable: see key_env.
    #[schemars(schema_with = "secret")]
    pub key: Option<Secret>,
    /// Environment variable with the API key. Default: the vendor's usual variable.
    pub key_env: Option<String>,
    /// How the key is sent. Default: the vendor's usual header.
    pub auth: Option<Auth>,
    /// Base URL. Default: the vendor's own.
    pub base_url: Option<String>,
    /// Default model of the vendor.
    pub model: Option<String>,
    /// Headers of every request, for example for a gateway. They override the default headers.
    #[schemars(schema_with = "secrets")]
    pub headers: BTreeMap<String, Secret>,
    /// URL of a proxy.
    #[schemars(schema_with = "secret")]
    pub proxy: Option<Secret>,
    /// Protocol of a custom vendor.
    pub wire: Option<Wire>,
    /// Whether a custom vendor works without a key.
    pub key_optional: bool,
    /// Differences of a custom vendor from its protocol.
    pub quirks: BTreeMap<String, serde_json::Value>,
}

/// Header that carries the API key.
#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Auth {
    Bearer,
    XApiKey,
    XGoogApiKey,
}

/// Wire protocol of a vendor.
#[derive(Deserialize, JsonSchema, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Wire {
    OpenaiChat,
    OpenaiResponses,
    Anthropic,
    Gemini,
}

/// A named model.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ModelEntry {
    /// The model: `vendor/model`, or a vendor.
    pub model: Option<String>,
    /// Models to try in order if it fails: `vendor/model`, a vendor, or a name under `models`.
    pub fallback: Vec<String>,
    /// Reasoning effort.
    pub effort: Option<Effort>,
    /// Sampling temperature.
    #[schemars(range(min = 0.0, max = 2.0))]
    pub temperature: Option<f64>,
    /// Price of the model. It overrides the catalog.
    pub price: Price,
}

/// Price in dollars per million tokens. Limits in dollars need known prices.
#[derive(Deserialize, JsonSchema, Clone, Copy, Default)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Price {
    /// Input tokens.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub input: Option<f64>,
    /// Output tokens.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub output: Option<f64>,
    /// Cached input tokens. Default: the price of input tokens.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub cached: Option<f64>,
}

/// Local models. `roundtable models fetch` downloads their weights.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Local {
    /// Directory of the weights. Default: `models` in the data directory. Also
    /// ROUNDTABLE_MODELS_DIR.
    #[schemars(with = "Option<String>")]
    pub directory: Option<PathBuf>,
    /// Path of your own GGUF file for text generation. Its digest is not checked.
    #[schemars(with = "Option<String>")]
    pub model: Option<PathBuf>,
    /// Directory with your own `model.safetensors` and `vocab.txt` for embeddings. Their digests
    /// are not checked.
    #[schemars(with = "Option<String>")]
    pub embedder: Option<PathBuf>,
}

/// Reasoning effort of a model.
#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Effort {
    Low,
    Medium,
    High,
}

/// Retries of failed model calls.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Retry {
    /// Maximum number of attempts.
    #[schemars(range(min = 1, max = 100_000_000))]
    pub attempts: Option<u32>,
    /// First delay. Each further delay is twice as long.
    pub first_wait_ms: Option<u64>,
    /// Maximum delay. A vendor can request a longer one.
    pub longest_wait_ms: Option<u64>,
    /// Maximum time until the response starts, including delays.
    pub within_ms: Option<u64>,
}

/// Timeouts of model calls.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Timeouts {
    /// Time to connect.
    pub connect_ms: Option<u64>,
    /// Time until the first byte.
    pub first_byte_ms: Option<u64>,
    /// Time between two chunks.
    pub idle_ms: Option<u64>,
    /// Time for the whole response.
    pub total_ms: Option<u64>,
}

/// An agent.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct AgentEntry {
    /// Display name. Default: the id.
    pub name: Option<String>,
    /// Instructions for the model.
    pub persona: Option<String>,
    /// Model of the agent: `vendor/model`, a vendor, or a name under `models`.
    pub model: Option<String>,
    /// Tools that the agent may call: see `roundtable tools`.
    pub tools: Vec<String>,
    /// Agents that this agent may delegate to.
    pub workers: Vec<String>,
    /// Skills of the agent, shown to agents that delegate to it. Default: the first sentence of its
    /// persona.
    pub role: Option<String>,
    /// Maximum model calls per turn of the agent.
    #[schemars(range(min = 1, max = 100_000_000))]
    pub max_iterations: Option<u32>,
    /// Maximum tokens per reply.
    #[schemars(range(min = 1, max = 100_000_000))]
    pub max_tokens: Option<u32>,
    /// Budget per turn of the agent.
    pub limits: Spending,
}

/// The team that answers chats. Default: a standard team.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Team")]
pub(crate) struct TeamEntry {
    /// The agent that answers messages by default.
    pub supervisor: Option<String>,
    /// Agents that the supervisor may delegate to, in addition to its own workers.
    pub workers: Vec<String>,
    /// Agents that answer only messages that start with `#` and their name.
    pub command_only: Vec<String>,
}

/// Budget. Absent limits are unlimited.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Spending {
    /// Model calls.
    pub calls: Option<u64>,
    /// Tokens of prompts and replies.
    pub tokens: Option<u64>,
    /// Dollars.
    #[schemars(range(min = 0.0))]
    pub dollars: Option<f64>,
    /// Milliseconds.
    pub time_ms: Option<u64>,
}

impl Spending {
    pub fn limits(&self) -> Limits {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative")]
        let cost = self.dollars.map(|dollars| (dollars.max(0.0) * 1e6).round() as u64);
        Limits { calls: self.calls, tokens: self.tokens, cost, time_ms: self.time_ms }
    }
}

/// Built-in tools that are disabled by default.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Tools {
    /// Tool that reads public web pages.
    pub fetch_url: FetchUrl,
}

/// The tool that reads public web pages.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct FetchUrl {
    /// Whether agents may use it.
    pub enabled: bool,
}

/// An MCP server: a program or a URL.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Mcp {
    /// The program to start.
    #[schemars(with = "Option<String>")]
    pub command: Option<PathBuf>,
    /// Arguments of the program.
    pub args: Vec<String>,
    /// Environment of the program. Other variables are not inherited.
    #[schemars(schema_with = "secrets")]
    pub env: BTreeMap<String, Secret>,
    /// Environment variables to inherit.
    pub env_from: Vec<String>,
    /// Working directory of the program.
    #[schemars(with = "Option<String>")]
    pub directory: Option<PathBuf>,
    /// URL of a running server.
    pub url: Option<String>,
    /// Headers of every request.
    #[schemars(schema_with = "secrets")]
    pub headers: BTreeMap<String, Secret>,
    /// Environment variable with the bearer token.
    pub bearer_env: Option<String>,
    /// Which calls need approval by a person.
    pub approval: Approval,
    /// Timeout of a call.
    pub timeout_ms: Option<u64>,
    /// Timeout of the start.
    pub start_timeout_ms: Option<u64>,
}

/// Which tool calls need approval by a person.
#[derive(Deserialize, JsonSchema, Default, Clone, Copy)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Approval {
    #[default]
    Effectful,
    Always,
    Never,
}

/// Settings of `roundtable serve` and `roundtable mcp`.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Server")]
pub(crate) struct ServerEntry {
    /// Listen address of `roundtable serve`: ADDRESS:PORT. Also ROUNDTABLE_LISTEN and --listen.
    pub listen: Option<String>,
    /// Allowed host names, in addition to localhost and IP addresses.
    pub hosts: Vec<String>,
    /// Allowed origins of other sites: `https://app.example`.
    pub origins: Vec<String>,
    /// Time after which a call returns with status running while the round continues. Some MCP
    /// clients time out after 30 seconds.
    #[schemars(range(min = 0, max = 3_600_000))]
    pub wait_budget_ms: Option<u64>,
    /// Time that a shutdown waits for running calls. Default: 30 seconds.
    #[schemars(range(min = 0, max = 3_600_000))]
    pub drain_ms: Option<u64>,
    /// Who decides on approvals and unknown outcomes over MCP: person (at the client, the terminal
    /// or over HTTP) or caller (also the calling model).
    pub approvals: Option<Approvals>,
}

/// Who decides on tool calls over MCP.
#[derive(Deserialize, JsonSchema, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Approvals {
    Person,
    Caller,
}

/// Limits of callers. Absent limits are unlimited. A day is a UTC day.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Limits")]
pub(crate) struct LimitsEntry {
    /// Model calls per day.
    pub calls_per_day: Option<u64>,
    /// Tokens of prompts and replies per day.
    pub tokens_per_day: Option<u64>,
    /// Dollars per day. Models without a known price are refused.
    #[schemars(range(min = 0.0))]
    pub dollars_per_day: Option<f64>,
    /// Concurrent rounds.
    pub running_rounds: Option<u64>,
    /// Number of sessions.
    pub sessions: Option<u64>,
    /// Bytes of stored events.
    pub stored_bytes: Option<u64>,
    /// Open event streams per process.
    pub streams: Option<u64>,
}

impl LimitsEntry {
    pub fn quota(&self) -> Quota {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative")]
        let cost = self.dollars_per_day.map(|dollars| (dollars.max(0.0) * 1e6).round() as u64);
        let (calls, tokens) = (self.calls_per_day, self.tokens_per_day);
        Quota {
            daily: Limits { calls, tokens, cost, time_ms: None },
            running_rounds: self.running_rounds,
            sessions: self.sessions,
            stored_bytes: self.stored_bytes,
            streams: self.streams,
        }
    }
}

/// An access token of the server.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Token {
    /// The token. Prefer an environment variable: see value_env.
    #[schemars(schema_with = "secret")]
    pub value: Option<Secret>,
    /// The variable that holds the token.
    pub value_env: Option<String>,
    /// Name of the user.
    pub actor: Option<String>,
    /// Tenant of the user.
    pub tenant: Option<String>,
    /// Limits of this actor and tenant.
    pub limits: LimitsEntry,
}

/// What is never shown; JSON Schema's word for it is `writeOnly`.
fn secret(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "writeOnly": true })
}

fn secrets(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object", "additionalProperties": secret(generator) })
}
