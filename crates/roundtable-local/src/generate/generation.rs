//! The two ways to hear an answer: as a blocking iterator, or through a listener of one's own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender};

use super::{Finish, GenerateError};

/// Someone who hears an answer as it is made. Called on a thread of the pool, so it must not
/// block: a queue with room for `max_tokens` pieces never has to.
pub trait Listener: Send {
    /// Whether nobody wants the answer any more. Asked before every token.
    fn is_gone(&self) -> bool;

    /// The next piece of text: whole characters, never empty.
    fn piece(&mut self, text: String);

    /// The end; called exactly once, unless the process ends first.
    fn end(self: Box<Self>, outcome: Result<Finish, GenerateError>);
}

/// An answer that is being made. Iterate over its pieces, then ask how it ended. Dropping it
/// cancels the work.
pub struct Generation {
    events: Receiver<Event>,
    gone: Arc<AtomicBool>,
    outcome: Option<Result<Finish, GenerateError>>,
}

enum Event {
    Piece(String),
    End(Result<Finish, GenerateError>),
}

impl Generation {
    /// An answer with room for so many pieces, and the listener that fills it.
    pub(super) fn new(pieces: usize) -> (Self, Box<dyn Listener>) {
        let (sender, events) = std::sync::mpsc::sync_channel(pieces.saturating_add(1));
        let gone = Arc::new(AtomicBool::new(false));
        let listener = Forward { sender, gone: gone.clone() };
        (Self { events, gone, outcome: None }, Box::new(listener))
    }

    /// Waits for the end, dropping pieces that were not read, and says how it ended.
    ///
    /// # Errors
    /// When there is no answer, or none that could be finished.
    pub fn finish(mut self) -> Result<Finish, GenerateError> {
        while self.next().is_some() {}
        self.outcome.take().unwrap_or(Err(GenerateError::Broken))
    }

    /// Waits for the end; the text that was not read yet, and how it ended.
    ///
    /// # Errors
    /// When there is no answer, or none that could be finished.
    pub fn read(mut self) -> Result<(String, Finish), GenerateError> {
        let text = self.by_ref().collect();
        self.finish().map(|finish| (text, finish))
    }
}

impl Iterator for Generation {
    type Item = String;

    /// The next piece, when it is there.
    fn next(&mut self) -> Option<String> {
        if self.outcome.is_some() {
            return None;
        }
        match self.events.recv() {
            Ok(Event::Piece(text)) => return Some(text),
            Ok(Event::End(outcome)) => self.outcome = Some(outcome),
            Err(_) => self.outcome = Some(Err(GenerateError::Broken)),
        }
        None
    }
}

impl Drop for Generation {
    fn drop(&mut self) {
        self.gone.store(true, Ordering::Relaxed);
    }
}

struct Forward {
    sender: SyncSender<Event>,
    gone: Arc<AtomicBool>,
}

impl Listener for Forward {
    fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Relaxed)
    }

    fn piece(&mut self, text: String) {
        // Who does not listen any more is noticed before the next token.
        let _ = self.sender.send(Event::Piece(text));
    }

    fn end(self: Box<Self>, outcome: Result<Finish, GenerateError>) {
        let _ = self.sender.send(Event::End(outcome));
    }
}
