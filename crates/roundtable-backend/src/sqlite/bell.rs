//! The doorbell: rung at once inside a process; between processes by looking whether the file
//! has changed.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use async_trait::async_trait;
use roundtable_core::id::SessionId;
use roundtable_ports::{Bell, Rings};
use rusqlite::Connection;
use tokio::sync::watch;

use super::{SqliteStore, connect_to_read};

/// How often the file is looked at for what other processes did.
const LOOK_EVERY: Duration = Duration::from_millis(10);

#[derive(Default)]
pub(super) struct Doorbell {
    /// Changes when the file was written by anyone but the looking connection.
    writes: watch::Sender<u64>,
    bells: Mutex<HashMap<SessionId, watch::Sender<u64>>>,
}

impl Doorbell {
    /// A doorbell whose thread ends when the store is gone.
    pub fn start(file: &Path) -> Result<Arc<Self>, String> {
        let bell = Arc::new(Self::default());
        let connection = connect_to_read(file).map_err(|error| error.to_string())?;
        let weak = Arc::downgrade(&bell);
        std::thread::Builder::new()
            .name("roundtable-bell".to_owned())
            .spawn(move || look(&connection, &weak))
            .map_err(|error| error.to_string())?;
        Ok(bell)
    }

    fn bells(&self) -> MutexGuard<'_, HashMap<SessionId, watch::Sender<u64>>> {
        self.bells.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ring(&self, session: &SessionId) {
        let mut bells = self.bells();
        let Some(bell) = bells.get(session) else { return };
        if bell.receiver_count() == 0 {
            bells.remove(session);
            return;
        }
        bell.send_modify(|rings| *rings += 1);
    }

    pub fn writes(&self) -> watch::Receiver<u64> {
        self.writes.subscribe()
    }

    /// Someone wrote something: everyone who listens looks for himself.
    fn ring_all(&self) {
        self.writes.send_modify(|writes| *writes += 1);
        self.bells().retain(|_, bell| {
            bell.send_modify(|rings| *rings += 1);
            bell.receiver_count() > 0
        });
    }
}

/// Looks at the file's version, which changes when another connection commits.
fn look(connection: &Connection, bell: &Weak<Doorbell>) {
    let version =
        || connection.query_row("PRAGMA data_version", [], |row| row.get::<_, i64>(0)).ok();
    let mut last = version();
    loop {
        std::thread::sleep(LOOK_EVERY);
        let Some(bell) = bell.upgrade() else { return };
        let now = version();
        if now != last {
            last = now;
            bell.ring_all();
        }
    }
}

#[async_trait]
impl Bell for SqliteStore {
    async fn ring(&self, session: &SessionId) {
        self.bell.ring(session);
    }

    async fn listen(&self, session: &SessionId) -> Rings {
        let receiver = self.bell.bells().entry(session.clone()).or_default().subscribe();
        crate::rings(receiver)
    }
}
