//! Activations in eight bits: what the model computes with, rounded in blocks of 32 numbers.

use super::cpu::{Cpu, Work};

/// How many numbers share a scale, in weights and in activations.
pub(crate) const BLOCK: usize = 32;

/// Rows of numbers, one per token, each number a small integer times its block's scale.
pub(crate) struct Blocks {
    codes: Vec<[i8; BLOCK]>,
    scales: Vec<f32>,
    /// The sum of each block's numbers, for weights that have an offset.
    sums: Vec<f32>,
    per_row: usize,
}

/// One token's row.
#[derive(Clone, Copy)]
pub(super) struct BlockRow<'a> {
    pub(super) codes: &'a [[i8; BLOCK]],
    pub(super) scales: &'a [f32],
    pub(super) sums: &'a [f32],
}

impl Blocks {
    /// Rounds rows of `width` numbers, which has to be a multiple of 32: what is left over at the
    /// end of a row is not kept.
    pub(crate) fn quantize(cpu: Cpu, rows: &[f32], width: usize) -> Self {
        cpu.run(Quantize { rows, width })
    }

    /// How many rows there are.
    pub(super) fn rows(&self) -> usize {
        self.scales.len().checked_div(self.per_row).unwrap_or(0)
    }

    /// How many blocks a row has.
    pub(super) fn per_row(&self) -> usize {
        self.per_row
    }

    /// One row; the caller knows that it exists.
    pub(super) fn row(&self, index: usize) -> BlockRow<'_> {
        let range = index * self.per_row..(index + 1) * self.per_row;
        BlockRow {
            codes: &self.codes[range.clone()],
            scales: &self.scales[range.clone()],
            sums: &self.sums[range],
        }
    }
}

impl BlockRow<'_> {
    /// The same row, its parts cut to one length that the compiler knows to be the same.
    #[inline(always)]
    pub(super) fn cut(self, blocks: usize) -> Self {
        Self {
            codes: &self.codes[..blocks],
            scales: &self.scales[..blocks],
            sums: &self.sums[..blocks],
        }
    }
}

struct Quantize<'a> {
    rows: &'a [f32],
    width: usize,
}

impl Work for Quantize<'_> {
    type Output = Blocks;

    #[inline(always)]
    fn run(self) -> Blocks {
        let per_row = self.width / BLOCK;
        let count = self.rows.len().checked_div(self.width).unwrap_or(0) * per_row;
        let mut blocks = Blocks {
            codes: Vec::with_capacity(count),
            scales: Vec::with_capacity(count),
            sums: Vec::with_capacity(count),
            per_row,
        };
        if per_row == 0 {
            return blocks;
        }
        for row in self.rows.chunks_exact(self.width) {
            for values in row.as_chunks::<BLOCK>().0 {
                let (codes, scale, sum) = round(values);
                blocks.codes.push(codes);
                blocks.scales.push(scale);
                blocks.sums.push(scale * sum as f32);
            }
        }
        blocks
    }
}

/// The codes of a block, between -127 and 127, their scale and their sum.
#[inline(always)]
fn round(values: &[f32; BLOCK]) -> ([i8; BLOCK], f32, i32) {
    // Eight maxima side by side: one alone would be a chain of 32 steps.
    let mut largest = [0f32; 8];
    for part in values.as_chunks::<8>().0 {
        for (largest, value) in largest.iter_mut().zip(part) {
            *largest = if value.abs() > *largest { value.abs() } else { *largest };
        }
    }
    let largest = largest.into_iter().fold(0f32, f32::max);
    let (scale, inverse) =
        if largest == 0.0 { (0.0, 0.0) } else { (largest / 127.0, 127.0 / largest) };
    let codes = values.map(|value| to_integer(value * inverse) as i8);
    let sum = codes.iter().map(|code| i32::from(*code)).sum();
    (codes, scale, sum)
}

/// The nearest integer of a number between -127 and 127, ties to even. Adding this constant pushes
/// the fraction out of the mantissa; `round_ties_even` is a call where SSE 4.1 is not assumed.
#[inline(always)]
fn to_integer(value: f32) -> i32 {
    const SHIFT: f32 = 12_582_912.0;
    ((value + SHIFT) - SHIFT) as i32
}
