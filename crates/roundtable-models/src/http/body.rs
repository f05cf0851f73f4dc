//! A response's body as events, held to time and size.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{self, BoxStream};
use futures_util::{Stream, StreamExt as _};
use roundtable_ports::ModelError;
use sse_stream::{Sse, SseByteStream};

use super::{Caps, Timeouts, chain};

/// The events of an answer.
pub type Events = BoxStream<'static, Result<Sse, ModelError>>;

/// Why a body cannot be read on.
#[derive(Debug, thiserror::Error)]
enum BodyError {
    #[error("the provider did not answer in time")]
    Late,
    #[error("an event is longer than {0} bytes")]
    Event(usize),
    #[error("the answer is longer than {0} bytes")]
    Total(usize),
    #[error("the connection broke: {0}")]
    Reset(String),
}

/// The events of a body.
pub fn events<S, E>(bytes: S, timeouts: Timeouts, caps: Caps) -> Events
where
    S: Stream<Item = Result<Bytes, E>> + Send + 'static,
    E: std::error::Error + 'static,
{
    let since_event = Arc::new(AtomicUsize::new(0));
    let pace = Pace { bytes: bytes.boxed(), wait: timeouts.first_byte, idle: timeouts.idle };
    let held = Held { caps, total: 0, since_event: since_event.clone() };
    let checked = stream::unfold((pace, held), |(mut pace, mut held)| async move {
        let piece = match pace.next().await? {
            Ok(piece) => held.take(piece),
            Err(error) => Err(error),
        };
        Some((piece, (pace, held)))
    });
    // A last event without its blank line is an event all the same.
    let closed = checked.chain(stream::once(async { Ok(Bytes::from_static(b"\n\n")) }));
    let events = SseByteStream::new(closed.boxed()).map(move |event| {
        since_event.store(0, Ordering::Relaxed);
        event.map_err(|error| meaning(&error))
    });
    events.boxed()
}

/// Bytes that have to come in time.
struct Pace<E> {
    bytes: BoxStream<'static, Result<Bytes, E>>,
    wait: Duration,
    idle: Duration,
}

impl<E: std::error::Error + 'static> Pace<E> {
    async fn next(&mut self) -> Option<Result<Bytes, BodyError>> {
        let piece = tokio::time::timeout(self.wait, self.bytes.next()).await;
        self.wait = self.idle;
        match piece {
            Err(_) => Some(Err(BodyError::Late)),
            Ok(None) => None,
            Ok(Some(Ok(piece))) => Some(Ok(piece)),
            Ok(Some(Err(error))) => Some(Err(BodyError::Reset(chain(&error)))),
        }
    }
}

/// Bytes that may not be too many.
struct Held {
    caps: Caps,
    total: usize,
    /// Bytes since the last event; the reader of events sets it back.
    since_event: Arc<AtomicUsize>,
}

impl Held {
    fn take(&mut self, piece: Bytes) -> Result<Bytes, BodyError> {
        self.total = self.total.saturating_add(piece.len());
        if self.total > self.caps.total_bytes {
            return Err(BodyError::Total(self.caps.total_bytes));
        }
        let before = self.since_event.fetch_add(piece.len(), Ordering::Relaxed);
        if before > self.caps.event_bytes {
            return Err(BodyError::Event(self.caps.event_bytes));
        }
        Ok(piece)
    }
}

fn meaning(error: &sse_stream::Error) -> ModelError {
    let sse_stream::Error::Body(cause) = error else {
        return ModelError::Broken(format!("the stream makes no sense: {error}"));
    };
    match cause.downcast_ref::<BodyError>() {
        Some(BodyError::Late) => ModelError::Timeout,
        Some(other) => ModelError::Broken(other.to_string()),
        None => ModelError::Broken(cause.to_string()),
    }
}
