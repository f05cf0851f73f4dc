//! What goes wrong in one process's life, decided append by append.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use roundtable_backend::{Fault, Faults};
use roundtable_core::event::Seq;
use roundtable_core::id::SessionId;
use tokio::sync::Notify;

use super::dice::Dice;

/// How far a process can reach its store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// It can.
    Well,
    /// It gets no answer.
    Silence,
    /// It is told that the store is unavailable.
    Refusal,
}

/// How long a process cannot reach its store: longer than anyone waits for it.
pub(super) const CUT: Duration = Duration::from_secs(40);

/// How often what goes wrong, in a thousand appends, reads or rings.
#[derive(Debug, Clone, Copy, Default)]
pub struct Odds {
    /// An append is refused as if the head had moved.
    pub conflict: u64,
    /// An append is not done.
    pub unavailable: u64,
    /// An append is done, and the answer is lost.
    pub ack_lost: u64,
    /// An append takes its time, and letters gather meanwhile.
    pub slow: u64,
    /// Another writer claims the session.
    pub fenced: u64,
    /// The process dies before an append.
    pub crash_before: u64,
    /// The process dies after an append.
    pub crash_after: u64,
    /// The log cannot be read.
    pub unreadable: u64,
    /// A bell does not ring.
    pub silent: u64,
}

enum Mode {
    Fine,
    At { append: u64, fault: Fault },
    Chance(Box<Chance>),
}

/// Each kind of thing has dice of its own, so that one more read changes nothing for the appends.
struct Chance {
    odds: Odds,
    appends: Dice,
    reads: Dice,
    rings: Dice,
}

struct Course {
    mode: Mode,
    appends: u64,
    /// A process that is dead writes nothing any more.
    dead: bool,
    reach: Reach,
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
        let (appends, reads, rings) = (dice.split(), dice.split(), dice.split());
        Self::of(Mode::Chance(Box::new(Chance { odds, appends, reads, rings })))
    }

    fn of(mode: Mode) -> Self {
        let course = Course { mode, appends: 0, dead: false, reach: Reach::Well };
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

    /// Changes how far the process can reach its store.
    pub(super) fn set_reach(&self, reach: Reach) {
        self.course().reach = reach;
    }

    pub(super) fn reach(&self) -> Reach {
        self.course().reach
    }

    pub(super) fn loses_ring(&self) -> bool {
        let mut course = self.course();
        match &mut course.mode {
            Mode::Fine | Mode::At { .. } => false,
            Mode::Chance(chance) => chance.rings.permille(chance.odds.silent),
        }
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
        match course.reach {
            Reach::Well => {}
            Reach::Silence => return Fault::Slow(CUT),
            Reach::Refusal => return Fault::Unavailable,
        }
        let index = course.appends;
        course.appends += 1;
        let fault = match &mut course.mode {
            Mode::Fine => Fault::None,
            Mode::At { append, fault } if *append == index => *fault,
            Mode::At { .. } => Fault::None,
            Mode::Chance(chance) => chance.fault(),
        };
        if matches!(fault, Fault::CrashBefore | Fault::CrashAfter) {
            course.dead = true;
            self.crashed.notify_one();
        }
        fault
    }

    fn on_read(&self, _: &SessionId) -> bool {
        let mut course = self.course();
        let lost = course.reach != Reach::Well;
        match &mut course.mode {
            Mode::Fine | Mode::At { .. } => lost,
            Mode::Chance(chance) => lost || chance.reads.permille(chance.odds.unreadable),
        }
    }
}

impl Chance {
    fn fault(&mut self) -> Fault {
        let mut roll = self.appends.within(0..1000);
        let slow = Fault::Slow(Duration::from_millis(self.appends.within(1..900)));
        let odds = [
            (self.odds.conflict, Fault::Conflict),
            (self.odds.unavailable, Fault::Unavailable),
            (self.odds.ack_lost, Fault::AckLost),
            (self.odds.slow, slow),
            (self.odds.fenced, Fault::Fenced),
            (self.odds.crash_before, Fault::CrashBefore),
            (self.odds.crash_after, Fault::CrashAfter),
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
