//! Signals: the first one drains, the second one stops at once.

use std::process::ExitCode;

use roundtable::Engine;
use tokio::signal::unix::{SignalKind, signal};

/// Resolves when the first signal arrives, with the exit code that it asks for.
pub(crate) async fn first() -> std::io::Result<ExitCode> {
    let (mut interrupt, mut terminate) = both()?;
    Ok(tokio::select! {
        _ = interrupt.recv() => ExitCode::from(130),
        _ = terminate.recv() => ExitCode::from(143),
    })
}

/// Drains the engine; another signal stops it at once.
pub(crate) async fn drain(engine: &Engine) -> std::io::Result<()> {
    let (mut interrupt, mut terminate) = both()?;
    tokio::select! {
        () = engine.shutdown() => {}
        _ = interrupt.recv() => engine.stop().await,
        _ = terminate.recv() => engine.stop().await,
    }
    Ok(())
}

fn both() -> std::io::Result<(tokio::signal::unix::Signal, tokio::signal::unix::Signal)> {
    Ok((signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?))
}
