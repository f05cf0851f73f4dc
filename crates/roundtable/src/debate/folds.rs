//! Folding whole logs: only a few at once. A debate can have many megabytes, and any number of callers
//! may ask for it.

use std::sync::Arc;

use roundtable_core::Keep;
use tokio::sync::Semaphore;

use crate::error::Result;
use crate::reader::Reader;
use crate::session::Session;

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
    /// Folds a session's whole log, when there is a place. Whoever stops waiting gives up the place.
    pub async fn open(&self, session: &Session) -> Result<Reader> {
        // Nobody closes it.
        let _place = self.0.acquire().await;
        Reader::open(session, Keep::All).await
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
            folds.open(&session).now_or_never().is_none(),
            "there is one place, and it is taken"
        );
        drop(place);
        assert!(folds.open(&session).await.is_err(), "no such session");
        assert_eq!(folds.0.available_permits(), 1);
    }

    #[test]
    fn few_logs_are_folded_at_once() {
        assert!((1..=4).contains(&Folds::default().0.available_permits()));
    }
}
