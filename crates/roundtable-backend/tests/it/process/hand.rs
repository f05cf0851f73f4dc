//! The hand that obeys: what a child process does, line by line.

use std::io::{BufRead as _, Write as _};
use std::path::Path;
use std::sync::Arc;

use roundtable_core::event::Seq;
use roundtable_core::id::NodeId;
use roundtable_engine::{Engine, EngineError};
use roundtable_models::scripted::ScriptedModel;
use tokio::sync::mpsc;

use super::{Ask, Line, MARK, NodeRole, Question, Role, Tell, node};
use crate::{migration, vectors};

/// Not a test: the inside of the processes that the tests of this module start.
#[test]
#[ignore = "runs only as a child of other tests"]
fn obeys() {
    let mut role = String::new();
    if std::io::stdin().read_line(&mut role).unwrap_or_default() == 0 {
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    match serde_json::from_str(&role).expect("a role") {
        Role::Node(role) => runtime.block_on(serve(&role)),
        Role::Migrate { directory, statements } => {
            migration::kill::open_and_die(Path::new(&directory), statements);
        }
        Role::Embed { directory, batches } => {
            runtime.block_on(vectors::die_while_putting(Path::new(&directory), batches));
        }
        Role::Write { directory, name, times } => {
            runtime.block_on(write(Path::new(&directory), &name, times));
        }
    }
}

fn tell(number: u64, tell: Tell) {
    let line = serde_json::to_string(&Line { number, tell }).expect("a line");
    let mut out = std::io::stdout().lock();
    // Whoever listened may be gone; then this process ends soon.
    let _ = writeln!(out, "{MARK}{line}");
    let _ = out.flush();
}

async fn serve(role: &NodeRole) {
    let (engine, model) = node::start(role).await;
    let (sender, mut questions) = mpsc::channel(64);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            let question: Question = serde_json::from_str(&line).expect("a question");
            if sender.blocking_send(question).is_err() {
                return;
            }
        }
        // The parent is gone, and so is the reason to live.
        std::process::exit(1);
    });
    tell(0, Tell::Ready(engine.parts().node.to_string()));
    while let Some(Question { number, ask }) = questions.recv().await {
        match ask {
            Ask::Quit => break,
            Ask::Gate { name } => model.gates().open(&name),
            ask => {
                tokio::spawn(carry_out(engine.clone(), number, ask));
            }
        }
    }
    engine.shutdown().await;
    let _: ScriptedModel = model;
}

async fn carry_out(engine: Engine, number: u64, ask: Ask) {
    match ask {
        Ask::Send { session, id, command } => {
            tell(number, answer(engine.session(&session).command(command, id).await));
        }
        Ask::State { session } => match engine.session(&session).state().await {
            Ok(state) => tell(number, Tell::State(Box::new(state))),
            Err(error) => tell(number, Tell::Unsure(error.to_string())),
        },
        Ask::Watch { session } => {
            let mut subscription = loop {
                match engine.subscribe(&session, Seq(1)).await {
                    Ok(subscription) => break subscription,
                    // It is not open yet.
                    Err(_) => tokio::task::yield_now().await,
                }
            };
            loop {
                match subscription.next_event().await {
                    Ok(event) => {
                        tell(number, Tell::Event(Box::new(Arc::unwrap_or_clone(event))));
                    }
                    Err(error) => return tell(number, Tell::Unsure(error.to_string())),
                }
            }
        }
        Ask::Gate { .. } | Ask::Quit => {}
    }
}

fn answer(done: Result<roundtable_ports::Receipt, EngineError>) -> Tell {
    match done {
        Ok(receipt) => Tell::Done(receipt),
        Err(EngineError::Reject(why)) => Tell::Refused(why.to_string()),
        Err(EngineError::CommandReused { id }) => Tell::Refused(format!("{id} was already used")),
        Err(error) => Tell::Unsure(error.to_string()),
    }
}

/// Appends to sessions of its own, one after another, and says how long the slowest took.
async fn write(directory: &Path, name: &str, times: u32) {
    let store = roundtable_backend::SqliteStore::open(directory).expect("a store");
    let store = roundtable_ports::Store::of(Arc::new(store));
    let own = NodeId::new(name).expect("a node id");
    store.leases.renew(&own).await.expect("a node that lives");
    for index in 0..times {
        let session = crate::table::session(&format!("{name}-{index}"));
        crate::table::append_opening(&store, &session, &own).await;
        tell(u64::from(index), Tell::Ready(name.to_owned()));
    }
}
