//! The doorbell: rung at once inside a process; between processes by looking whether the file
//! has changed, and where.

use std::collections::HashMap;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use async_trait::async_trait;
use roundtable_core::id::SessionId;
use roundtable_ports::{Bell, Rings};
use rusqlite::{Connection, OptionalExtension as _};
use tokio::sync::watch;

use super::SqliteStore;
use super::file::{DataFile, why_not};

/// How often the file is looked at for what other processes did.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// A session that someone listens to.
#[derive(Default)]
struct Door {
    rings: watch::Sender<u64>,
    /// The head that was seen last; none before the first look.
    head: Option<u64>,
}

#[derive(Default)]
struct Shared {
    /// Changes when something may be in the inbox.
    posts: watch::Sender<u64>,
    doors: Mutex<HashMap<SessionId, Door>>,
}

/// The bells of a process, and the thread that looks what others did.
pub(super) struct Doorbell {
    shared: Arc<Shared>,
    stop: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Doorbell {
    pub fn start(file: &DataFile) -> Result<Self, String> {
        let shared = Arc::new(Shared::default());
        let connection = file.connect_to_read().map_err(|error| why_not(&error))?;
        let (stop, stopped) = mpsc::channel();
        let looking = shared.clone();
        let thread = std::thread::Builder::new()
            .name("roundtable-bell".to_owned())
            .spawn(move || looking.look(&connection, &stopped))
            .map_err(|error| error.to_string())?;
        Ok(Self { shared, stop: Some(stop), thread: Some(thread) })
    }

    pub fn posts(&self) -> watch::Receiver<u64> {
        self.shared.posts.subscribe()
    }
}

impl Drop for Doorbell {
    /// The thread's connection is closed before the writer's, which then is the last one and
    /// leaves everything in the file.
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn doors(&self) -> MutexGuard<'_, HashMap<SessionId, Door>> {
        self.doors.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ring(&self, session: &SessionId) {
        let mut doors = self.doors();
        let Some(door) = doors.get(session) else { return };
        if door.rings.receiver_count() == 0 {
            doors.remove(session);
            return;
        }
        door.rings.send_modify(|rings| *rings += 1);
    }

    /// Looks at the file's version, which changes when another connection commits.
    fn look(&self, connection: &Connection, stopped: &mpsc::Receiver<()>) {
        let mut last = None;
        while stopped.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
            let now = version(connection).ok();
            // What cannot be seen may have changed.
            if now.is_none() || now != last {
                last = now;
                if self.look_around(connection).is_err() {
                    self.ring_everywhere();
                }
            }
        }
    }

    /// Rings where a log has become longer. A bell for every change would have everyone who
    /// listens anywhere read his log a hundred times a second while anyone writes.
    fn look_around(&self, connection: &Connection) -> rusqlite::Result<()> {
        let listened: Vec<SessionId> = {
            let mut doors = self.doors();
            doors.retain(|_, door| door.rings.receiver_count() > 0);
            doors.keys().cloned().collect()
        };
        let mut heads = Vec::with_capacity(listened.len());
        let posted: bool;
        {
            let reading = connection.unchecked_transaction()?;
            let sql = "SELECT head FROM session WHERE id = ?1";
            let mut statement = reading.prepare_cached(sql)?;
            for session in listened {
                let head = statement.query_row([session.as_str()], |row| row.get(0)).optional()?;
                heads.push((session, head.unwrap_or(0)));
            }
            let sql = "SELECT EXISTS (SELECT 1 FROM inbox)";
            posted = reading.prepare_cached(sql)?.query_row([], |row| row.get(0))?;
        }
        let mut doors = self.doors();
        for (session, head) in heads {
            if let Some(door) = doors.get_mut(&session)
                && door.head.replace(head) != Some(head)
            {
                door.rings.send_modify(|rings| *rings += 1);
            }
        }
        if posted {
            self.posts.send_modify(|posts| *posts += 1);
        }
        Ok(())
    }

    fn ring_everywhere(&self) {
        self.posts.send_modify(|posts| *posts += 1);
        for door in self.doors().values() {
            door.rings.send_modify(|rings| *rings += 1);
        }
    }
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))
}

#[async_trait]
impl Bell for SqliteStore {
    async fn ring(&self, session: &SessionId) {
        self.bell.shared.ring(session);
    }

    async fn listen(&self, session: &SessionId) -> Rings {
        crate::rings(self.bell.shared.doors().entry(session.clone()).or_default().rings.subscribe())
    }
}
