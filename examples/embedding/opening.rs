use roundtable::core::budget::Limits;
use roundtable::core::settings::{Order, Settings};
use roundtable::prelude::*;
use roundtable::program::{Name, Opening};

async fn open_in_full(engine: &Engine) -> roundtable::Result<Session> {
    let opening = Opening {
        kind: Name::constant("support"),
        topic: "Support".to_owned(),
        agents: vec![Agent::new("Ann", "scripted")?],
        settings: Settings {
            order: Order::Parallel,
            round_limits: Limits { time_ms: Some(60_000), ..Limits::default() },
            window_rounds: 16,
            ..Settings::default()
        },
        actor: Some("maria".to_owned()),
        tenant: Some("acme".to_owned()),
    };
    engine.open(opening).await
}

pub async fn run() -> roundtable::Result<()> {
    let engine = crate::engine(Script::default()).await?;
    let session = open_in_full(&engine).await?;
    assert_eq!(session.state().await?.tenant.as_deref(), Some("acme"));
    engine.shutdown().await;
    Ok(())
}
