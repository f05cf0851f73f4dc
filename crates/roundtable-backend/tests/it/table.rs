//! An engine on a script, on a store in a directory, in real time.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use roundtable_backend::SqliteStore;
use roundtable_core::event::Opening;
use roundtable_core::id::{NodeId, SessionId};
use roundtable_core::input::Command;
use roundtable_core::settings::{Kind, Order, Settings};
use roundtable_engine::{Config, Engine, Parts, SessionHandle, SystemClock, Toolset, UuidIds};
use roundtable_models::scripted::{Reply, Script, ScriptedModel};
use roundtable_ports::{Ids as _, Model, Store};
use roundtable_testing::{agent, opening, rounds, say};
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
    Opening { kind: Kind::Scene, topic: "By the lake".to_owned(), ..opening }
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

    /// Stops the engine and closes the store.
    pub async fn close(self) {
        self.engine.shutdown().await;
        drop(self.engine);
        // Handlers of the engine that are on their way out may hold it for a moment.
        let mut store = self.store;
        loop {
            match Arc::try_unwrap(store) {
                Ok(store) => return drop(store),
                Err(shared) => store = shared,
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
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
