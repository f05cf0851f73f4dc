//! What has to be known of a model to talk to it: data, read from the catalog.

use roundtable_ports::ModelRequest;
use serde::Deserialize;

use crate::price::PriceTable;
use crate::wire::Wire;

/// A model of a vendor.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// The vendor.
    pub vendor: String,
    /// The model, as the vendor names it.
    pub model: String,
    /// The protocol.
    pub wire: Wire,
    /// Where the vendor departs from its protocol's ways.
    pub quirks: Quirks,
    /// How many tokens a prompt and its reply may have together, where it is known.
    pub window: Option<u64>,
    /// How many tokens a reply may have at most, where it is known.
    pub max_output: Option<u32>,
    /// What it costs, where it is known.
    pub price: Option<PriceTable>,
    /// What its user wants of it.
    pub tuning: Tuning,
}

impl Profile {
    /// What its thoughts are marked with: only the model that had them can read them again.
    pub fn mark(&self) -> String {
        format!("{}/{}", self.wire.name(), self.model)
    }

    /// The temperature, if one is wanted and taken.
    pub fn temperature(&self) -> Option<f64> {
        self.tuning.temperature.filter(|_| self.quirks.temperature)
    }

    /// How many tokens the reply to a request may have: what is asked for, unless the model has
    /// less.
    pub fn reply_tokens(&self, request: &ModelRequest) -> u32 {
        request.max_tokens.min(self.max_output.unwrap_or(u32::MAX))
    }
}

/// What a user may want of a model. Nothing is sent for what is not set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tuning {
    /// How much it thinks before it speaks.
    pub effort: Option<Effort>,
    /// How freely it chooses its words.
    pub temperature: Option<f64>,
}

/// How much a model thinks before it speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
}

impl Effort {
    /// The word that vendors have for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }

    /// How many tokens it stands for, where a vendor wants a number.
    pub fn tokens(self) -> u32 {
        match self {
            Self::Low => 1_024,
            Self::Medium => 4_096,
            Self::High => 16_384,
        }
    }
}

/// Where a vendor departs from its protocol's ways. The defaults are the protocol's.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Quirks {
    /// The name of the field that limits the reply (chat).
    pub max_tokens_field: String,
    /// Whether it has tools.
    pub tools: bool,
    /// Whether several tool calls may come in one reply; sent only where the vendor asks for it.
    pub parallel_tools: Option<bool>,
    /// The word for "use at least one tool" (chat).
    pub required_word: String,
    /// Whether it can be made to use a tool; otherwise it uses them as it likes.
    pub forced_tools: bool,
    /// Whether it takes a temperature; otherwise none is sent.
    pub temperature: bool,
    /// Whether it sees pictures.
    pub images: bool,
    /// How a reply is held to a schema.
    pub output: OutputMode,
    /// Whether a schema for the reply and tools go together.
    pub output_with_tools: bool,
    /// Whether usage has to be asked for in streams (chat).
    pub stream_usage: bool,
    /// What instructions that come late are sent as.
    pub late_system: LateSystem,
    /// Whether messages of one speaker in a row have to be one message.
    pub alternate: bool,
    /// The fields that thoughts come in (chat).
    pub reasoning_fields: Vec<String>,
    /// The field that thoughts go back in beside tool calls (chat); none when they do not.
    pub reasoning_back: Option<String>,
    /// Whether that field has to be there beside every tool call, even without a thought (chat).
    pub reasoning_back_required: bool,
    /// Whether thoughts can be asked for in a form that goes back (responses).
    pub encrypted_reasoning: bool,
    /// Whether every tool call has to bring its signature back (Gemini).
    pub signatures: bool,
    /// How the wish to think is spelled.
    pub effort: EffortStyle,
    /// What ids of tool calls have to look like.
    pub tool_ids: ToolIds,
    /// Whether requests that share a beginning may say so with a key.
    pub cache_key: bool,
    /// Whether the end of the shared part is marked.
    pub cache_breakpoints: bool,
}

impl Default for Quirks {
    fn default() -> Self {
        Self {
            max_tokens_field: "max_tokens".to_owned(),
            tools: true,
            parallel_tools: None,
            required_word: "required".to_owned(),
            forced_tools: true,
            temperature: true,
            images: true,
            output: OutputMode::Schema,
            output_with_tools: true,
            stream_usage: true,
            late_system: LateSystem::System,
            alternate: false,
            reasoning_fields: vec!["reasoning_content".to_owned(), "reasoning".to_owned()],
            reasoning_back: None,
            reasoning_back_required: false,
            encrypted_reasoning: false,
            signatures: false,
            effort: EffortStyle::None,
            tool_ids: ToolIds::Ours,
            cache_key: false,
            cache_breakpoints: false,
        }
    }
}

/// How a reply is held to a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputMode {
    /// The vendor does it.
    Schema,
    /// The reply is the argument of a tool that has to be called.
    Tool,
    /// The model is told, and what it says is parsed.
    Instruction,
}

/// What instructions that come after the first messages are sent as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LateSystem {
    /// As instructions.
    System,
    /// As something said to the model, marked as instructions.
    User,
}

/// How the wish to think is spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffortStyle {
    /// Not at all.
    None,
    /// As a word.
    Word,
    /// As a word, with thinking left to the model (Anthropic).
    Adaptive,
    /// As a number of tokens.
    Budget,
}

/// What ids of tool calls have to look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolIds {
    /// Like ours.
    Ours,
    /// Nine letters and digits.
    Nine,
}
