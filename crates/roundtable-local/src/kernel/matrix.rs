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
    per_row: usize,
}

/// Weights of eight bits: a weight is `code * scale`.
pub(crate) struct Q8 {
    codes: Vec<[i8; BLOCK]>,
    scales: Vec<f32>,
    per_row: usize,
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
    /// A matrix of weights of four bits without rows yet, with room for some. Nothing, if rows of
    /// this width are not made of whole blocks.
    pub(crate) fn q4_1(rows: usize, width: usize) -> Option<Self> {
        let per_row = blocks(width)?;
        let room = rows.checked_mul(per_row)?;
        let (scales, mins) = (Vec::with_capacity(room), Vec::with_capacity(room));
        Some(Self::Q4(Q4 { codes: Vec::with_capacity(room), scales, mins, per_row }))
    }

    /// The same for weights of eight bits.
    pub(crate) fn q8_0(rows: usize, width: usize) -> Option<Self> {
        let per_row = blocks(width)?;
        let room = rows.checked_mul(per_row)?;
        let scales = Vec::with_capacity(room);
        Some(Self::Q8(Q8 { codes: Vec::with_capacity(room), scales, per_row }))
    }

    /// Adds weights as a file has them, block after block; bytes that are no whole block are not
    /// looked at.
    pub(crate) fn extend(&mut self, bytes: &[u8]) {
        match self {
            Self::Q4(q4) => {
                for block in bytes.as_chunks::<Q4_1_BYTES>().0 {
                    q4.scales.push(half([block[0], block[1]]));
                    q4.mins.push(half([block[2], block[3]]));
                    q4.codes.push(std::array::from_fn(|index| block[4 + index]));
                }
            }
            Self::Q8(q8) => {
                for block in bytes.as_chunks::<Q8_0_BYTES>().0 {
                    q8.scales.push(half([block[0], block[1]]));
                    q8.codes.push(std::array::from_fn(|i| i8::from_ne_bytes([block[2 + i]])));
                }
            }
        }
    }

    /// How many rows there are.
    pub(crate) fn rows(&self) -> usize {
        match self {
            Self::Q4(q4) => q4.rows(),
            Self::Q8(q8) => q8.rows(),
        }
    }

    /// The length of a row.
    #[cfg(test)]
    pub(crate) fn width(&self) -> usize {
        self.per_row() * BLOCK
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
        let (rows, per_row) = (self.rows(), self.per_row());
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

    /// Blocks of a row.
    fn per_row(&self) -> usize {
        match self {
            Self::Q4(q4) => q4.per_row,
            Self::Q8(q8) => q8.per_row,
        }
    }
}

/// How many blocks make a row of this width, if they are whole ones.
fn blocks(width: usize) -> Option<usize> {
    (width > 0 && width.is_multiple_of(BLOCK)).then_some(width / BLOCK)
}

impl Q4 {
    pub(super) fn rows(&self) -> usize {
        self.codes.len() / self.per_row
    }

    /// One row; the caller knows that it exists.
    pub(super) fn row(&self, index: usize) -> Q4Row<'_> {
        let range = index * self.per_row..(index + 1) * self.per_row;
        Q4Row {
            codes: &self.codes[range.clone()],
            scales: &self.scales[range.clone()],
            mins: &self.mins[range],
        }
    }
}

impl Q8 {
    pub(super) fn rows(&self) -> usize {
        self.codes.len() / self.per_row
    }

    /// One row; the caller knows that it exists.
    pub(super) fn row(&self, index: usize) -> Q8Row<'_> {
        let range = index * self.per_row..(index + 1) * self.per_row;
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
