//! An engine on a script, on a store in a directory, in real time.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use roundtable_backend::SqliteStore;
use roundtable_core::event::{Event, Opening, Seq};
use roundtable_core::id::{NodeId, SessionId};
use roundtable_core::input::{Command, Env};
use roundtable_core::program::Programs;
use roundtable_core::projection::{Summary, rows as rows_of};
use roundtable_core::settings::{Order, Settings};
use roundtable_core::stage::Name;
use roundtable_core::{Live, Starts};
use roundtable_engine::{Config, Engine, Parts, SessionHandle, SystemClock, Toolset, UuidIds};
use roundtable_models::scripted::{Reply, Script, ScriptedModel};
use roundtable_ports::{Batch, Clock as _, Ids as _, LogError, Model, Ownership, Store};
use roundtable_testing::{agent, opening, say};
use rusqlite::Connection;

/// An engine on a store in a directory.
pub struct Table {
    pub store: Arc<SqliteStore>,
    pub engine: Engine,
    pub model: ScriptedModel,
}

/// Ann and Bob, who say the same in every round, and Cyd, who waits at a gate.
pub fn script() -> Script {
    Script::default()
        .voice("ann", [Reply::text("Ann nods.")])
        .voice("bob", [Reply::text("Bob waves.")])
        .voice("cyd", [Reply::text("Cyd is late.").at_gate("cyd")])
}

pub fn session(name: &str) -> SessionId {
    SessionId::new(name).unwrap()
}

/// A scene of Ann and Bob.
pub fn scene() -> Opening {
    let settings = Settings { order: Order::Sequential, ..Settings::default() };
    let opening = opening(vec![agent("Ann"), agent("Bob")], settings);
    Opening { kind: Name::constant("scene"), topic: "By the lake".to_owned(), ..opening }
}

impl Table {
    pub async fn at(directory: &Path) -> Self {
        Self::on(SqliteStore::open(directory).unwrap()).await
    }

    pub async fn on(store: SqliteStore) -> Self {
        let store = Arc::new(store);
        let model = ScriptedModel::new(script());
        let engine = start(Store::of(store.clone()), model.clone(), Config::default()).await;
        Self { store, engine, model }
    }

    /// Opens a scene and plays so many rounds of it.
    pub async fn play(&self, name: &str, times: usize) -> SessionHandle {
        let handle = self.engine.open_as(&session(name), scene(), None).await.unwrap();
        for number in 1..=times {
            self.say(&handle, &format!("m{number}"), &format!("This is message {number}.")).await;
            rounds(&handle, number).await;
        }
        handle
    }

    pub async fn say(&self, handle: &SessionHandle, id: &str, text: &str) {
        handle.command(say(handle.id(), id, text), None).await.unwrap();
    }

    /// Sends a command that causes a round, and waits until so many have closed in all.
    pub async fn until_closed(&self, handle: &SessionHandle, command: Command, count: usize) {
        handle.command(command, None).await.unwrap();
        rounds(handle, count).await;
    }

    /// The head of a session.
    pub async fn head(&self, name: &str) -> Seq {
        Store::of(self.store.clone()).directory.find(&session(name)).await.unwrap().unwrap().head
    }

    /// Stops the engine.
    pub async fn close(self) {
        self.engine.shutdown().await;
    }

    /// Stops the engine and waits until nothing has the file open.
    pub async fn close_file(self) {
        self.engine.shutdown().await;
        drop((self.engine, self.model));
        let mut store = self.store;
        soon(async move {
            // What the engine had running is on its way out.
            while let Err(shared) = Arc::try_unwrap(store).map(drop) {
                store = shared;
                tokio::task::yield_now().await;
            }
        })
        .await;
    }
}

/// How long something may take before a test gives up. These tests run in real time.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits for something that happens soon, or fails.
pub async fn soon<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, work).await.expect("something that happens soon")
}

/// The events of a session from the start until so many rounds have closed.
pub async fn rounds(handle: &SessionHandle, count: usize) -> Vec<Arc<Event>> {
    soon(roundtable_testing::rounds(handle, count)).await
}

/// The events of a session until one fits, from the start.
pub async fn events_until(
    handle: &SessionHandle,
    last: impl Fn(&Event) -> bool,
) -> Vec<Arc<Event>> {
    soon(roundtable_testing::events_until(handle, last)).await
}

pub async fn start(store: Store, model: ScriptedModel, config: Config) -> Engine {
    let model: Arc<dyn Model> = Arc::new(model);
    let parts = Parts {
        node: NodeId::new(&UuidIds.fresh()).unwrap(),
        store,
        clock: Arc::new(SystemClock),
        ids: Arc::new(UuidIds),
        models: BTreeMap::from([("scripted".to_owned(), model)]),
        tools: Toolset::new([]).unwrap(),
        programs: roundtable_testing::ProgramSet::default().programs,
        jobs: roundtable_testing::ProgramSet::default().jobs,
        config,
    };
    Engine::start(parts).await.unwrap()
}

/// The file as any other program sees it.
pub fn shell(directory: &Path) -> Connection {
    let connection = Connection::open(directory.join("roundtable.db")).unwrap();
    connection.busy_timeout(Duration::from_secs(10)).unwrap();
    connection
}

/// The rows of a query, each as one line with bars between the columns, as the sqlite3 shell
/// shows them.
pub fn lines(connection: &Connection, sql: &str) -> Vec<String> {
    let mut statement = connection.prepare(sql).unwrap();
    let columns = statement.column_count();
    let rows = statement.query_map([], |row| {
        let column = |index| {
            Ok(match row.get_ref(index)? {
                rusqlite::types::ValueRef::Null => String::new(),
                rusqlite::types::ValueRef::Integer(value) => value.to_string(),
                rusqlite::types::ValueRef::Real(value) => value.to_string(),
                rusqlite::types::ValueRef::Text(text) | rusqlite::types::ValueRef::Blob(text) => {
                    String::from_utf8_lossy(text).into_owned()
                }
            })
        };
        Ok((0..columns).map(column).collect::<rusqlite::Result<Vec<_>>>()?.join("|"))
    });
    rows.unwrap().collect::<rusqlite::Result<_>>().unwrap()
}

/// Opens a session without an engine.
pub async fn append_opening(store: &Store, session: &SessionId, node: &NodeId) {
    let own = store.leases.claim_one(session, node).await.unwrap();
    append_as(store, &own).await.unwrap();
    store.leases.release(&own).await.unwrap();
}

/// Appends the first events of a session, as whoever claims to own it.
pub async fn append_as(store: &Store, own: &Ownership) -> Result<Seq, LogError> {
    let mut live = Live::new(own.session.clone(), &Programs::default());
    let open = Command::Open(Box::new(scene())).into();
    let env = Env::at(SystemClock.now());
    let events = live.step(&open, &env, Starts::Allowed).unwrap();
    let events: Vec<_> = events.into_iter().map(Arc::new).collect();
    let rows: Vec<_> = events.iter().flat_map(|event| rows_of(event, &live)).collect();
    let batch = Batch {
        expect: Seq(0),
        origin: None,
        events: &events,
        rows: &rows,
        commands: &[],
        summary: &Summary::of(&live.session),
        spent: roundtable_core::budget::Spend::default(),
    };
    store.log.append(own, batch).await
}
