//! A store in a directory: one SQLite file, one writer thread per process, any number of readers.

mod append;
mod archive;
mod bell;
mod directory;
mod draft;
mod inbox;
mod lease;
mod read;
mod row;
mod schema;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::{Connection, OpenFlags};

pub use archive::{SessionRow, SqliteArchive};
use bell::Doorbell;
use lease::Liveness;
use read::Readers;
use writer::Writer;

/// The file in a data directory.
const FILE: &str = "roundtable.db";

/// Why a data directory cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpenError {
    /// There is nothing to read.
    Missing {
        /// The directory.
        directory: PathBuf,
    },
    /// The file was written by a newer version.
    Newer {
        /// The file.
        file: PathBuf,
        /// Its version.
        version: usize,
        /// The newest version that this build knows.
        newest: usize,
    },
    /// The file or the directory cannot be used.
    Unusable {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        why: String,
    },
}

impl std::fmt::Display for OpenError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Missing { directory } => {
                write!(f, "there are no sessions in {}", directory.display())
            }
            Self::Newer { file, version, newest } => write!(
                f,
                "{} has format {version}; this build knows formats up to {newest}: \
                 update roundtable, or choose another data directory",
                file.display()
            ),
            Self::Unusable { path, why } => write!(f, "{} cannot be used: {why}", path.display()),
        }
    }
}

impl std::error::Error for OpenError {}

/// Trouble while opening a file.
enum Trouble {
    Newer { version: usize, newest: usize },
    Sqlite(rusqlite::Error),
}

impl From<rusqlite::Error> for Trouble {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

/// A store in a directory. Several processes may use one directory at a time.
pub struct SqliteStore {
    file: PathBuf,
    writer: Writer,
    readers: Readers,
    liveness: Liveness,
    bell: Arc<Doorbell>,
}

impl SqliteStore {
    /// Opens the store in a directory, and makes it where there is none.
    ///
    /// # Errors
    /// [`OpenError`] when the directory or its file cannot be used.
    pub fn open(directory: &Path) -> Result<Self, OpenError> {
        let unusable =
            |path: &Path, why: String| OpenError::Unusable { path: path.to_owned(), why };
        std::fs::create_dir_all(directory)
            .map_err(|error| unusable(directory, error.to_string()))?;
        let file = directory.join(FILE);
        let mut connection = connect(&file).map_err(|error| unusable(&file, error.to_string()))?;
        schema::migrate(&mut connection).map_err(|trouble| match trouble {
            Trouble::Newer { version, newest } => {
                OpenError::Newer { file: file.clone(), version, newest }
            }
            Trouble::Sqlite(error) => unusable(&file, error.to_string()),
        })?;
        let readers = Readers::new(file.clone());
        let bell = Doorbell::start(&file).map_err(|error| unusable(&file, error))?;
        let writer =
            Writer::start(connection).map_err(|error| unusable(&file, error.to_string()))?;
        let liveness = Liveness::new(directory.join("nodes"));
        Ok(Self { file, writer, readers, liveness, bell })
    }

    /// The file.
    pub fn file(&self) -> &Path {
        &self.file
    }
}

/// A connection that waits for its turn and loses nothing that it acknowledged.
fn connect(file: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(file)?;
    connection.busy_timeout(std::time::Duration::from_secs(10))?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

/// A connection that only reads.
fn connect_to_read(file: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(
        file,
        OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_URI,
    )?;
    connection.busy_timeout(std::time::Duration::from_secs(10))?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

/// The `id` of an event in the table: a session's events lie together.
fn event_id(number: i64, seq: u64) -> i64 {
    (number << 32) | i64::try_from(seq & 0xffff_ffff).unwrap_or(0)
}
