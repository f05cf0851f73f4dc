//! A response's body as events, held to time and size.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_util::Stream;
use futures_util::stream::BoxStream;
use roundtable_ports::ModelError;
use sse_stream::{Sse, SseByteStream};

use super::patience::{Late, Patience};
use super::{Caps, chain};

/// Why a body cannot be read on.
#[derive(Debug, thiserror::Error)]
enum BodyError {
    #[error("the request to the provider timed out")]
    Late,
    #[error("an event is larger than {0} bytes")]
    Event(usize),
    #[error("the response is larger than {0} bytes")]
    Total(usize),
    #[error("the connection was interrupted: {0}")]
    Reset(String),
}

impl From<Late> for BodyError {
    fn from(Late: Late) -> Self {
        Self::Late
    }
}

/// The events of an answer.
pub struct Events {
    events: SseByteStream<Held>,
    since_event: Arc<AtomicUsize>,
}

impl Events {
    /// The events of a body.
    pub fn new(bytes: Pieces, patience: Patience, caps: Caps) -> Self {
        let since_event = Arc::new(AtomicUsize::new(0));
        let counted = since_event.clone();
        let held = Held { bytes, patience, caps, total: 0, since_event: counted, ended: false };
        Self { events: SseByteStream::new(held), since_event }
    }

    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Sse, ModelError>>> {
        let event = ready!(Pin::new(&mut self.events).poll_next(cx));
        self.since_event.store(0, Ordering::Relaxed);
        Poll::Ready(event.map(|event| event.map_err(|error| meaning(&error))))
    }
}

/// The bytes of a body, as they come.
pub type Pieces = BoxStream<'static, reqwest::Result<Bytes>>;

/// Bytes that have to come in time and may not be too many.
struct Held {
    bytes: Pieces,
    patience: Patience,
    caps: Caps,
    total: usize,
    /// Bytes since the last event; the reader of events sets it back.
    since_event: Arc<AtomicUsize>,
    ended: bool,
}

impl Stream for Held {
    type Item = Result<Bytes, BodyError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.ended {
            return Poll::Ready(None);
        }
        match self.bytes.as_mut().poll_next(cx) {
            Poll::Pending => self.patience.poll(cx).map(|late| Some(Err(late.into()))),
            Poll::Ready(Some(Ok(piece))) => Poll::Ready(Some(self.take(piece))),
            Poll::Ready(Some(Err(error))) => {
                Poll::Ready(Some(Err(BodyError::Reset(chain(&error)))))
            }
            // A last event without its blank line is an event all the same.
            Poll::Ready(None) => {
                self.ended = true;
                Poll::Ready(Some(Ok(Bytes::from_static(b"\n\n"))))
            }
        }
    }
}

impl Held {
    fn take(&mut self, piece: Bytes) -> Result<Bytes, BodyError> {
        self.patience.heard()?;
        self.total = self.total.saturating_add(piece.len());
        if self.total > self.caps.total_bytes {
            return Err(BodyError::Total(self.caps.total_bytes));
        }
        let before = self.since_event.load(Ordering::Relaxed);
        if before > self.caps.event_bytes {
            return Err(BodyError::Event(self.caps.event_bytes));
        }
        self.since_event.store(before.saturating_add(piece.len()), Ordering::Relaxed);
        Ok(piece)
    }
}

fn meaning(error: &sse_stream::Error) -> ModelError {
    let sse_stream::Error::Body(cause) = error else {
        return ModelError::Broken(format!("invalid event stream: {error}"));
    };
    match cause.downcast_ref::<BodyError>() {
        Some(BodyError::Late) => ModelError::Timeout,
        Some(other) => ModelError::Broken(other.to_string()),
        None => ModelError::Broken(cause.to_string()),
    }
}
