//! Signals: the first one drains, the second one stops at once.

use std::process::ExitCode;

use roundtable::Engine;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that end the program. They are listened to from here on, so it is made before
/// anything starts that a signal has to let finish.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    pub fn listen() -> std::io::Result<Self> {
        let interrupt = signal(SignalKind::interrupt())?;
        Ok(Self { interrupt, terminate: signal(SignalKind::terminate())? })
    }

    /// Resolves when a signal arrives, with the exit code that it asks for.
    pub async fn next(&mut self) -> ExitCode {
        tokio::select! {
            _ = self.interrupt.recv() => ExitCode::from(130),
            _ = self.terminate.recv() => ExitCode::from(143),
        }
    }

    /// Drains the engine; another signal stops it at once.
    pub async fn drain(&mut self, engine: &Engine) {
        tokio::select! {
            () = engine.shutdown() => {}
            _ = self.next() => engine.stop().await,
        }
    }
}
