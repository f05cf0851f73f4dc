//! Matrices of quantised weights, in the two formats that the model's file has.

use super::blocks::{BLOCK, Blocks};
use super::cpu::Cpu;
use super::math::half;

/// The bytes of a block of 32 weights of four bits: scale, offset (halves), codes.
pub(crate) const Q4_1_BYTES: usize = 20;
/// The bytes of a block of 32 weights of eight bits: scale (a half), codes.
pub(crate) const Q8_0_BYTES: usize = 34;

/// A matrix of weights. Codes and scales are taken apart once, when it is read, so that no loop
/// has to decode halves.
pub(crate) enum Matrix {
    Q4(Q4),
    Q8(Q8),
}

/// Weights of four bits: a weight is `code * scale + min`. A byte holds code `i` in its low half
/// and code `i + 16` in its high half.
pub(crate) struct Q4 {
    codes: Vec<[u8; 16]>,
    scales: Vec<f32>,
    mins: Vec<f32>,
    shape: Shape,
}

/// Weights of eight bits: a weight is `code * scale`.
pub(crate) struct Q8 {
    codes: Vec<[i8; BLOCK]>,
    scales: Vec<f32>,
    shape: Shape,
}

#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub(super) rows: usize,
    /// Blocks of a row.
    pub(super) per_row: usize,
}

/// A row of weights of four bits.
#[derive(Clone, Copy)]
pub(super) struct Q4Row<'a> {
    pub(super) codes: &'a [[u8; 16]],
    pub(super) scales: &'a [f32],
    pub(super) mins: &'a [f32],
}

/// A row of weights of eight bits.
#[derive(Clone, Copy)]
pub(super) struct Q8Row<'a> {
    pub(super) codes: &'a [[i8; BLOCK]],
    pub(super) scales: &'a [f32],
}

impl Matrix {
    /// Reads rows of `width` weights of four bits. Nothing, if these bytes are not whole rows.
    pub(crate) fn q4_1(bytes: &[u8], width: usize) -> Option<Self> {
        let (blocks, left) = bytes.as_chunks::<Q4_1_BYTES>();
        let shape = Shape::of(blocks.len(), left.len(), width)?;
        let scales = blocks.iter().map(|block| half([block[0], block[1]])).collect();
        let mins = blocks.iter().map(|block| half([block[2], block[3]])).collect();
        let codes = blocks.iter().map(|block| std::array::from_fn(|index| block[4 + index]));
        Some(Self::Q4(Q4 { codes: codes.collect(), scales, mins, shape }))
    }

    /// Reads rows of `width` weights of eight bits. Nothing, if these bytes are not whole rows.
    pub(crate) fn q8_0(bytes: &[u8], width: usize) -> Option<Self> {
        let (blocks, left) = bytes.as_chunks::<Q8_0_BYTES>();
        let shape = Shape::of(blocks.len(), left.len(), width)?;
        let scales = blocks.iter().map(|block| half([block[0], block[1]])).collect();
        let signed = |block: &[u8; Q8_0_BYTES]| {
            std::array::from_fn(|index| i8::from_ne_bytes([block[2 + index]]))
        };
        Some(Self::Q8(Q8 { codes: blocks.iter().map(signed).collect(), scales, shape }))
    }

    /// How many rows there are.
    pub(crate) fn rows(&self) -> usize {
        self.shape().rows
    }

    /// The length of a row.
    #[cfg(test)]
    pub(crate) fn width(&self) -> usize {
        self.shape().per_row * BLOCK
    }

    /// The bytes that it takes in memory.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Q4(q4) => q4.codes.len() * (16 + 4 + 4),
            Self::Q8(q8) => q8.codes.len() * (BLOCK + 4),
        }
    }

    /// The numbers of one row, into `out`; zeros if there is no such row.
    pub(crate) fn decode(&self, row: usize, out: &mut [f32]) {
        if row >= self.rows() {
            return out.fill(0.0);
        }
        match self {
            Self::Q4(q4) => q4.row(row).decode(out),
            Self::Q8(q8) => q8.row(row).decode(out),
        }
    }

    /// Every token with every row: `out[token * rows + row]` is their product. Tokens of another
    /// width give zeros; tokens for which `out` has no place are left out.
    pub(crate) fn mul(&self, cpu: Cpu, tokens: &Blocks, out: &mut [f32]) {
        let Shape { rows, per_row } = self.shape();
        if per_row != tokens.per_row() || rows == 0 {
            return out.fill(0.0);
        }
        let count = tokens.rows().min(out.len() / rows);
        let out = &mut out[..count * rows];
        match self {
            Self::Q4(q4) => cpu.mul_q4(q4, tokens, out),
            Self::Q8(q8) => cpu.mul_q8(q8, tokens, out),
        }
    }

    fn shape(&self) -> Shape {
        match self {
            Self::Q4(q4) => q4.shape,
            Self::Q8(q8) => q8.shape,
        }
    }
}

impl Shape {
    /// The shape of so many blocks in rows of `width` numbers; nothing, if they do not fill them.
    fn of(blocks: usize, bytes_left: usize, width: usize) -> Option<Self> {
        let per_row = width / BLOCK;
        let whole = bytes_left == 0 && width.is_multiple_of(BLOCK) && per_row > 0;
        (whole && blocks.is_multiple_of(per_row)).then(|| Self { rows: blocks / per_row, per_row })
    }

    fn row(self, index: usize) -> std::ops::Range<usize> {
        index * self.per_row..(index + 1) * self.per_row
    }
}

impl Q4 {
    pub(super) fn rows(&self) -> usize {
        self.shape.rows
    }

    /// One row; the caller knows that it exists.
    pub(super) fn row(&self, index: usize) -> Q4Row<'_> {
        let range = self.shape.row(index);
        Q4Row {
            codes: &self.codes[range.clone()],
            scales: &self.scales[range.clone()],
            mins: &self.mins[range],
        }
    }
}

impl Q8 {
    pub(super) fn rows(&self) -> usize {
        self.shape.rows
    }

    /// One row; the caller knows that it exists.
    pub(super) fn row(&self, index: usize) -> Q8Row<'_> {
        let range = self.shape.row(index);
        Q8Row { codes: &self.codes[range.clone()], scales: &self.scales[range] }
    }
}

impl Q4Row<'_> {
    /// The same row, its parts cut to one length that the compiler knows to be the same.
    #[inline(always)]
    pub(super) fn cut(self, blocks: usize) -> Self {
        Self {
            codes: &self.codes[..blocks],
            scales: &self.scales[..blocks],
            mins: &self.mins[..blocks],
        }
    }

    fn decode(self, out: &mut [f32]) {
        let blocks = self.codes.iter().zip(self.scales).zip(self.mins);
        for (out, ((codes, scale), min)) in out.as_chunks_mut::<BLOCK>().0.iter_mut().zip(blocks) {
            let (low, high) = out.split_at_mut(16);
            for ((code, low), high) in codes.iter().zip(low).zip(high) {
                *low = f32::from(code & 15) * scale + min;
                *high = f32::from(code >> 4) * scale + min;
            }
        }
    }
}

impl Q8Row<'_> {
    /// The same row, its parts cut to one length that the compiler knows to be the same.
    #[inline(always)]
    pub(super) fn cut(self, blocks: usize) -> Self {
        Self { codes: &self.codes[..blocks], scales: &self.scales[..blocks] }
    }

    fn decode(self, out: &mut [f32]) {
        let blocks = self.codes.iter().zip(self.scales);
        for (out, (codes, scale)) in out.as_chunks_mut::<BLOCK>().0.iter_mut().zip(blocks) {
            for (code, out) in codes.iter().zip(out) {
                *out = f32::from(*code) * scale;
            }
        }
    }
}
