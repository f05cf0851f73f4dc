//! One request from prompt to end, on one thread.

use std::io::{Read, Seek};

use super::cache::Cache;
use super::chat;
use super::generation::Listener;
use super::llama::{Llama, Memory, Workspace};
use super::mask::Walk;
use super::sampler::Sampler;
use super::stops::{Passed, Stops};
use super::{Finish, FinishReason, GenerateError, Options, Request};
use crate::kernel::Cpu;
use crate::tokens::{Decoder, Token, Vocabulary};
use crate::weights::{Gguf, LoadError};

/// How many tokens of a prompt are read at once: enough to share the loading of weights, few
/// enough that a cancelled request ends soon.
const CHUNK: usize = 64;

/// What all threads share.
pub(crate) struct Engine {
    llama: Llama,
    vocabulary: Vocabulary,
    cache: Cache,
    context: usize,
}

impl Engine {
    pub(super) fn read(source: impl Read + Seek, options: &Options) -> Result<Self, LoadError> {
        let mut file = Gguf::read(source)?;
        let vocabulary = Vocabulary::read(&file)?;
        let llama = Llama::read(&mut file, vocabulary.len(), Cpu::detect())?;
        let context = options.context.min(llama.context());
        Ok(Self { llama, vocabulary, cache: Cache::new(options.cache_bytes), context })
    }

    pub(super) fn context(&self) -> usize {
        self.context
    }

    pub(super) fn count(&self, text: &str) -> usize {
        let mut tokens = Vec::new();
        self.vocabulary.encode(text, &mut tokens);
        tokens.len()
    }

    pub(super) fn memory(&self) -> usize {
        self.llama.bytes() + self.cache.bytes()
    }

    /// Makes an answer. `is_closing` says that it has to end now.
    pub(crate) fn run(
        &self,
        request: &Request,
        listener: &mut dyn Listener,
        is_closing: &dyn Fn() -> bool,
    ) -> Result<Finish, GenerateError> {
        let prompt = chat::prompt(&self.vocabulary, request, self.context)?;
        let budget = request.max_tokens.min(self.context - prompt.len());
        let mask = request.mask.as_ref();
        let walk = mask.map(|mask| Walk::begin(mask, &self.vocabulary, budget)).transpose()?;
        let (memory, cached) = self.recall(request, &prompt, budget);
        let mut run = Run {
            engine: self,
            request,
            prompt: prompt.len(),
            tokens: prompt,
            budget,
            walk,
            memory,
            sampler: Sampler::new(request.sampling, request.seed),
            work: Workspace::default(),
            logits: Vec::new(),
            is_closing,
        };
        let reason = run.answer(listener);
        let finish = Finish {
            reason,
            prompt_tokens: run.prompt,
            cached_tokens: cached,
            output_tokens: run.tokens.len() - run.prompt,
        };
        run.keep();
        Ok(finish)
    }

    /// What an earlier request of the session left of this prompt, and how much of it; with room
    /// for the rest and the answer.
    fn recall(&self, request: &Request, prompt: &[Token], budget: usize) -> (Memory, usize) {
        let session = request.session.as_deref();
        match session.and_then(|session| self.cache.find(session, prompt)) {
            Some((memory, known)) => {
                (memory.beginning(known, prompt.len() - known + budget), known)
            }
            None => (self.llama.memory().beginning(0, prompt.len() + budget), 0),
        }
    }
}

/// A request that is being answered.
struct Run<'a> {
    engine: &'a Engine,
    request: &'a Request,
    /// How many tokens the prompt has.
    prompt: usize,
    /// The prompt, and what was drawn.
    tokens: Vec<Token>,
    /// How many tokens may be drawn.
    budget: usize,
    walk: Option<Walk<'a>>,
    /// What was read of the tokens.
    memory: Memory,
    sampler: Sampler,
    work: Workspace,
    logits: Vec<f32>,
    is_closing: &'a dyn Fn() -> bool,
}

impl Run<'_> {
    /// Draws tokens and says their text until the answer ends.
    fn answer(&mut self, listener: &mut dyn Listener) -> FinishReason {
        let stops: &[String] = if self.walk.is_some() { &[] } else { &self.request.stop };
        let (mut stops, mut decoder) = (Stops::new(stops), Decoder::default());
        let (text, reason) = loop {
            match self.next(listener) {
                Err(reason) => break (decoder.finish(), reason),
                Ok(token) => {
                    let text = decoder.push(self.engine.vocabulary.bytes(token));
                    match stops.push(&text) {
                        Passed::On(text) => say(listener, text),
                        Passed::Last(text) => {
                            say(listener, text);
                            return FinishReason::Stop;
                        }
                    }
                }
            }
        };
        match stops.push(&text) {
            Passed::On(text) => say(listener, text + &stops.finish()),
            Passed::Last(text) => say(listener, text),
        }
        reason
    }

    /// Draws the next token, or says why there is none.
    fn next(&mut self, listener: &dyn Listener) -> Result<Token, FinishReason> {
        if self.walk.as_ref().is_some_and(Walk::must_end) {
            return Err(FinishReason::End);
        }
        if self.tokens.len() - self.prompt >= self.budget {
            return Err(FinishReason::Length);
        }
        self.read(listener)?;
        self.engine.llama.logits(&mut self.work, &mut self.logits);
        let token = self.draw().ok_or(FinishReason::End)?;
        self.tokens.push(token);
        Ok(token)
    }

    /// Reads the tokens that were not read yet, unless nobody waits for them.
    fn read(&mut self, listener: &dyn Listener) -> Result<(), FinishReason> {
        while self.memory.len() < self.tokens.len() {
            if listener.is_gone() || (self.is_closing)() {
                return Err(FinishReason::Cancelled);
            }
            let rest = &self.tokens[self.memory.len()..];
            let chunk = &rest[..rest.len().min(CHUNK)];
            self.engine.llama.read_tokens(chunk, &mut self.memory, &mut self.work);
        }
        Ok(())
    }

    /// Draws a token; none, if the answer ends.
    fn draw(&mut self) -> Option<Token> {
        let vocabulary = &self.engine.vocabulary;
        let control = vocabulary.control();
        let ends = |token| token == control.end || Some(token) == control.end_of_text;
        let token = match &mut self.walk {
            None => {
                self.sampler.punish(&mut self.logits, &self.tokens);
                let speaks = |token| ends(token) || !vocabulary.bytes(token).is_empty();
                self.sampler.draw(&self.logits, speaks)
            }
            Some(walk) => {
                let may_end = walk.may_end();
                let fits = |token| walk.allows(token) || (may_end && ends(token));
                self.sampler.draw(&self.logits, fits)
            }
        }?;
        if ends(token) {
            return None;
        }
        if let Some(walk) = &mut self.walk {
            walk.take(token);
        }
        Some(token)
    }

    /// Leaves what was worked out for the next request of the session.
    fn keep(mut self) {
        let Some(session) = &self.request.session else { return };
        self.tokens.truncate(self.memory.len());
        self.memory.shrink();
        self.engine.cache.keep(session, self.tokens, self.memory);
    }
}

fn say(listener: &mut dyn Listener, text: String) {
    if !text.is_empty() {
        listener.piece(text);
    }
}
