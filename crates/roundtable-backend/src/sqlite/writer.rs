//! The one writer thread of a process. What arrives while a commit is under way is committed
//! together next, and a piece of work that fails fails alone.
//!
//! Nearly all that fails has changed nothing yet: a stale epoch, a moved head, a command that is
//! already in. So a commit is tried without savepoints, which cost as much as half of the writing;
//! only when something has to be undone is it made again, with a savepoint for each piece.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;

use roundtable_ports::LogError;
use rusqlite::{Connection, ErrorCode};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use super::file::DataFile;
use super::{schema, search};

/// How much work one commit takes in.
const GROUP: usize = 512;

/// How much work may wait for the writer. Whoever has more waits before it is handed in.
const BACKLOG: usize = 4 * GROUP;

/// After how many commits the length of the write-ahead log is looked at.
const LOOK_EVERY: u32 = 64;

/// How long the write-ahead log may be. SQLite empties it by itself, but not past a reader that is
/// always there.
const LONG_LOG: u64 = 16 * 1024 * 1024;

/// How long readers are waited for before the log is left as it is until next time.
const PATIENCE: std::time::Duration = std::time::Duration::from_millis(200);

/// How much work a commit has that waits for no more: by then the sync is a small part of it, and
/// while it is made, those who come later get ready.
const ENOUGH: usize = 64;

/// How long a commit waits for more: much less than a sync takes.
const MOMENT: std::time::Duration = std::time::Duration::from_micros(50);

/// How a piece of work is done.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// In a commit, together with others.
    Together,
    /// Outside of any commit, because it makes its own.
    Alone,
}

/// How a commit guards its pieces against each other.
#[derive(Clone, Copy)]
enum Care {
    /// Not at all: if one leaves something to undo, all is undone and made again.
    Light,
    /// By a savepoint around each.
    Savepoints,
}

/// Why a commit was not made.
enum Failure {
    /// A piece of work failed in the middle.
    Spoiled,
    /// The file is not to be written.
    Store(LogError),
}

impl From<LogError> for Failure {
    fn from(error: LogError) -> Self {
        Self::Store(error)
    }
}

impl Failure {
    fn into_error(self) -> LogError {
        match self {
            Self::Spoiled => LogError::Unavailable("the request was not executed".to_owned()),
            Self::Store(error) => error,
        }
    }
}

/// A piece of work, and whoever waits for it.
trait Task: Send {
    fn manner(&self) -> Manner;
    /// Does it, as often as the commit is tried; what fails is not to be kept.
    fn perform(&mut self, connection: &Connection) -> Result<(), LogError>;
    /// Tells whoever asked how it went, now that it is certain.
    fn acknowledge(self: Box<Self>, committed: Result<(), LogError>);
}

struct Job<W, T> {
    manner: Manner,
    work: W,
    done: Option<Result<T, LogError>>,
    reply: oneshot::Sender<Result<T, LogError>>,
    /// Its place in the queue, until it is done.
    _room: OwnedSemaphorePermit,
}

impl<W, T> Task for Job<W, T>
where
    W: FnMut(&Connection) -> Result<T, LogError> + Send,
    T: Send,
{
    fn manner(&self) -> Manner {
        self.manner
    }

    fn perform(&mut self, connection: &Connection) -> Result<(), LogError> {
        let work = &mut self.work;
        // A panic fails this piece of work, not everyone who writes after it.
        let done = std::panic::catch_unwind(AssertUnwindSafe(|| work(connection)));
        let done = done.unwrap_or_else(|_| Err(LogError::Unavailable("the store panicked".into())));
        let kept = done.as_ref().map(|_| ()).map_err(LogError::clone);
        self.done = Some(done);
        kept
    }

    fn acknowledge(self: Box<Self>, committed: Result<(), LogError>) {
        let Self { done, reply, .. } = *self;
        let undone = || Err(LogError::Unavailable("the request was not executed".to_owned()));
        // Whoever asked may have gone; the work is done all the same.
        let _ = reply.send(committed.and_then(|()| done.unwrap_or_else(undone)));
    }
}

pub(super) struct Writer {
    work: Option<mpsc::Sender<Box<dyn Task>>>,
    room: Arc<Semaphore>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub fn start(connection: Connection, file: DataFile) -> std::io::Result<Self> {
        let (work, queue) = mpsc::channel();
        let mut desk = Desk { connection, file, commits: 0 };
        let thread = std::thread::Builder::new()
            .name("roundtable-writer".to_owned())
            .spawn(move || desk.run(&queue))?;
        let room = Arc::new(Semaphore::new(BACKLOG));
        Ok(Self { work: Some(work), room, thread: Some(thread) })
    }

    /// Does something in the next commit, and returns when that commit is on disk.
    pub async fn write<T: Send + 'static>(
        &self,
        work: impl FnMut(&Connection) -> Result<T, LogError> + Send + 'static,
    ) -> Result<T, LogError> {
        self.hand_in(Manner::Together, work).await
    }

    /// Does something that makes its own commits, while nothing else is written.
    pub async fn write_alone<T: Send + 'static>(
        &self,
        work: impl FnMut(&Connection) -> Result<T, LogError> + Send + 'static,
    ) -> Result<T, LogError> {
        self.hand_in(Manner::Alone, work).await
    }

    async fn hand_in<T: Send + 'static>(
        &self,
        manner: Manner,
        work: impl FnMut(&Connection) -> Result<T, LogError> + Send + 'static,
    ) -> Result<T, LogError> {
        let (reply, answer) = oneshot::channel();
        let gone = || LogError::Unavailable("the store is closed".to_owned());
        let room = self.room.clone().acquire_owned().await.map_err(|_| gone())?;
        let job = Box::new(Job { manner, work, done: None, reply, _room: room });
        self.work.as_ref().ok_or_else(gone)?.send(job).map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }
}

impl Drop for Writer {
    /// What was handed in is committed before the file is closed.
    fn drop(&mut self) {
        drop(self.work.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Where the writer thread works.
struct Desk {
    connection: Connection,
    file: DataFile,
    commits: u32,
}

impl Desk {
    fn run(&mut self, queue: &mpsc::Receiver<Box<dyn Task>>) {
        let (mut next, mut usual) = (None, 1);
        while let Some(mut first) = next.take().or_else(|| queue.recv().ok()) {
            if first.manner() == Manner::Alone {
                let done = self.file.check().and_then(|()| first.perform(&self.connection));
                first.acknowledge(done);
                continue;
            }
            let mut group = vec![first];
            next = gather(queue, &mut group, usual);
            usual = group.len();
            let committed = self.commit(&mut group);
            group.into_iter().for_each(|task| task.acknowledge(committed.clone()));
            self.shorten_log();
        }
    }

    /// One commit of everything that can be kept; each piece is told alone if it cannot. When the
    /// commit itself fails, nothing of it was kept, and everyone is told that.
    fn commit(&self, group: &mut [Box<dyn Task>]) -> Result<(), LogError> {
        self.file.check()?;
        match self.attempt(group, Care::Light) {
            Err(Failure::Spoiled) => self.attempt(group, Care::Savepoints),
            done => done,
        }
        .map_err(Failure::into_error)
    }

    fn attempt(&self, group: &mut [Box<dyn Task>], care: Care) -> Result<(), Failure> {
        self.execute("BEGIN IMMEDIATE")?;
        let done = schema::check(&self.connection).map_err(Failure::from).and_then(|()| {
            group.iter_mut().try_for_each(|task| match care {
                Care::Light => self.perform(task.as_mut()),
                Care::Savepoints => self.perform_in_savepoint(task.as_mut()),
            })?;
            search::catch_up(&self.connection)?;
            Ok(self.execute("COMMIT")?)
        });
        if done.is_err() {
            // Some errors have ended the transaction already; then there is nothing to undo.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        done
    }

    fn perform(&self, task: &mut dyn Task) -> Result<(), Failure> {
        let before = self.connection.total_changes();
        match task.perform(&self.connection) {
            // A full disk, for one, has ended the whole transaction.
            Err(error) if self.connection.is_autocommit() => Err(error.into()),
            Err(_) if self.connection.total_changes() != before => Err(Failure::Spoiled),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn perform_in_savepoint(&self, task: &mut dyn Task) -> Result<(), Failure> {
        self.execute("SAVEPOINT work")?;
        match task.perform(&self.connection) {
            Err(error) if self.connection.is_autocommit() => return Err(error.into()),
            Err(_) => self.execute("ROLLBACK TO work")?,
            Ok(()) => {}
        }
        Ok(self.execute("RELEASE work")?)
    }

    fn execute(&self, sql: &str) -> Result<(), LogError> {
        let mut statement = self.connection.prepare_cached(sql).map_err(|e| unavailable(&e))?;
        statement.execute([]).map(|_| ()).map_err(|error| unavailable(&error))
    }

    /// Empties a write-ahead log that has become long, if readers let it.
    fn shorten_log(&mut self) {
        self.commits = (self.commits + 1) % LOOK_EVERY;
        if self.commits != 0 || self.file.log_bytes() < LONG_LOG {
            return;
        }
        let _ = self.connection.busy_timeout(PATIENCE);
        let _ = self.connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)");
        let _ = DataFile::be_patient(&mut self.connection);
    }
}

/// Adds what waits to a group. While it is smaller than the last one, and still grows, the writer
/// waits a moment: those who were just answered are about to go on, and one sync for all is quicker
/// than two. A single caller is never waited for. Returns what has to be done alone.
fn gather(
    queue: &mpsc::Receiver<Box<dyn Task>>,
    group: &mut Vec<Box<dyn Task>>,
    usual: usize,
) -> Option<Box<dyn Task>> {
    let mut waited = false;
    loop {
        let before = group.len();
        while group.len() < GROUP
            && let Ok(task) = queue.try_recv()
        {
            if task.manner() == Manner::Alone {
                return Some(task);
            }
            group.push(task);
        }
        if group.len() >= usual.min(ENOUGH) || (waited && group.len() == before) {
            return None;
        }
        waited = true;
        std::thread::sleep(MOMENT);
    }
}

/// What a caller is told of an error: without the path of the file, which SQLite adds to some.
pub(super) fn unavailable(error: &rusqlite::Error) -> LogError {
    stop_if_the_disk_lies(error);
    if is_full(error) {
        return LogError::Full;
    }
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => LogError::Busy,
        Some(ErrorCode::CannotOpen) => {
            LogError::Unavailable("the database file cannot be opened".to_owned())
        }
        _ => LogError::Unavailable(error.to_string()),
    }
}

/// A limit on the size of files shows as a write that failed, a full disk as what it is.
fn is_full(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DiskFull)
}

/// After a failed sync nobody knows what is on disk, and trying again may report success for data
/// that is gone. The process stops; the next start reads what is really there.
fn stop_if_the_disk_lies(error: &rusqlite::Error) {
    use rusqlite::ffi::{SQLITE_IOERR_DIR_FSYNC, SQLITE_IOERR_FSYNC};
    if let rusqlite::Error::SqliteFailure(failure, _) = error
        && [SQLITE_IOERR_FSYNC, SQLITE_IOERR_DIR_FSYNC].contains(&failure.extended_code)
    {
        std::process::abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn insert(connection: &Connection, value: i64) -> Result<(), LogError> {
        let done = connection.execute("INSERT INTO kept VALUES (?1)", [value]);
        done.map(|_| ()).map_err(|error| unavailable(&error))
    }

    /// Four pieces of work in one commit, of which one fails before it has changed something, and
    /// perhaps one after.
    fn kept(spoil: bool) -> (Vec<i64>, Vec<bool>) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("roundtable.db");
        let mut connection = DataFile::connect(&path).unwrap();
        assert!(schema::migrate(&mut connection).is_ok());
        connection.execute_batch("CREATE TABLE kept (value INTEGER)").unwrap();
        let desk = Desk { connection, file: DataFile::at(path), commits: 0 };
        let room = Arc::new(Semaphore::new(4));
        let (mut group, mut answers): (Vec<Box<dyn Task>>, Vec<_>) = (Vec::new(), Vec::new());
        for number in 1..=4 {
            let work = move |connection: &Connection| {
                if number == 2 {
                    return Err(LogError::Fenced { epoch: 1 });
                }
                insert(connection, number)?;
                if spoil && number == 3 { Err(LogError::Fenced { epoch: 1 }) } else { Ok(()) }
            };
            let (reply, answer) = oneshot::channel();
            let place = room.clone().try_acquire_owned().unwrap();
            let job = Job { manner: Manner::Together, work, done: None, reply, _room: place };
            group.push(Box::new(job));
            answers.push(answer);
        }
        let committed = desk.commit(&mut group);
        group.into_iter().for_each(|task| task.acknowledge(committed.clone()));
        let told = answers.iter_mut().map(|answer| answer.try_recv().unwrap().is_ok()).collect();
        let mut statement = desk.connection.prepare("SELECT value FROM kept ORDER BY 1").unwrap();
        let values = statement.query_map([], |row| row.get(0)).unwrap();
        (values.collect::<rusqlite::Result<_>>().unwrap(), told)
    }

    #[test]
    fn work_that_fails_before_it_changed_anything_fails_alone() {
        assert_eq!(kept(false), (vec![1, 3, 4], vec![true, false, true, true]));
    }

    #[test]
    fn work_that_fails_in_the_middle_is_undone_alone() {
        assert_eq!(kept(true), (vec![1, 4], vec![true, false, false, true]));
    }
}
