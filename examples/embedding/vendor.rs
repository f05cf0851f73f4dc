use roundtable::models::VendorModel;
use roundtable::prelude::*;

async fn with_vendors(key_of_our_vault: &str) -> roundtable::Result<Engine> {
    Engine::builder()
        .env(std::env::vars_os())
        .model("ollama/llama3.2") // the default: the first one
        .model(VendorModel::new("anthropic/claude-sonnet-4-5").key(key_of_our_vault))
        .model(VendorModel::new("openai/gpt-5-mini").key(key_of_our_vault).named("quick"))
        .build()
        .await
}

pub async fn run() -> roundtable::Result<()> {
    let engine = with_vendors("sk-…").await?;
    let models: Vec<&str> = engine.driver().parts().models.keys().map(String::as_str).collect();
    assert_eq!(models, ["anthropic/claude-sonnet-4-5", "ollama/llama3.2", "quick"]);
    engine.shutdown().await;
    Ok(())
}
