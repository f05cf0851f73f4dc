//! The kernels for any processor. They are also what the vector twins are tested against, so each
//! one adds up in the order in which the vector instructions do, where that is promised.

use super::blocks::{BlockRow, Blocks};
use super::cpu::{Rows, Work};
use super::matrix::{Q4, Q4Row, Q8, Q8Row};

/// How many running sums a vector register holds.
pub(super) const LANES: usize = 8;

pub(super) fn run<W: Work>(work: W) -> W::Output {
    work.run()
}

pub(super) fn dot_i8(a: &[i8], b: &[i8]) -> i32 {
    let products = a.iter().zip(b).map(|(a, b)| i32::from(*a) * i32::from(*b));
    products.fold(0, i32::wrapping_add)
}

pub(super) fn dots_i8(vector: &[i8], rows: &[i8], out: &mut [i32]) {
    if vector.is_empty() {
        return out.fill(0);
    }
    for (out, row) in out.iter_mut().zip(rows.chunks_exact(vector.len())) {
        *out = dot_i8(vector, row);
    }
}

pub(super) fn dot_f32(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0; LANES];
    let ((a, a_rest), (b, b_rest)) = same_length(a, b);
    for (a, b) in a.iter().zip(b) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    across(sums) + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f32>()
}

pub(super) fn matmul_f32(inputs: &[f32], weights: Rows<'_>, out: &mut [f32]) {
    let count = weights.count();
    if count == 0 {
        return;
    }
    let inputs = inputs.chunks_exact(weights.width);
    for (out, input) in out.chunks_mut(count).zip(inputs) {
        for (index, out) in out.iter_mut().enumerate() {
            *out = dot_f32(weights.row(index), input);
        }
    }
}

pub(super) fn mul_q4(weights: &Q4, tokens: &Blocks, out: &mut [f32]) {
    for (token, out) in out.chunks_exact_mut(weights.rows()).enumerate() {
        for (row, out) in out.iter_mut().enumerate() {
            *out = dot_q4(weights.row(row), tokens.row(token));
        }
    }
}

pub(super) fn mul_q8(weights: &Q8, tokens: &Blocks, out: &mut [f32]) {
    for (token, out) in out.chunks_exact_mut(weights.rows()).enumerate() {
        for (row, out) in out.iter_mut().enumerate() {
            *out = dot_q8(weights.row(row), tokens.row(token));
        }
    }
}

/// Quantised weights against a quantised token: the same sums in the same order as the vector twin.
pub(super) fn dot_q4(weights: Q4Row<'_>, token: BlockRow<'_>) -> f32 {
    let mut sums = [0.0; LANES];
    let blocks = weights.codes.iter().zip(weights.scales).zip(token.codes).zip(token.scales);
    for (((codes, scale), values), token_scale) in blocks {
        let (low, high) = values.split_at(16);
        let mut parts = [0; LANES];
        for (index, code) in codes.iter().enumerate() {
            let (low_code, high_code) = (i32::from(code & 15), i32::from(code >> 4));
            parts[index / 4] += low_code * i32::from(low[index]);
            parts[4 + index / 4] += high_code * i32::from(high[index]);
        }
        add_scaled(&mut sums, parts, scale * token_scale);
    }
    let (mins, token_sums) = (weights.mins, token.sums);
    let ((mins, mins_rest), (token_sums, token_sums_rest)) = same_length(mins, token_sums);
    for (mins, token_sums) in mins.iter().zip(token_sums) {
        for ((sum, min), token_sum) in sums.iter_mut().zip(mins).zip(token_sums) {
            *sum = min.mul_add(*token_sum, *sum);
        }
    }
    across(sums) + rest(mins_rest, token_sums_rest)
}

/// The same for weights of eight bits.
pub(super) fn dot_q8(weights: Q8Row<'_>, token: BlockRow<'_>) -> f32 {
    let mut sums = [0.0; LANES];
    let blocks = weights.codes.iter().zip(weights.scales).zip(token.codes).zip(token.scales);
    for (((codes, scale), values), token_scale) in blocks {
        let mut parts = [0; LANES];
        for (index, (code, value)) in codes.iter().zip(values).enumerate() {
            parts[index / 4] += i32::from(*code) * i32::from(*value);
        }
        add_scaled(&mut sums, parts, scale * token_scale);
    }
    across(sums)
}

/// Rounds once, as the fused instruction of the vector twin does; where there is no such
/// instruction it is computed, slowly but to the same bits.
fn add_scaled(sums: &mut [f32; LANES], parts: [i32; LANES], scale: f32) {
    for (sum, part) in sums.iter_mut().zip(parts) {
        *sum = (part as f32).mul_add(scale, *sum);
    }
}

/// What is left when a row does not fill the last register.
#[inline(always)]
pub(super) fn rest(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).fold(0.0, |sum, (a, b)| sum + a * b)
}

/// The sum of a register's lanes, in halves, as vector instructions add them.
#[inline(always)]
pub(super) fn across(sums: [f32; LANES]) -> f32 {
    let [a, b, c, d, e, f, g, h] = sums;
    let (a, b, c, d) = (a + e, b + f, c + g, d + h);
    (a + c) + (b + d)
}

/// A vector as whole registers and what is left of it.
type Chunked<'a, T> = (&'a [[T; LANES]], &'a [T]);

/// Two vectors, cut to the length of the shorter one, in registers.
pub(super) fn same_length<'a, T>(a: &'a [T], b: &'a [T]) -> (Chunked<'a, T>, Chunked<'a, T>) {
    let length = a.len().min(b.len());
    (a[..length].as_chunks(), b[..length].as_chunks())
}
