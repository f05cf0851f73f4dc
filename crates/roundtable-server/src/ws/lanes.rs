//! Requests about one conversation are handled in the order in which they came; those about others do
//! not wait for them (R001-12).

use std::collections::HashMap;

use tokio::sync::oneshot;

/// How many lanes are remembered before those that are free are forgotten.
const REMEMBERED: usize = 64;

/// For each conversation, the end of its last request.
#[derive(Default)]
pub(super) struct Lanes(HashMap<String, oneshot::Receiver<()>>);

/// A place in a lane: its turn comes when the one before has ended.
pub(super) struct Turn {
    before: Option<oneshot::Receiver<()>>,
    ended: oneshot::Sender<()>,
}

impl Lanes {
    /// The next place in the lane of a conversation.
    pub fn enter(&mut self, conversation: &str) -> Turn {
        if self.0.len() >= REMEMBERED {
            self.0.retain(|_, last| {
                matches!(last.try_recv(), Err(oneshot::error::TryRecvError::Empty))
            });
        }
        let (ended, last) = oneshot::channel();
        Turn { before: self.0.insert(conversation.to_owned(), last), ended }
    }
}

impl Turn {
    /// Does something when it is its turn.
    pub async fn run<T>(self, work: impl Future<Output = T>) -> T {
        if let Some(before) = self.before {
            // The other end is dropped when the request before has ended, however it did.
            let _ = before.await;
        }
        let done = work.await;
        drop(self.ended);
        done
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn r001_12_requests_wait_for_those_of_their_conversation_and_no_others() {
        let mut lanes = Lanes::default();
        let (first, second) = (lanes.enter("abc"), lanes.enter("abc"));
        let other = lanes.enter("xyz");
        let mut second = Box::pin(second.run(async { 2 }));
        assert_eq!(second.as_mut().now_or_never(), None, "the first has not ended");
        assert_eq!(other.run(async { 3 }).now_or_never(), Some(3));
        assert_eq!(first.run(async { 1 }).now_or_never(), Some(1));
        assert_eq!(second.now_or_never(), Some(2));
    }

    #[test]
    fn lanes_that_are_free_are_forgotten_and_a_dropped_request_frees_its_lane() {
        let mut lanes = Lanes::default();
        for number in 0..1_000 {
            drop(lanes.enter(&number.to_string()));
        }
        assert!(lanes.0.len() <= REMEMBERED);
        assert_eq!(lanes.enter("999").run(async { 1 }).now_or_never(), Some(1));
    }
}
