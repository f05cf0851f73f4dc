//! The one writer thread of a process. What arrives while a commit is under way is committed
//! together next; each piece of work is a savepoint, so one that fails fails alone.

use std::sync::mpsc;
use std::thread::JoinHandle;

use roundtable_ports::LogError;
use rusqlite::Connection;
use tokio::sync::oneshot;

/// How much work one commit takes in.
const GROUP: usize = 512;

/// A piece of work, which says whether it is to be kept, and what to do once that is certain.
type Work = Box<dyn FnOnce(&Connection) -> (bool, Acknowledge) + Send>;

/// Tells whoever asked how it went.
type Acknowledge = Box<dyn FnOnce(Result<(), LogError>) + Send>;

pub(super) struct Writer {
    work: Option<mpsc::Sender<Work>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub fn start(connection: Connection) -> std::io::Result<Self> {
        let (work, queue) = mpsc::channel();
        let thread = std::thread::Builder::new()
            .name("roundtable-writer".to_owned())
            .spawn(move || run(&connection, &queue))?;
        Ok(Self { work: Some(work), thread: Some(thread) })
    }

    /// Does something in the next commit, and returns when that commit is on disk.
    pub async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, LogError> + Send + 'static,
    ) -> Result<T, LogError> {
        let (reply, answer) = oneshot::channel();
        let work: Work = Box::new(move |connection| {
            let done = work(connection);
            let keep = done.is_ok();
            let acknowledge: Acknowledge = Box::new(move |committed| {
                // Whoever asked may have gone; the work is done all the same.
                let _ = reply.send(committed.and(done));
            });
            (keep, acknowledge)
        });
        let gone = || LogError::Unavailable("the store is closed".to_owned());
        self.work.as_ref().ok_or_else(gone)?.send(work).map_err(|_| gone())?;
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

fn run(connection: &Connection, queue: &mpsc::Receiver<Work>) {
    while let Ok(first) = queue.recv() {
        let rest = std::iter::from_fn(|| queue.try_recv().ok()).take(GROUP - 1);
        let group: Vec<Work> = std::iter::once(first).chain(rest).collect();
        let mut acknowledgements = Vec::with_capacity(group.len());
        let committed =
            commit(connection, group, &mut acknowledgements).map_err(|error| unavailable(&error));
        for acknowledge in acknowledgements {
            acknowledge(committed.clone());
        }
    }
}

fn commit(
    connection: &Connection,
    group: Vec<Work>,
    acknowledgements: &mut Vec<Acknowledge>,
) -> rusqlite::Result<()> {
    let begun = connection.execute_batch("BEGIN IMMEDIATE");
    if let Err(error) = begun {
        // Nothing was done; whoever asked learns it by the closed channel of the dropped work.
        for work in group {
            drop(work);
        }
        return Err(error);
    }
    let done = group.into_iter().try_for_each(|work| {
        connection.execute_batch("SAVEPOINT work")?;
        let (keep, acknowledge) = work(connection);
        acknowledgements.push(acknowledge);
        connection.execute_batch(if keep {
            "RELEASE work"
        } else {
            "ROLLBACK TO work; RELEASE work"
        })
    });
    let done = done.and_then(|()| connection.execute_batch("COMMIT"));
    if let Err(error) = &done {
        stop_if_the_disk_lies(error);
        let _ = connection.execute_batch("ROLLBACK");
    }
    done
}

/// After a failed sync nobody knows what is on disk, and trying again may report success for data
/// that is gone. The process stops; the next start reads what is really there.
fn stop_if_the_disk_lies(error: &rusqlite::Error) {
    if let rusqlite::Error::SqliteFailure(failure, _) = error
        && failure.extended_code == rusqlite::ffi::SQLITE_IOERR_FSYNC
    {
        std::process::abort();
    }
}

pub(super) fn unavailable(error: &rusqlite::Error) -> LogError {
    LogError::Unavailable(error.to_string())
}
