//! What `roundtable.toml` can say. The types are the one description of it: the JSON Schema, the
//! refusal of unknown keys and what counts as a secret are all derived from them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use roundtable::core::budget::Limits;
use roundtable::models::Secret;
use roundtable_server::Quota;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

/// The whole file.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(default, deny_unknown_fields)]
#[schemars(title = "roundtable.toml")]
pub(crate) struct File {
    /// Where sessions are kept. Also ROUNDTABLE_DATA_DIR and --data-dir.
    #[schemars(with = "Option<String>")]
    pub data_dir: Option<PathBuf>,
    /// What counts where nothing else is said.
    pub defaults: Defaults,
    /// Vendors of models, by the name that models begin with: `openai`, `anthropic`, `ollama`, …
    pub providers: BTreeMap<String, Provider>,
    /// Models with a name of their own: a vendor's model with wishes, and what to ask when it fails.
    pub models: BTreeMap<String, ModelEntry>,
    /// The models that run in this process, without a vendor and a key.
    pub local: Local,
    /// Agents, by id.
    pub agents: BTreeMap<String, AgentEntry>,
    /// The team that answers chats, on every transport.
    pub team: TeamEntry,
    /// Built-in tools that are off unless they are switched on.
    pub tools: Tools,
    /// MCP servers whose tools agents can use, by name; a tool is called `server__tool`.
    pub mcp: BTreeMap<String, Mcp>,
    /// How `roundtable serve` and `roundtable mcp` answer.
    pub server: ServerEntry,
    /// What all callers of the server together may spend and hold.
    pub limits: LimitsEntry,
    /// Who may use the server, and as whom.
    pub token: Vec<Token>,
}

/// What counts where nothing else is said.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Defaults {
    /// The model: `vendor/model`, a vendor, or a name under `models`. Also ROUNDTABLE_MODEL and
    /// --model.
    pub model: Option<String>,
    /// The agent that `roundtable ask` asks. Also ROUNDTABLE_AGENT and --agent.
    pub agent: Option<String>,
    /// How many tokens one reply may have.
    #[schemars(range(min = 1, max = 100_000_000))]
    pub max_tokens: Option<u32>,
    /// How many model calls one turn may make.
    #[schemars(range(min = 1, max = 100_000_000))]
    pub max_iterations: Option<u32>,
    /// How often and how long models are asked again.
    pub retry: Retry,
    /// How long a model may take.
    pub timeouts: Timeouts,
}

/// A vendor of models.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Provider {
    /// The key. A variable is the better place for it: see key_env.
    #[schemars(schema_with = "secret")]
    pub key: Option<Secret>,
    /// The variable that holds the key, when it is not the vendor's usual one.
    pub key_env: Option<String>,
    /// How the key is sent, when it is not the vendor's usual way.
    pub auth: Option<Auth>,
    /// The address, when it is not the vendor's own.
    pub base_url: Option<String>,
    /// The model to use when only the vendor is named.
    pub model: Option<String>,
    /// Headers for every request: an account, or what a gateway wants. They count before those
    /// that are sent anyway.
    #[schemars(schema_with = "secrets")]
    pub headers: BTreeMap<String, Secret>,
    /// The address of a proxy.
    #[schemars(schema_with = "secret")]
    pub proxy: Option<Secret>,
    /// For a vendor that is not built in: the protocol it speaks.
    pub wire: Option<Wire>,
    /// For a vendor that is not built in: whether it works without a key.
    pub key_optional: bool,
    /// For a vendor that is not built in: where it departs from its protocol's ways.
    pub quirks: BTreeMap<String, serde_json::Value>,
}

/// How a key is sent.
#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Auth {
    Bearer,
    XApiKey,
    XGoogApiKey,
}

/// A protocol.
#[derive(Deserialize, JsonSchema, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Wire {
    OpenaiChat,
    OpenaiResponses,
    Anthropic,
    Gemini,
}

/// A model with a name of its own.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ModelEntry {
    /// Which: `vendor/model`, or a vendor.
    pub model: Option<String>,
    /// What is asked when it cannot answer, in order: `vendor/model`, a vendor, or a name under
    /// `models`.
    pub fallback: Vec<String>,
    /// How much it thinks before it speaks.
    pub effort: Option<Effort>,
    /// How freely it chooses its words.
    #[schemars(range(min = 0.0, max = 2.0))]
    pub temperature: Option<f64>,
    /// What it costs, where the catalog does not know, or knows an older price.
    pub price: Price,
}

/// What a model costs, in dollars for a million tokens. A limit of money can be held to only where
/// prices are known.
#[derive(Deserialize, JsonSchema, Clone, Copy, Default)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Price {
    /// Tokens of the prompt.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub input: Option<f64>,
    /// Tokens of the reply.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub output: Option<f64>,
    /// Tokens of the prompt that come from the provider's cache; as others if nothing is said.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub cached: Option<f64>,
}

/// The models that run in this process: `roundtable models fetch` gets their weights.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Local {
    /// Where the weights are; `models` in the data directory if nothing is said. Also
    /// ROUNDTABLE_MODELS_DIR.
    #[schemars(with = "Option<String>")]
    pub directory: Option<PathBuf>,
    /// A GGUF file of your own, to generate text with instead. Its content is not checked against
    /// the known one.
    #[schemars(with = "Option<String>")]
    pub model: Option<PathBuf>,
    /// A folder of your own with `model.safetensors` and `vocab.txt`, to embed text with instead.
    /// Its content is not checked against the known one.
    #[schemars(with = "Option<String>")]
    pub embedder: Option<PathBuf>,
}

/// How much a model thinks before it speaks.
#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Effort {
    Low,
    Medium,
    High,
}

/// How often and how long a model is asked again.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Retry {
    /// How often a request is made at most.
    #[schemars(range(min = 1, max = 100_000_000))]
    pub attempts: Option<u32>,
    /// How long the first wait is; each further one is twice as long.
    pub first_wait_ms: Option<u64>,
    /// The longest wait that is chosen here; a vendor may ask for a longer one.
    pub longest_wait_ms: Option<u64>,
    /// The time in which an answer has to begin, waits included.
    pub within_ms: Option<u64>,
}

/// How long a model may take.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Timeouts {
    /// To be reached.
    pub connect_ms: Option<u64>,
    /// To say the first thing.
    pub first_byte_ms: Option<u64>,
    /// Between two things that it says.
    pub idle_ms: Option<u64>,
    /// For the whole answer.
    pub total_ms: Option<u64>,
}

/// An agent.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct AgentEntry {
    /// Its name, as people read it; its id without one.
    pub name: Option<String>,
    /// Who it is: the instructions that its model gets.
    pub persona: Option<String>,
    /// Its model: `vendor/model`, a vendor, or a name under `models`.
    pub model: Option<String>,
    /// The tools that it may call: see `roundtable tools`.
    pub tools: Vec<String>,
    /// Whom it may delegate to.
    pub workers: Vec<String>,
    /// What it is good at, for those who may delegate to it; the first sentence of its persona if
    /// nothing is set.
    pub role: Option<String>,
    /// How many model calls one of its turns may make.
    #[schemars(range(min = 1, max = 100_000_000))]
    pub max_iterations: Option<u32>,
    /// How many tokens one reply may have.
    #[schemars(range(min = 1, max = 100_000_000))]
    pub max_tokens: Option<u32>,
    /// What one of its turns may spend.
    pub limits: Spending,
}

/// The team that answers chats. Without one, and without agents, a standard team answers.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Team")]
pub(crate) struct TeamEntry {
    /// The agent that answers messages that name nobody.
    pub supervisor: Option<String>,
    /// The agents that the supervisor may delegate to, besides its own workers.
    pub workers: Vec<String>,
    /// The agents that answer only messages that begin with `#` and their name.
    pub command_only: Vec<String>,
}

/// What may be spent. Absent means unlimited.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Spending {
    /// Model calls.
    pub calls: Option<u64>,
    /// Tokens, prompts and replies together.
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

/// Built-in tools that are off unless they are switched on.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Tools {
    /// Reads public web pages.
    pub fetch_url: FetchUrl,
}

/// The tool that reads public web pages.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct FetchUrl {
    /// Whether agents may name it.
    pub enabled: bool,
}

/// An MCP server: a program, or an address.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Mcp {
    /// The program to start.
    #[schemars(with = "Option<String>")]
    pub command: Option<PathBuf>,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its environment. Nothing else of ours is passed on.
    #[schemars(schema_with = "secrets")]
    pub env: BTreeMap<String, Secret>,
    /// Variables of our environment that are passed on.
    pub env_from: Vec<String>,
    /// Where it runs.
    #[schemars(with = "Option<String>")]
    pub directory: Option<PathBuf>,
    /// The address of a server that runs already.
    pub url: Option<String>,
    /// Headers for every request to it.
    #[schemars(schema_with = "secrets")]
    pub headers: BTreeMap<String, Secret>,
    /// The variable that holds the token that is sent to it.
    pub bearer_env: Option<String>,
    /// Which calls a person has to agree to.
    pub approval: Approval,
    /// How long a call may take.
    pub timeout_ms: Option<u64>,
    /// How long it may take to start.
    pub start_timeout_ms: Option<u64>,
}

/// Which calls of a server's tools a person has to agree to.
#[derive(Deserialize, JsonSchema, Default, Clone, Copy)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Approval {
    #[default]
    Effectful,
    Always,
    Never,
}

/// How `roundtable serve` and `roundtable mcp` answer.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Server")]
pub(crate) struct ServerEntry {
    /// Where `roundtable serve` listens: ADDRESS:PORT. Also ROUNDTABLE_LISTEN and --listen.
    pub listen: Option<String>,
    /// Names that the server answers to, besides localhost and addresses.
    pub hosts: Vec<String>,
    /// Origins of pages that may call it, besides its own: `https://app.example`.
    pub origins: Vec<String>,
    /// How long a call of an MCP client may take before it is told that the round is still running.
    /// Some clients give up after 30 seconds.
    #[schemars(range(min = 0, max = 3_600_000))]
    pub wait_budget_ms: Option<u64>,
    /// How long a stop waits for calls that are running before it cuts them off; 30 seconds if
    /// nothing is set.
    #[schemars(range(min = 0, max = 3_600_000))]
    pub drain_ms: Option<u64>,
    /// Who decides on tool calls that need approval, and on unknown outcomes, when an MCP client asks
    /// for rounds: person (asked by the client, at the terminal or over HTTP) or caller (also the
    /// calling model).
    pub approvals: Option<Approvals>,
}

/// Who decides on tool calls over MCP.
#[derive(Deserialize, JsonSchema, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Approvals {
    Person,
    Caller,
}

/// What callers of the server may spend and hold. Absent means unlimited. A day is a UTC day.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Limits")]
pub(crate) struct LimitsEntry {
    /// Model calls per day.
    pub calls_per_day: Option<u64>,
    /// Tokens per day, prompts and replies together.
    pub tokens_per_day: Option<u64>,
    /// Dollars per day. Models without a known price are refused then.
    #[schemars(range(min = 0.0))]
    pub dollars_per_day: Option<f64>,
    /// Rounds that run at once.
    pub running_rounds: Option<u64>,
    /// Sessions.
    pub sessions: Option<u64>,
    /// Bytes of stored events.
    pub stored_bytes: Option<u64>,
    /// Open event streams, in one process.
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

/// Who may use the server.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Token {
    /// The token. A variable is the better place for it: see value_env.
    #[schemars(schema_with = "secret")]
    pub value: Option<Secret>,
    /// The variable that holds the token.
    pub value_env: Option<String>,
    /// Who uses it.
    pub actor: Option<String>,
    /// For which tenant.
    pub tenant: Option<String>,
    /// What the sessions of this actor and tenant may spend and hold.
    pub limits: LimitsEntry,
}

/// What is never shown; JSON Schema's word for it is `writeOnly`.
fn secret(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "writeOnly": true })
}

fn secrets(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object", "additionalProperties": secret(generator) })
}
