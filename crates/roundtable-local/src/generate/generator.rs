//! The model in the box: its weights, its threads, and the door to them.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use super::generation::{Generation, Listener};
use super::job::Engine;
use super::pool::{Job, Pool};
use super::{Request, StartError};
use crate::weights::{LoadError, SMOLLM2_SHA256, check_digest};

/// How the model runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// How many answers are made at once, each on a thread of its own.
    pub threads: usize,
    /// How many requests may wait beside them; more are refused.
    pub waiting: usize,
    /// How many tokens prompt and answer may have together, at most what the model was trained
    /// for. A token takes 46 kB of memory while its request runs.
    pub context: usize,
    /// How much memory is used to keep what was worked out for earlier prompts, in bytes.
    pub cache_bytes: usize,
    /// Which files are accepted.
    pub trust: Trust,
}

impl Default for Options {
    /// As many threads as the machine has, 64 waiting, 4,096 tokens, 256 MB, the known file only.
    fn default() -> Self {
        Self {
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            waiting: 64,
            context: 4_096,
            cache_bytes: 256 << 20,
            trust: Trust::Known,
        }
    }
}

/// Which files of weights are accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// Only the one that this program was tested with, by its hash.
    Known,
    /// Any Llama model with a SmolLM2 vocabulary, quantised to Q4_1 and Q8_0. It is checked like
    /// any file from outside; what it says is its own affair.
    Any,
}

/// The model in the box. Cloning it is cheap, and all clones share weights and threads. When the
/// last clone is dropped, what runs is cancelled.
///
/// ```no_run
/// use roundtable_local::{Generator, Message, Options, Request};
///
/// let generator = Generator::open("SmolLM2-135M-Instruct.Q4_1.gguf".as_ref(), &Options::default())?;
/// let request = Request { messages: vec![Message::user("Hello!")], ..Request::default() };
/// let mut answer = generator.start(request)?;
/// for piece in answer.by_ref() {
///     print!("{piece}");
/// }
/// println!("{:?}", answer.finish()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Generator {
    pool: Arc<Pool>,
    engine: Arc<Engine>,
}

impl Generator {
    /// Reads the weights and starts the threads.
    ///
    /// # Errors
    /// When the file cannot be read, is not the known one, or makes no sense.
    pub fn open(path: &Path, options: &Options) -> Result<Self, LoadError> {
        let open = |source| LoadError::Open { path: path.into(), source };
        let mut file = File::open(path).map_err(open)?;
        if options.trust == Trust::Known {
            check_digest(&mut file, SMOLLM2_SHA256)?;
        }
        Self::start_threads(Engine::read(file, options)?, options)
    }

    pub(super) fn start_threads(engine: Engine, options: &Options) -> Result<Self, LoadError> {
        let engine = Arc::new(engine);
        let pool = Pool::start(&engine, options.threads, options.waiting)?;
        Ok(Self { pool: Arc::new(pool), engine })
    }

    /// Asks for an answer that is read by blocking. Returns at once.
    ///
    /// # Errors
    /// When too many requests wait already.
    pub fn start(&self, request: Request) -> Result<Generation, StartError> {
        let pieces = request.max_tokens.min(self.engine.context());
        // One more for text that was held back until the end.
        let (generation, listener) = Generation::new(pieces + 1);
        self.start_with(request, listener)?;
        Ok(generation)
    }

    /// Asks for an answer that a listener hears: what an async program wants. Returns at once.
    ///
    /// # Errors
    /// When too many requests wait already; the listener is dropped without having heard anything.
    pub fn start_with(
        &self,
        request: Request,
        listener: Box<dyn Listener>,
    ) -> Result<(), StartError> {
        self.pool.push(Job { request, listener })
    }

    /// How many tokens a text has.
    pub fn count(&self, text: &str) -> usize {
        self.engine.count(text)
    }

    /// How many tokens prompt and answer may have together.
    pub fn context(&self) -> usize {
        self.engine.context()
    }

    /// The memory that weights and kept prompts take, in bytes; running requests come on top.
    pub fn memory(&self) -> usize {
        self.engine.memory()
    }
}
