//! The engine under measurement, with models over HTTP.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use roundtable::driver::{Config, Update};
use roundtable::models::{Catalog, Endpoint, Retry, RetryPolicy, Secret};
use roundtable::prelude::*;
use serde_json::{Value, json};

/// Where sessions are kept.
pub enum Kept {
    InMemory,
    InFile(tempfile::TempDir),
}

impl Kept {
    pub fn in_file() -> anyhow::Result<Self> {
        Ok(Self::InFile(tempfile::tempdir()?))
    }

    pub fn directory(&self) -> Option<&Path> {
        match self {
            Self::InMemory => None,
            Self::InFile(directory) => Some(directory.path()),
        }
    }
}

/// Counts. It does next to nothing, so that the loop around it is what is measured.
struct Count;

/// What the model says to call it.
#[derive(serde::Deserialize, schemars::JsonSchema)]
pub struct To {
    /// How far.
    pub to: u32,
}

pub fn count(to: u32) -> String {
    (1..=to).map(|number| number.to_string()).collect()
}

/// The tool as a provider is offered it.
pub fn offered() -> Value {
    let schema = schemars::schema_for!(To);
    let function = json!({"name": "count", "description": "Counts.", "parameters": schema});
    json!([{"type": "function", "function": function}])
}

impl Tool for Count {
    type Params = To;

    fn name(&self) -> &'static str {
        "count"
    }

    fn description(&self) -> &'static str {
        "Counts."
    }

    fn effect(&self) -> Effect {
        Effect::Pure
    }

    async fn run(&self, params: To, _context: &ToolContext) -> Result<ToolResult, ToolError> {
        Ok(ToolResult::ok(count(params.to)))
    }
}

/// The model that answers in this way, put together as the guide does.
pub fn model(address: &str, way: &str) -> anyhow::Result<Retry> {
    let endpoint = Endpoint {
        key: Some(Secret::new("sk-mock")),
        base_url: Some(format!("{address}/{way}")),
        ..Endpoint::default()
    };
    let model = Catalog::builtin()?.model("groq/mock-1", endpoint)?;
    Ok(Retry::new(Arc::new(model), RetryPolicy::default()))
}

/// An engine with a model for each way in which the provider answers.
pub struct Table {
    engine: Engine,
}

impl Table {
    pub async fn start(address: &str, kept: &Kept) -> anyhow::Result<Self> {
        let config = Config { idle_after: Duration::from_secs(3600), ..Config::default() };
        let mut builder = Engine::builder().tool(Count).config(config);
        for way in ["turn", "long", "loop", "slow", "stream"] {
            builder = builder.custom_model(way, model(address, way)?);
        }
        if let Some(directory) = kept.directory().map(PathBuf::from) {
            builder = builder.sqlite(directory);
        }
        Ok(Self { engine: builder.build().await? })
    }

    /// A session with an agent whose model answers in this way.
    pub async fn open(&self, way: &str) -> anyhow::Result<Session> {
        let mut agent = Agent::new("Ann", way)?;
        if way == "loop" {
            agent.tools = vec![ToolDecl::handler("count", Effect::Pure)];
            agent.max_iterations = super::CALLS + 1;
        }
        Ok(self.engine.chat("a benchmark").participant(agent).open().await?)
    }

    pub async fn open_many(&self, way: &str, times: usize) -> anyhow::Result<Vec<Session>> {
        futures_util::future::try_join_all((0..times).map(|_| self.open(way))).await
    }

    pub async fn stop(self) {
        self.engine.stop().await;
    }
}

/// Asks, and reads what is said while it is said; how many bytes came before the answer was whole.
pub async fn listen(session: &Session) -> anyhow::Result<usize> {
    let head = session.here().await?.seq;
    let mut updates = session.updates(Since::After(head)).await?;
    session.say("How are you?").await?;
    let mut bytes = 0;
    loop {
        match updates.next().await? {
            Update::Delta(delta) => bytes += delta.text.len(),
            Update::Event(event) if event.body.kind() == "round_closed" => return Ok(bytes),
            Update::Event(_) => {}
        }
    }
}
