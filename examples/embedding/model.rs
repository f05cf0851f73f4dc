use async_trait::async_trait;
use futures_util::stream;
use roundtable::core::budget::Usage;
use roundtable::core::event::{CallRecord, StopReason};
use roundtable::ports::{Chunk, Model, ModelError, ModelRequest, ModelStream};
use roundtable::prelude::*;

struct Echo;

#[async_trait]
impl Model for Echo {
    async fn stream(&self, request: &ModelRequest) -> Result<ModelStream, ModelError> {
        let asked = request.messages.last().map(|message| message.text()).unwrap_or_default();
        let record = CallRecord {
            model: "echo-1".to_owned(),
            usage: Some(Usage { input: 10, output: 10, ..Usage::default() }),
            stop: StopReason::End,
            ..CallRecord::default()
        };
        let chunks = [Chunk::Text(format!("You said: {asked}")), Chunk::Done(record)];
        Ok(stream::iter(chunks.map(Ok)).boxed())
    }
}

async fn ask_echo() -> roundtable::Result<RoundReport> {
    let engine = Engine::builder().custom_model("echo", Echo).build().await?;
    engine.chat("Echo").agent("Ann").open().await?.ask("Hello?").await
}

pub async fn run() -> roundtable::Result<()> {
    assert!(ask_echo().await?.answers[0].text.starts_with("You said: "));
    Ok(())
}
