//! The tools of a simulation, and what each of them did, counted outside of any process.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use roundtable_core::prompt::{Params, Prompt};
use roundtable_core::tool::{Effect, ToolDecl, ToolResult};
use roundtable_ports::{DynTool, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::oracle::Execution;

/// The tools that handlers carry out. `burst` panics; `ponder` and `consult` ask nested prompts.
const TOOLS: [(&str, Effect); 6] = [
    ("look", Effect::Pure),
    ("note", Effect::Idempotent),
    ("send", Effect::Effectful),
    ("burst", Effect::Effectful),
    ("ponder", Effect::Pure),
    ("consult", Effect::Effectful),
];

/// What the tools did. It outlives every process.
#[derive(Clone, Default)]
pub struct Workshop(Arc<Mutex<Vec<Execution>>>);

impl Workshop {
    /// Every run of a handler, in order.
    pub fn executions(&self) -> Vec<Execution> {
        self.ledger().clone()
    }

    /// The tools.
    pub fn tools(&self) -> Vec<Arc<dyn DynTool>> {
        let tool = |(name, effect)| -> Arc<dyn DynTool> {
            let workshop = self.clone();
            match name {
                "ponder" | "consult" => Arc::new(Mind { name, effect, workshop }),
                _ => Arc::new(Hand { name, effect, workshop }),
            }
        };
        TOOLS.into_iter().map(tool).collect()
    }

    /// The declarations of the tools, and of those that the core carries out.
    pub fn declarations() -> Vec<ToolDecl> {
        let handled = TOOLS.map(|(name, effect)| ToolDecl::handler(name, effect));
        handled.into_iter().chain([ToolDecl::request_context(), ToolDecl::delegate()]).collect()
    }

    fn begin(&self, tool: &str, effect: Effect, context: &ToolContext) {
        let Some(tool_call) = context.scope.ids.place.tool_call.clone() else { return };
        self.ledger().push(Execution { tool_call, tool: tool.to_owned(), effect });
    }

    fn ledger(&self) -> MutexGuard<'_, Vec<Execution>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Arguments of a tool that does something.
#[derive(Deserialize, JsonSchema)]
struct Job {
    what: String,
    ms: u64,
}

/// The arguments of `look`, `note`, `send` and `burst`.
pub fn job(what: &str, ms: u64) -> Value {
    json!({ "what": what, "ms": ms })
}

/// A tool that takes a while, and may tell the session about it.
struct Hand {
    name: &'static str,
    effect: Effect,
    workshop: Workshop,
}

impl Tool for Hand {
    type Params = Job;

    fn name(&self) -> &str {
        self.name
    }

    fn description(&self) -> &str {
        "Does a job."
    }

    fn effect(&self) -> Effect {
        self.effect
    }

    async fn run(&self, job: Job, context: &ToolContext) -> Result<ToolResult, ToolError> {
        self.workshop.begin(self.name, self.effect, context);
        if self.effect == Effect::Idempotent {
            context.event_bus.publish("noting", json!({ "what": job.what })).await?;
        }
        tokio::time::sleep(Duration::from_millis(job.ms)).await;
        if self.effect == Effect::Idempotent {
            context.event_bus.publish("noted", json!({ "what": job.what })).await?;
        }
        if self.name == "burst" {
            // A panic like any other, without its lines on the terminal.
            std::panic::resume_unwind(Box::new("it bursts, as it is meant to"));
        }
        Ok(ToolResult::ok(format!("{} of {} is done", self.name, job.what)))
    }
}

/// Arguments of a tool that asks.
#[derive(Deserialize, JsonSchema)]
struct Questions {
    /// The names of the prompts, asked one after another.
    asks: Vec<String>,
    /// The tools that the prompts offer.
    offers: Vec<String>,
}

/// The arguments of `ponder` and `consult`.
pub fn questions(asks: &[&str], offers: &[&str]) -> Value {
    json!({ "asks": asks, "offers": offers })
}

/// A tool that asks nested prompts; each receives the answer of the one before it.
struct Mind {
    name: &'static str,
    effect: Effect,
    workshop: Workshop,
}

impl Tool for Mind {
    type Params = Questions;

    fn name(&self) -> &str {
        self.name
    }

    fn description(&self) -> &str {
        "Asks itself something."
    }

    fn effect(&self) -> Effect {
        self.effect
    }

    fn timeout(&self) -> Duration {
        Duration::from_secs(3600)
    }

    async fn run(
        &self,
        questions: Questions,
        context: &ToolContext,
    ) -> Result<ToolResult, ToolError> {
        self.workshop.begin(self.name, self.effect, context);
        let mut thought = "nothing yet".to_owned();
        for ask in &questions.asks {
            let mut prompt = Prompt::new(ask.clone(), "So far: {thought}");
            prompt.tools.clone_from(&questions.offers);
            let params = Params::from([("thought".to_owned(), thought)]);
            let child = context
                .adapter
                .evaluate(&prompt, &params, &context.event_bus, &context.session)
                .await?;
            thought = child.output;
        }
        Ok(ToolResult::ok(thought))
    }
}
