//! A rational number of bounded size: exact, and never larger than a result that someone can read.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One as _, Signed as _, ToPrimitive as _, Zero as _};

use super::Mistake;

/// Numerator and denominator have at most so many bits: about 1,200 digits each.
const MAX_BITS: u64 = 4096;
/// So many digits are shown behind the point when a fraction has no end.
const SHOWN_DIGITS: u32 = 20;

/// A rational number of bounded size.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Number(BigRational);

impl Number {
    /// The number that is written as these digits, an optional part behind the point, and a power of ten.
    pub fn written(whole: &str, behind: &str, exponent: i32) -> Result<Self, Mistake> {
        let digits: BigInt = format!("0{whole}{behind}").parse().map_err(|_| Mistake::TooLarge)?;
        let behind = i32::try_from(behind.len()).map_err(|_| Mistake::TooLarge)?;
        let ten = Self(BigRational::from_integer(10.into()));
        let power = Self(BigRational::from_integer(exponent.saturating_sub(behind).into()));
        Self(BigRational::from_integer(digits)).times(&ten.power(&power)?)
    }

    pub fn plus(&self, other: &Self) -> Result<Self, Mistake> {
        Self(&self.0 + &other.0).bounded()
    }

    pub fn minus(&self, other: &Self) -> Result<Self, Mistake> {
        Self(&self.0 - &other.0).bounded()
    }

    pub fn times(&self, other: &Self) -> Result<Self, Mistake> {
        Self(&self.0 * &other.0).bounded()
    }

    pub fn over(&self, other: &Self) -> Result<Self, Mistake> {
        if other.0.is_zero() {
            return Err(Mistake::DivisionByZero);
        }
        Self(&self.0 / &other.0).bounded()
    }

    /// What is left of a division; it has the sign of the divisor, so that `-1 % 7` is 6.
    pub fn modulo(&self, other: &Self) -> Result<Self, Mistake> {
        let times = self.over(other)?.floor();
        self.minus(&times.times(other)?)
    }

    pub fn power(&self, exponent: &Self) -> Result<Self, Mistake> {
        if !exponent.0.is_integer() {
            return Err(Mistake::FractionalPower);
        }
        let power = exponent.0.to_integer().to_i32().ok_or(Mistake::TooLarge)?;
        // The result has about as many bits as the base times the power: refused before it is made.
        let bits = self.bits().saturating_sub(1).saturating_mul(power.unsigned_abs().into());
        if bits > MAX_BITS {
            return Err(Mistake::TooLarge);
        }
        if self.0.is_zero() && power < 0 {
            return Err(Mistake::DivisionByZero);
        }
        Self(self.0.pow(power)).bounded()
    }

    /// The root, where it is a rational number.
    pub fn root(&self) -> Result<Self, Mistake> {
        if self.0.is_negative() {
            return Err(Mistake::RootOfNegative);
        }
        let root = Self(BigRational::new(self.0.numer().sqrt(), self.0.denom().sqrt()));
        if root.times(&root)? == *self {
            return Ok(root);
        }
        let scale = BigInt::from(10).pow(20_u32);
        let about = ((self.0.clone() * &scale).to_integer()).sqrt();
        let about = Self(BigRational::new(about, BigInt::from(10).pow(10_u32)));
        Err(Mistake::IrrationalRoot { about: about.to_string() })
    }

    pub fn negated(&self) -> Self {
        Self(-&self.0)
    }

    pub fn absolute(&self) -> Self {
        Self(self.0.abs())
    }

    pub fn floor(&self) -> Self {
        Self(self.0.floor())
    }

    pub fn ceiling(&self) -> Self {
        Self(self.0.ceil())
    }

    /// The nearest whole number; halves go away from zero, as people round.
    pub fn rounded(&self) -> Self {
        Self(self.0.round())
    }

    fn bits(&self) -> u64 {
        self.0.numer().bits().max(self.0.denom().bits())
    }

    fn bounded(self) -> Result<Self, Mistake> {
        if self.bits() > MAX_BITS { Err(Mistake::TooLarge) } else { Ok(self) }
    }

    /// The digits behind the point, if there is an end to them soon.
    fn ends_after(&self) -> Option<u32> {
        let mut scale = BigInt::one();
        for digits in 0..=2 * SHOWN_DIGITS {
            if (&scale % self.0.denom()).is_zero() {
                return Some(digits);
            }
            scale *= 10;
        }
        None
    }

    /// The number with so many digits behind the point; more are cut off.
    fn decimal(&self, digits: u32) -> String {
        let scale = BigInt::from(10).pow(digits);
        let scaled = (self.0.abs() * scale).to_integer().to_string();
        let digits = digits as usize;
        let padded = format!("{scaled:0>width$}", width = digits + 1);
        let (whole, behind) = padded.split_at(padded.len() - digits);
        let sign = if self.0.is_negative() { "-" } else { "" };
        if behind.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{behind}") }
    }
}

/// As a decimal number where that is exact, otherwise as a fraction with a decimal number near it.
impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.ends_after() {
            Some(digits) => f.write_str(&self.decimal(digits)),
            None => write!(f, "{} (about {})", self.0, self.decimal(SHOWN_DIGITS)),
        }
    }
}
