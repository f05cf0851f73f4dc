//! Noticing that nothing has happened for a while. Most waits end long before: the timer is set
//! once and looked at when it rings, instead of being set and taken back with every envelope.

use std::pin::Pin;
use std::time::Duration;

use tokio::time::{Instant, Sleep};

/// Set when it is waited for first.
#[derive(Default)]
pub(super) struct Quiet {
    alarm: Option<Pin<Box<Sleep>>>,
    /// When the wait that is under way is over.
    due: Option<Instant>,
}

impl Quiet {
    /// A wait begins.
    pub fn begin(&mut self, patience: Duration) {
        self.due = now().checked_add(patience);
    }

    /// Until it has been quiet for long enough; never, if that is longer than there is time.
    pub async fn over(&mut self) {
        let Some(due) = self.due else { return std::future::pending().await };
        let alarm = self.alarm.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(due)));
        // One that rings early is set again; one that would ring late is of no use.
        if alarm.deadline() > due {
            alarm.as_mut().reset(due);
        }
        loop {
            alarm.as_mut().await;
            if now() >= due {
                return;
            }
            alarm.as_mut().reset(due);
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the runtime's own clock, which tests can stop")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(60);

    #[tokio::test(start_paused = true)]
    async fn it_is_over_when_a_whole_wait_was_quiet_and_not_before() {
        let (mut quiet, start) = (Quiet::default(), now());
        quiet.begin(PATIENCE);
        assert!(tokio::time::timeout(PATIENCE / 2, quiet.over()).await.is_err());
        quiet.begin(PATIENCE);
        quiet.over().await;
        assert_eq!(now() - start, PATIENCE / 2 + PATIENCE);
        quiet.begin(PATIENCE);
        quiet.over().await;
        assert_eq!(now() - start, PATIENCE / 2 + PATIENCE * 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_shorter_wait_is_not_held_up_by_a_longer_one_before_it() {
        let (mut quiet, start) = (Quiet::default(), now());
        quiet.begin(PATIENCE * 100);
        assert!(tokio::time::timeout(PATIENCE, quiet.over()).await.is_err());
        quiet.begin(PATIENCE);
        quiet.over().await;
        assert_eq!(now() - start, PATIENCE * 2);
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_for_ever_is_never_over() {
        let mut quiet = Quiet::default();
        quiet.begin(Duration::MAX);
        assert!(tokio::time::timeout(PATIENCE, quiet.over()).await.is_err());
    }
}
