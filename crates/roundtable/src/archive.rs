//! A data directory, to be read: nothing is claimed, nothing is driven. A file of an earlier format
//! is migrated; nothing else is changed, except when a session is deleted.

mod verify;

use std::path::Path;
use std::sync::Arc;

use roundtable_backend::{SqliteArchive, SqliteStore};
use roundtable_core::event::{Event, Seq};
use roundtable_core::id::{NodeId, SessionId, TurnId};
use roundtable_core::program::{Program, Programs};
use roundtable_core::session::Session;
use roundtable_core::turn::Context;
use roundtable_core::{Keep, Live, Reject};
use roundtable_debate::Record;
use roundtable_engine::{EngineError, SystemClock, UuidIds};
use roundtable_ports::{Embedder, Ids as _, LogError, SessionListing, Store};

pub use verify::{Damage, Verification};

use crate::builder::programs;
use crate::error::Result;
use crate::search::Searcher;
use crate::turn::TurnReading;

/// How many events are read at once.
const PAGE: usize = 512;

/// A data directory, to be looked at while others may write it.
///
/// ```no_run
/// # async fn look() -> roundtable::Result<()> {
/// let archive = roundtable::Archive::open("data")?;
/// for listed in archive.sessions(10).await? {
///     println!("{} {}", listed.session, listed.summary.topic);
///     for event in archive.log(&listed.session).await? {
///         println!("{event}");
///     }
/// }
/// assert!(archive.verify().await.is_sound());
/// # Ok(())
/// # }
/// ```
pub struct Archive {
    store: SqliteArchive,
    programs: Programs,
}

impl Archive {
    /// Opens a data directory, which has to be there: nothing is made.
    ///
    /// # Errors
    /// [`crate::Error`] when there are no sessions in it, or it cannot be used.
    pub fn open(directory: impl AsRef<Path>) -> Result<Self> {
        Ok(Self { store: SqliteArchive::open(directory.as_ref())?, programs: programs() })
    }

    /// Reads the turns of sessions that run this program in its words.
    #[must_use]
    pub fn program(mut self, program: impl Program) -> Self {
        self.programs = self.programs.with(program);
        self
    }

    /// The newest sessions, newest first.
    ///
    /// # Errors
    /// [`crate::Error`] when they cannot be read.
    pub async fn sessions(&self, limit: usize) -> Result<Vec<SessionListing>> {
        Ok(self.store.list(limit).await.map_err(EngineError::from)?)
    }

    /// The newest sessions whose ids start with this text, which may leave out `ses_`.
    ///
    /// # Errors
    /// [`crate::Error`] when they cannot be read.
    pub async fn starting(&self, start: &str, most: usize) -> Result<Vec<SessionListing>> {
        let start = start.strip_prefix("ses_").unwrap_or(start);
        let found = self.store.starting(&format!("ses_{start}"), most).await;
        Ok(found.map_err(EngineError::from)?)
    }

    /// What searches the messages. Without an embedder, they are found by their words alone; with one,
    /// the vectors of messages are kept.
    ///
    /// # Errors
    /// [`crate::Error`] when the directory cannot be used.
    pub fn searcher(&self, embedder: Option<Arc<dyn Embedder>>) -> Result<Searcher> {
        let store = Store::of(Arc::new(self.open_store()?));
        Ok(Searcher::new(store, embedder, Arc::new(SystemClock)))
    }

    fn open_store(&self) -> Result<SqliteStore> {
        let directory = self.store.file().parent().unwrap_or_else(|| Path::new("."));
        Ok(SqliteStore::open(directory)?)
    }

    /// Deletes a session for good: its events, and everything that was made of them.
    ///
    /// # Errors
    /// [`crate::Error`] when it does not exist, a process is using it, or a fork needs its history.
    pub async fn delete(&self, session: &SessionId) -> Result<()> {
        let store = self.open_store()?;
        let node = NodeId::new(&UuidIds.fresh())?;
        Ok(store.delete(session, &node).await?)
    }

    /// The session with this id.
    ///
    /// # Errors
    /// [`crate::Error`] when it cannot be read.
    pub async fn find(&self, session: &SessionId) -> Result<Option<SessionListing>> {
        Ok(self.store.find(session).await.map_err(EngineError::from)?)
    }

    /// The events of a session from a position on, at most so many; its past before a fork is
    /// part of it.
    ///
    /// # Errors
    /// [`crate::Error`] when they cannot be read, or are not what was written.
    pub async fn read(
        &self,
        session: &SessionId,
        from: Seq,
        limit: usize,
    ) -> Result<Vec<Arc<Event>>> {
        Ok(self.store.read(session, from, limit).await.map_err(EngineError::from)?)
    }

    /// All events of a session.
    ///
    /// # Errors
    /// [`crate::Error`] when there is no such session, or its log cannot be read.
    pub async fn log(&self, session: &SessionId) -> Result<Vec<Arc<Event>>> {
        let mut events = Vec::new();
        self.each(session, |event| events.push(event.clone())).await?;
        Ok(events)
    }

    /// The record of a debate, folded page by page; nothing when the session is not a debate.
    ///
    /// # Errors
    /// [`crate::Error`] when there is no such session, or its log cannot be read.
    pub async fn record(&self, session: &SessionId) -> Result<Option<Record>> {
        let mut live = Live::reader(session.clone(), &self.programs, Keep::All);
        self.each(session, |event| live.apply(event)).await?;
        Ok(Record::of(&live))
    }

    /// The state of a session: the fold of its log.
    ///
    /// # Errors
    /// [`crate::Error`] when there is no such session, or its log cannot be read.
    pub async fn state(&self, session: &SessionId) -> Result<Session> {
        let mut state = Session::new(session.clone());
        self.each(session, |event| state.evolve(event)).await?;
        Ok(state)
    }

    /// What happened in a turn, iteration by iteration; as far as it got, if it is still open.
    ///
    /// # Errors
    /// [`crate::Error`] when there is no such session, or its log cannot be read.
    pub async fn turn(&self, session: &SessionId, turn: &TurnId) -> Result<Option<Context>> {
        let mut reading = TurnReading::new(session, turn, &self.programs);
        self.each(session, |event| reading.look(event)).await?;
        Ok(reading.end())
    }

    /// Checks everything that is stored, event by event. What cannot be read is damage,
    /// too; in one session it does not keep the others from being checked.
    pub async fn verify(&self) -> Verification {
        verify::verify(&self.store).await
    }

    /// Shows every event of a session to someone, in order, page by page.
    async fn each(&self, session: &SessionId, mut look: impl FnMut(&Arc<Event>)) -> Result<()> {
        let mut next = Seq(1);
        loop {
            let page = self.read(session, next, PAGE).await?;
            let Some(last) = page.last() else { break };
            // The store checks what it has; only here it shows whether the first one is missing.
            if let Some(first) = page.first().filter(|first| first.seq != next) {
                let what = format!("the log continues with event {}", first.seq);
                let damaged = LogError::Damaged { session: session.clone(), seq: next, what };
                return Err(EngineError::from(damaged).into());
            }
            next = last.seq.next();
            page.iter().for_each(&mut look);
        }
        if next == Seq(1) {
            return Err(Reject::NotFound { session: session.clone() }.into());
        }
        Ok(())
    }
}
