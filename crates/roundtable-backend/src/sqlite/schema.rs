//! The file's form, step by step. Each step is one transaction with its own version, so a process
//! that is killed at any statement leaves the file at the version before or after it.

use rusqlite::{Connection, TransactionBehavior};

use super::Trouble;

/// The steps from an empty file to the form that this build uses.
const STEPS: [&str; 1] = [include_str!("schema/1.sql")];

/// The form that this build uses.
pub(super) const NEWEST: usize = STEPS.len();

/// Brings a file to the form that this build uses.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), Trouble> {
    let newest = NEWEST;
    loop {
        let step = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let version: usize = step.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        if version > newest {
            return Err(Trouble::Newer { version, newest });
        }
        let Some(sql) = STEPS.get(version) else { return Ok(()) };
        step.execute_batch(sql)?;
        step.pragma_update(None, "user_version", version + 1)?;
        step.commit()?;
    }
}
