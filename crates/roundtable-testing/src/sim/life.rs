//! A process's life: what goes wrong in it, what happens to it, and how it ends.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use roundtable_backend::Disk;
use roundtable_engine::Engine;

use super::plan::{CUT, Plan, Reach};

/// How long a process may take to come to rest before it counts as stuck.
const PATIENCE: Duration = Duration::from_secs(7200);

/// How a process's life ends, unless a fault ends it earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is let go when everything has come to rest.
    Rest,
    /// It is killed after a while.
    Killed(Duration),
    /// It is told to shut down after a while, and does.
    Drained(Duration),
    /// It is told to stop at once after a while.
    Stopped(Duration),
}

/// How a process's life did end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Everything had come to rest.
    Rest,
    /// It died at an append.
    Crashed,
    /// It was killed.
    Killed,
    /// It shut down, or stopped.
    Left,
}

/// A process's life, or that of two processes which share a store and die together.
pub struct Life {
    /// What goes wrong in the first process.
    pub plan: Arc<Plan>,
    /// What goes wrong in the second one, if there is one.
    pub second: Option<Arc<Plan>>,
    /// How it ends.
    pub fate: Fate,
    /// How long it takes until clients are back after its start.
    pub away: Duration,
    /// What happens to the first process in the middle of its life.
    pub turn: Turn,
}

/// What happens to a process in the middle of its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// Nothing.
    None,
    /// After a while it shuts down, and leaves its sessions to the other.
    Leaves(Duration),
    /// After a while it cannot reach its store, though it can reach the provider; it counts as
    /// dead, and comes back when others have taken its sessions over.
    CutOff(Duration),
    /// After a while its store is unavailable, and comes back later.
    Outage(Duration),
}

impl Life {
    /// A life in which nothing goes wrong.
    pub fn fine() -> Self {
        let plan = Arc::new(Plan::fine());
        Self { plan, second: None, fate: Fate::Rest, away: Duration::ZERO, turn: Turn::None }
    }

    /// A life in which something may.
    pub fn with(plan: Plan) -> Self {
        Self { plan: Arc::new(plan), ..Self::fine() }
    }

    /// The same with a second process on the same store.
    #[must_use]
    pub fn beside(mut self, plan: Plan) -> Self {
        self.second = Some(Arc::new(plan));
        self
    }

    /// The same with a turn in the first process's life.
    #[must_use]
    pub fn taking(mut self, turn: Turn) -> Self {
        self.turn = turn;
        self
    }

    /// The same with another end.
    #[must_use]
    pub fn ending(mut self, fate: Fate) -> Self {
        self.fate = fate;
        self
    }

    /// The same with clients that take their time to come back: meanwhile the engine is on its
    /// own.
    #[must_use]
    pub fn alone_for(mut self, away: Duration) -> Self {
        self.away = away;
        self
    }
}

/// Waits for the end that was meant for a life; nothing when it got stuck before.
pub(super) async fn end(engines: &[Engine], fate: Fate) -> Option<End> {
    match fate {
        Fate::Rest => {
            tokio::time::sleep(PATIENCE).await;
            None
        }
        Fate::Killed(after) => {
            tokio::time::sleep(after).await;
            Some(End::Killed)
        }
        Fate::Drained(after) => {
            tokio::time::sleep(after).await;
            join_all(engines.iter().map(Engine::shutdown)).await;
            Some(End::Left)
        }
        Fate::Stopped(after) => {
            tokio::time::sleep(after).await;
            join_all(engines.iter().map(Engine::stop)).await;
            Some(End::Left)
        }
    }
}

/// What happens to the first process in the middle of its life; it never ends it.
pub(super) async fn turn(engines: &[Engine], disk: &Disk, life: &Life) {
    match life.turn {
        Turn::None => {}
        Turn::Leaves(after) => {
            tokio::time::sleep(after).await;
            engines[0].shutdown().await;
        }
        Turn::CutOff(after) => {
            tokio::time::sleep(after).await;
            life.plan.set_reach(Reach::Silence);
            disk.bury(&engines[0].parts().node);
            tokio::time::sleep(CUT).await;
            life.plan.set_reach(Reach::Well);
        }
        Turn::Outage(after) => {
            tokio::time::sleep(after).await;
            life.plan.set_reach(Reach::Refusal);
            tokio::time::sleep(CUT).await;
            life.plan.set_reach(Reach::Well);
        }
    }
    std::future::pending().await
}
