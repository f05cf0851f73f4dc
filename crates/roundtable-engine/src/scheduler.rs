//! One scheduler for all sessions: wakes those that are due, and finds those that nobody drives.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use jiff::Timestamp;
use roundtable_core::id::SessionId;
use tokio::sync::mpsc;

use crate::engine::Engine;

/// How many sessions one sweep picks up.
const SWEEP: usize = 1024;

/// A session that wants to be woken.
pub(crate) type Wake = (Timestamp, SessionId);

/// Runs until the engine stops.
pub(crate) async fn run(engine: Engine, mut wakes: mpsc::Receiver<Wake>) {
    let mut heap: BinaryHeap<Reverse<Wake>> = BinaryHeap::new();
    let mut sweep = tokio::time::interval(engine.parts().config.sweep_every);
    sweep.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        let due = heap.peek().map(|Reverse((at, _))| until(engine.parts().clock.now(), *at));
        tokio::select! {
            biased;
            () = engine.draining().cancelled() => return,
            wake = wakes.recv() => match wake {
                Some(wake) => heap.push(Reverse(wake)),
                None => return,
            },
            () = tokio::time::sleep(due.unwrap_or(Duration::MAX)), if due.is_some() => {
                let now = engine.parts().clock.now();
                while let Some(Reverse((at, session))) = heap.pop() {
                    if at > now {
                        heap.push(Reverse((at, session)));
                        break;
                    }
                    engine.wake(&session);
                }
            }
            _ = sweep.tick() => {
                let now = engine.parts().clock.now();
                let _ = engine.parts().store.leases.renew(&engine.parts().node).await;
                let due = engine.parts().store.directory.list_due(now, SWEEP).await.unwrap_or_default();
                let due = due.into_iter().filter(|session| !engine.is_aside(session));
                for session in due.chain(engine.take_missed()) {
                    engine.wake(&session);
                }
            }
        }
    }
}

fn until(now: Timestamp, at: Timestamp) -> Duration {
    // Never less than a tick: a wake that comes a hair early would spin.
    Duration::try_from(at.duration_since(now)).unwrap_or_default().max(Duration::from_millis(1))
}
