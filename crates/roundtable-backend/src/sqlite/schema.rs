//! The file's form, step by step. Each step is one transaction with its own version, so a process
//! that is killed at any statement leaves the file at the version before or after it.

use roundtable_ports::LogError;
use rusqlite::{Connection, TransactionBehavior};

use super::Trouble;
use super::writer::unavailable;

/// The steps from an empty file to the form that this build uses.
const STEPS: [&str; 8] = [
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
    include_str!("schema/4.sql"),
    include_str!("schema/5.sql"),
    include_str!("schema/6.sql"),
    include_str!("schema/7.sql"),
    include_str!("schema/8.sql"),
];

/// The form that this build uses.
pub(super) const NEWEST: usize = STEPS.len();

/// Says whose file it is: "Rtbl", for programs that look at files.
const APPLICATION: i64 = 0x5274_626c;

/// Brings a file to the form that this build uses.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), Trouble> {
    let newest = NEWEST;
    // A file that is up to date is opened without waiting for whoever writes it.
    while version(connection)? != newest {
        let step = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let version = version(&step)?;
        if version > newest {
            return Err(Trouble::Newer { version, newest });
        }
        if version == 0 && !is_empty(&step)? {
            return Err(Trouble::Foreign);
        }
        if let Some(sql) = STEPS.get(version) {
            step.execute_batch(sql)?;
            step.pragma_update(None, "application_id", APPLICATION)?;
            step.pragma_update(None, "user_version", version + 1)?;
            step.commit()?;
        }
    }
    Ok(())
}

/// Refuses when the file has another form than this build knows: another process has changed it
/// since it was opened. Called inside every transaction.
pub(super) fn check(connection: &Connection) -> Result<(), LogError> {
    let (found, known) = (version(connection).map_err(|error| unavailable(&error))?, NEWEST);
    if found == known {
        return Ok(());
    }
    let what = format!(
        "the file now has format {found}, and this process supports format {known}: restart it \
         with the version of roundtable that changed the file"
    );
    Err(LogError::Unavailable(what))
}

pub(super) fn version(connection: &Connection) -> rusqlite::Result<usize> {
    connection.prepare_cached("PRAGMA user_version")?.query_row([], |row| row.get(0))
}

fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    let sql = "SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)";
    connection.query_row(sql, [], |row| row.get(0))
}
