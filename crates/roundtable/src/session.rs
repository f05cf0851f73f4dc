//! A session, as an embedder holds it.

mod wait;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{self, BoxStream};
use futures_util::{Stream, StreamExt as _};
use roundtable_core::context_request::{ContextRequest, ContextResult};
use roundtable_core::event::{Body, Event, Origin, Seq, SessionEvent};
use roundtable_core::id::{CommandId, IterationId, SessionId, TurnId};
use roundtable_core::input::{Command, Say};
use roundtable_core::message::Image;
use roundtable_core::program::Programs;
use roundtable_core::prompt::RenderedPrompt;
use roundtable_core::turn::Context as TurnContext;
use roundtable_core::{Keep, Live, MessageContext};
use roundtable_engine::{Delta, EngineError, SessionHandle, Subscription};
use roundtable_ports::{CommandKey, Receipt};

use crate::answer::{RoundReport, collect};
use crate::error::Result;
use crate::turn::TurnReading;

/// How often someone who waits looks whether the session is parked.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Where a reader begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// At the first event.
    Start,
    /// After the event at this position.
    After(Seq),
}

/// A session. Cheap to clone.
#[derive(Clone)]
pub struct Session {
    handle: SessionHandle,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Session").field(self.id()).finish()
    }
}

/// Committed events, in order, each exactly once; it ends when the session or the engine does.
pub struct Events(BoxStream<'static, Result<Arc<Event>>>);

impl Stream for Events {
    type Item = Result<Arc<Event>>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        self.0.poll_next_unpin(context)
    }
}

impl Session {
    pub(crate) fn new(handle: SessionHandle) -> Self {
        Self { handle }
    }

    pub(crate) async fn live(&self, keep: Keep) -> Result<Live> {
        Ok(self.handle.live(keep).await?)
    }

    pub(crate) async fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Live) -> T + Send + Sync + 'static,
    ) -> Result<Option<T>> {
        Ok(self.handle.look(look).await?)
    }

    pub(crate) fn programs(&self) -> &Programs {
        &self.handle.engine().parts().programs
    }

    /// The session's id.
    pub fn id(&self) -> &SessionId {
        self.handle.id()
    }

    /// Says something. The answer comes when it is committed; its round opens when it is its turn.
    ///
    /// # Errors
    /// [`crate::Error`] when it is refused; then nothing changed.
    pub async fn say(&self, text: &str) -> Result<Receipt> {
        self.say_with_images(text, Vec::new()).await
    }

    /// Says something and shows pictures with it.
    ///
    /// # Errors
    /// [`crate::Error`] when it is refused; then nothing changed.
    pub async fn say_with_images(&self, text: &str, images: Vec<Image>) -> Result<Receipt> {
        let said = NewInput { text: Some(text), images, results: Vec::new() };
        self.send_said(said).await
    }

    /// Lets the agents go on without a message.
    ///
    /// # Errors
    /// [`crate::Error`] when it is refused; then nothing changed.
    pub async fn continue_round(&self) -> Result<Receipt> {
        self.send_said(NewInput::default()).await
    }

    /// Says something and waits for the answers, or for a question that has to be answered first.
    ///
    /// # Errors
    /// [`crate::Error`] when it is refused, or the log cannot be read.
    pub async fn ask(&self, text: &str) -> Result<RoundReport> {
        self.ask_with_images(text, Vec::new()).await
    }

    /// Says something, shows pictures with it, and waits for the answers.
    ///
    /// # Errors
    /// [`crate::Error`] when it is refused, or the log cannot be read.
    pub async fn ask_with_images(&self, text: &str, images: Vec<Image>) -> Result<RoundReport> {
        let said = NewInput { text: Some(text), images, results: Vec::new() };
        self.send_and_collect(said).await
    }

    /// Goes on with the answers to context requests, and waits for the round that follows.
    ///
    /// # Errors
    /// [`crate::Error`] when required requests are left unanswered, or the log cannot be read.
    pub async fn continue_with(&self, results: Vec<ContextResult>) -> Result<RoundReport> {
        self.send_and_collect(NewInput { results, ..NewInput::default() }).await
    }

    /// Answers context requests.
    ///
    /// # Errors
    /// [`crate::Error`] when it is refused; then nothing changed.
    pub async fn provide(&self, results: Vec<ContextResult>) -> Result<Receipt> {
        self.command(Command::Provide(results)).await
    }

    /// Brings in a turn that waits for the model of whoever calls. The first one counts: bringing it in
    /// again changes nothing, whatever is said.
    ///
    /// # Errors
    /// [`crate::Error`] when nobody waits for it; then nothing changed.
    pub async fn contribute(&self, iteration: &IterationId, text: &str) -> Result<()> {
        let id = CommandId::derive(self.id().as_str(), format_args!("turn.{iteration}"));
        let (iteration, text) = (iteration.clone(), text.to_owned());
        match self.command_once(Command::Contribute { iteration, text }, id).await {
            Ok(_) | Err(crate::Error::Engine(EngineError::CommandReused { .. })) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// What the model of an open turn is given; nothing when the turn is not open.
    ///
    /// # Errors
    /// [`crate::Error`] when the log cannot be read.
    pub async fn prompt(&self, turn: &TurnId) -> Result<Option<RenderedPrompt>> {
        Ok(self.handle.prompt(turn).await?)
    }

    /// The context requests that are pending.
    ///
    /// # Errors
    /// [`crate::Error`] when there is no such session.
    pub async fn pending(&self) -> Result<Vec<ContextRequest>> {
        Ok(self.handle.state().await?.requests)
    }

    /// Cuts the open round off; what exists is kept.
    ///
    /// # Errors
    /// [`crate::Error`] when there is no such session.
    pub async fn stop(&self) -> Result<Receipt> {
        self.command(Command::Stop).await
    }

    /// Ends the session.
    ///
    /// # Errors
    /// [`crate::Error`] when it has ended already.
    pub async fn complete(&self, reason: &str) -> Result<Receipt> {
        self.command(Command::Complete { reason: reason.to_owned() }).await
    }

    /// Sends any command.
    ///
    /// # Errors
    /// [`crate::Error`] when it is refused; then nothing changed.
    pub async fn command(&self, command: Command) -> Result<Receipt> {
        Ok(self.handle.command(command, None).await?)
    }

    /// Sends any command under an id, so that sending it again does nothing twice.
    ///
    /// # Errors
    /// [`crate::Error`] when it is refused; then nothing changed.
    pub async fn command_once(&self, command: Command, id: CommandId) -> Result<Receipt> {
        Ok(self.handle.command(command, Some(id)).await?)
    }

    pub(crate) async fn send_command(
        &self,
        command: Command,
        key: Option<CommandKey>,
    ) -> Result<Receipt> {
        Ok(self.handle.command_keyed(command, key).await?)
    }

    /// Sends any command under a key that stands for the request that it was made of.
    ///
    /// # Errors
    /// [`crate::Error`] when it is refused; then nothing changed.
    pub async fn command_keyed(&self, command: Command, key: CommandKey) -> Result<Receipt> {
        Ok(self.handle.command_keyed(command, Some(key)).await?)
    }

    /// The receipt of what was done under this key.
    ///
    /// # Errors
    /// [`crate::Error`] when the key stands for another request.
    pub async fn find_receipt(&self, key: &CommandKey) -> Result<Option<Receipt>> {
        Ok(self.handle.find_receipt(key).await?)
    }

    /// Remembers under a key that its request was answered, where it made nothing happen.
    ///
    /// # Errors
    /// [`crate::Error`] when the key stands for another request.
    pub async fn remember(&self, key: CommandKey) -> Result<Receipt> {
        self.command_keyed(Command::Provide(Vec::new()), key).await
    }

    /// Remembers something about the session, durably and for all processes, without an event: that
    /// a caller was told of something, for example. Remembering it again changes nothing.
    ///
    /// # Errors
    /// [`crate::Error`] when there is no such session.
    pub async fn note(&self, what: &str) -> Result<()> {
        self.command_once(Command::Provide(Vec::new()), self.note_id(what)).await.map(|_| ())
    }

    /// Whether something was noted.
    ///
    /// # Errors
    /// [`crate::Error`] when the store cannot be read.
    pub async fn noted(&self, what: &str) -> Result<bool> {
        let log = &self.handle.engine().parts().store.log;
        let found = log.find_command(self.id(), &self.note_id(what)).await;
        Ok(found.map_err(EngineError::from)?.is_some())
    }

    fn note_id(&self, what: &str) -> CommandId {
        CommandId::derive(self.id().as_str(), format_args!("note.{what}"))
    }

    /// The session's state.
    ///
    /// # Errors
    /// [`crate::Error`] when there is no such session.
    pub async fn state(&self) -> Result<roundtable_core::session::Session> {
        Ok(self.handle.state().await?)
    }

    /// Why the session is parked, if it is: it crashed again and again, and nobody goes on with it by
    /// itself.
    ///
    /// # Errors
    /// [`crate::Error`] when the store cannot be read.
    pub async fn parked(&self) -> Result<Option<String>> {
        Ok(self.handle.parked().await?)
    }

    /// Tries a parked session again. Says whether it was parked. Saying something to it does the same.
    ///
    /// # Errors
    /// [`crate::Error`] when the store does not take it.
    pub async fn try_again(&self) -> Result<bool> {
        Ok(self.handle.try_again().await?)
    }

    /// Waits until the session is parked, and says why. A store that cannot be read is asked again.
    pub async fn until_parked(&self) -> String {
        loop {
            if let Ok(Some(reason)) = self.handle.parked().await {
                return reason;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Committed events, in order, each exactly once; it ends when the session does.
    ///
    /// # Errors
    /// [`crate::Error`] when there is no such session, or no such position.
    pub async fn events(&self, since: Since) -> Result<Events> {
        let subscription = self.updates(since).await?;
        let events = stream::unfold(Some(subscription), |reading| async {
            let mut subscription = reading?;
            let event = match subscription.next_event().await {
                // The engine has ended, and everything was read.
                Err(EngineError::Stopping) => return None,
                event => event.map_err(crate::Error::from),
            };
            let over = event.as_ref().is_ok_and(|event| is_end(event));
            Some((event, (!over).then_some(subscription)))
        });
        Ok(Events(events.boxed()))
    }

    /// Committed events, and what is being said meanwhile.
    ///
    /// # Errors
    /// [`crate::Error`] when there is no such session, or no such position.
    pub async fn updates(&self, since: Since) -> Result<Subscription> {
        let from = match since {
            Since::Start => Seq(1),
            Since::After(seq) => seq.next(),
        };
        Ok(self.handle.subscribe(from).await?)
    }

    /// What the running model calls of this process have said so far, from the beginning of each.
    pub fn speaking(&self) -> Vec<Delta> {
        self.handle.speaking()
    }

    /// The whole log, as it is now.
    ///
    /// # Errors
    /// [`crate::Error`] when it cannot be read.
    pub async fn log(&self) -> Result<Vec<Arc<Event>>> {
        let mut events: Vec<Arc<Event>> = Vec::new();
        loop {
            let next = events.last().map_or(Seq(1), |event| event.seq.next());
            let page = self.read(next, 512).await?;
            if page.is_empty() {
                return Ok(events);
            }
            events.extend(page);
        }
    }

    /// What happened in a turn, iteration by iteration; as far as it got, if it is still open.
    ///
    /// # Errors
    /// [`crate::Error`] when the log cannot be read.
    pub async fn turn(&self, turn: &TurnId) -> Result<Option<TurnContext>> {
        let mut reading = TurnReading::new(self.id(), turn, self.programs());
        let mut next = Seq(1);
        loop {
            let page = self.read(next, 512).await?;
            let Some(last) = page.last() else { return Ok(reading.end()) };
            next = last.seq.next();
            page.iter().for_each(|event| reading.look(event));
        }
    }

    /// The events from a position on, at most so many.
    ///
    /// # Errors
    /// [`crate::Error`] when they cannot be read.
    pub async fn read(&self, from: Seq, limit: usize) -> Result<Vec<Arc<Event>>> {
        let log = &self.handle.engine().parts().store.log;
        Ok(log.read(self.id(), from, limit).await.map_err(EngineError::from)?)
    }

    /// The point after the last event, to fork the session there.
    ///
    /// # Errors
    /// [`crate::Error`] when there is no such session.
    pub async fn here(&self) -> Result<Origin> {
        Ok(Origin { session: self.id().clone(), seq: self.handle.state().await?.head })
    }

    async fn send_said(&self, said: NewInput<'_>) -> Result<Receipt> {
        Ok(self.handle.command(Command::Say(self.message(said)?), None).await?)
    }

    async fn send_and_collect(&self, said: NewInput<'_>) -> Result<RoundReport> {
        let say = self.message(said)?;
        let message_id = say.context.message_id().to_owned();
        self.handle.say_through(say).await?;
        collect(self, &message_id).await
    }

    fn message(&self, said: NewInput<'_>) -> Result<Say> {
        let message_id = format!("msg_{}", self.handle.engine().parts().ids.fresh());
        let context = MessageContext::new(&message_id, self.id(), None)?;
        let NewInput { text, images, results } = said;
        Ok(Say { text: text.map(str::to_owned), images, results, ..Say::new(context) })
    }
}

/// What opens a round.
#[derive(Default)]
struct NewInput<'a> {
    text: Option<&'a str>,
    images: Vec<Image>,
    results: Vec<ContextResult>,
}

fn is_end(event: &Event) -> bool {
    matches!(event.body, Body::Session(SessionEvent::SessionCompleted { .. }))
}
