//! The inner loops: products of vectors and matrices, attention, activation functions. Pure
//! functions of slices, written once for every processor ([`scalar`]) and once more with AVX2
//! ([`avx2`]). Which one runs is decided at run time by [`Cpu`].
//!
//! Two rules hold for everything that generation uses, and tests hold it to them:
//! - Both twins give the same bits, so a seed gives the same text on every processor.
//! - What comes out for one token does not depend on the tokens that are worked on beside it, so
//!   a prompt that continues a known prefix gives the same text as one that is read as a whole.

mod attention;
#[cfg(target_arch = "x86_64")]
mod avx2;
mod blocks;
mod cpu;
mod math;
mod matrix;
mod scalar;
#[cfg(test)]
mod tests;

#[cfg(feature = "models")]
pub(crate) use attention::{Attention, swiglu};
#[cfg(feature = "models")]
pub(crate) use blocks::{BLOCK, Blocks};
pub(crate) use cpu::Cpu;
#[cfg(feature = "models")]
pub(crate) use cpu::{Rows, Work};
#[cfg(feature = "models")]
pub(crate) use math::exp;
#[cfg(feature = "models")]
pub(crate) use matrix::{Matrix, Q4_1_BYTES, Q8_0_BYTES};
