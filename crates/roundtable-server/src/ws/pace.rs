//! How fast a client may send. What comes faster is not lost: it is read when it is its turn.

use std::time::Duration;

use tokio::time::{Interval, MissedTickBehavior};

/// How often there is room for more.
const REFILL: Duration = Duration::from_millis(100);

/// Room for frames that is used up and comes back.
pub(super) struct Pace {
    room: u32,
    limit: u32,
    refill: Interval,
}

impl Pace {
    /// So many frames per second, and as many at once.
    pub fn new(per_second: u32) -> Self {
        let mut refill = tokio::time::interval(REFILL);
        refill.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let limit = per_second.max(1);
        Self { room: limit, limit, refill }
    }

    pub fn has_room(&self) -> bool {
        self.room > 0
    }

    pub fn take(&mut self) {
        self.room = self.room.saturating_sub(1);
    }

    /// Waits until there is room for more; forever while there is room for all.
    pub async fn refill(&mut self) {
        if self.room >= self.limit {
            return std::future::pending().await;
        }
        self.refill.tick().await;
        self.room = (self.room + self.limit.div_ceil(10)).min(self.limit);
    }
}

#[cfg(test)]
mod tests {
    use roundtable::ports::Clock as _;
    use roundtable_testing::PausedClock;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn s21_a_flood_is_read_at_the_pace_of_the_limit() {
        let mut pace = Pace::new(50);
        let clock = PausedClock::starting(0);
        let begun = clock.now();
        for _ in 0..150 {
            while !pace.has_room() {
                pace.refill().await;
            }
            pace.take();
        }
        let took = clock.now().duration_since(begun);
        assert!((1_800..=2_200).contains(&took.as_millis()), "100 beyond the first 50: {took:?}");
    }
}
