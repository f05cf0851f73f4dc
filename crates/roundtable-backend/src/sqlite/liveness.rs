//! Which processes live. A process lives as long as it holds the lock on a file of its own: the
//! system lets go of it when the process ends, however it ends. No clock is involved.

use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use roundtable_core::id::NodeId;

use super::file::{identity, identity_of};
use super::private;

/// How often a lock that someone just looks at is tried again.
const TRIES: u32 = 200;

/// How long to wait in between.
const PAUSE: Duration = Duration::from_millis(5);

/// Which processes live.
pub(super) struct Liveness {
    directory: PathBuf,
    /// The locks that this process holds.
    own: Mutex<HashMap<NodeId, File>>,
}

/// What trying to take a lock came to.
enum LockAttempt {
    Taken(File),
    Held,
    /// The file is gone, or another one has its name.
    Gone,
}

impl Liveness {
    pub fn new(directory: PathBuf) -> Self {
        Self { directory, own: Mutex::default() }
    }

    fn own(&self) -> MutexGuard<'_, HashMap<NodeId, File>> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn file(&self, node: &str) -> PathBuf {
        self.directory.join(format!("{node}.lock"))
    }

    /// Takes the lock that says that this process lives, and tidies up after those that do not.
    pub fn enliven(&self, node: &NodeId) -> io::Result<()> {
        let mut own = self.own();
        if own.contains_key(node) {
            return Ok(());
        }
        private::make_directory(&self.directory)?;
        own.insert(node.clone(), self.take(node)?);
        drop(own);
        self.living();
        Ok(())
    }

    fn take(&self, node: &NodeId) -> io::Result<File> {
        let path = self.file(node.as_str());
        for _ in 0..TRIES {
            let mut options = OpenOptions::new();
            let options = options.create(true).truncate(false).write(true);
            let file = private::owners_alone(options).open(&path)?;
            match try_lock(file, &path)? {
                LockAttempt::Taken(file) => return Ok(file),
                LockAttempt::Gone => {}
                // Another process may be looking whether this one lives.
                LockAttempt::Held => std::thread::sleep(PAUSE),
            }
        }
        Err(io::Error::other(format!("another process runs as {node}")))
    }

    /// Whether a process lives: nobody else can take the lock that it holds.
    pub fn is_alive(&self, node: &str) -> bool {
        if self.own().keys().any(|own| own.as_str() == node) {
            return true;
        }
        let path = self.file(node);
        let tried = match OpenOptions::new().write(true).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return false,
            // What cannot be looked at counts as alive: a session is rather left alone than taken
            // from a process that works on it.
            Err(_) => return true,
            Ok(file) => try_lock(file, &path),
        };
        match tried {
            Ok(LockAttempt::Held) | Err(_) => true,
            Ok(LockAttempt::Gone) => false,
            Ok(LockAttempt::Taken(lock)) => {
                // While the lock is held here, nobody begins to live under this name.
                let _ = std::fs::remove_file(path);
                drop(lock);
                false
            }
        }
    }

    /// The processes that live. What the others left is cleared away.
    pub fn living(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(&self.directory) else { return Vec::new() };
        let names = entries.flatten().filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            name.strip_suffix(".lock").map(str::to_owned)
        });
        names.filter(|node| self.is_alive(node)).collect()
    }
}

fn try_lock(file: File, path: &Path) -> io::Result<LockAttempt> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Ok(LockAttempt::Held),
        Err(TryLockError::Error(error)) => Err(error),
        // Between opening and locking, the file may have been cleared away.
        Ok(()) if identity_of(&file.metadata()?) != identity(path) => Ok(LockAttempt::Gone),
        Ok(()) => Ok(LockAttempt::Taken(file)),
    }
}

impl Drop for Liveness {
    fn drop(&mut self) {
        for node in self.own.get_mut().unwrap_or_else(PoisonError::into_inner).keys() {
            let _ = std::fs::remove_file(self.directory.join(format!("{node}.lock")));
        }
    }
}
