//! Whether what is stored is what was written: the chain, the bodies, the rows, the snapshots.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use roundtable_backend::{SessionRow, SnapshotRow, SqliteArchive};
use roundtable_core::event::{Body, Event, Seq};
use roundtable_core::id::SessionId;
use roundtable_core::projection::Summary;
use roundtable_core::session::Session;
use roundtable_engine::SNAPSHOT_VERSION;
use roundtable_ports::LogError;

use super::PAGE;

/// Something that is not what was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The session; none when it is the file as a whole.
    pub session: Option<String>,
    /// The first event that is concerned, if one is.
    pub seq: Option<Seq>,
    /// What is wrong.
    pub what: String,
}

/// What a check found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verification {
    /// How many sessions were checked.
    pub sessions: u64,
    /// How many events were read and found to be what was written.
    pub events: u64,
    /// What is not.
    pub damages: Vec<Damage>,
}

impl Verification {
    /// Whether nothing is damaged.
    pub fn is_sound(&self) -> bool {
        self.damages.is_empty()
    }

    fn add(&mut self, session: Option<&str>, seq: Option<Seq>, what: impl Into<String>) {
        let session = session.map(str::to_owned);
        self.damages.push(Damage { session, seq, what: what.into() });
    }
}

pub(super) async fn verify(store: &SqliteArchive) -> Verification {
    let mut found = Verification::default();
    match store.check_file().await {
        Ok(lines) => lines.into_iter().for_each(|line| found.add(None, None, line)),
        Err(error) => found.add(None, None, error.to_string()),
    }
    let rows = match store.rows().await {
        Ok(rows) => rows,
        Err(error) => {
            found.add(None, None, format!("the sessions cannot be listed: {error}"));
            return found;
        }
    };
    let known: BTreeMap<String, SessionRow> =
        rows.iter().flatten().map(|row| (row.id.clone(), row.clone())).collect();
    for row in &rows {
        found.sessions += 1;
        match row {
            Err(what) => found.add(None, None, what),
            Ok(row) => match row.id.parse() {
                Err(_) => found.add(Some(&row.id), None, "invalid session id"),
                Ok(id) => match origin_fault(row, &known) {
                    Some(what) => found.add(Some(&row.id), Some(row.parent_seq), what),
                    None => check_session(store, &id, row, &mut found).await,
                },
            },
        }
    }
    found
}

/// What is wrong with where a session says that it comes from.
fn origin_fault(row: &SessionRow, known: &BTreeMap<String, SessionRow>) -> Option<String> {
    let mut seen = BTreeSet::from([&row.id]);
    let mut next = row;
    while let Some(parent) = &next.parent {
        let Some(origin) = known.get(parent) else {
            return Some(format!("its parent {parent} is missing"));
        };
        if !seen.insert(parent) {
            return Some(format!("its parent {parent} is also its child"));
        }
        if next.parent_seq > origin.head {
            let (at, head) = (next.parent_seq, origin.head);
            return Some(format!("it was forked from {parent} at {at}, which ends at {head}"));
        }
        next = origin;
    }
    None
}

/// Reads a session from its first event to its last. Others may write it meanwhile, so what its
/// row and its snapshot say is compared with the state at their own positions.
async fn check_session(
    store: &SqliteArchive,
    id: &SessionId,
    row: &SessionRow,
    found: &mut Verification,
) {
    let snapshot = match store.find_snapshot(id).await {
        Ok(snapshot) => snapshot,
        Err(error) => {
            found.add(Some(&row.id), None, format!("the snapshot cannot be read: {error}"));
            None
        }
    };
    let state = Session::new(id.clone());
    let mut walk = Walk { row, snapshot, state, erased: false };
    let mut limit = PAGE;
    loop {
        let next = walk.state.head.next();
        let page = match store.read(id, next, limit).await {
            Ok(page) => page,
            // One after another, to find out which one it is, and to check those before it.
            Err(_) if limit > 1 => {
                limit = 1;
                continue;
            }
            Err(error) => return found.add_error(row, next, error),
        };
        if page.is_empty() {
            return walk.finish(found);
        }
        for event in &page {
            if !walk.step(event, found) {
                return;
            }
        }
    }
}

impl Verification {
    fn add_error(&mut self, row: &SessionRow, next: Seq, error: LogError) {
        match error {
            LogError::Damaged { session, seq, what } if session.as_str() == row.id => {
                self.add(Some(&row.id), Some(seq), what);
            }
            LogError::Damaged { session, seq, what } => {
                let what = format!("{what} (in {session}, which it was forked from)");
                self.add(Some(&row.id), Some(seq), what);
            }
            error => self.add(Some(&row.id), Some(next), error.to_string()),
        }
    }
}

/// A session on the way from its first event to its last.
struct Walk<'a> {
    row: &'a SessionRow,
    snapshot: Option<SnapshotRow>,
    state: Session,
    /// Whether a body was erased: rows and snapshots may know what the log no longer says.
    erased: bool,
}

impl Walk<'_> {
    /// Takes an event in; false when there is no use in going on.
    fn step(&mut self, event: &Arc<Event>, found: &mut Verification) -> bool {
        let id = Some(self.row.id.as_str());
        let expected = self.state.head.next();
        if event.seq != expected {
            found.add(id, Some(expected), "the event is missing");
            return false;
        }
        let fold = AssertUnwindSafe(|| self.state.evolve(event));
        if catch_unwind(fold).is_err() {
            found.add(id, Some(event.seq), "the state cannot be computed from it");
            return false;
        }
        self.erased |= event.body == Body::Redacted;
        found.events += u64::from(event.seq > self.row.parent_seq);
        if !self.erased && !self.state.newer {
            self.compare(event.seq, found);
        }
        true
    }

    /// Compares the state with what was noted of it at this position.
    fn compare(&self, seq: Seq, found: &mut Verification) {
        let id = Some(self.row.id.as_str());
        if seq == self.row.head && self.row.summary != Some(Summary::of(&self.state)) {
            found.add(id, Some(seq), "the session's row does not match the log");
        }
        let Some(SnapshotRow { snapshot, intact: true }) = &self.snapshot else { return };
        // One of another form is not used, so it does no harm.
        let used = snapshot.seq == seq && snapshot.version == SNAPSHOT_VERSION;
        if used && serde_json::from_slice(&snapshot.state).ok().as_ref() != Some(&self.state) {
            found.add(id, Some(seq), "the snapshot does not match the log");
        }
    }

    /// Compares where the log ends with where it should.
    fn finish(self, found: &mut Verification) {
        let (id, head) = (Some(self.row.id.as_str()), self.state.head);
        if head < self.row.head || head <= self.row.parent_seq {
            found.add(id, Some(head.next()), "the event is missing");
        }
        match self.snapshot {
            Some(SnapshotRow { snapshot, .. }) if snapshot.seq > head => {
                let what = "the snapshot refers to a missing event and is not used";
                found.add(id, Some(snapshot.seq), what);
            }
            Some(SnapshotRow { snapshot, intact: false }) => {
                let what = "the snapshot does not match its digest and is not used";
                found.add(id, Some(snapshot.seq), what);
            }
            Some(_) | None => {}
        }
    }
}
