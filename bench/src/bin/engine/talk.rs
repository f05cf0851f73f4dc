//! The engine under measurement.

use std::time::Duration;

use roundtable::driver::Config;
use roundtable::prelude::*;

/// An engine with two kinds of agents: one that just answers, one that calls a tool ten times first.
pub struct Table {
    engine: Engine,
}

/// The model that both the engine and the bare loop use.
pub fn model(latency_ms: u64) -> ScriptedModel {
    let call = || Reply::calls([Call::new("count", serde_json::json!({ "to": 3 }))]);
    let mut looping: Vec<Reply> = (0..super::CALLS).map(|_| call()).collect();
    looping.push(Reply::text("That was it."));
    let script = Script::default()
        .voice("plain", [Reply::text("Fine, and you?").after(latency_ms)])
        .voice("looper", looping);
    ScriptedModel::forgetful(script)
}

/// Counts. It does next to nothing, so that the loop around it is what is measured.
pub struct Count;

/// What the model says to call it.
#[derive(serde::Deserialize, schemars::JsonSchema)]
pub struct To {
    /// How far.
    pub to: u32,
}

pub fn count(to: u32) -> String {
    (1..=to).map(|number| number.to_string()).collect()
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

impl Table {
    pub async fn start(latency_ms: u64) -> roundtable::Result<Self> {
        let config = Config { idle_after: Duration::from_secs(3600), ..Config::default() };
        let engine = Engine::builder()
            .custom_model("scripted", model(latency_ms))
            .tool(Count)
            .config(config)
            .build()
            .await?;
        Ok(Self { engine })
    }

    pub async fn open(&self, name: &str) -> roundtable::Result<Session> {
        let mut agent = Agent::new(name, "scripted")?;
        agent.tools = vec![ToolDecl::handler("count", Effect::Pure)];
        agent.max_iterations = super::CALLS + 1;
        self.engine.panel("a benchmark").participant(agent).open().await
    }

    pub fn loaded(&self) -> usize {
        self.engine.driver().loaded()
    }

    pub async fn stop(self) {
        self.engine.shutdown().await;
    }
}
