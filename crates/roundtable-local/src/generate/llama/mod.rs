//! The model itself: a Llama transformer, its weights, and one pass through its layers.

mod config;
mod forward;
mod memory;
#[cfg(test)]
mod tests;

use std::io::{Read, Seek};

pub(super) use forward::Workspace;
use memory::Kept;
pub(super) use memory::Memory;

use crate::kernel::{Cpu, Matrix};
use crate::weights::{Gguf, LoadError};
use config::Config;

/// The weights of a model. Shared by all threads, never changed.
pub(super) struct Llama {
    config: Config,
    cpu: Cpu,
    /// A row per token: what goes in, and, unless `output` is another matrix, what comes out.
    embedding: Matrix,
    output: Option<Matrix>,
    norm: Vec<f32>,
    layers: Vec<Layer>,
    /// How fast each pair of numbers in a head turns from one position to the next.
    turns: Vec<f64>,
}

struct Layer {
    attention_norm: Vec<f32>,
    query: Matrix,
    key: Matrix,
    value: Matrix,
    mix: Matrix,
    feed_norm: Vec<f32>,
    gate: Matrix,
    up: Matrix,
    down: Matrix,
}

impl Llama {
    /// Reads the weights of a model whose vocabulary has so many tokens.
    pub(super) fn read<R: Read + Seek>(
        file: &mut Gguf<R>,
        vocabulary: usize,
        cpu: Cpu,
    ) -> Result<Self, LoadError> {
        let config = Config::read(file)?;
        let width = config.width;
        let embedding = file.matrix("token_embd.weight", vocabulary, width)?;
        let output = match file.has("output.weight") {
            true => Some(file.matrix("output.weight", vocabulary, width)?),
            false => None,
        };
        let norm = file.vector("output_norm.weight", width)?;
        let mut layers = Vec::new();
        for number in 0..config.layers {
            layers.push(Layer::read(file, &config, number)?);
        }
        let turns = config.turns();
        Ok(Self { config, cpu, embedding, output, norm, layers, turns })
    }

    /// How many tokens it was trained to keep in mind.
    pub(super) fn context(&self) -> usize {
        self.config.context
    }

    /// The bytes of its weights.
    pub(super) fn bytes(&self) -> usize {
        let layers: usize = self.layers.iter().map(Layer::bytes).sum();
        layers + self.embedding.bytes() + self.output.as_ref().map_or(0, Matrix::bytes)
    }

    /// A mind without anything in it.
    pub(super) fn memory(&self) -> Memory {
        Memory::new(self.config.layers, self.config.kv_width())
    }
}

impl Layer {
    fn read<R: Read + Seek>(
        file: &mut Gguf<R>,
        config: &Config,
        number: usize,
    ) -> Result<Self, LoadError> {
        let (width, feed, kv) = (config.width, config.feed, config.kv_width());
        let name = |part: &str| format!("blk.{number}.{part}.weight");
        Ok(Self {
            attention_norm: file.vector(&name("attn_norm"), width)?,
            query: file.matrix(&name("attn_q"), width, width)?,
            key: file.matrix(&name("attn_k"), kv, width)?,
            value: file.matrix(&name("attn_v"), kv, width)?,
            mix: file.matrix(&name("attn_output"), width, width)?,
            feed_norm: file.vector(&name("ffn_norm"), width)?,
            gate: file.matrix(&name("ffn_gate"), feed, width)?,
            up: file.matrix(&name("ffn_up"), feed, width)?,
            down: file.matrix(&name("ffn_down"), width, feed)?,
        })
    }

    fn bytes(&self) -> usize {
        let attention = [&self.query, &self.key, &self.value, &self.mix];
        let feed = [&self.gate, &self.up, &self.down];
        attention.into_iter().chain(feed).map(Matrix::bytes).sum()
    }
}
