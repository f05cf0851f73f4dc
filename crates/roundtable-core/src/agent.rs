//! A participant: persona, model, tools and limits, as the configuration defines it.
//!
//! A session records its agents when it opens, so a replay needs no configuration.

use serde::{Deserialize, Serialize};

use crate::budget::{Limits, Price};
use crate::id::{AgentId, ParseIdError};
use crate::prompt::OutputSchema;
use crate::tool::ToolDecl;

/// The model of agents that speak through whoever calls. Nobody is asked: their turns wait until someone
/// brings them in.
pub const HOST: &str = "host";

/// A participant of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Agent {
    /// Its id.
    pub id: AgentId,
    /// Its name, as people read it.
    pub name: String,
    /// Who it is: the instructions that its model gets.
    pub persona: String,
    /// Which model speaks for it, by the name that the engine's models are registered under.
    pub model: String,
    /// The tools that it may call.
    #[serde(default)]
    pub tools: Vec<ToolDecl>,
    /// How many model calls one of its turns may make. Zero counts as one.
    pub max_iterations: u32,
    /// How many tokens one reply may have; always sent, because budgets reserve it.
    pub max_tokens: u32,
    /// What one of its turns may spend.
    #[serde(default)]
    pub limits: Limits,
    /// What its model costs, where that is known.
    #[serde(default)]
    pub price: Option<Price>,
    /// How many tokens a prompt and its reply may have together, where that is known: the oldest
    /// rounds are left out of a prompt that has more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// What its answers have to look like, when they are to be data instead of prose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<OutputSchema>,
    /// The configuration namespace that registers it.
    pub domain: String,
    /// Whom it may delegate to.
    #[serde(default)]
    pub workers: Vec<AgentId>,
}

impl Agent {
    /// An agent with no tools and the default limits; its id is `agt_` and its name in lower case.
    ///
    /// # Errors
    /// [`ParseIdError`] when the name makes no valid id.
    pub fn new(name: &str, model: &str) -> Result<Self, ParseIdError> {
        let slug = name.to_lowercase().replace(' ', "-");
        Ok(Self {
            id: AgentId::new(&slug)?,
            name: name.to_owned(),
            persona: format!("You are {name}."),
            model: model.to_owned(),
            tools: Vec::new(),
            max_iterations: 10,
            max_tokens: 4096,
            limits: Limits::default(),
            price: None,
            window: None,
            output: None,
            domain: "default".to_owned(),
            workers: Vec::new(),
        })
    }

    /// The declaration of the tool with this name.
    pub fn find_tool(&self, name: &str) -> Option<&ToolDecl> {
        self.tools.iter().find(|tool| tool.name == name)
    }
}
