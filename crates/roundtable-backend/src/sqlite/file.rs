//! The file, and whether it is still the one that was opened. A file that was replaced under a
//! running process would take in what nobody reads any more.

use std::path::{Path, PathBuf};

use roundtable_ports::LogError;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

/// How long a connection waits for its turn, in steps of [`STEP`]. Not longer: whoever waits for the
/// write lock of another process has to be told in time, and is tried again.
const STEPS: i32 = 4_000;

/// How long one step of waiting is. Short and always the same: with SQLite's own growing pauses a
/// process could miss its turn for seconds beside one that writes all the time.
const STEP: std::time::Duration = std::time::Duration::from_millis(1);

/// How much of the file the writer keeps in memory at most, in KiB.
const CACHE_KIB: i64 = 64 * 1024;

/// After how many pages the write-ahead log is emptied into the file: 8 MiB.
const LOG_PAGES: i64 = 2048;

/// How many bytes the write-ahead log may keep once its content is in the file.
const KEPT_LOG: i64 = 16 * 1024 * 1024;

/// The file of a store.
#[derive(Clone)]
pub(super) struct DataFile {
    path: PathBuf,
    identity: Option<(u64, u64)>,
}

impl DataFile {
    /// The file that is there now.
    pub fn at(path: PathBuf) -> Self {
        let identity = identity(&path);
        Self { path, identity }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How long the write-ahead log is.
    pub fn log_bytes(&self) -> u64 {
        let mut name = self.path.as_os_str().to_owned();
        name.push("-wal");
        std::fs::metadata(PathBuf::from(name)).map_or(0, |found| found.len())
    }

    /// Refuses when another file is in its place, or none.
    pub fn check(&self) -> Result<(), LogError> {
        if identity(&self.path) == self.identity {
            return Ok(());
        }
        // Callers elsewhere read it: the path of the file is none of their business.
        let what = "the database file was moved or replaced; restart this process";
        Err(LogError::Unavailable(what.to_owned()))
    }

    /// A connection that waits for its turn and loses nothing that it acknowledged.
    pub fn connect(path: &Path) -> rusqlite::Result<Connection> {
        let mut connection = Connection::open(path)?;
        // It waits by itself, step by step: with a connection that waits as well, each step would take
        // as long as all of them.
        connection.busy_timeout(std::time::Duration::ZERO)?;
        begin_log(&connection)?;
        Self::be_patient(&mut connection)?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "journal_size_limit", KEPT_LOG)?;
        connection.pragma_update(None, "foreign_keys", true)?;
        // What is erased is overwritten, wherever it was.
        connection.pragma_update(None, "secure_delete", true)?;
        keep_statements(&mut connection)?;
        Ok(connection)
    }

    /// Gives a connection that writes for many sessions the room to do so: the pages of all that
    /// are busy stay in memory, and the write-ahead log is emptied less often.
    pub fn make_room(connection: &Connection) -> rusqlite::Result<()> {
        connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
        connection.pragma_update(None, "wal_autocheckpoint", LOG_PAGES)
    }

    /// Has a connection wait for its turn.
    pub fn be_patient(connection: &mut Connection) -> rusqlite::Result<()> {
        connection.busy_handler(Some(wait_a_moment))
    }

    /// A connection that only reads.
    pub fn connect_to_read(&self) -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(&self.path, flags)?;
        Self::be_patient(&mut connection)?;
        keep_statements(&mut connection)?;
        Ok(connection)
    }
}

/// Has a connection compile each statement once. By itself SQLite compiles those whose plan could
/// depend on a value again for every value: that was a third of the time of an append.
fn keep_statements(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.set_prepared_statement_cache_capacity(64);
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map(|_| ())
}

fn wait_a_moment(times: i32) -> bool {
    std::thread::sleep(STEP);
    times < STEPS
}

/// Turns the write-ahead log on. SQLite does not wait for its turn here by itself: two processes
/// that make the file at the same moment get in each other's way.
fn begin_log(connection: &Connection) -> rusqlite::Result<()> {
    let mut times = 0;
    loop {
        let set = connection
            .pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0));
        match set {
            Ok(mode) if mode.eq_ignore_ascii_case("wal") => return Ok(()),
            Ok(mode) => {
                let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CANTOPEN);
                let what =
                    format!("this file system supports only the journal mode {mode}, not WAL");
                return Err(rusqlite::Error::SqliteFailure(code, Some(what)));
            }
            Err(error) if is_busy(&error) && wait_a_moment(times) => times += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Why a file cannot be opened, for whoever owns it.
pub(super) fn why_not(error: &rusqlite::Error) -> String {
    if is_busy(error) {
        return "another process holds a lock on it; retry when that process is done, or end it"
            .to_owned();
    }
    error.to_string()
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// What tells a file from another one with the same name.
#[cfg(unix)]
pub(super) fn identity_of(found: &std::fs::Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    Some((found.dev(), found.ino()))
}

/// Where the system has no such thing, an open file cannot be replaced either.
#[cfg(not(unix))]
pub(super) fn identity_of(_found: &std::fs::Metadata) -> Option<(u64, u64)> {
    None
}

/// The same by name; nothing where there is no file.
pub(super) fn identity(path: &Path) -> Option<(u64, u64)> {
    std::fs::metadata(path).ok().as_ref().and_then(identity_of)
}
