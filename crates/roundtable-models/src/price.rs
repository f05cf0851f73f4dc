//! What a call costs. A price that is not in the table is unknown, never guessed.

use roundtable_core::budget::{Price, Usage};
use serde::{Deserialize, Deserializer};

/// The tokens of a call, with what a bill tells apart and a budget does not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// The tokens.
    pub usage: Usage,
    /// How many of the prompt's tokens were written into the provider's cache.
    pub written: u64,
}

/// What tokens cost, in millionths of a dollar for a million. In the catalog: dollars.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rates {
    /// Tokens of the prompt.
    #[serde(deserialize_with = "dollars")]
    pub input: u64,
    /// Tokens of the reply.
    #[serde(deserialize_with = "dollars")]
    pub output: u64,
    /// Tokens of the prompt that came from the cache; as others when absent.
    #[serde(default, deserialize_with = "perhaps_dollars")]
    pub cached: Option<u64>,
    /// Tokens of the prompt that went into the cache; as others when absent.
    #[serde(default, deserialize_with = "perhaps_dollars")]
    pub written: Option<u64>,
}

impl Rates {
    /// Rates in dollars for a million tokens; nothing when one of them is no price.
    pub fn dollars(input: f64, output: f64, cached: Option<f64>) -> Option<Self> {
        let cached = match cached {
            Some(cached) => Some(micros(cached)?),
            None => None,
        };
        Some(Self { input: micros(input)?, output: micros(output)?, cached, written: None })
    }
}

/// What a model costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceTable {
    /// The price.
    pub base: Rates,
    /// The price of a call with a long prompt.
    #[serde(default)]
    pub long: Option<LongRates>,
}

/// Another price for long prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LongRates {
    /// Prompts with more tokens than this are long.
    pub above: u64,
    /// The price.
    pub rates: Rates,
}

impl PriceTable {
    /// What a call cost, in millionths of a dollar, rounded up.
    pub fn cost(&self, tally: &Tally) -> u64 {
        let usage = &tally.usage;
        let long = self.long.filter(|long| usage.input > long.above);
        let rates = long.map_or(self.base, |long| long.rates);
        let apart = usage.cached.saturating_add(tally.written).min(usage.input);
        let written = apart - usage.cached.min(apart);
        let cached = apart - written;
        let parts = [
            (usage.input - apart, rates.input),
            (cached, rates.cached.unwrap_or(rates.input)),
            (written, rates.written.unwrap_or(rates.input)),
            (usage.output, rates.output),
        ];
        let total: u128 =
            parts.iter().map(|(tokens, rate)| u128::from(*tokens) * u128::from(*rate)).sum();
        u64::try_from(total.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }

    /// The most that tokens can cost: what a budget sets aside before a call.
    pub fn ceiling(&self) -> Price {
        let all = [Some(self.base), self.long.map(|long| long.rates)];
        let rates = all.iter().flatten();
        let input = rates.clone().map(|rates| rates.input.max(rates.written.unwrap_or(0)));
        Price {
            input: input.max().unwrap_or(0),
            output: rates.map(|rates| rates.output).max().unwrap_or(0),
        }
    }
}

/// Dollars as millionths of a dollar.
pub(crate) fn micros(dollars: f64) -> Option<u64> {
    let micros = (dollars * 1_000_000.0).round();
    // Beyond this, whole numbers are no longer exact in a float.
    let exact = (0.0..9_007_199_254_740_992.0).contains(&micros);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked above")]
    exact.then_some(micros as u64)
}

fn dollars<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let dollars = f64::deserialize(deserializer)?;
    micros(dollars)
        .ok_or_else(|| serde::de::Error::custom("a price must be an amount of dollars from 0"))
}

fn perhaps_dollars<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    dollars(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> PriceTable {
        toml::from_str(text).unwrap()
    }

    fn tally(input: u64, output: u64, cached: u64, written: u64) -> Tally {
        Tally { usage: Usage { input, output, cached, reasoning: 0 }, written }
    }

    #[test]
    fn each_kind_of_token_has_its_price() {
        let table = table("base = { input = 3, output = 15, cached = 0.3, written = 3.75 }");
        assert_eq!(table.cost(&tally(1000, 100, 0, 0)), 3000 + 1500);
        assert_eq!(table.cost(&tally(1000, 0, 400, 100)), 500 * 3 + 120 + 375);
        assert_eq!(table.ceiling(), Price { input: 3_750_000, output: 15_000_000 });
    }

    #[test]
    fn a_long_prompt_has_its_own_price() {
        let table = table(
            "base = { input = 1.25, output = 10 }\n\
             long = { above = 200, rates = { input = 2.5, output = 15 } }",
        );
        assert_eq!(table.cost(&tally(200, 0, 0, 0)), 250);
        assert_eq!(table.cost(&tally(201, 0, 0, 0)), 503);
        assert_eq!(table.ceiling(), Price { input: 2_500_000, output: 15_000_000 });
    }

    #[test]
    fn counts_that_make_no_sense_never_overflow() {
        let table = table("base = { input = 1, output = 1 }");
        assert_eq!(table.cost(&tally(5, 0, u64::MAX, u64::MAX)), 5);
        assert_eq!(table.cost(&tally(u64::MAX, u64::MAX, 0, 0)), u64::MAX);
        assert_eq!(micros(-1.0), None);
        assert_eq!(micros(f64::NAN), None);
    }
}
