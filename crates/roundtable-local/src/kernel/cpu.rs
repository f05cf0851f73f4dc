//! Which instructions this processor has, and the kernels that come in two forms because of it.
#![expect(unsafe_code, reason = "functions that need AVX2 may be called only where it exists")]

#[cfg(target_arch = "x86_64")]
use super::avx2;
use super::blocks::Blocks;
use super::matrix::{Q4, Q8};
use super::scalar;

/// What the processor can do. A value with AVX2 comes from [`Cpu::detect`] alone, so holding one is
/// the proof that the instructions exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cpu {
    avx2: bool,
}

/// A computation in plain Rust that the compiler translates twice: once for any processor, once
/// with AVX2. Both give the same bits, because the compiler never joins or reorders floating-point
/// operations by itself. Mark `run` with `#[inline(always)]`, or the second translation is none.
pub(crate) trait Work {
    type Output;

    fn run(self) -> Self::Output;
}

/// Calls the twin that this processor can run.
macro_rules! twin {
    ($cpu:expr, $name:ident($($argument:expr),*)) => {{
        #[cfg(target_arch = "x86_64")]
        if $cpu.avx2 {
            // SAFETY: the flag is set only by `detect`, after the processor said that it has both
            // AVX2 and FMA.
            return unsafe { avx2::$name($($argument),*) };
        }
        scalar::$name($($argument),*)
    }};
}

impl Cpu {
    /// The processor that this runs on.
    pub(crate) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        #[cfg(not(target_arch = "x86_64"))]
        let avx2 = false;
        Self { avx2 }
    }

    /// A processor without vector instructions: the twin that tests compare with.
    #[cfg(test)]
    pub(crate) fn scalar() -> Self {
        Self { avx2: false }
    }

    /// Runs plain Rust that was translated for this processor.
    pub(crate) fn run<W: Work>(self, work: W) -> W::Output {
        twin!(self, run(work))
    }

    /// The sum of the products of two vectors of small integers, exactly; the shorter vector
    /// counts. It wraps around when it does not fit, which takes more than 130,000 elements.
    #[cfg(test)]
    pub(crate) fn dot_i8(self, a: &[i8], b: &[i8]) -> i32 {
        twin!(self, dot_i8(a, b))
    }

    /// The product of one vector of small integers with each row of a matrix, exactly, into `out`.
    /// It wraps around when it does not fit, which takes more than 130,000 elements.
    pub(crate) fn dots_i8(self, vector: &[i8], rows: &[i8], out: &mut [i32]) {
        twin!(self, dots_i8(vector, rows, out))
    }

    /// The sum of the products of two vectors; the shorter one counts. The twins differ by the
    /// rounding of their sums.
    pub(crate) fn dot_f32(self, a: &[f32], b: &[f32]) -> f32 {
        twin!(self, dot_f32(a, b))
    }

    /// Every input row with every weight row: `out[i * weights + w]` is their dot product. Rows
    /// for which `out` has no place are left out.
    pub(crate) fn matmul_f32(self, inputs: &[f32], weights: Rows<'_>, out: &mut [f32]) {
        twin!(self, matmul_f32(inputs, weights, out))
    }

    /// Every token with every row of four-bit weights; see [`Matrix::mul`](super::Matrix::mul),
    /// which checks the shapes.
    pub(super) fn mul_q4(self, weights: &Q4, tokens: &Blocks, out: &mut [f32]) {
        twin!(self, mul_q4(weights, tokens, out))
    }

    /// The same for weights of eight bits.
    pub(super) fn mul_q8(self, weights: &Q8, tokens: &Blocks, out: &mut [f32]) {
        twin!(self, mul_q8(weights, tokens, out))
    }
}

/// A matrix of floating-point numbers, row after row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows<'a> {
    pub(crate) values: &'a [f32],
    /// The length of a row.
    pub(crate) width: usize,
}

impl<'a> Rows<'a> {
    /// How many whole rows there are.
    pub(crate) fn count(self) -> usize {
        self.values.len().checked_div(self.width).unwrap_or(0)
    }

    /// One row; empty when there is none of that number.
    pub(crate) fn row(self, index: usize) -> &'a [f32] {
        let start = index.saturating_mul(self.width);
        self.values.get(start..start.saturating_add(self.width)).unwrap_or(&[])
    }
}
