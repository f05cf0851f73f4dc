//! What is known after processes have come and gone, as the oracle wants it.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command as Process;
use std::sync::Arc;

use roundtable_backend::{SqliteStore, StoredEvent};
use roundtable_core::event::{Event, Seq};
use roundtable_core::id::SessionId;
use roundtable_core::session::Session;
use roundtable_ports::{CommandRecord, SessionLog as _};
use roundtable_testing::oracle::{Evidence, Order, Reading};

use super::ledger;
use crate::table::{lines, shell};

/// What people saw and were told.
#[derive(Default)]
pub struct People {
    pub orders: Vec<Order>,
    /// What was read to the end.
    pub readings: Vec<Reading>,
    /// What was read by processes that died.
    pub torn: Vec<Reading>,
    pub states: Vec<Session>,
}

/// A reading from the first event on.
pub fn reading(session: &SessionId, events: Vec<Event>) -> Reading {
    let events = events.into_iter().map(Arc::new).collect();
    Reading { session: session.clone(), tenant: None, from: Seq(1), events }
}

/// Checks a directory that has come to rest: by the oracle, and by one that knows only the file.
pub fn check(label: &str, directory: &Path, people: People) -> Evidence {
    let mut evidence = gather(directory, people.orders, people.states);
    evidence.readings = people.torn;
    let mut wrong = evidence.misreadings();
    evidence.readings = people.readings;
    wrong.extend(evidence.violations());
    let wrong: Vec<String> = wrong.iter().map(ToString::to_string).collect();
    assert!(wrong.is_empty(), "{label}:\n{}\n{}", wrong.join("\n"), story(&evidence));
    check_from_outside(label, directory);
    evidence
}

fn gather(directory: &Path, orders: Vec<Order>, states: Vec<Session>) -> Evidence {
    let shell = shell(directory);
    let mut evidence = Evidence { orders, states, ..Evidence::default() };
    (evidence.received, evidence.executions) = ledger::read(directory);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let store = SqliteStore::open(directory).unwrap();
    // What only makes noise has no story.
    let told = "SELECT id FROM session WHERE id NOT LIKE 'ses_noise%' ORDER BY number";
    for id in lines(&shell, told) {
        let session: SessionId = id.parse().unwrap();
        let events = runtime.block_on(store.read(&session, Seq(1), usize::MAX)).unwrap();
        let sql = format!(
            "SELECT epoch FROM event JOIN session ON session.number = event.id >> 32 WHERE session.id = '{id}' ORDER BY event.id"
        );
        let epochs = lines(&shell, &sql);
        assert_eq!(epochs.len(), events.len(), "{id}");
        let stored = events.into_iter().zip(epochs);
        let stored =
            stored.map(|(event, epoch)| StoredEvent { epoch: epoch.parse().unwrap(), event });
        evidence.logs.insert(session.clone(), stored.collect());
        evidence.records.insert(session, records(&shell, &id));
    }
    evidence
}

fn records(shell: &rusqlite::Connection, session: &str) -> Vec<CommandRecord> {
    let sql = format!(
        "SELECT json_object('id', command.id, 'digest', command.digest, 'receipt', json(command.receipt)) \
         FROM command JOIN session ON session.number = command.session WHERE session.id = '{session}'"
    );
    lines(shell, &sql).iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The logs, in short.
fn story(evidence: &Evidence) -> String {
    let mut told = Vec::new();
    for (session, stored) in &evidence.logs {
        told.push(session.to_string());
        for StoredEvent { epoch, event } in stored {
            told.push(format!("  e{epoch} {event}"));
        }
    }
    told.join("\n")
}

/// The promises, checked by a program that shares no code with this one.
fn check_from_outside(label: &str, directory: &Path) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/oracle.py");
    let asked = Process::new("python3").arg(script).arg(directory).output();
    let asked = asked.expect("python3, which these tests need");
    let said = String::from_utf8_lossy(&asked.stdout);
    assert!(asked.status.success(), "{label}: {said}{}", String::from_utf8_lossy(&asked.stderr));
}

/// How often each event kind is in the logs.
pub fn kinds(evidence: &Evidence) -> BTreeMap<String, usize> {
    let mut kinds = BTreeMap::new();
    for stored in evidence.logs.values().flatten() {
        *kinds.entry(stored.event.body.kind().to_owned()).or_default() += 1;
    }
    kinds
}
