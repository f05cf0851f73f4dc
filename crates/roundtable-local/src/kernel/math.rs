//! Functions of one number, in a form that the compiler can work on side by side.

/// The number that a half-precision float stands for.
pub(crate) fn half(bytes: [u8; 2]) -> f32 {
    let bits = u32::from(u16::from_le_bytes(bytes));
    let (sign, exponent, mantissa) = (bits >> 15, (bits >> 10) & 31, bits & 1023);
    let magnitude = match exponent {
        // Too small for an implicit leading one: multiples of 2^-24.
        0 => return f32::from_bits(sign << 31) + (mantissa as f32 / 16_777_216.0) * signum(sign),
        31 => 255 << 23,
        _ => (exponent + 112) << 23,
    };
    f32::from_bits((sign << 31) | magnitude | (mantissa << 13))
}

fn signum(sign: u32) -> f32 {
    if sign == 1 { -1.0 } else { 1.0 }
}

/// `e` to the power of `x`, within two units in the last place; 0 and infinity are never reached.
/// The standard library's is a call per number; this one is plain arithmetic: `2^n` through the
/// exponent bits, the rest by a polynomial (the one of the Cephes library).
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    const SHIFT: f32 = 12_582_912.0;
    let x = if x > -87.0 { x } else { -87.0 };
    let x = if x < 88.0 { x } else { 88.0 };
    let n = (x * std::f32::consts::LOG2_E + SHIFT) - SHIFT;
    let r = x - n * 0.693_359_4 + n * 2.121_944_4e-4;
    let p = 1.987_569_1e-4 * r + 1.398_199_9e-3;
    let p = p * r + 8.333_452e-3;
    let p = p * r + 4.166_579_6e-2;
    let p = p * r + 1.666_666_5e-1;
    let p = p * r + 0.5;
    (p * r * r + r + 1.0) * f32::from_bits(((n as i32 + 127) << 23).cast_unsigned())
}
