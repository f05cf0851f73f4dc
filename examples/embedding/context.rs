use roundtable::prelude::*;

async fn answer_questions(engine: &Engine) -> roundtable::Result<RoundReport> {
    let session = engine.panel("Which database?").agent("Ann").may_request_context().open().await?;
    let round = session.ask("Which database should we use?").await?;
    let results = round
        .requests
        .iter()
        .map(|request| {
            println!("{} asks: {} ({})", request.agent, request.query, request.reason);
            ContextResult::found(request.id.clone(), "About two million rows.")
        })
        .collect();
    session.continue_with(results).await
}

pub async fn run() -> roundtable::Result<()> {
    let question = serde_json::json!({ "query": "How many rows?", "reason": "It matters." });
    let script = Script::default()
        .voice("ann", [Reply::calls([Call::new("request_context", question)]), Reply::text("?")])
        .voice("ann", [Reply::text("SQLite will do.")]);
    let engine = crate::engine(script).await?;
    let next = answer_questions(&engine).await?;
    assert_eq!((next.number, next.answers[0].text.as_str()), (2, "SQLite will do."));
    engine.shutdown().await;
    Ok(())
}
