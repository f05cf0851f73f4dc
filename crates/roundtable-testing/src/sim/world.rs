//! A world: a disk, a provider and people, which stay; and processes, which come and go.
//!
//! A process is a runtime of its own with paused time. When it dies, the whole runtime is
//! dropped between two polls, as `kill -9` would: nothing gets to say goodbye.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;

use roundtable_backend::{Disk, MemoryStore, StoredEvent};
use roundtable_core::event::Seq;
use roundtable_core::id::{NodeId, SessionId};
use roundtable_core::projection::{Row, Summary, rows};
use roundtable_core::session::Session;
use roundtable_core::{Keep, Live};
use roundtable_engine::{Config, Engine, Parts, Toolset};
use roundtable_models::scripted::{Script, ScriptedModel};
use roundtable_ports::{Clock as _, Ids, Model};
use tokio::runtime::{Builder, Runtime};

use super::client::Client;
use super::life::{End, Fate, Life, end, turn};
use super::plan::Plan;
use super::wire::Wire;
use super::workshop::Workshop;
use crate::oracle::{Evidence, Violation};
use crate::{PausedClock, ProgramSet};

/// A world.
pub struct World {
    /// How to have the same world again: for the messages of failures.
    pub label: String,
    /// What survives.
    pub disk: Arc<Disk>,
    /// The provider.
    pub model: ScriptedModel,
    /// The tools.
    pub workshop: Workshop,
    /// The programs, and what they have computed.
    pub programs: ProgramSet,
    /// How engines run.
    pub config: Config,
    /// The people.
    pub clients: Vec<Client>,
    clock: i64,
    lives: u32,
    earlier: BTreeMap<SessionId, Vec<StoredEvent>>,
    states: Vec<Session>,
}

impl World {
    /// A world in which agents follow a script.
    pub fn new(label: impl Into<String>, script: Script, mut clients: Vec<Client>) -> Self {
        let label = label.into();
        clients.iter_mut().for_each(|client| client.label.clone_from(&label));
        // Snapshots and departures are frequent here, so that loading is tried too.
        let config = Config {
            snapshot_every: 9,
            idle_after: Duration::from_secs(20),
            poll_every: Duration::from_secs(10),
            ..Config::default()
        };
        Self {
            label,
            disk: Arc::default(),
            model: ScriptedModel::new(script),
            workshop: Workshop::default(),
            programs: ProgramSet::default(),
            config,
            clients,
            clock: 0,
            lives: 0,
            earlier: BTreeMap::new(),
            states: Vec::new(),
        }
    }

    /// Lives one process's life, and checks what has to hold at any time.
    pub fn live(&mut self, life: &Life) -> End {
        let runtime = runtime();
        let end = runtime.block_on(self.spend(life));
        drop(runtime);
        let evidence = self.evidence();
        let mut wrong = evidence.rewrites(&self.earlier);
        wrong.extend(evidence.misreadings());
        self.fail_on(&wrong);
        self.earlier = evidence.logs;
        end
    }

    /// Lives until everything has come to rest, and checks everything.
    pub fn come_to_rest(&mut self, away: Duration) -> Evidence {
        let end = self.live(&Life::fine().alone_for(away));
        assert_eq!(end, End::Rest, "{}: nothing went wrong, and it ended", self.label);
        self.inspect();
        let evidence = self.evidence();
        self.fail_on(&evidence.violations());
        evidence
    }

    /// What is known.
    pub fn evidence(&self) -> Evidence {
        let sessions = self.clients.iter().map(Client::session);
        let logs = sessions.map(|session| (session.clone(), self.disk.dump(session)));
        let logs: BTreeMap<_, _> = logs.filter(|(_, stored)| !stored.is_empty()).collect();
        let records = logs.keys().map(|session| (session.clone(), self.disk.commands(session)));
        let asked = self.clients.iter().flat_map(|client| client.states().iter().cloned());
        Evidence {
            programs: self.programs.programs.clone(),
            records: records.collect(),
            orders: self.clients.iter().flat_map(|client| client.orders().to_vec()).collect(),
            received: self.model.received(),
            executions: self.workshop.executions(),
            readings: self.clients.iter().map(Client::reading).collect(),
            states: asked.chain(self.states.iter().cloned()).collect(),
            logs,
        }
    }

    /// Has every session loaded by a fresh process, from its snapshot and the rest of its log, and
    /// compares what is derived from the log with the log.
    fn inspect(&mut self) {
        let runtime = runtime();
        let states = runtime.block_on(async {
            let clock = Arc::new(PausedClock::starting(self.clock));
            let engine = self.start(&Wire::new(), &Arc::new(Plan::fine()), &clock).await;
            let mut states = Vec::new();
            for (session, stored) in self.evidence().logs {
                match engine.session(&session).state().await {
                    Ok(state) => states.push(state),
                    Err(error) => panic!("{}: {session} cannot be loaded: {error}", self.label),
                }
                let listed = engine.parts().store.directory.find(&session).await;
                let summary = listed.ok().flatten().map(|listed| listed.summary);
                assert_eq!(summary, states.last().map(Summary::of), "{}: {session}", self.label);
                let parts = engine.parts();
                let mut live = Live::reader(session.clone(), &parts.programs, Keep::All);
                let log = parts.store.log.read(&session, Seq(1), usize::MAX).await;
                log.unwrap_or_default().iter().for_each(|event| live.apply(event));
                let rows: Vec<Row> = stored.iter().flat_map(|s| rows(&s.event, &live)).collect();
                assert_eq!(self.disk.rows(&session), rows, "{}: {session}", self.label);
            }
            engine.shutdown().await;
            states
        });
        drop(runtime);
        self.states.extend(states);
        let evidence = self.evidence();
        let lengths = |logs: &BTreeMap<SessionId, Vec<StoredEvent>>| -> Vec<usize> {
            logs.values().map(Vec::len).collect()
        };
        let (before, after) = (lengths(&self.earlier), lengths(&evidence.logs));
        assert_eq!(before, after, "{}: what is at rest stays at rest", self.label);
    }

    async fn spend(&mut self, life: &Life) -> End {
        let clock = Arc::new(PausedClock::starting(self.clock));
        let began = clock.now();
        let wire = Wire::new();
        let plans: Vec<_> =
            [Some(&life.plan), life.second.as_ref()].into_iter().flatten().collect();
        let mut engines = Vec::new();
        for plan in &plans {
            engines.push(self.start(&wire, plan, &clock).await);
        }
        let disk = self.disk.clone();
        let rests: Vec<(SessionId, Cell<Option<Seq>>)> =
            self.clients.iter().map(|c| (c.session().clone(), Cell::new(None))).collect();
        let end = {
            let acting = self.clients.iter_mut().zip(&rests);
            let mut acting: Vec<_> = acting
                .map(|(client, (_, rests))| {
                    let (engines, disk) = (&engines, &disk);
                    Box::pin(async move {
                        tokio::time::sleep(life.away).await;
                        client.run(engines, disk, rests).await;
                    })
                })
                .collect();
            // Clients act as long as the processes do, and always in the same order.
            let resting = poll_fn(|context| {
                for client in &mut acting {
                    let _never_done = client.as_mut().poll(context);
                }
                if life.fate == Fate::Rest && at_rest(&rests, &disk) {
                    Poll::Ready(())
                } else {
                    Poll::Pending
                }
            });
            let crashed =
                futures_util::future::select_all(plans.iter().map(|plan| Box::pin(plan.crashed())));
            tokio::select! {
                biased;
                _ = crashed => Some(End::Crashed),
                () = resting => Some(End::Rest),
                end = end(&engines, life.fate) => end,
                () = turn(&engines, &disk, life) => None,
            }
        };
        self.clock += clock.now().duration_since(began).as_secs() + 1;
        let Some(end) = end else {
            let status: Vec<String> = self.clients.iter().map(Client::status).collect();
            panic!("{}: stuck\n{}", self.label, status.join("\n"));
        };
        end
    }

    async fn start(&mut self, wire: &Wire, plan: &Arc<Plan>, clock: &Arc<PausedClock>) -> Engine {
        self.lives += 1;
        let memory = MemoryStore::with_faults(self.disk.clone(), plan.clone());
        let model: Arc<dyn Model> = Arc::new(self.model.clone());
        let parts = Parts {
            node: NodeId::new(&format!("process{}", self.lives)).expect("a node id"),
            store: wire.connect(memory, plan.clone()),
            clock: clock.clone(),
            ids: Arc::new(OwnIds { process: self.lives, last: AtomicU64::new(0) }),
            models: BTreeMap::from([("scripted".to_owned(), model)]),
            tools: Toolset::new(self.workshop.tools()).expect("valid schemas"),
            programs: self.programs.programs.clone(),
            jobs: self.programs.jobs.clone(),
            config: self.config.clone(),
        };
        Engine::start(parts).await.expect("a store that takes the node")
    }

    fn fail_on(&self, wrong: &[Violation]) {
        if wrong.is_empty() {
            return;
        }
        let lines: Vec<String> = wrong.iter().map(ToString::to_string).collect();
        panic!("{}:\n{}\n{}", self.label, lines.join("\n"), self.story());
    }

    /// The logs, in short.
    fn story(&self) -> String {
        let mut lines = Vec::new();
        for (session, stored) in self.evidence().logs {
            lines.push(session.to_string());
            for StoredEvent { epoch, event } in stored {
                let body = serde_json::to_string(&event).unwrap_or_default();
                let short: String = body.chars().take(260).collect();
                lines.push(format!("  e{epoch} {short}"));
            }
        }
        lines.join("\n")
    }
}

/// Ids that no other process gives.
struct OwnIds {
    process: u32,
    last: AtomicU64,
}

impl Ids for OwnIds {
    fn fresh(&self) -> String {
        format!("p{}n{}", self.process, self.last.fetch_add(1, Ordering::Relaxed))
    }
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime")
}

/// Whether every client rests, and has seen all there is.
fn at_rest(rests: &[(SessionId, Cell<Option<Seq>>)], disk: &Disk) -> bool {
    if rests.iter().any(|(_, seen)| seen.get().is_none()) {
        return false;
    }
    rests.iter().all(|(session, seen)| {
        seen.get() == Some(disk.dump(session).last().map_or(Seq(0), |stored| stored.event.seq))
    })
}
