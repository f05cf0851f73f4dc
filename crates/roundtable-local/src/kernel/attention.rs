//! Attention of one query over keys and values, and the gate of the feed-forward layer.

use super::cpu::{Cpu, Work};
use super::math::exp;
use super::scalar::{across, rest};

/// How many products are summed side by side.
const LANES: usize = 16;

/// One head of one token: its query, and the keys and values that it may look at. Key `i` starts
/// at `i * stride` of `keys`, and value `i` of `values`, both as long as the query.
#[derive(Clone, Copy)]
pub(crate) struct Attention<'a> {
    pub(crate) query: &'a [f32],
    pub(crate) keys: &'a [f32],
    pub(crate) values: &'a [f32],
    pub(crate) stride: usize,
    /// How many keys there are.
    pub(crate) count: usize,
    pub(crate) scale: f32,
}

impl Attention<'_> {
    /// The mean of the values, weighted by how well their keys fit. `scores` is room to work in.
    pub(crate) fn attend(self, cpu: Cpu, scores: &mut Vec<f32>, out: &mut [f32]) {
        cpu.run(Attend { attention: self, scores, out });
    }

    /// Where row `index` is; empty where there is none.
    #[inline(always)]
    fn row(rows: &[f32], index: usize, stride: usize, width: usize) -> &[f32] {
        let start = index * stride;
        rows.get(start..start + width).unwrap_or(&[])
    }
}

struct Attend<'a> {
    attention: Attention<'a>,
    scores: &'a mut Vec<f32>,
    out: &'a mut [f32],
}

impl Work for Attend<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { attention, scores, out } = self;
        let Attention { query, keys, values, stride, count, scale } = attention;
        scores.clear();
        scores.extend(
            (0..count)
                .map(|index| scale * dot(query, Attention::row(keys, index, stride, query.len()))),
        );
        let total = softmax(scores);
        out.fill(0.0);
        for (index, score) in scores.iter().enumerate() {
            let share = score / total;
            let value = Attention::row(values, index, stride, out.len());
            for (out, value) in out.iter_mut().zip(value) {
                *out += share * value;
            }
        }
    }
}

/// Sums in a fixed order, without fused operations: the same bits on every processor.
#[inline(always)]
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0f32; LANES];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (a, b) in a.iter().zip(b) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    // In halves, which vector instructions can do.
    let halves: [f32; LANES / 2] =
        std::array::from_fn(|index| sums[index] + sums[index + LANES / 2]);
    across(halves) + rest(a_rest, b_rest)
}

/// Turns scores into weights, not yet divided by their sum, which is returned.
#[inline(always)]
fn softmax(scores: &mut [f32]) -> f32 {
    let largest = scores.iter().copied().fold(f32::MIN, f32::max);
    for score in scores.iter_mut() {
        *score = exp(*score - largest);
    }
    scores.iter().fold(0.0, |sum, score| sum + score)
}

/// `gate * sigmoid(gate) * up`, number by number, into `gate`.
pub(crate) fn swiglu(cpu: Cpu, gate: &mut [f32], up: &[f32]) {
    cpu.run(Swiglu { gate, up });
}

struct Swiglu<'a> {
    gate: &'a mut [f32],
    up: &'a [f32],
}

impl Work for Swiglu<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (gate, up) in self.gate.iter_mut().zip(self.up) {
            *gate = *gate / (1.0 + exp(-*gate)) * up;
        }
    }
}
