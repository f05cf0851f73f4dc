//! Chance that can be repeated: splitmix64.

use std::ops::Range;

/// A seed: everything that happens in a simulation follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seed(pub u64);

/// Dice that fall the same way for the same seed.
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// The dice of a seed.
    pub fn new(Seed(seed): Seed) -> Self {
        Self(seed)
    }

    /// Dice of their own, so that what is rolled here and there does not depend on the order.
    #[must_use]
    pub fn split(&mut self) -> Self {
        Self(self.roll())
    }

    /// Any number.
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number in a range that is not empty.
    pub fn within(&mut self, range: Range<u64>) -> u64 {
        range.start + self.roll() % (range.end - range.start)
    }

    /// Whether something happens that happens so often in a thousand times.
    pub fn permille(&mut self, odds: u64) -> bool {
        self.within(0..1000) < odds
    }

    /// One of these.
    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.within(0..choices.len() as u64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_falls_the_same_way_and_another_one_does_not() {
        let rolls = |seed| {
            let mut dice = Dice::new(Seed(seed));
            [dice.roll(), dice.roll(), dice.split().roll()]
        };
        assert_eq!(rolls(1), rolls(1));
        assert_ne!(rolls(1), rolls(2));
    }
}
