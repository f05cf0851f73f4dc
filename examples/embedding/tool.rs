use roundtable::ports::DynTool;
use roundtable::prelude::*;

/// What the model passes to call it.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Topic {
    /// What the summary is about.
    topic: String,
}

struct Summarize;

impl Tool for Summarize {
    type Params = Topic;

    fn name(&self) -> &str {
        "summarize"
    }

    fn description(&self) -> &str {
        "Summarizes a topic in one sentence."
    }

    fn effect(&self) -> Effect {
        Effect::Pure
    }

    async fn run(&self, params: Topic, context: &ToolContext) -> Result<ToolResult, ToolError> {
        context.event_bus.publish("progress", serde_json::json!({ "topic": params.topic })).await?;
        let prompt = Prompt::new("summary", "Summarize {topic}.")
            .with(Section::new("Style", "One sentence, plain words."));
        let values = Params::from([("topic".to_owned(), params.topic)]);
        let child = context.evaluate(&prompt, &values).await?;
        Ok(ToolResult::ok(child.output))
    }
}

async fn with_tool(script: Script) -> roundtable::Result<Session> {
    let mut ann = Agent::new("Ann", "scripted")?;
    ann.tools = vec![Summarize.spec().declare()];
    let engine = Engine::builder()
        .custom_model("scripted", ScriptedModel::new(script))
        .tool(Summarize)
        .build()
        .await?;
    engine.chat("Summaries").participant(ann).open().await
}

pub async fn run() -> roundtable::Result<()> {
    let call = Call::new("summarize", serde_json::json!({ "topic": "Rust" }));
    let script = Script::default()
        .voice("ann", [Reply::calls([call]), Reply::text("As I said.")])
        .voice("ann/summary", [Reply::text("Rust is a language.")]);
    let session = with_tool(script).await?;
    assert_eq!(session.ask("What is Rust?").await?.answers[0].text, "As I said.");
    let log = session.log().await?;
    let has = |kind: &str| log.iter().any(|event| event.body.kind() == kind);
    assert!(log.iter().any(|event| event.to_string().contains("Rust is a language.")));
    assert!(has("tool_call_finished"));
    Ok(())
}
