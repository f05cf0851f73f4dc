//! A session, as callers hold it: a name and a way in. Cheap to clone, never out of date.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::FutureExt as _;
use roundtable_core::event::Seq;
use roundtable_core::id::{CommandId, SessionId, TurnId};
use roundtable_core::input::{Command, Say};
use roundtable_core::prompt::RenderedPrompt;
use roundtable_core::session::Session;
use roundtable_core::{Keep, Live, Reject};
use roundtable_ports::{CommandKey, LeaseError, PostedCommand, Receipt};
use tokio::sync::oneshot;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::inbox;
use crate::subscribe::{Delta, Subscription};
use crate::task::{Envelope, Reply, read, read_all};

/// How long a session's task may take to say what its state is. One that waits for the store does not
/// answer; then the log is read, which never waits for a writer.
const ANSWERS_WITHIN: Duration = Duration::from_millis(100);

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
        self.command_keyed(command, id.map(CommandKey::from)).await
    }

    /// The same, under an id that stands for more than the command says.
    ///
    /// # Errors
    /// [`EngineError`] when it is refused or cannot be committed; then nothing changed.
    pub async fn command_keyed(
        &self,
        command: Command,
        key: Option<CommandKey>,
    ) -> Result<Receipt, EngineError> {
        match self.command_trying(&command, key.as_ref()).await {
            Err(EngineError::Lease(LeaseError::Held { .. })) => {
                let fresh =
                    || CommandId::new(&self.engine.parts().ids.fresh()).map_err(Reject::from);
                let CommandKey { id, digest } =
                    key.map_or_else(|| fresh().map(CommandKey::from), Ok)?;
                let posted = PostedCommand { id, session: self.session.clone(), command, digest };
                inbox::send(&self.engine, posted).await
            }
            Err(refused @ EngineError::Reject(_)) => {
                if let Some(key) = &key {
                    inbox::withdraw(&self.engine, &self.session, &key.id).await;
                }
                Err(refused)
            }
            done => done,
        }
    }

    /// The receipt of a command that was committed under this key.
    ///
    /// # Errors
    /// [`EngineError::CommandReused`] when the id stands for something else.
    pub async fn find_receipt(&self, key: &CommandKey) -> Result<Option<Receipt>, EngineError> {
        let found = self.engine.parts().store.log.find_command(&self.session, &key.id).await?;
        match found {
            Some(record) if key.digest.as_ref().is_none_or(|own| *own == record.digest) => {
                Ok(Some(record.receipt))
            }
            Some(record) => Err(EngineError::CommandReused { id: record.id }),
            None => Ok(None),
        }
    }

    /// Sends a message and comes back when its round is over, or waits for a person. That is a
    /// hint, for callers who would otherwise be woken by every event: when this engine cannot
    /// follow the round to its end, it comes back before. The log says what is true.
    ///
    /// # Errors
    /// [`EngineError`] when it is refused or cannot be committed; then nothing changed.
    pub async fn say_through(&self, say: Say) -> Result<Receipt, EngineError> {
        let (reply, answer) = oneshot::channel();
        let committed = Arc::new(OnceLock::new());
        let message_id = say.context.message_id().to_owned();
        let reply = Reply::RoundOver { message_id, committed: committed.clone(), reply };
        let command = Arc::new(Command::Say(say));
        let envelope = Envelope::Command { command: command.clone(), key: None, reply };
        self.engine.send(&self.session, envelope).await?;
        match (answer.await, committed.get()) {
            (
                Ok(Err(EngineError::Lease(LeaseError::Held { .. } | LeaseError::Parked { .. }))),
                None,
            ) => self.command(Arc::unwrap_or_clone(command), None).await,
            (Ok(answer), _) => answer,
            (Err(_), Some(receipt)) => Ok(receipt.clone()),
            (Err(_), None) => Err(self.engine.why_gone()),
        }
    }

    /// Sends a command to a session that this engine can drive. One that is parked and is told something
    /// is tried again: whoever speaks to it wants it to go on.
    async fn command_trying(
        &self,
        command: &Command,
        key: Option<&CommandKey>,
    ) -> Result<Receipt, EngineError> {
        let done = self.command_here(command.clone(), key.cloned()).await;
        let is_parked = matches!(done, Err(EngineError::Lease(LeaseError::Parked { .. })));
        if is_parked && matches!(command, Command::Say(_)) {
            self.unpark().await?;
            return self.command_here(command.clone(), key.cloned()).await;
        }
        done
    }

    /// Why the session is parked, if it is: it crashed again and again, and nobody goes on with it by
    /// itself.
    ///
    /// # Errors
    /// [`EngineError`] when the store cannot be read.
    pub async fn parked(&self) -> Result<Option<String>, EngineError> {
        let listed = self.engine.parts().store.directory.find(&self.session).await?;
        Ok(listed.and_then(|listed| listed.parked))
    }

    /// Tries a parked session again: its crashes are forgotten, and what was left undone goes on. Says
    /// whether it was parked.
    ///
    /// # Errors
    /// [`EngineError`] when the store does not take it.
    pub async fn try_again(&self) -> Result<bool, EngineError> {
        let was_parked = self.unpark().await?;
        if was_parked {
            self.engine.wake(&self.session);
        }
        Ok(was_parked)
    }

    async fn unpark(&self) -> Result<bool, EngineError> {
        let was_parked = self.engine.parts().store.leases.unpark(&self.session).await?;
        self.engine.forget_parked(&self.session);
        Ok(was_parked)
    }

    /// Sends a command, only if this engine can drive the session itself.
    pub(crate) async fn command_here(
        &self,
        command: Command,
        key: Option<CommandKey>,
    ) -> Result<Receipt, EngineError> {
        let (reply, answer) = oneshot::channel();
        let (command, reply) = (Arc::new(command), Reply::Committed(reply));
        self.engine.send(&self.session, Envelope::Command { command, key, reply }).await?;
        answer.await.unwrap_or_else(|_| Err(self.engine.why_gone()))
    }

    /// The session's state, as of the last commit. A commit that is under way is not waited for.
    ///
    /// # Errors
    /// [`EngineError`] when there is no such session, or its log cannot be read.
    pub async fn state(&self) -> Result<Session, EngineError> {
        match self.look(|live| live.session.clone()).await? {
            Some(state) => Ok(state),
            None => Ok(self.read_live(Keep::Window).await?.session),
        }
    }

    /// The session's state and transcript, as of the last commit; with everything kept, folded from
    /// the whole log.
    ///
    /// # Errors
    /// [`EngineError`] when there is no such session, or its log cannot be read.
    pub async fn live(&self, keep: Keep) -> Result<Live, EngineError> {
        let known = match keep {
            Keep::Window => self.look(Live::clone).await?,
            Keep::All => None,
        };
        match known {
            Some(live) => Ok(live),
            None => self.read_live(keep).await,
        }
    }

    /// Something of the state that the session's task has in memory, without a copy of the rest;
    /// nothing where the task does not answer, for example because another process drives the session.
    ///
    /// # Errors
    /// [`EngineError`] when there is no such session.
    pub async fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Live) -> T + Send + Sync + 'static,
    ) -> Result<Option<T>, EngineError> {
        let (reply, answer) = oneshot::channel();
        let look = Box::new(move |live: Result<&Live, EngineError>| {
            drop(reply.send(live.map(look)));
        });
        let asked = async {
            self.engine.send(&self.session, Envelope::Look(look)).await?;
            answer.await.unwrap_or_else(|_| Err(self.engine.why_gone()))
        };
        match tokio::time::timeout(ANSWERS_WITHIN, asked).await {
            Ok(Err(
                EngineError::Lease(LeaseError::Held { .. } | LeaseError::Parked { .. })
                | EngineError::MissingDependency { .. }
                | EngineError::Crashed,
            ))
            | Err(_) => Ok(None),
            Ok(Err(error)) if error.is_transient() => Ok(None),
            Ok(found) => found.map(Some),
        }
    }

    /// The session as the log has it.
    async fn read_live(&self, keep: Keep) -> Result<Live, EngineError> {
        let (parts, session) = (self.engine.parts(), &self.session);
        let folded = async {
            match keep {
                Keep::Window => read(parts, session, session, Seq(u64::from(u32::MAX))).await,
                Keep::All => read_all(parts, session).await,
            }
        };
        // A log that no fold gets through is what a session may be parked for.
        let Ok(live) = AssertUnwindSafe(folded).catch_unwind().await else {
            return Err(match self.parked().await? {
                Some(reason) => LeaseError::Parked { reason }.into(),
                None => EngineError::Crashed,
            });
        };
        let live = live?;
        if !live.session.opened {
            return Err(Reject::NotFound { session: self.session.clone() }.into());
        }
        Ok(live)
    }

    /// What the model of an open turn is given, as of the last commit. Whoever goes on with the
    /// session, everyone can read it.
    ///
    /// # Errors
    /// [`EngineError`] when the log cannot be read.
    pub async fn prompt(&self, turn: &TurnId) -> Result<Option<RenderedPrompt>, EngineError> {
        let until = Seq(u64::from(u32::MAX));
        let parts = self.engine.parts();
        let mut live = read(parts, &self.session, &self.session, until).await?;
        Ok(live.take_prompt(turn))
    }

    /// What the running model calls of this process have said so far, from the beginning of each.
    pub fn speaking(&self) -> Vec<Delta> {
        let speech = self.engine.speeches().of(&self.session);
        let deltas = speech.deltas();
        self.engine.speeches().forget(&self.session, speech);
        deltas
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
