use roundtable::prelude::*;

async fn pay(engine: &Engine) -> roundtable::Result<RoundReport> {
    let mut clerk = Agent::new("Clerk", "scripted")?;
    clerk.tools = vec![ToolDecl::handler("pay", Effect::Effectful).with_approval()];
    let session = engine.chat("Invoices").participant(clerk).open().await?;

    let round = session.ask("Please pay invoice 12.").await?;
    if round.outcome.is_some() {
        return Ok(round);
    }
    // The call waits. Nothing runs, and it may wait for days.
    let request = &round.requests[0];
    println!("{}", request.query); // May pay be called with {"invoice":12}?
    // The whole call: tool, all arguments, digest, and the name of the agent.
    println!("{:?}", request.about.call());
    session.provide(vec![ContextResult::approve(request.id.clone())]).await?;
    session.wait_current().await
}

/// Pays an invoice.
struct Pay;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Invoice {
    invoice: u32,
}

impl Tool for Pay {
    type Params = Invoice;

    fn name(&self) -> &str {
        "pay"
    }

    fn description(&self) -> &str {
        "Pays an invoice."
    }

    fn effect(&self) -> Effect {
        Effect::Effectful
    }

    async fn run(&self, params: Invoice, _: &ToolContext) -> Result<ToolResult, ToolError> {
        Ok(ToolResult::ok(format!("invoice {} is paid", params.invoice)))
    }
}

pub async fn run() -> roundtable::Result<()> {
    let call = Call::new("pay", serde_json::json!({ "invoice": 12 }));
    let script = Script::default().voice("clerk", [Reply::calls([call]), Reply::text("Done.")]);
    let model = ScriptedModel::new(script);
    let engine = Engine::builder().custom_model("scripted", model).tool(Pay).build().await?;
    let round = pay(&engine).await?;
    assert!(round.outcome.is_some(), "the round is over: {round:?}");
    assert_eq!(round.answers[0].text, "Done.");
    engine.shutdown().await;
    Ok(())
}
