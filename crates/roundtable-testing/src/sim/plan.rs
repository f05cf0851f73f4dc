//! What goes wrong in one process's life, decided append by append.

use std::sync::{Mutex, MutexGuard, PoisonError};

use roundtable_backend::{Fault, Faults};
use roundtable_core::event::Seq;
use roundtable_core::id::SessionId;
use tokio::sync::Notify;

use super::dice::Dice;

/// How often what goes wrong, in a thousand appends.
#[derive(Debug, Clone, Copy, Default)]
pub struct Odds {
    /// Refused as if the head had moved.
    pub conflict: u64,
    /// Not done.
    pub unavailable: u64,
    /// Done, and the answer is lost.
    pub ack_lost: u64,
    /// Another writer claims the session.
    pub fenced: u64,
    /// The process dies before it.
    pub crash_before: u64,
    /// The process dies after it.
    pub crash_after: u64,
    /// The log cannot be read.
    pub unreadable: u64,
}

enum Mode {
    Fine,
    At { append: u64, fault: Fault },
    Chance { odds: Odds, appends: Dice, reads: Dice },
}

struct Course {
    mode: Mode,
    appends: u64,
    /// A process that is dead writes nothing any more.
    dead: bool,
}

/// What goes wrong in one process's life.
pub struct Plan {
    course: Mutex<Course>,
    crashed: Notify,
}

impl Plan {
    /// Nothing goes wrong.
    pub fn fine() -> Self {
        Self::of(Mode::Fine)
    }

    /// This goes wrong with one append, counted from 0.
    pub fn at(append: u64, fault: Fault) -> Self {
        Self::of(Mode::At { append, fault })
    }

    /// Things go wrong by chance.
    pub fn chance(mut dice: Dice, odds: Odds) -> Self {
        Self::of(Mode::Chance { odds, appends: dice.split(), reads: dice })
    }

    fn of(mode: Mode) -> Self {
        let course = Course { mode, appends: 0, dead: false };
        Self { course: Mutex::new(course), crashed: Notify::new() }
    }

    /// How many appends were tried.
    pub fn appends(&self) -> u64 {
        self.course().appends
    }

    /// Waits until the process has died.
    pub async fn crashed(&self) {
        self.crashed.notified().await;
    }

    fn course(&self) -> MutexGuard<'_, Course> {
        self.course.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Faults for Plan {
    fn on_append(&self, _: &SessionId, _: Seq) -> Fault {
        let mut course = self.course();
        if course.dead {
            return Fault::CrashBefore;
        }
        let index = course.appends;
        course.appends += 1;
        let fault = match &mut course.mode {
            Mode::Fine => Fault::None,
            Mode::At { append, fault } if *append == index => *fault,
            Mode::At { .. } => Fault::None,
            Mode::Chance { odds, appends, .. } => odds.fault(appends),
        };
        if matches!(fault, Fault::CrashBefore | Fault::CrashAfter) {
            course.dead = true;
            self.crashed.notify_one();
        }
        fault
    }

    fn on_read(&self, _: &SessionId) -> bool {
        match &mut self.course().mode {
            Mode::Fine | Mode::At { .. } => false,
            Mode::Chance { odds, reads, .. } => reads.permille(odds.unreadable),
        }
    }
}

impl Odds {
    fn fault(&self, dice: &mut Dice) -> Fault {
        let mut roll = dice.within(0..1000);
        let odds = [
            (self.conflict, Fault::Conflict),
            (self.unavailable, Fault::Unavailable),
            (self.ack_lost, Fault::AckLost),
            (self.fenced, Fault::Fenced),
            (self.crash_before, Fault::CrashBefore),
            (self.crash_after, Fault::CrashAfter),
        ];
        for (odds, fault) in odds {
            if roll < odds {
                return fault;
            }
            roll -= odds;
        }
        Fault::None
    }
}
