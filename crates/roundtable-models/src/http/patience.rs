//! How long an answer may take: one alarm for a whole call. Setting an alarm wakes the thread that
//! waits for the network, so it is set once, for the shortest wait there can be, and looked at
//! again when it rings; pieces that come in time leave it alone.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep};

use super::Timeouts;

/// The end of patience.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Late;

pub struct Patience {
    /// How long one wait may take: the first ones, and those that follow.
    wait: Duration,
    idle: Duration,
    /// The end of the time for the whole answer.
    end: Instant,
    /// When the wait that is under way is too long; nothing while nobody waits.
    due: Option<Instant>,
    alarm: Pin<Box<Sleep>>,
}

impl Patience {
    /// Patience from now on.
    pub fn new(Timeouts { first_byte, idle, total, .. }: Timeouts) -> Self {
        let shortest = idle.min(first_byte).min(total);
        let alarm = Box::pin(tokio::time::sleep(shortest));
        Self { wait: first_byte, idle, end: after(now(), total), due: None, alarm }
    }

    /// Waits for something to be done.
    pub async fn with<T>(&mut self, work: impl Future<Output = T>) -> Result<T, Late> {
        let mut work = pin!(work);
        let done = poll_fn(|cx| match work.as_mut().poll(cx) {
            Poll::Ready(done) => Poll::Ready(Ok(done)),
            Poll::Pending => self.poll(cx).map(Err),
        });
        let done = done.await;
        self.due = None;
        done
    }

    /// A piece of the answer came; from here on, waits are short.
    ///
    /// # Errors
    /// [`Late`] when the time for the whole answer is over, however fast the pieces come.
    pub fn heard(&mut self) -> Result<(), Late> {
        self.due = None;
        self.wait = self.idle;
        if now() < self.end { Ok(()) } else { Err(Late) }
    }

    /// Waits; ready when that has taken too long. A wait begins here, not when the last piece
    /// came: how long its reader took is not the provider's fault.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Late> {
        let due = match self.due {
            Some(due) => due,
            None => *self.due.insert(after(now(), self.wait).min(self.end)),
        };
        if self.alarm.deadline() > due {
            self.alarm.as_mut().reset(due);
        }
        while self.alarm.as_mut().poll(cx).is_ready() {
            if now() >= due {
                return Poll::Ready(Late);
            }
            self.alarm.as_mut().reset(due);
        }
        Poll::Pending
    }
}

#[expect(clippy::disallowed_methods, reason = "the runtime's own clock, which tests can stop")]
fn now() -> Instant {
    Instant::now()
}

fn after(now: Instant, wait: Duration) -> Instant {
    const LONG: Duration = Duration::from_secs(365 * 86_400);
    now + wait.min(LONG)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeouts(first_byte: u64, idle: u64, total: u64) -> Timeouts {
        let [first_byte, idle, total] = [first_byte, idle, total].map(Duration::from_secs);
        Timeouts { first_byte, idle, total, ..Timeouts::default() }
    }

    async fn wait(patience: &mut Patience) -> Late {
        poll_fn(|cx| patience.poll(cx)).await
    }

    async fn pass(seconds: u64) {
        tokio::time::advance(Duration::from_secs(seconds)).await;
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_wait_may_be_longer_than_those_that_follow() {
        for (first, idle) in [(600, 10), (10, 600)] {
            let start = now();
            let mut patience = Patience::new(timeouts(first, idle, 10_000));
            assert_eq!(wait(&mut patience).await, Late);
            assert_eq!(now() - start, Duration::from_secs(first));
            assert_eq!(patience.heard(), Ok(()));
            assert_eq!(wait(&mut patience).await, Late);
            assert_eq!(now() - start, Duration::from_secs(first + idle));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_reader_is_not_the_provider_s_fault() {
        let mut patience = Patience::new(timeouts(30, 10, 10_000));
        assert_eq!(patience.heard(), Ok(()));
        pass(500).await;
        let start = now();
        assert_eq!(wait(&mut patience).await, Late);
        assert_eq!(now() - start, Duration::from_secs(10));
    }

    #[tokio::test(start_paused = true)]
    async fn the_whole_answer_has_its_time_whether_pieces_come_or_not() {
        let mut patience = Patience::new(timeouts(30, 10, 25));
        let start = now();
        assert_eq!(wait(&mut patience).await, Late);
        assert_eq!(now() - start, Duration::from_secs(25));
        assert_eq!(patience.heard(), Err(Late));
        let mut patience = Patience::new(timeouts(30, 10, 25));
        for _ in 0..4 {
            assert_eq!(patience.heard(), Ok(()));
            pass(6).await;
        }
        assert_eq!(wait(&mut patience).await, Late);
        assert_eq!(patience.heard(), Err(Late));
    }

    #[tokio::test(start_paused = true)]
    async fn work_is_waited_for_as_long_as_the_first_piece() {
        let mut patience = Patience::new(timeouts(30, 10, 100));
        let work = |seconds| tokio::time::sleep(Duration::from_secs(seconds));
        assert_eq!(patience.with(work(29)).await, Ok(()));
        assert_eq!(patience.with(work(31)).await, Err(Late));
    }
}
