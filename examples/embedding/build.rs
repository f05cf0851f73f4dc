use std::path::Path;

use roundtable::driver::Config;
use roundtable::prelude::*;

async fn build(directory: &Path) -> roundtable::Result<Engine> {
    let script = Script::default().voice("ann", [Reply::text("Yes.")]);
    Engine::builder()
        .sqlite(directory)
        .custom_model("scripted", ScriptedModel::new(script))
        .config(Config { permits: 64, ..Config::default() })
        .build()
        .await
}

pub async fn run() -> roundtable::Result<()> {
    let directory = std::env::temp_dir().join(format!("roundtable-build-{}", std::process::id()));
    let engine = build(&directory).await?;
    let chat = engine.chat("Questions").agent("Ann").open().await?;
    assert_eq!(chat.ask("Is it so?").await?.answers[0].text, "Yes.");
    engine.shutdown().await;
    assert!(directory.join("roundtable.db").is_file());
    drop(std::fs::remove_dir_all(&directory));
    Ok(())
}
