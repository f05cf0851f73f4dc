//! The forward pass of MiniLM: from token numbers to one vector of length one.

use std::io::{Read, Seek};

use super::safetensors::{TensorError, Tensors};
use crate::kernel::{Attention, Cpu, Rows, Work, exp};

/// The width of an attention head.
const HEAD: usize = 32;
/// Keeps the division by a spread of zero finite, as the model was trained.
const EPSILON: f32 = 1e-12;
/// How many layers, tokens and numbers a vector may have: a file that says more is no such model.
const MOST_LAYERS: usize = 64;
const MOST_WIDTH: u64 = 4096;
const MOST_TOKENS: u64 = 1 << 20;

/// A matrix with one row for each number that comes out, and what is added to each.
struct Linear {
    weights: Vec<f32>,
    bias: Vec<f32>,
}

/// Brings rows to mean zero and spread one, then to what was learned.
struct Norm {
    scale: Vec<f32>,
    shift: Vec<f32>,
}

struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    joined: Linear,
    attention_norm: Norm,
    wide: Linear,
    narrow: Linear,
    norm: Norm,
}

/// The weights.
pub(super) struct MiniLm {
    words: Vec<f32>,
    positions: Vec<f32>,
    kind: Vec<f32>,
    norm: Norm,
    layers: Vec<Layer>,
    width: usize,
    cpu: Cpu,
}

impl MiniLm {
    /// Reads the weights and checks that they fit together and to a vocabulary of this size.
    pub(super) fn read<R: Read + Seek>(
        tensors: &mut Tensors<R>,
        vocabulary: usize,
        cpu: Cpu,
    ) -> Result<Self, TensorError> {
        let words_name = "embeddings.word_embeddings.weight";
        let [words, width] = sides(tensors, words_name, [MOST_TOKENS, MOST_WIDTH])?;
        if words != vocabulary || width % HEAD != 0 {
            let what =
                format!("has shape [{words}, {width}]; the vocabulary has {vocabulary} pieces");
            return Err(TensorError::Tensor { name: words_name.to_owned(), what });
        }
        let positions_name = "embeddings.position_embeddings.weight";
        let [positions, _] = sides(tensors, positions_name, [MOST_TOKENS, MOST_WIDTH])?;
        let kinds = tensors.take("embeddings.token_type_embeddings.weight", &[2, width])?;
        let count = (0..MOST_LAYERS)
            .take_while(|layer| {
                tensors.shape(&format!("encoder.layer.{layer}.output.dense.bias")).is_some()
            })
            .count();
        let layers = (0..count).map(|layer| Layer::read(tensors, layer, width));
        let layers = layers.collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            words: tensors.take(words_name, &[words, width])?,
            positions: tensors.take(positions_name, &[positions, width])?,
            kind: kinds[..width].to_vec(),
            norm: Norm::read(tensors, "embeddings.LayerNorm", width)?,
            layers,
            width,
            cpu,
        })
    }

    /// How many numbers a vector has.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// How many tokens it can take in.
    pub(super) fn positions(&self) -> usize {
        self.positions.len() / self.width
    }

    /// The vector of these tokens: the mean of what comes out for each, at length one. Tokens that
    /// the model does not have and positions that it does not reach count as nothing.
    pub(super) fn embed(&self, tokens: &[u32]) -> Vec<f32> {
        let mut state = self.look_up(tokens);
        let mut room = Room::default();
        for layer in &self.layers {
            layer.apply(self.cpu, &mut state, self.width, &mut room);
        }
        let mut mean = vec![0.0; self.width];
        for row in state.chunks_exact(self.width) {
            add(&mut mean, row);
        }
        let length = self.cpu.dot_f32(&mean, &mean).sqrt();
        if length.is_normal() {
            mean.iter_mut().for_each(|number| *number /= length);
        } else {
            mean.fill(0.0);
        }
        mean
    }

    fn look_up(&self, tokens: &[u32]) -> Vec<f32> {
        let words = Rows { values: &self.words, width: self.width };
        let positions = Rows { values: &self.positions, width: self.width };
        let mut state = vec![0.0; tokens.len() * self.width];
        for (index, (row, token)) in state.chunks_exact_mut(self.width).zip(tokens).enumerate() {
            add(row, words.row(usize::try_from(*token).unwrap_or(usize::MAX)));
            add(row, positions.row(index));
            add(row, &self.kind);
        }
        self.cpu.run(Normalize { norm: &self.norm, rows: &mut state });
        state
    }
}

/// The two sides of a tensor, which must not exceed these.
fn sides<R: Read + Seek>(
    tensors: &Tensors<R>,
    name: &str,
    most: [u64; 2],
) -> Result<[usize; 2], TensorError> {
    let wrong = |what: &str| TensorError::Tensor { name: name.to_owned(), what: what.to_owned() };
    let shape = tensors.shape(name).ok_or_else(|| wrong("is missing"))?;
    let shape = <[u64; 2]>::try_from(shape).map_err(|_| wrong("is not a matrix"))?;
    let fits = shape.iter().zip(most).all(|(side, most)| (1..=most).contains(side));
    if !fits {
        return Err(wrong("has an impossible size"));
    }
    Ok(shape.map(|side| usize::try_from(side).unwrap_or(usize::MAX)))
}

impl Layer {
    fn read<R: Read + Seek>(
        tensors: &mut Tensors<R>,
        layer: usize,
        width: usize,
    ) -> Result<Self, TensorError> {
        let name = |part: &str| format!("encoder.layer.{layer}.{part}");
        let wide = tensors.shape(&name("intermediate.dense.bias")).and_then(|shape| shape.first());
        let wide = wide.copied().filter(|wide| (1..=4 * MOST_WIDTH).contains(wide));
        let wide = wide.and_then(|wide| usize::try_from(wide).ok()).unwrap_or(0);
        let mut linear =
            |part: &str, out: usize, into: usize| Linear::read(tensors, &name(part), out, into);
        Ok(Self {
            query: linear("attention.self.query", width, width)?,
            key: linear("attention.self.key", width, width)?,
            value: linear("attention.self.value", width, width)?,
            joined: linear("attention.output.dense", width, width)?,
            wide: linear("intermediate.dense", wide, width)?,
            narrow: linear("output.dense", width, wide)?,
            attention_norm: Norm::read(tensors, &name("attention.output.LayerNorm"), width)?,
            norm: Norm::read(tensors, &name("output.LayerNorm"), width)?,
        })
    }

    fn apply(&self, cpu: Cpu, state: &mut [f32], width: usize, room: &mut Room) {
        let Room { query, key, value, mixed, wide, narrow, scores } = room;
        self.query.apply(cpu, state, query);
        self.key.apply(cpu, state, key);
        self.value.apply(cpu, state, value);
        mixed.clear();
        mixed.resize(state.len(), 0.0);
        let count = state.len() / width;
        for head in (0..width).step_by(HEAD) {
            for (index, row) in mixed.chunks_exact_mut(width).enumerate() {
                let place = index * width + head;
                let attention = Attention {
                    query: &query[place..place + HEAD],
                    keys: &key[head..],
                    values: &value[head..],
                    stride: width,
                    count,
                    scale: (HEAD as f32).sqrt().recip(),
                };
                attention.attend(cpu, scores, &mut row[head..head + HEAD]);
            }
        }
        self.joined.apply(cpu, mixed, narrow);
        add(state, narrow);
        cpu.run(Normalize { norm: &self.attention_norm, rows: state });
        self.wide.apply(cpu, state, wide);
        cpu.run(Gelu(wide));
        self.narrow.apply(cpu, wide, narrow);
        add(state, narrow);
        cpu.run(Normalize { norm: &self.norm, rows: state });
    }
}

/// Memory that all layers of one pass share.
#[derive(Default)]
struct Room {
    query: Vec<f32>,
    key: Vec<f32>,
    value: Vec<f32>,
    mixed: Vec<f32>,
    wide: Vec<f32>,
    narrow: Vec<f32>,
    scores: Vec<f32>,
}

impl Linear {
    fn read<R: Read + Seek>(
        tensors: &mut Tensors<R>,
        name: &str,
        out: usize,
        into: usize,
    ) -> Result<Self, TensorError> {
        let weights = tensors.take(&format!("{name}.weight"), &[out, into])?;
        Ok(Self { weights, bias: tensors.take(&format!("{name}.bias"), &[out])? })
    }

    fn apply(&self, cpu: Cpu, rows: &[f32], out: &mut Vec<f32>) {
        let width = self.weights.len().checked_div(self.bias.len()).unwrap_or(0);
        out.clear();
        out.resize(rows.len().checked_div(width).unwrap_or(0) * self.bias.len(), 0.0);
        cpu.matmul_f32(rows, Rows { values: &self.weights, width }, out);
        for row in out.chunks_exact_mut(self.bias.len().max(1)) {
            add(row, &self.bias);
        }
    }
}

impl Norm {
    fn read<R: Read + Seek>(
        tensors: &mut Tensors<R>,
        name: &str,
        width: usize,
    ) -> Result<Self, TensorError> {
        let scale = tensors.take(&format!("{name}.weight"), &[width])?;
        Ok(Self { scale, shift: tensors.take(&format!("{name}.bias"), &[width])? })
    }
}

struct Normalize<'a> {
    norm: &'a Norm,
    rows: &'a mut [f32],
}

impl Work for Normalize<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Norm { scale, shift } = self.norm;
        let count = scale.len() as f32;
        for row in self.rows.chunks_exact_mut(scale.len().max(1)) {
            let mean = row.iter().sum::<f32>() / count;
            let spread = row.iter().map(|number| (number - mean) * (number - mean)).sum::<f32>();
            let factor = (spread / count + EPSILON).sqrt().recip();
            for ((number, scale), shift) in row.iter_mut().zip(scale).zip(shift) {
                *number = (*number - mean) * factor * scale + shift;
            }
        }
    }
}

/// The activation: each number times how likely a normally distributed one is smaller.
struct Gelu<'a>(&'a mut [f32]);

impl Work for Gelu<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for number in self.0 {
            *number *= 0.5 * (1.0 + erf(*number * std::f32::consts::FRAC_1_SQRT_2));
        }
    }
}

/// The error function, within 2e-7 (Abramowitz and Stegun, 7.1.26).
#[inline(always)]
fn erf(x: f32) -> f32 {
    let t = 1.0 / (1.0 + 0.327_591_1 * x.abs());
    let sum = 1.061_405_4 * t - 1.453_152;
    let sum = sum * t + 1.421_413_7;
    let sum = sum * t - 0.284_496_74;
    let sum = sum * t + 0.254_829_6;
    (1.0 - sum * t * exp(-x * x)).copysign(x)
}

fn add(to: &mut [f32], what: &[f32]) {
    for (number, what) in to.iter_mut().zip(what) {
        *number += what;
    }
}
