//! An answer being read: events in, chunks out, one at a time.

use std::collections::VecDeque;
use std::pin::Pin;

use futures_util::StreamExt as _;
use futures_util::stream;
use roundtable_ports::{Chunk, ModelError, ModelStream};
use sse_stream::Sse;
use tokio::time::Sleep;

use super::body::Events;
use crate::output::Shaper;
use crate::secret::Secret;
use crate::wire::Decoder;

pub struct Reading {
    events: Events,
    decoder: Box<dyn Decoder>,
    shaper: Shaper,
    /// The end of the time for the whole answer.
    total: Pin<Box<Sleep>>,
    key: Option<Secret>,
    ready: VecDeque<Chunk>,
    over: bool,
}

impl Reading {
    pub fn new(
        events: Events,
        decoder: Box<dyn Decoder>,
        shaper: Shaper,
        total: Sleep,
        key: Option<Secret>,
    ) -> Self {
        let (total, ready) = (Box::pin(total), VecDeque::new());
        Self { events, decoder, shaper, total, key, ready, over: false }
    }

    pub fn stream(self) -> ModelStream {
        let chunks = stream::unfold(self, |mut reading| async move {
            let chunk = reading.next().await?;
            Some((chunk, reading))
        });
        chunks.boxed()
    }

    async fn next(&mut self) -> Option<Result<Chunk, ModelError>> {
        loop {
            if let Some(chunk) = self.ready.pop_front() {
                self.over |= matches!(chunk, Chunk::Done(_));
                return Some(Ok(chunk));
            }
            if self.over {
                return None;
            }
            if let Err(error) = self.read().await {
                self.over = true;
                return Some(Err(self.scrubbed(error)));
            }
        }
    }

    /// Reads on, until the next event or the end.
    async fn read(&mut self) -> Result<(), ModelError> {
        let event = tokio::select! {
            biased;
            () = &mut self.total => return Err(ModelError::Timeout),
            event = self.events.next() => event,
        };
        let chunks = match event {
            Some(event) => self.decode(&event?)?,
            None => {
                self.over = true;
                self.decoder.end()?
            }
        };
        for chunk in chunks {
            self.ready.extend(self.shaper.take(chunk)?);
        }
        if self.over && self.ready.is_empty() {
            return Err(ModelError::Broken("the answer has no end".to_owned()));
        }
        Ok(())
    }

    fn decode(&mut self, event: &Sse) -> Result<Vec<Chunk>, ModelError> {
        match event.data.as_deref().map(str::trim) {
            None | Some("") => Ok(Vec::new()),
            Some(data) => self.decoder.event(event.event.as_deref(), data),
        }
    }

    /// An error inside a stream may repeat the key like any other text of a provider.
    fn scrubbed(&self, error: ModelError) -> ModelError {
        let Some(key) = &self.key else { return error };
        let clean = |text: String| key.scrub(&text);
        match error {
            ModelError::Auth(text) => ModelError::Auth(clean(text)),
            ModelError::Overloaded(text) => ModelError::Overloaded(clean(text)),
            ModelError::TooLong(text) => ModelError::TooLong(clean(text)),
            ModelError::Refused(text) => ModelError::Refused(clean(text)),
            ModelError::BadRequest(text) => ModelError::BadRequest(clean(text)),
            ModelError::Broken(text) => ModelError::Broken(clean(text)),
            ModelError::RateLimited { .. } | ModelError::Timeout => error,
        }
    }
}
