//! A store in a directory: one SQLite file, one writer thread per process, any number of readers.

mod append;
mod archive;
mod bell;
mod delete;
mod directory;
mod draft;
mod erase;
mod file;
mod inbox;
mod lease;
mod lineage;
mod liveness;
mod message;
mod private;
mod quota;
mod read;
mod reader;
mod row;
mod scene;
mod schema;
mod seal;
mod search;
mod shelf;
mod vectors;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use roundtable_core::event::Seq;

pub use archive::{SessionRow, SnapshotRow, SqliteArchive};
use bell::Doorbell;
pub use delete::DeleteError;
pub use erase::{EraseError, Words};
use file::{DataFile, why_not};
use liveness::Liveness;
pub use private::PermissionNotice;
use reader::Readers;
pub use scene::{SceneMessage, SceneRound};
use shelf::Shelf;
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
                "{} has format {version}; this build supports formats up to {newest}: update \
                 roundtable, or choose another data directory",
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
    Foreign,
    Sqlite(rusqlite::Error),
}

impl From<rusqlite::Error> for Trouble {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

/// A store in a directory. Several processes may use one directory at a time.
pub struct SqliteStore {
    // In the order in which they are closed: the writer's connection is the last one, so that it
    // can leave everything in one file, and the process lives until then.
    bell: Doorbell,
    readers: Readers,
    writer: Writer,
    liveness: Liveness,
    shelf: Arc<Shelf>,
    file: DataFile,
    permissions: Vec<PermissionNotice>,
}

impl SqliteStore {
    /// Opens the store in a directory, and makes it where there is none.
    ///
    /// # Errors
    /// [`OpenError`] when the directory or its file cannot be used.
    pub fn open(directory: &Path) -> Result<Self, OpenError> {
        Self::open_within(directory, u64::MAX)
    }

    /// Opens the store like [`SqliteStore::open`], and lets its file grow to so many bytes and no
    /// further: what does not fit is refused, and nothing of it is kept.
    ///
    /// # Errors
    /// [`OpenError`] when the directory or its file cannot be used.
    pub fn open_within(directory: &Path, bytes: u64) -> Result<Self, OpenError> {
        let path = directory.join(FILE);
        let permissions = prepare_directory(directory)?;
        // SQLite gives the files beside it the permissions of this one.
        private::make_file(&path).map_err(|error| unusable(&path, &error))?;
        let mut connection =
            DataFile::connect(&path).map_err(|error| unusable(&path, &why_not(&error)))?;
        limit_pages(&connection, bytes).map_err(|error| unusable(&path, &why_not(&error)))?;
        schema::migrate(&mut connection).map_err(|trouble| match trouble {
            Trouble::Newer { version, newest } => {
                OpenError::Newer { file: path.clone(), version, newest }
            }
            Trouble::Foreign => unusable(&path, &"it is the database of another program"),
            Trouble::Sqlite(error) => unusable(&path, &why_not(&error)),
        })?;
        let file = DataFile::at(path.clone());
        let bell = Doorbell::start(&file).map_err(|error| unusable(&path, &error))?;
        let readers = Readers::new(file.clone());
        DataFile::make_room(&connection).map_err(|error| unusable(&path, &why_not(&error)))?;
        let writer =
            Writer::start(connection, file.clone()).map_err(|error| unusable(&path, &error))?;
        let liveness = Liveness::new(directory.join("nodes"));
        let shelf = Arc::new(Shelf::new());
        Ok(Self { bell, readers, writer, liveness, shelf, file, permissions })
    }

    /// The file.
    pub fn file(&self) -> &Path {
        self.file.path()
    }

    /// What was too open to other users when the store was opened.
    pub fn permission_notices(&self) -> &[PermissionNotice] {
        &self.permissions
    }
}

fn unusable(path: &Path, why: &dyn std::fmt::Display) -> OpenError {
    OpenError::Unusable { path: path.to_owned(), why: why.to_string() }
}

/// Makes a data directory that is its owner's alone, and closes one that exists to other users.
/// Says what was too open.
///
/// # Errors
/// [`OpenError`] when there is none and it cannot be made.
pub fn prepare_directory(directory: &Path) -> Result<Vec<PermissionNotice>, OpenError> {
    private::make_directory(directory).map_err(|error| unusable(directory, &error))?;
    Ok(private::tighten(directory))
}

fn limit_pages(connection: &rusqlite::Connection, bytes: u64) -> rusqlite::Result<()> {
    let page: u64 = connection.query_row("PRAGMA page_size", [], |row| row.get(0))?;
    // The most that a file can have anyway.
    let pages = (bytes / page).clamp(1, 0xffff_fffe);
    connection.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(()))
}

/// The last position that a log can have.
const LAST: Seq = Seq(0xffff_ffff);

/// The row of an event in the table: a session's events lie together. None beyond [`LAST`].
fn event_id(number: i64, seq: Seq) -> Option<i64> {
    let seq = i64::try_from(seq.0).ok().filter(|_| seq <= LAST)?;
    Some((number << 32) | seq)
}

/// A limit as SQL has it. A caller that wants everything may name a number that SQL has no form for.
fn limit(most: usize) -> i64 {
    i64::try_from(most).unwrap_or(i64::MAX)
}
