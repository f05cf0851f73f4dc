//! The model in the box behind the port that all models have.

use std::path::Path;

use async_trait::async_trait;
use futures_util::{StreamExt as _, stream};
use roundtable_core::budget::{Price, Usage};
use roundtable_core::event::{CallRecord, StopReason};
use roundtable_local::{
    Finish, FinishReason, GenerateError, Generator, Listener, LoadError, Options, StartError, Trust,
};
use roundtable_ports::{
    Chunk, Facts, Model, ModelError, ModelRequest, ModelStream, OutputSchema, ToolChoice,
};
use tokio::sync::mpsc;

use super::NAME;
use super::ask::{SENTENCES, ask};
use super::cut::Cut;
use super::data::Plan;

/// What people should know of its answers.
pub const NOTICE: &str = "Demo model: do not rely on its answers. It is a small model that runs \
    on this machine. For better answers, set an API key such as ANTHROPIC_API_KEY or \
    OPENAI_API_KEY, or use a model of Ollama.";

/// How many tokens a prompt and its answer may have together.
const WINDOW: usize = 8_192;

/// The model in the box. Clones share weights and threads; work is done on threads of its own.
#[derive(Clone)]
pub struct LocalModel {
    generator: Generator,
}

impl LocalModel {
    /// Reads the weights. This takes a moment; it blocks.
    ///
    /// # Errors
    /// [`LoadError`] when the file cannot be read, makes no sense, or, for [`Trust::Known`], is
    /// not the one that was pinned.
    pub fn open(path: &Path, trust: Trust) -> Result<Self, LoadError> {
        let options = Options { context: WINDOW, trust, ..Options::default() };
        Ok(Self { generator: Generator::open(path, &options)? })
    }

    fn start(
        &self,
        request: &ModelRequest,
        plan: Option<Plan>,
    ) -> Result<mpsc::Receiver<Event>, ModelError> {
        let asked = ask(request);
        // Room for every piece, the opening, the mark of an unfinished sentence, and the end.
        let (sender, events) = mpsc::channel(asked.max_tokens + 4);
        let hearer = Hearer {
            sender,
            opening: asked.prefill.clone(),
            cut: Cut::after(SENTENCES),
            plan,
            whole: String::new(),
        };
        match self.generator.start_with(asked, Box::new(hearer)) {
            Ok(()) => Ok(events),
            Err(busy @ StartError::Busy { .. }) => Err(ModelError::Overloaded(busy.to_string())),
        }
    }
}

/// What comes from the model's thread.
type Event = Result<Chunk, ModelError>;

/// Hears the model on its thread, and passes on what belongs to the answer.
struct Hearer {
    sender: mpsc::Sender<Event>,
    /// How the answer begins. It is said with the first word, so that a request that comes to
    /// nothing has said nothing.
    opening: String,
    cut: Cut,
    /// What the answer is to be filled into, when it is to be data.
    plan: Option<Plan>,
    whole: String,
}

impl Hearer {
    fn say(&mut self, text: &str) {
        let text = format!("{}{text}", std::mem::take(&mut self.opening));
        if text.is_empty() {
            return;
        }
        self.whole.push_str(&text);
        if self.plan.is_none() {
            self.send(Ok(Chunk::Text(text)));
        }
    }

    /// There is always room; nobody may be there to read it.
    fn send(&self, event: Event) {
        let _ = self.sender.try_send(event);
    }
}

impl Listener for Hearer {
    fn is_gone(&self) -> bool {
        self.cut.is_over() || self.sender.is_closed()
    }

    fn piece(&mut self, text: String) {
        let text = self.cut.take(&text);
        self.say(&text);
    }

    fn end(mut self: Box<Self>, outcome: Result<Finish, GenerateError>) {
        match outcome {
            Ok(finish) => {
                let cut_off = finish.reason == FinishReason::Length;
                let mark = self.cut.finish(cut_off);
                self.say(mark);
                if let Some(plan) = self.plan.take() {
                    self.send(Ok(Chunk::Text(plan.fill(&self.whole).to_string())));
                }
                self.send(Ok(Chunk::Done(record(finish))));
            }
            Err(error) => self.send(Err(failure(&error))),
        }
    }
}

fn record(finish: Finish) -> CallRecord {
    let count = |tokens: usize| u64::try_from(tokens).unwrap_or(u64::MAX);
    CallRecord {
        model: NAME.to_owned(),
        usage: Some(Usage {
            input: count(finish.prompt_tokens),
            output: count(finish.output_tokens),
            cached: count(finish.cached_tokens),
            ..Usage::default()
        }),
        cost: Some(0),
        stop: StopReason::End,
        notice: Some(NOTICE.to_owned()),
        ..CallRecord::default()
    }
}

fn failure(error: &GenerateError) -> ModelError {
    let what = error.to_string();
    match error {
        GenerateError::TooLong { .. } => ModelError::TooLong(what),
        GenerateError::NoRoom { .. } | GenerateError::Unwritable => ModelError::BadRequest(what),
        GenerateError::Broken => ModelError::Broken(what),
    }
}

/// How the answer is made into data, if it has to be. Where words are good enough it stays words:
/// whoever reads them knows better rules for what to make of them.
fn plan(request: &ModelRequest) -> Result<Option<Plan>, ModelError> {
    let strict = request.output.as_ref().filter(|output| !output.or_text);
    strict.map(plan_for).transpose()
}

fn plan_for(output: &OutputSchema) -> Result<Plan, ModelError> {
    let refused = |why: &str| {
        ModelError::BadRequest(format!(
            "the local model cannot answer as \"{}\": {why}",
            output.name
        ))
    };
    let plan = Plan::of(&output.schema).ok_or_else(|| refused("the schema is too complex"))?;
    // Whatever the text is, the value has to fit.
    let sample = plan.fill("The way I see it, this is a sentence. And this is another.");
    match jsonschema::validator_for(&output.schema) {
        Err(error) => Err(refused(&format!("invalid schema: {error}"))),
        Ok(validator) if validator.is_valid(&sample) => Ok(plan),
        Ok(_) => Err(refused("the schema is too complex; use a larger model")),
    }
}

#[async_trait]
impl Model for LocalModel {
    fn facts(&self) -> Facts {
        Facts { window: Some(WINDOW as u64), price: Some(Price { input: 0, output: 0 }) }
    }

    fn notice(&self) -> Option<&str> {
        Some(NOTICE)
    }

    async fn stream(&self, request: &ModelRequest) -> Result<ModelStream, ModelError> {
        if matches!(request.tool_choice, ToolChoice::Required | ToolChoice::Named(_)) {
            let what = "the local model does not support tools; use another model for this agent";
            return Err(ModelError::BadRequest(what.to_owned()));
        }
        let events = self.start(request, plan(request)?)?;
        let next = |mut events: mpsc::Receiver<Event>| async move {
            events.recv().await.map(|event| (event, events))
        };
        Ok(stream::unfold(events, next).boxed())
    }
}
