//! The sizes of a model, as its file says and as they have to fit together.

use std::io::{Read, Seek};

use crate::kernel::BLOCK;
use crate::weights::{Gguf, LoadError, Value};

/// The sizes of a model.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Config {
    pub(super) layers: usize,
    /// How many numbers stand for a token.
    pub(super) width: usize,
    /// How many numbers are between the two halves of a feed-forward layer.
    pub(super) feed: usize,
    pub(super) heads: usize,
    /// How many heads have keys and values of their own; several heads share them.
    pub(super) kv_heads: usize,
    pub(super) context: usize,
    pub(super) epsilon: f32,
    rope_base: f32,
}

impl Config {
    pub(super) fn read<R: Read + Seek>(file: &Gguf<R>) -> Result<Self, LoadError> {
        let architecture = file.text("general.architecture")?;
        if architecture != "llama" {
            let why = format!("is {architecture:?}; only Llama models are supported");
            return Err(LoadError::malformed("general.architecture", why));
        }
        let config = Self {
            layers: file.count("llama.block_count", 512)?,
            width: file.count("llama.embedding_length", 1 << 16)?,
            feed: file.count("llama.feed_forward_length", 1 << 18)?,
            heads: file.count("llama.attention.head_count", 1 << 10)?,
            kv_heads: file.count("llama.attention.head_count_kv", 1 << 10)?,
            context: file.count("llama.context_length", 1 << 20)?,
            epsilon: file.positive("llama.attention.layer_norm_rms_epsilon")?,
            rope_base: file.positive("llama.rope.freq_base")?,
        };
        config.fits()?;
        config.turns_as_usual(file)?;
        Ok(config)
    }

    /// The length of a head.
    pub(super) fn head(&self) -> usize {
        self.width / self.heads
    }

    /// How many numbers the keys of a token have, and the values.
    pub(super) fn kv_width(&self) -> usize {
        self.head() * self.kv_heads
    }

    /// How fast each pair of numbers in a head turns.
    pub(super) fn turns(&self) -> Vec<f64> {
        let head = self.head() as f64;
        let pairs = 0..self.head() / 2;
        pairs.map(|pair| f64::from(self.rope_base).powf(-2.0 * pair as f64 / head)).collect()
    }

    fn fits(&self) -> Result<(), LoadError> {
        let wrong = |why: &str| Err(LoadError::malformed("the model's shape", why));
        if !self.width.is_multiple_of(BLOCK) || !self.feed.is_multiple_of(BLOCK) {
            return wrong("has a width that is not a multiple of 32");
        }
        if !self.width.is_multiple_of(self.heads) || !self.heads.is_multiple_of(self.kv_heads) {
            return wrong("has heads that do not divide its width");
        }
        if !self.head().is_multiple_of(2) {
            return wrong("has heads of an odd length");
        }
        Ok(())
    }

    /// Positions are turned in one way only: the whole head, at the speed that the base gives.
    fn turns_as_usual<R: Read + Seek>(&self, file: &Gguf<R>) -> Result<(), LoadError> {
        let key = "llama.rope.dimension_count";
        if file.find(key).is_some() && file.count(key, 1 << 16)? != self.head() {
            return Err(LoadError::malformed(key, "is not the length of a head"));
        }
        let key = "llama.rope.scaling.type";
        match file.find(key) {
            None => {}
            Some(Value::Text(kind)) if kind == "none" => {}
            Some(_) => return Err(LoadError::malformed(key, "is not supported")),
        }
        if file.has("rope_freqs.weight") {
            return Err(LoadError::malformed("rope_freqs.weight", "is not supported"));
        }
        Ok(())
    }
}
