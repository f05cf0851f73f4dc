//! One pass through the layers: tokens in, what they mean out.

use super::{Kept, Layer, Llama, Memory};
use crate::kernel::{Attention, Blocks, Cpu, Work, swiglu};
use crate::tokens::Token;

/// Room to work in, kept between passes so that none has to be asked for.
#[derive(Default)]
pub(in crate::generate) struct Workspace {
    /// What stands for each token, changed by layer after layer.
    stream: Vec<f32>,
    normed: Vec<f32>,
    query: Vec<f32>,
    key: Vec<f32>,
    value: Vec<f32>,
    attended: Vec<f32>,
    gate: Vec<f32>,
    up: Vec<f32>,
    scores: Vec<f32>,
    /// Sine and cosine for each token and pair.
    angles: Vec<(f32, f32)>,
}

impl Llama {
    /// Reads tokens, adding them to what is in mind.
    pub(in crate::generate) fn read_tokens(
        &self,
        tokens: &[Token],
        memory: &mut Memory,
        work: &mut Workspace,
    ) {
        self.begin(tokens, memory.len(), work);
        for (number, layer) in self.layers.iter().enumerate() {
            self.look_back(layer, number, memory, work);
            self.think(layer, work);
        }
        memory.advance(tokens.len());
    }

    /// How likely each token is to come next, after the last pass.
    pub(in crate::generate) fn logits(&self, work: &mut Workspace, out: &mut Vec<f32>) {
        let last = work.stream.len().saturating_sub(self.config.width);
        let Workspace { stream, normed, .. } = work;
        self.normalize(&stream[last..], &self.norm, normed);
        let input = Blocks::quantize(self.cpu, normed, self.config.width);
        let matrix = self.output.as_ref().unwrap_or(&self.embedding);
        out.resize(matrix.rows(), 0.0);
        matrix.mul(self.cpu, &input, out);
    }

    fn begin(&self, tokens: &[Token], position: usize, work: &mut Workspace) {
        let (count, width, kv) = (tokens.len(), self.config.width, self.config.kv_width());
        work.stream.resize(count * width, 0.0);
        for (row, token) in work.stream.chunks_exact_mut(width).zip(tokens) {
            self.embedding.decode(*token as usize, row);
        }
        for buffer in [&mut work.query, &mut work.attended] {
            buffer.resize(count * width, 0.0);
        }
        for buffer in [&mut work.key, &mut work.value] {
            buffer.resize(count * kv, 0.0);
        }
        for buffer in [&mut work.gate, &mut work.up] {
            buffer.resize(count * self.config.feed, 0.0);
        }
        work.angles.clear();
        for position in position..position + count {
            work.angles.extend(self.turns.iter().map(|turn| {
                let (sin, cos) = (position as f64 * turn).sin_cos();
                (sin as f32, cos as f32)
            }));
        }
    }

    /// Attention: each token takes up what it finds in itself and in the tokens before it.
    fn look_back(&self, layer: &Layer, number: usize, memory: &mut Memory, work: &mut Workspace) {
        let (cpu, width) = (self.cpu, self.config.width);
        self.normalize(&work.stream, &layer.attention_norm, &mut work.normed);
        let input = Blocks::quantize(cpu, &work.normed, width);
        layer.query.mul(cpu, &input, &mut work.query);
        layer.key.mul(cpu, &input, &mut work.key);
        layer.value.mul(cpu, &input, &mut work.value);
        self.turn(&mut work.query, width, &work.angles);
        self.turn(&mut work.key, self.config.kv_width(), &work.angles);
        let position = memory.len();
        let kept = memory.extend(number, &work.key, &work.value);
        self.attend(kept, position, work);
        let mixed = Blocks::quantize(cpu, &work.attended, width);
        layer.mix.mul(cpu, &mixed, &mut work.query);
        add(cpu, &mut work.stream, &work.query);
    }

    fn attend(&self, kept: &Kept, position: usize, work: &mut Workspace) {
        let (width, head, stride) = (self.config.width, self.config.head(), self.config.kv_width());
        let sharing = self.config.heads / self.config.kv_heads;
        let scale = (head as f32).sqrt().recip();
        let tokens = work.query.chunks_exact(width).zip(work.attended.chunks_exact_mut(width));
        for (index, (query, out)) in tokens.enumerate() {
            let heads = query.chunks_exact(head).zip(out.chunks_exact_mut(head));
            for (number, (query, out)) in heads.enumerate() {
                let start = number / sharing * head;
                let attention = Attention {
                    query,
                    keys: &kept.keys[start..],
                    values: &kept.values[start..],
                    stride,
                    count: position + index + 1,
                    scale,
                };
                attention.attend(self.cpu, &mut work.scores, out);
            }
        }
    }

    /// The feed-forward layer, on each token by itself.
    fn think(&self, layer: &Layer, work: &mut Workspace) {
        let cpu = self.cpu;
        self.normalize(&work.stream, &layer.feed_norm, &mut work.normed);
        let input = Blocks::quantize(cpu, &work.normed, self.config.width);
        layer.gate.mul(cpu, &input, &mut work.gate);
        layer.up.mul(cpu, &input, &mut work.up);
        swiglu(cpu, &mut work.gate, &work.up);
        let inner = Blocks::quantize(cpu, &work.gate, self.config.feed);
        layer.down.mul(cpu, &inner, &mut work.query);
        add(cpu, &mut work.stream, &work.query);
    }

    /// Turns each pair of numbers by its token's angle: so a token knows how far away another is.
    fn turn(&self, rows: &mut [f32], width: usize, angles: &[(f32, f32)]) {
        let angles = angles.chunks_exact(self.turns.len().max(1));
        for (row, angles) in rows.chunks_exact_mut(width).zip(angles) {
            for head in row.chunks_exact_mut(self.config.head()) {
                for (pair, (sin, cos)) in head.as_chunks_mut::<2>().0.iter_mut().zip(angles) {
                    let [a, b] = *pair;
                    *pair = [a * cos - b * sin, a * sin + b * cos];
                }
            }
        }
    }

    fn normalize(&self, rows: &[f32], weights: &[f32], out: &mut Vec<f32>) {
        out.resize(rows.len(), 0.0);
        self.cpu.run(Normalize { rows, weights, epsilon: self.config.epsilon, out });
    }
}

/// Each row divided by its root mean square, and weighted.
struct Normalize<'a> {
    rows: &'a [f32],
    weights: &'a [f32],
    epsilon: f32,
    out: &'a mut [f32],
}

impl Work for Normalize<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let width = self.weights.len().max(1);
        let rows = self.rows.chunks_exact(width).zip(self.out.chunks_exact_mut(width));
        for (row, out) in rows {
            // Eight sums side by side: widths are multiples of 32.
            let mut sums = [0f32; 8];
            for values in row.as_chunks::<8>().0 {
                for (sum, value) in sums.iter_mut().zip(values) {
                    *sum += value * value;
                }
            }
            let mean = sums.into_iter().fold(0.0, |sum, part| sum + part) / width as f32;
            let scale = (mean + self.epsilon).sqrt().recip();
            for ((out, value), weight) in out.iter_mut().zip(row).zip(self.weights) {
                *out = value * scale * weight;
            }
        }
    }
}

fn add(cpu: Cpu, to: &mut [f32], what: &[f32]) {
    cpu.run(Add { to, what });
}

struct Add<'a> {
    to: &'a mut [f32],
    what: &'a [f32],
}

impl Work for Add<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (to, what) in self.to.iter_mut().zip(self.what) {
            *to += what;
        }
    }
}
