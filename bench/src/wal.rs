//! How often a store in a directory waited for the disk.

use std::path::{Path, PathBuf};

use rusqlite::Connection;

/// Counts the transactions that are committed while it lives.
pub struct Commits {
    log: PathBuf,
    before: u32,
    // As long as someone reads what was there before, nothing is taken out of the write-ahead log.
    _reader: Connection,
}

impl Commits {
    /// Counts from now on.
    ///
    /// # Errors
    /// When there is no store in the directory.
    pub fn of(directory: &Path) -> anyhow::Result<Self> {
        let reader = Connection::open(directory.join("roundtable.db"))?;
        reader.execute_batch("BEGIN; SELECT count(*) FROM session")?;
        let log = directory.join("roundtable.db-wal");
        let before = transactions(&log)?;
        Ok(Self { log, before, _reader: reader })
    }

    /// How many there were.
    ///
    /// # Errors
    /// When the write-ahead log cannot be read.
    pub fn count(&self) -> anyhow::Result<u32> {
        Ok(transactions(&self.log)? - self.before)
    }
}

/// How many transactions a write-ahead log has: the last frame of each says how long the file is.
fn transactions(log: &Path) -> anyhow::Result<u32> {
    let log = std::fs::read(log)?;
    let word = |bytes: &[u8], at: usize| -> anyhow::Result<u32> {
        Ok(u32::from_be_bytes(bytes[at..at + 4].try_into()?))
    };
    let (page, salt) = (word(&log, 8)? as usize, &log[16..24]);
    let frames = log[32..].chunks_exact(24 + page).take_while(|frame| frame[8..16] == *salt);
    let mut transactions = 0;
    for frame in frames {
        transactions += u32::from(word(frame, 4)? > 0);
    }
    Ok(transactions)
}
