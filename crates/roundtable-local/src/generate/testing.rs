//! What tests of this crate share: a model from bytes, and an answer without threads.

use std::io::Cursor;

use super::generation::Listener;
use super::job::Engine;
use super::{Finish, GenerateError, Generator, Message, Options, Request};
use crate::weights::LoadError;
use crate::weights::synthetic::Synthetic;

/// A model from the bytes of a file.
pub(crate) fn load(bytes: &[u8]) -> Result<Engine, LoadError> {
    Engine::read(Cursor::new(bytes), &Options::default())
}

/// A small model with threads.
pub(crate) fn generator(threads: usize, waiting: usize, cache_bytes: usize) -> Generator {
    let options = Options { threads, waiting, cache_bytes, ..Options::default() };
    let engine = Engine::read(Cursor::new(Synthetic::new(1).bytes()), &options).unwrap();
    Generator::start_threads(engine, &options).unwrap()
}

/// The answer to one message.
pub(crate) fn answer(engine: &Engine, text: &str, max_tokens: usize) -> (String, Finish) {
    let messages = vec![Message::user(text)];
    run(engine, &Request { messages, max_tokens, ..Request::default() }).unwrap()
}

/// The answer to a request.
pub(crate) fn run(engine: &Engine, request: &Request) -> Result<(String, Finish), GenerateError> {
    let mut heard = Heard::default();
    let finish = engine.run(request, &mut heard, &|| false)?;
    assert!(heard.pieces.iter().all(|piece| !piece.is_empty()));
    Ok((heard.pieces.concat(), finish))
}

/// Who keeps what is said, and leaves after some pieces.
#[derive(Default)]
pub(crate) struct Heard {
    pub(crate) pieces: Vec<String>,
    pub(crate) leaves_after: Option<usize>,
}

impl Listener for Heard {
    fn is_gone(&self) -> bool {
        self.leaves_after.is_some_and(|count| self.pieces.len() >= count)
    }

    fn piece(&mut self, text: String) {
        self.pieces.push(text);
    }

    fn end(self: Box<Self>, _: Result<Finish, GenerateError>) {}
}
