//! The kernels with AVX2. Only loads are unsafe here, and they load from arrays of the right
//! length; everything else is checked by the compiler. Slices are cut to one length before a loop,
//! which is also what lets it drop the checks inside.
#![expect(unsafe_code, reason = "loads of vector registers take pointers")]

use std::arch::x86_64::{
    __m256, __m256i, _mm_loadu_si128, _mm_srli_epi16, _mm256_abs_epi8, _mm256_add_epi32,
    _mm256_add_ps, _mm256_and_si256, _mm256_cvtepi8_epi16, _mm256_cvtepi32_ps, _mm256_fmadd_ps,
    _mm256_loadu_ps, _mm256_loadu_si256, _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_set_m128i,
    _mm256_set1_epi8, _mm256_set1_epi16, _mm256_set1_ps, _mm256_setzero_ps, _mm256_setzero_si256,
    _mm256_sign_epi8, _mm256_storeu_ps, _mm256_storeu_si256,
};

use super::blocks::{BLOCK, BlockRow, Blocks};
use super::cpu::{Rows, Work};
use super::matrix::{Q4, Q4Row, Q8, Q8Row};
use super::scalar::{LANES, across, rest, same_length};

#[target_feature(enable = "avx2,fma")]
pub(super) fn run<W: Work>(work: W) -> W::Output {
    work.run()
}

#[target_feature(enable = "avx2,fma")]
pub(super) fn dot_i8(a: &[i8], b: &[i8]) -> i32 {
    let length = a.len().min(b.len());
    let ((a, a_rest), (b, b_rest)) = (a[..length].as_chunks(), b[..length].as_chunks());
    let mut sums = _mm256_setzero_si256();
    for (a, b) in a.iter().zip(b) {
        // Widened first: products of two bytes always fit, whatever their values.
        sums = _mm256_add_epi32(sums, _mm256_madd_epi16(widened(a), widened(b)));
    }
    let lanes = integers(sums).into_iter().fold(0, i32::wrapping_add);
    lanes.wrapping_add(super::scalar::dot_i8(a_rest, b_rest))
}

#[target_feature(enable = "avx2,fma")]
pub(super) fn dots_i8(vector: &[i8], rows: &[i8], out: &mut [i32]) {
    if vector.is_empty() {
        return out.fill(0);
    }
    for (out, row) in out.iter_mut().zip(rows.chunks_exact(vector.len())) {
        *out = dot_i8(vector, row);
    }
}

#[target_feature(enable = "avx2,fma")]
pub(super) fn dot_f32(a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest)) = same_length(a, b);
    // Four sums, because an addition takes four steps and two can begin in each.
    let ((a, a_last), (b, b_last)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    let mut sums = [_mm256_setzero_ps(); 4];
    for (a, b) in a.iter().zip(b) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum = _mm256_fmadd_ps(floats(a), floats(b), *sum);
        }
    }
    for (a, b) in a_last.iter().zip(b_last) {
        sums[0] = _mm256_fmadd_ps(floats(a), floats(b), sums[0]);
    }
    let [s0, s1, s2, s3] = sums;
    total(_mm256_add_ps(_mm256_add_ps(s0, s1), _mm256_add_ps(s2, s3))) + rest(a_rest, b_rest)
}

/// In tiles of four weight rows and three input rows: what is loaded is used three or four times.
#[target_feature(enable = "avx2,fma")]
pub(super) fn matmul_f32(inputs: &[f32], weights: Rows<'_>, out: &mut [f32]) {
    let count = weights.count();
    if count == 0 {
        return;
    }
    let inputs = Rows { values: inputs, width: weights.width };
    let fitting = inputs.count().min(out.len() / count);
    let mut row = 0;
    while row < count {
        let wide = if row + 4 <= count { 4 } else { 1 };
        let mut input = 0;
        while input < fitting {
            let deep = if input + 3 <= fitting { 3 } else { 1 };
            let place = (row, input);
            match (wide, deep) {
                (4, 3) => tile_f32::<4, 3>(inputs, weights, place, out),
                (4, _) => tile_f32::<4, 1>(inputs, weights, place, out),
                (_, 3) => tile_f32::<1, 3>(inputs, weights, place, out),
                _ => tile_f32::<1, 1>(inputs, weights, place, out),
            }
            input += deep;
        }
        row += wide;
    }
}

#[target_feature(enable = "avx2,fma")]
fn tile_f32<const R: usize, const T: usize>(
    inputs: Rows<'_>,
    weights: Rows<'_>,
    (row, input): (usize, usize),
    out: &mut [f32],
) {
    let count = weights.count();
    let w: [&[f32]; R] = std::array::from_fn(|index| weights.row(row + index));
    let x: [&[f32]; T] = std::array::from_fn(|index| inputs.row(input + index));
    let whole = weights.width / LANES;
    let wide_w = w.map(|row| &row.as_chunks::<LANES>().0[..whole]);
    let wide_x = x.map(|row| &row.as_chunks::<LANES>().0[..whole]);
    let mut sums = [[_mm256_setzero_ps(); T]; R];
    for step in 0..whole {
        let x = wide_x.map(|row| floats(&row[step]));
        for (sums, row) in sums.iter_mut().zip(wide_w) {
            let w = floats(&row[step]);
            for (sum, x) in sums.iter_mut().zip(x) {
                *sum = _mm256_fmadd_ps(w, x, *sum);
            }
        }
    }
    for (r, sums) in sums.into_iter().enumerate() {
        for (t, sum) in sums.into_iter().enumerate() {
            let rest = rest(&w[r][whole * LANES..], &x[t][whole * LANES..]);
            out[(input + t) * count + row + r] = total(sum) + rest;
        }
    }
}

/// Goes over all pairs of a weight row and a token in tiles: eight tokens share the loads of a row
/// where there are eight, else four rows share the loads of a token. A tile has eight running sums
/// at most, so that they stay in registers.
macro_rules! sweep {
    ($tile:ident, $weights:expr, $tokens:expr, $out:expr) => {{
        let (weights, tokens, out) = ($weights, $tokens, $out);
        let (rows, count) = (weights.rows(), out.len() / weights.rows());
        let together = count - count % 8;
        for row in 0..rows {
            for token in (0..together).step_by(8) {
                $tile::<1, 8>(weights, tokens, (row, token), out);
            }
        }
        let wide = rows - rows % 4;
        for token in together..count {
            for row in (0..wide).step_by(4) {
                $tile::<4, 1>(weights, tokens, (row, token), out);
            }
            for row in wide..rows {
                $tile::<1, 1>(weights, tokens, (row, token), out);
            }
        }
    }};
}

#[target_feature(enable = "avx2,fma")]
pub(super) fn mul_q4(weights: &Q4, tokens: &Blocks, out: &mut [f32]) {
    sweep!(tile_q4, weights, tokens, out);
}

#[target_feature(enable = "avx2,fma")]
pub(super) fn mul_q8(weights: &Q8, tokens: &Blocks, out: &mut [f32]) {
    sweep!(tile_q8, weights, tokens, out);
}

#[target_feature(enable = "avx2,fma")]
fn tile_q4<const R: usize, const T: usize>(
    weights: &Q4,
    tokens: &Blocks,
    (row, token): (usize, usize),
    out: &mut [f32],
) {
    let per_row = tokens.per_row();
    let w: [Q4Row<'_>; R] = std::array::from_fn(|index| weights.row(row + index).cut(per_row));
    let x: [BlockRow<'_>; T] = std::array::from_fn(|index| tokens.row(token + index).cut(per_row));
    let mut sums = [[_mm256_setzero_ps(); T]; R];
    for block in 0..per_row {
        // Weights first: of one row and eight tokens, the sums and the codes fit the registers, and
        // each token's values are loaded where they are used.
        let codes = w.map(|w| nibbles(&w.codes[block]));
        for (token, x) in x.iter().enumerate() {
            let values = bytes(&x.codes[block]);
            for ((sums, w), codes) in sums.iter_mut().zip(w).zip(codes) {
                // At most 2 * 15 * 127: far from what saturates.
                let pairs = _mm256_maddubs_epi16(codes, values);
                sums[token] = plus_scaled(sums[token], pairs, w.scales[block] * x.scales[block]);
            }
        }
    }
    for (r, (sums, w)) in sums.into_iter().zip(w).enumerate() {
        for (t, (mut sum, x)) in sums.into_iter().zip(x).enumerate() {
            let ((mins, mins_rest), (parts, parts_rest)) = same_length(w.mins, x.sums);
            for (mins, parts) in mins.iter().zip(parts) {
                sum = _mm256_fmadd_ps(floats(mins), floats(parts), sum);
            }
            let place = (token + t) * weights.rows() + row + r;
            out[place] = total(sum) + rest(mins_rest, parts_rest);
        }
    }
}

#[target_feature(enable = "avx2,fma")]
fn tile_q8<const R: usize, const T: usize>(
    weights: &Q8,
    tokens: &Blocks,
    (row, token): (usize, usize),
    out: &mut [f32],
) {
    let per_row = tokens.per_row();
    let w: [Q8Row<'_>; R] = std::array::from_fn(|index| weights.row(row + index).cut(per_row));
    let x: [BlockRow<'_>; T] = std::array::from_fn(|index| tokens.row(token + index).cut(per_row));
    let mut sums = [[_mm256_setzero_ps(); T]; R];
    for block in 0..per_row {
        let codes = w.map(|w| bytes(&w.codes[block]));
        let magnitudes = codes.map(|codes| _mm256_abs_epi8(codes));
        for (token, x) in x.iter().enumerate() {
            let values = bytes(&x.codes[block]);
            for (row, w) in w.iter().enumerate() {
                // The product needs one side without a sign: the weight's goes over to the value.
                // At most 2 * 128 * 127, which just does not saturate; values are never -128.
                let values = _mm256_sign_epi8(values, codes[row]);
                let pairs = _mm256_maddubs_epi16(magnitudes[row], values);
                let scale = w.scales[block] * x.scales[block];
                sums[row][token] = plus_scaled(sums[row][token], pairs, scale);
            }
        }
    }
    for (r, sums) in sums.into_iter().enumerate() {
        for (t, sum) in sums.into_iter().enumerate() {
            out[(token + t) * weights.rows() + row + r] = total(sum);
        }
    }
}

/// Adds sixteen products of pairs, four to a lane, rounding once, as the plain twin does.
#[target_feature(enable = "avx2,fma")]
fn plus_scaled(sum: __m256, pairs: __m256i, scale: f32) -> __m256 {
    let parts = _mm256_cvtepi32_ps(_mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
    _mm256_fmadd_ps(parts, _mm256_set1_ps(scale), sum)
}

/// The sixteen low halves, then the sixteen high halves of these bytes.
#[target_feature(enable = "avx2,fma")]
fn nibbles(codes: &[u8; 16]) -> __m256i {
    // SAFETY: sixteen bytes are read from an array of sixteen; the load needs no alignment.
    let packed = unsafe { _mm_loadu_si128(codes.as_ptr().cast()) };
    let halves = _mm256_set_m128i(_mm_srli_epi16(packed, 4), packed);
    _mm256_and_si256(halves, _mm256_set1_epi8(15))
}

#[target_feature(enable = "avx2,fma")]
fn bytes(codes: &[i8; BLOCK]) -> __m256i {
    // SAFETY: 32 bytes are read from an array of 32; the load needs no alignment.
    unsafe { _mm256_loadu_si256(codes.as_ptr().cast()) }
}

#[target_feature(enable = "avx2,fma")]
fn widened(codes: &[i8; 16]) -> __m256i {
    // SAFETY: sixteen bytes are read from an array of sixteen; the load needs no alignment.
    _mm256_cvtepi8_epi16(unsafe { _mm_loadu_si128(codes.as_ptr().cast()) })
}

#[target_feature(enable = "avx2,fma")]
fn floats(values: &[f32; LANES]) -> __m256 {
    // SAFETY: eight numbers are read from an array of eight; the load needs no alignment.
    unsafe { _mm256_loadu_ps(values.as_ptr()) }
}

#[target_feature(enable = "avx2,fma")]
fn integers(register: __m256i) -> [i32; LANES] {
    let mut lanes = [0; LANES];
    // SAFETY: eight numbers are written to an array of eight; the store needs no alignment.
    unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), register) };
    lanes
}

#[target_feature(enable = "avx2,fma")]
fn total(register: __m256) -> f32 {
    let mut lanes = [0.0; LANES];
    // SAFETY: eight numbers are written to an array of eight; the store needs no alignment.
    unsafe { _mm256_storeu_ps(lanes.as_mut_ptr(), register) };
    across(lanes)
}
