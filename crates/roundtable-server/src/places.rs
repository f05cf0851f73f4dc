//! The places of connections. When all are taken, the connection that has been idle the longest makes
//! room: clients that only hold connections open do not keep others out.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use axum::body::Body;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tokio_util::sync::CancellationToken;

/// The places of a server.
pub(crate) struct Places {
    limit: usize,
    table: Arc<Mutex<Table>>,
}

#[derive(Default)]
struct Table {
    /// How many places are taken.
    taken: usize,
    /// Grows with everything that becomes idle.
    clock: u64,
    /// The idle ones, the longest idle first.
    idle: BTreeMap<u64, CancellationToken>,
}

/// The place of a connection, until it is dropped.
pub(crate) struct Place {
    table: Arc<Mutex<Table>>,
    evicted: CancellationToken,
    /// Since when it is idle, by the table's clock; none while a request is answered.
    idle: Mutex<Option<u64>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Places {
    pub fn new(limit: usize) -> Self {
        Self { limit, table: Arc::default() }
    }

    /// A place, if there is one, or if an idle connection can make room.
    pub fn take(&self) -> Option<Arc<Place>> {
        let mut table = lock(&self.table);
        if table.taken >= self.limit {
            let (_, longest_idle) = table.idle.pop_first()?;
            table.taken -= 1;
            longest_idle.cancel();
        }
        table.taken += 1;
        drop(table);
        let (table, evicted) = (self.table.clone(), CancellationToken::new());
        let place = Arc::new(Place { table, evicted, idle: Mutex::new(None) });
        place.rest();
        Some(place)
    }
}

impl Place {
    /// Until another connection has taken the place.
    pub async fn evicted(&self) {
        self.evicted.cancelled().await;
    }

    /// Nothing is asked on the connection.
    fn rest(&self) {
        let mut table = lock(&self.table);
        table.clock += 1;
        let now = table.clock;
        *lock(&self.idle) = Some(now);
        table.idle.insert(now, self.evicted.clone());
    }

    fn occupy(&self) {
        let mut table = lock(&self.table);
        if let Some(since) = lock(&self.idle).take() {
            table.idle.remove(&since);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.occupy();
        if !self.evicted.is_cancelled() {
            lock(&self.table).taken -= 1;
        }
    }
}

/// A request that is being answered.
pub(crate) struct Busy(Arc<Place>);

impl Busy {
    pub fn new(place: Arc<Place>) -> Self {
        place.occupy();
        Self(place)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        if !self.0.evicted.is_cancelled() {
            self.0.rest();
        }
    }
}

/// The body of an answer, whose connection is busy until it is sent.
pub(crate) struct Kept {
    pub body: Body,
    pub _busy: Busy,
}

impl http_body::Body for Kept {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s22_the_connection_that_is_idle_the_longest_makes_room_and_a_busy_one_never_does() {
        let places = Places::new(2);
        let (first, second) = (places.take().unwrap(), places.take().unwrap());
        let busy = Busy::new(first.clone());
        let third = places.take().unwrap();
        assert!(second.evicted.is_cancelled() && !first.evicted.is_cancelled());
        let other = Busy::new(third.clone());
        assert!(places.take().is_none(), "all are busy");
        drop(second);
        assert!(places.take().is_none(), "an evicted one has no place to give back");
        drop((busy, other));
        let fourth = places.take().unwrap();
        assert!(first.evicted.is_cancelled(), "it is idle the longest now");
        drop((first, third));
        let fifth = places.take().unwrap();
        assert!(!fourth.evicted.is_cancelled() && !fifth.evicted.is_cancelled());
    }
}
