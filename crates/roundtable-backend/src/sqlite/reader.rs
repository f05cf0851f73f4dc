//! The connections that only read.

use std::sync::{Arc, Mutex, PoisonError};

use roundtable_ports::LogError;
use rusqlite::Connection;
use tokio::sync::Semaphore;

use super::file::DataFile;
use super::schema;
use super::writer::unavailable;

/// How many reads go on at once. More would only stand in each other's way.
const AT_ONCE: usize = 8;

/// Connections that only read, as many as are used at once.
pub(super) struct Readers {
    file: DataFile,
    idle: Arc<Mutex<Vec<Connection>>>,
    room: Semaphore,
}

impl Readers {
    pub fn new(file: DataFile) -> Self {
        Self { file, idle: Arc::default(), room: Semaphore::new(AT_ONCE) }
    }

    /// Reads something, as of one moment, on a thread that may wait for the disk. What was
    /// acknowledged before is in it.
    pub async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, LogError> + Send + 'static,
    ) -> Result<T, LogError> {
        let closed = |_| LogError::Unavailable("the store is closed".to_owned());
        let _room = self.room.acquire().await.map_err(closed)?;
        let (file, idle) = (self.file.clone(), self.idle.clone());
        let work = move || {
            file.check()?;
            let kept = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let connection = match kept {
                Some(connection) => connection,
                None => file.connect_to_read().map_err(|error| unavailable(&error))?,
            };
            let value = at_one_moment(&connection, read);
            idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
            value
        };
        tokio::task::spawn_blocking(work)
            .await
            .unwrap_or_else(|error| Err(LogError::Unavailable(error.to_string())))
    }
}

fn at_one_moment<T>(
    connection: &Connection,
    read: impl FnOnce(&Connection) -> Result<T, LogError>,
) -> Result<T, LogError> {
    let reading = connection.unchecked_transaction().map_err(|error| unavailable(&error))?;
    schema::check(&reading)?;
    read(&reading)
}
