//! A session, as someone reads it: the writer's own folds, kept up with the log.

use roundtable_core::event::{Event, Seq};
use roundtable_core::{Keep, Live};
use roundtable_engine::{Subscription, Update};

use crate::error::Result;
use crate::session::{Session, Since};

/// A session, as someone reads it. It reads the log once, and then what is added to it.
///
/// ```
/// use roundtable::prelude::*;
/// use roundtable::{Keep, Reader};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> roundtable::Result<()> {
/// let script = Script::default().voice("ann", [Reply::text("Hello.")]);
/// let engine = Engine::builder().custom_model("scripted", ScriptedModel::new(script)).build().await?;
/// let session = engine.chat("Greetings").agent("Ann").open().await?;
/// session.say("Hello?").await?;
/// let mut reader = Reader::open(&session, Keep::Window).await?;
/// let closed = |live: &roundtable::core::Live| (live.session.rounds_completed > 0).then_some(());
/// reader.until(closed).await?;
/// let said: Vec<&str> = reader.now().window.rounds().flat_map(|round| &round.turns).map(|turn| turn.text.as_str()).collect();
/// assert_eq!(said, ["Hello."]);
/// # engine.shutdown().await;
/// # Ok(())
/// # }
/// ```
pub struct Reader {
    session: Session,
    live: Live,
    updates: Option<Subscription>,
}

impl Reader {
    /// A reader that knows the session as it is now, or all of its log.
    ///
    /// # Errors
    /// [`crate::Error`] when there is no such session, or its log cannot be read.
    pub async fn open(session: &Session, keep: Keep) -> Result<Self> {
        let live = session.live(keep).await?;
        Ok(Self { session: session.clone(), live, updates: None })
    }

    /// A reader that begins before the first event, and keeps everything.
    ///
    /// # Errors
    /// [`crate::Error`] when there is no such session.
    pub async fn replay(session: &Session) -> Result<Self> {
        let updates = Some(session.updates(Since::Start).await?);
        let live = Live::reader(session.id().clone(), session.programs(), Keep::All);
        Ok(Self { session: session.clone(), live, updates })
    }

    /// The session, as far as it was read.
    pub fn now(&self) -> &Live {
        &self.live
    }

    /// The next thing that happens or is said; it waits until there is one. Events are in
    /// [`Reader::now`] already. Whoever stops waiting loses nothing.
    ///
    /// # Errors
    /// [`crate::Error`] when the log cannot be read, or the engine has ended and everything was
    /// read.
    pub async fn next(&mut self) -> Result<Update> {
        let update = self.updates().await?.next().await?;
        if let Update::Event(event) = &update {
            self.live.apply(event);
        }
        Ok(update)
    }

    /// Waits for the next event, and reads all that are there already: what was committed together is
    /// read together. Each one is shown.
    ///
    /// # Errors
    /// The same.
    pub async fn next_events(&mut self, mut show: impl FnMut(&Event)) -> Result<()> {
        let mut next = Some(self.updates().await?.next_event().await?);
        while let Some(event) = next {
            self.live.apply(&event);
            show(&event);
            next = self.updates().await?.try_next_event().await?;
        }
        Ok(())
    }

    /// Reads on until something is found.
    ///
    /// # Errors
    /// The same.
    pub async fn until<T>(&mut self, mut find: impl FnMut(&Live) -> Option<T>) -> Result<T> {
        loop {
            if let Some(found) = find(&self.live) {
                return Ok(found);
            }
            self.next_events(|_| ()).await?;
        }
    }

    /// Reads on to a position, and no further.
    ///
    /// # Errors
    /// The same.
    pub async fn read_to(&mut self, seq: Seq) -> Result<&Live> {
        while self.live.session.head < seq {
            let event = self.updates().await?.next_event().await?;
            self.live.apply(&event);
        }
        Ok(&self.live)
    }

    async fn updates(&mut self) -> Result<&mut Subscription> {
        if self.updates.is_none() {
            let since = Since::After(self.live.session.head);
            self.updates = Some(self.session.updates(since).await?);
        }
        self.updates.as_mut().ok_or_else(|| roundtable_engine::EngineError::Stopping.into())
    }
}
