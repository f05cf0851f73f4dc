//! Folding logs into records: page by page, and only a few at once. A record can have many megabytes,
//! and any number of callers may ask for it.

use std::sync::Arc;

use roundtable_core::debate::Record;
use roundtable_core::event::Seq;
use roundtable_core::{Keep, Live};
use tokio::sync::Semaphore;

use crate::error::Result;
use crate::session::Session;

/// How many events are read at once.
const PAGE: usize = 64;

/// The places of those who fold. All clones have the same places.
#[derive(Clone)]
pub(crate) struct Folds(Arc<Semaphore>);

impl Default for Folds {
    /// Half of the processors: the others are for those who work.
    fn default() -> Self {
        let half = std::thread::available_parallelism().map_or(1, |all| all.get() / 2);
        Self(Arc::new(Semaphore::new(half.clamp(1, 4))))
    }
}

impl Folds {
    /// Folds a session's log, when there is a place. `None` when there is no such session, and a
    /// record only if it is a debate. Whoever stops waiting gives up the place.
    pub async fn fold(&self, session: &Session) -> Result<Option<Option<Record>>> {
        // Nobody closes it.
        let _place = self.0.acquire().await;
        let mut live = Live::reader(session.id().clone(), session.programs(), Keep::All);
        let mut next = Seq(1);
        loop {
            let page = session.read(next, PAGE).await?;
            let Some(last) = page.last() else { break };
            next = last.seq.next();
            page.iter().for_each(|event| live.apply(event));
        }
        Ok((next > Seq(1)).then(|| Record::of(&live)))
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use roundtable_core::id::SessionId;

    use super::*;
    use crate::Engine;

    #[tokio::test]
    async fn folds_wait_for_a_place_and_give_it_back() {
        let engine = Engine::builder().build().await.unwrap();
        let session = engine.session(&SessionId::new("missing").unwrap());
        let folds = Folds(Arc::new(Semaphore::new(1)));
        let place = folds.0.acquire().await.unwrap();
        assert!(
            folds.fold(&session).now_or_never().is_none(),
            "there is one place, and it is taken"
        );
        drop(place);
        assert_eq!(folds.fold(&session).await.unwrap(), None);
        assert_eq!(folds.0.available_permits(), 1);
    }

    #[test]
    fn few_logs_are_folded_at_once() {
        assert!((1..=4).contains(&Folds::default().0.available_permits()));
    }
}
