//! Drawing the next token.

use super::Sampling;
use crate::tokens::Token;

/// The most tokens that are drawn from.
const MOST: usize = 1_024;

/// Draws tokens. The same seed and the same likelihoods give the same tokens.
pub(super) struct Sampler {
    sampling: Sampling,
    state: u64,
}

impl Sampler {
    pub(super) fn new(sampling: Sampling, seed: u64) -> Self {
        Self { sampling, state: seed }
    }

    /// Makes the tokens that were used lately less likely.
    pub(super) fn punish(&self, logits: &mut [f32], used: &[Token]) {
        let penalty = self.sampling.repeat_penalty;
        if penalty == 1.0 || !penalty.is_normal() || penalty < 0.0 {
            return;
        }
        let mut used = used[used.len().saturating_sub(self.sampling.repeat_window)..].to_vec();
        used.sort_unstable();
        used.dedup();
        for token in used {
            if let Some(logit) = logits.get_mut(token as usize) {
                *logit = if *logit > 0.0 { *logit / penalty } else { *logit * penalty };
            }
        }
    }

    /// Draws one of the allowed tokens; none, if there is none.
    pub(super) fn draw(
        &mut self,
        logits: &[f32],
        mut allows: impl FnMut(Token) -> bool,
    ) -> Option<Token> {
        let count = if self.sampling.temperature > 0.0 { self.sampling.top_k } else { 1 };
        let mut best = best(logits, count.clamp(1, MOST), &mut allows);
        if best.is_empty() {
            // Weights that make no sense can give numbers that are none.
            return (0..).take(logits.len()).find(|token| allows(*token));
        }
        self.weigh(&mut best);
        let mut left = self.chance() * best.iter().map(|(weight, _)| weight).sum::<f32>();
        let drawn = best.iter().find(|(weight, _)| {
            left -= weight;
            left <= 0.0
        });
        drawn.or(best.first()).map(|(_, token)| *token)
    }

    /// Turns logits, largest first, into weights, and drops the tail beyond `top_p`.
    fn weigh(&self, best: &mut Vec<(f32, Token)>) {
        let largest = best.first().map_or(0.0, |(logit, _)| *logit);
        for (logit, _) in best.iter_mut() {
            // The exponential of the standard library differs from one system to the next.
            *logit = crate::kernel::exp((*logit - largest) / self.sampling.temperature.max(1e-3));
        }
        let total: f32 = best.iter().map(|(weight, _)| weight).sum();
        let mut so_far = 0.0;
        let enough = best.iter().position(|(weight, _)| {
            so_far += weight;
            so_far >= self.sampling.top_p * total
        });
        best.truncate(enough.map_or(best.len(), |last| last + 1));
    }

    /// A number from 0 up to 1, from SplitMix64.
    fn chance(&mut self) -> f32 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 40) as f32 / 16_777_216.0
    }
}

/// The likeliest allowed tokens, the likeliest first; of equals, the lower number first. Only
/// tokens that could be among them are asked about: asking costs more than comparing.
fn best(logits: &[f32], count: usize, allows: &mut impl FnMut(Token) -> bool) -> Vec<(f32, Token)> {
    let mut best: Vec<(f32, Token)> = Vec::with_capacity(count + 1);
    let mut least = f32::NEG_INFINITY;
    for (token, logit) in (0..).zip(logits) {
        if *logit > least && allows(token) {
            let place = best.partition_point(|(other, _)| other >= logit);
            best.insert(place, (*logit, token));
            best.truncate(count);
            if best.len() == count {
                least = best[count - 1].0;
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sampling(temperature: f32, top_k: usize, top_p: f32) -> Sampling {
        Sampling { temperature, top_k, top_p, ..Sampling::default() }
    }

    #[test]
    fn without_temperature_the_likeliest_allowed_token_is_drawn() {
        let mut sampler = Sampler::new(sampling(0.0, 40, 0.9), 1);
        assert_eq!(sampler.draw(&[0.0, 3.0, 2.0, 3.0], |_| true), Some(1));
        assert_eq!(sampler.draw(&[0.0, 3.0, 2.0, 3.0], |token| token % 2 == 0), Some(2));
        assert_eq!(sampler.draw(&[0.0, 3.0], |_| false), None);
    }

    #[test]
    fn tokens_are_drawn_as_often_as_they_are_likely() {
        let logits = [0.25f32, 0.5, 0.25].map(f32::ln);
        let mut sampler = Sampler::new(sampling(1.0, 3, 1.0), 7);
        let mut counts = [0i32; 3];
        for _ in 0..4_000 {
            counts[sampler.draw(&logits, |_| true).unwrap() as usize] += 1;
        }
        assert!(counts[1].abs_diff(2_000) < 120 && counts[0].abs_diff(1_000) < 120, "{counts:?}");
    }

    #[test]
    fn top_k_and_top_p_leave_out_the_tail() {
        let logits = [0.1f32, 0.6, 0.25, 0.05].map(f32::ln);
        let drawn = |sampling| {
            let mut sampler = Sampler::new(sampling, 3);
            let mut seen: Vec<_> =
                (0..500).filter_map(|_| sampler.draw(&logits, |_| true)).collect();
            seen.sort_unstable();
            seen.dedup();
            seen
        };
        assert_eq!(drawn(sampling(1.0, 2, 1.0)), [1, 2]);
        assert_eq!(drawn(sampling(1.0, 4, 0.8)), [1, 2]);
        assert_eq!(drawn(sampling(1.0, 4, 0.0)), [1]);
        assert_eq!(drawn(sampling(1.0, 0, 1.0)), [1]);
        assert_eq!(drawn(sampling(1.0, usize::MAX, 1.0)), [0, 1, 2, 3]);
    }

    #[test]
    fn repeated_tokens_become_less_likely_once_and_only_within_the_window() {
        let window = Sampling { repeat_penalty: 2.0, repeat_window: 3, ..Sampling::default() };
        let mut logits = [4.0, 4.0, -4.0, 1.0];
        Sampler::new(window, 0).punish(&mut logits, &[3, 1, 1, 2, 99]);
        assert_eq!(logits, [4.0, 2.0, -8.0, 1.0]);
    }

    proptest! {
        #[test]
        fn any_numbers_give_an_allowed_token(
            bits in prop::collection::vec(any::<u32>(), 1..60),
            wild in any::<[u32; 3]>(), top_k in any::<usize>(), seed in any::<u64>(),
            only in any::<prop::sample::Index>(),
        ) {
            let mut logits: Vec<f32> = bits.into_iter().map(f32::from_bits).collect();
            let [temperature, top_p, repeat_penalty] = wild.map(f32::from_bits);
            let sampling = Sampling { temperature, top_p, repeat_penalty, top_k, repeat_window: 9 };
            let only = only.index(logits.len()) as Token;
            let mut sampler = Sampler::new(sampling, seed);
            sampler.punish(&mut logits, &[0, 1, 2]);
            prop_assert!(sampler.draw(&logits, |_| true).is_some());
            prop_assert_eq!(sampler.draw(&logits, |token| token == only), Some(only));
        }
    }
}
