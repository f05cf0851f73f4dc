//! What a scripted model says: by agent, by round, by iteration.

use std::collections::BTreeMap;

use roundtable_ports::{Chunk, ModelError, ModelRequest};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A tool call of a reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The tool.
    pub tool: String,
    /// The arguments.
    #[serde(default)]
    pub arguments: Value,
}

impl Call {
    /// A call of a tool.
    pub fn new(tool: &str, arguments: Value) -> Self {
        Self { tool: tool.to_owned(), arguments }
    }

    pub(super) fn chunk(self) -> Chunk {
        Chunk::ToolCall { name: self.tool, arguments: self.arguments, reference: None }
    }
}

/// How a reply fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fails {
    /// The key is refused.
    Auth,
    /// The provider asks to slow down.
    RateLimited,
    /// The provider is out of reach.
    Overloaded,
    /// The model declines.
    Refused,
    /// The answer breaks off.
    Broken,
    /// The answer takes too long.
    Timeout,
}

impl Fails {
    pub(super) fn error(self) -> ModelError {
        let scripted = || "as the script says".to_owned();
        match self {
            Self::Auth => ModelError::Auth(scripted()),
            Self::RateLimited => ModelError::RateLimited { retry_after: None },
            Self::Overloaded => ModelError::Overloaded(scripted()),
            Self::Refused => ModelError::Refused(scripted()),
            Self::Broken => ModelError::Broken(scripted()),
            Self::Timeout => ModelError::Timeout,
        }
    }
}

/// One answer. `{input}` in its text stands for what was asked last.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reply {
    /// What is said.
    pub text: String,
    /// The tools that are asked for.
    pub calls: Vec<Call>,
    /// How long it takes to begin.
    pub delay_ms: u64,
    /// How long each piece takes.
    pub chunk_delay_ms: u64,
    /// How many characters a piece has; 0 gives the text in one.
    pub chunk_chars: usize,
    /// A gate to wait at.
    pub gate: Option<String>,
    /// A gate to wait at after the first piece.
    pub middle_gate: Option<String>,
    /// How it fails.
    pub fails: Option<Fails>,
}

impl Reply {
    /// An answer in words.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// An answer that asks for tools.
    pub fn calls(calls: impl IntoIterator<Item = Call>) -> Self {
        Self { calls: calls.into_iter().collect(), ..Self::default() }
    }

    /// An answer that fails.
    pub fn fails(fails: Fails) -> Self {
        Self { fails: Some(fails), ..Self::default() }
    }

    /// The same answer, after a gate has been opened.
    #[must_use]
    pub fn at_gate(mut self, gate: &str) -> Self {
        self.gate = Some(gate.to_owned());
        self
    }

    /// The same answer, in pieces.
    #[must_use]
    pub fn in_pieces(mut self, chars: usize, delay_ms: u64) -> Self {
        (self.chunk_chars, self.chunk_delay_ms) = (chars, delay_ms);
        self
    }

    /// The same answer, with a gate between its first piece and the others.
    #[must_use]
    pub fn with_middle_gate(mut self, gate: &str) -> Self {
        self.middle_gate = Some(gate.to_owned());
        self
    }

    /// The same answer, after a while.
    #[must_use]
    pub fn after(mut self, delay_ms: u64) -> Self {
        self.delay_ms = delay_ms;
        self
    }
}

/// What an agent says in one turn: a reply per iteration, the last one for all that follow.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// The replies.
    pub replies: Vec<Reply>,
}

/// What an agent says: a turn per round, from the first one again when they are used up.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Voice {
    /// The turns.
    pub turns: Vec<Turn>,
}

/// What a scripted model says. A voice is found by `agent/prompt`, where the prompt is one that a
/// tool handler named, else by `agent`; without one, the agent says who it is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// The voices, by agent.
    #[serde(default)]
    pub voices: BTreeMap<String, Voice>,
}

impl Script {
    /// The same script with one more turn of an agent.
    #[must_use]
    pub fn voice(mut self, agent: &str, replies: impl IntoIterator<Item = Reply>) -> Self {
        let turn = Turn { replies: replies.into_iter().collect() };
        self.voices.entry(agent.to_owned()).or_default().turns.push(turn);
        self
    }

    /// The reply to a request: a matter of agent, prompt, round and iteration only.
    pub fn reply(&self, request: &ModelRequest) -> Reply {
        let agent = request.scope.agent.suffix();
        let own = self.voices.get(&format!("{agent}/{}", request.prompt));
        let reply = own.or_else(|| self.voices.get(agent)).and_then(|voice| {
            let turn = (request.scope.round_number.max(1) as usize - 1) % voice.turns.len().max(1);
            let replies = &voice.turns.get(turn)?.replies;
            replies.get(request.scope.iteration_number.max(1) as usize - 1).or(replies.last())
        });
        reply
            .cloned()
            .unwrap_or_else(|| Reply::text(format!("{} has nothing to add.", request.agent_name)))
    }
}
