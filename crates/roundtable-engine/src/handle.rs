//! A session, as callers hold it: a name and a way in. Cheap to clone, never out of date.

use roundtable_core::event::Seq;
use roundtable_core::id::{CommandId, SessionId};
use roundtable_core::input::Command;
use roundtable_core::session::Session;
use roundtable_ports::Receipt;
use tokio::sync::oneshot;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::subscribe::Subscription;
use crate::task::Letter;

/// A session of an engine.
#[derive(Clone)]
pub struct SessionHandle {
    engine: Engine,
    session: SessionId,
}

impl SessionHandle {
    pub(crate) fn new(engine: Engine, session: SessionId) -> Self {
        Self { engine, session }
    }

    /// The session's id.
    pub fn id(&self) -> &SessionId {
        &self.session
    }

    /// The engine that drives it.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Sends a command. The answer comes when it is committed: what is acknowledged is not lost.
    /// With an id, sending it again returns the first answer and does nothing.
    ///
    /// # Errors
    /// [`EngineError`] when it is refused or cannot be committed; then nothing changed.
    pub async fn command(
        &self,
        command: Command,
        id: Option<CommandId>,
    ) -> Result<Receipt, EngineError> {
        let (reply, answer) = oneshot::channel();
        self.engine
            .send(&self.session, Letter::Command { command: Box::new(command), id, reply })
            .await?;
        answer.await.unwrap_or(Err(EngineError::Stopping))
    }

    /// The session's state, as of the last commit.
    ///
    /// # Errors
    /// [`EngineError`] when there is no such session, or its log cannot be read.
    pub async fn state(&self) -> Result<Session, EngineError> {
        let (reply, answer) = oneshot::channel();
        self.engine.send(&self.session, Letter::State { reply }).await?;
        answer.await.unwrap_or(Err(EngineError::Stopping))
    }

    /// Committed events from this position on, in order, each exactly once, and what is being
    /// said meanwhile.
    ///
    /// # Errors
    /// [`EngineError`] when there is no such session, or the position is beyond its end.
    pub async fn subscribe(&self, from: Seq) -> Result<Subscription, EngineError> {
        self.engine.subscribe(&self.session, from).await
    }
}
