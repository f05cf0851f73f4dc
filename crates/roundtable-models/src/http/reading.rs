//! An answer being read: events in, chunks out, one at a time.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_util::Stream;
use roundtable_ports::{Attempts, Chunk, Listener, ModelError, ModelRequest};
use sse_stream::Sse;

use super::body::Events;
use super::scrub;
use crate::output::Shaper;
use crate::secret::Secret;
use crate::wire::Decoder;

pub struct Reading {
    events: Events,
    decoder: Box<dyn Decoder>,
    shaper: Shaper,
    listener: Listener,
    attempts: Attempts,
    secrets: Arc<[Secret]>,
    ready: VecDeque<Chunk>,
    over: bool,
}

impl Stream for Reading {
    type Item = Result<Chunk, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(chunk) = self.ready.pop_front() {
                self.over |= matches!(chunk, Chunk::Done(_));
                return Poll::Ready(Some(Ok(chunk)));
            }
            if self.over {
                return Poll::Ready(None);
            }
            let event = ready!(self.events.poll_next(cx));
            if let Err(error) = self.take(event) {
                self.over = true;
                return Poll::Ready(Some(Err(self.scrubbed(error))));
            }
        }
    }
}

impl Reading {
    pub fn new(
        events: Events,
        decoder: Box<dyn Decoder>,
        shaper: Shaper,
        request: &ModelRequest,
        secrets: Arc<[Secret]>,
    ) -> Self {
        let (listener, attempts) = (request.listener.clone(), request.attempts.clone());
        let ready = VecDeque::new();
        Self { events, decoder, shaper, listener, attempts, secrets, ready, over: false }
    }

    /// Takes the next event, or the end.
    fn take(&mut self, event: Option<Result<Sse, ModelError>>) -> Result<(), ModelError> {
        let chunks = match event {
            Some(event) => {
                let Sse { event, data, .. } = event?;
                match data.as_deref().map(str::trim) {
                    None | Some("") => return Ok(()),
                    Some(data) => {
                        if let Some(text) = self.decoder.token(data) {
                            return self.shape(Chunk::Text(text));
                        }
                        self.decoder.event(event.as_deref(), data)?
                    }
                }
            }
            None => {
                self.over = true;
                self.decoder.end()?
            }
        };
        for chunk in chunks {
            self.shape(chunk)?;
        }
        if self.over && self.ready.is_empty() {
            return Err(ModelError::Broken("the response has no end".to_owned()));
        }
        Ok(())
    }

    fn shape(&mut self, chunk: Chunk) -> Result<(), ModelError> {
        match &chunk {
            Chunk::Text(text) => {
                self.attempts.note_arrived(text.len());
                if self.shaper.holds() {
                    self.listener.hear(text);
                }
            }
            Chunk::ToolCall { arguments, .. } => {
                self.attempts.note_arrived(arguments.to_string().len());
            }
            Chunk::Reasoning(thought) => self.attempts.note_arrived(thought.text.len()),
            Chunk::Citation(_) | Chunk::Done(_) => {}
        }
        self.shaper.take(chunk, &mut self.ready)
    }

    /// An error inside a stream may repeat the key like any other text of a provider.
    fn scrubbed(&self, error: ModelError) -> ModelError {
        let clean = |text: String| scrub(&self.secrets, text);
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
