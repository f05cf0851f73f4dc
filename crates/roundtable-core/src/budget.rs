//! Budgets: what may be spent, what is spent, what is reserved. Knows no prices by itself.
//!
//! A call is reserved before it is made, for the most that it can cost, so no interleaving of
//! calls can overshoot a limit.

use serde::{Deserialize, Serialize};

/// Tokens of one model call, as the provider counted them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the prompt.
    pub input: u64,
    /// Tokens of the reply.
    pub output: u64,
    /// How many of the prompt's tokens came from the provider's cache.
    #[serde(default)]
    pub cached: u64,
    /// How many of the reply's tokens were reasoning.
    #[serde(default)]
    pub reasoning: u64,
}

/// What a model costs, in millionths of a dollar for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Price {
    /// For prompts.
    pub input: u64,
    /// For replies.
    pub output: u64,
}

impl Price {
    /// What these tokens cost, rounded up, in millionths of a dollar.
    pub fn of(self, input: u64, output: u64) -> u64 {
        let total = u128::from(self.input) * u128::from(input)
            + u128::from(self.output) * u128::from(output);
        u64::try_from(total.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}

/// What a session, round or turn may spend. Absent means unlimited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Model calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
    /// Tokens, prompts and replies together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Millionths of a dollar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<u64>,
    /// Milliseconds from the opening (rounds and turns; a session waits for people).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<u64>,
}

/// An amount of what budgets count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spend {
    /// Model calls.
    pub calls: u64,
    /// Tokens.
    pub tokens: u64,
    /// Millionths of a dollar.
    pub cost: u64,
}

impl Spend {
    /// The most that one call can cost: all of its prompt and all of the reply that it may give.
    pub fn most(prompt_bytes: u64, max_tokens: u32, price: Option<Price>) -> Self {
        let output = u64::from(max_tokens);
        Self {
            calls: 1,
            tokens: prompt_bytes.saturating_add(output),
            cost: price.map_or(0, |price| price.of(prompt_bytes, output)),
        }
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            calls: self.calls.saturating_add(other.calls),
            tokens: self.tokens.saturating_add(other.tokens),
            cost: self.cost.saturating_add(other.cost),
        }
    }

    /// What is left of this without the other, never below nothing.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self {
            calls: self.calls.saturating_sub(other.calls),
            tokens: self.tokens.saturating_sub(other.tokens),
            cost: self.cost.saturating_sub(other.cost),
        }
    }
}

/// How many bytes of text make a token, where nobody counted them.
const BYTES_PER_TOKEN: u64 = 4;

/// What is booked for one attempt of a model call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Charge {
    /// Requests to the provider.
    pub calls: u64,
    /// Tokens.
    pub tokens: u64,
    /// Millionths of a dollar; absent when tokens were used whose price is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<u64>,
    /// Whether the figures are estimates: the provider did not report them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
}

impl Charge {
    /// No request.
    pub const NOTHING: Self = Self { calls: 0, tokens: 0, cost: Some(0), estimated: false };

    /// A request that the provider refused without output: it counts, and it costs nothing.
    pub const REFUSED: Self = Self { calls: 1, tokens: 0, cost: Some(0), estimated: false };

    /// A request that was sent and whose tokens nobody counted: its prompt, and the text that
    /// arrived. Never more than was reserved for it.
    pub fn estimate(reserved: Spend, arrived: u64, max_tokens: u32, price: Option<Price>) -> Self {
        let most = u64::from(max_tokens);
        let prompt = reserved.tokens.saturating_sub(most).div_ceil(BYTES_PER_TOKEN);
        let reply = arrived.div_ceil(BYTES_PER_TOKEN).min(most);
        let tokens = prompt.saturating_add(reply);
        let cost = price.map(|price| price.of(prompt, reply));
        Self { calls: 1, tokens, cost, estimated: true }
    }

    /// An answer, as the provider counted it.
    pub fn counted(usage: Usage, cost: Option<u64>) -> Self {
        let tokens = usage.input.saturating_add(usage.output);
        Self { calls: 1, tokens, cost, estimated: false }
    }

    /// All that was reserved, so many times: what is booked where nothing else is known.
    pub(crate) fn reserved(reserved: Spend, times: u32, price: Option<Price>) -> Self {
        let times = u64::from(times);
        Self {
            calls: reserved.calls.saturating_mul(times),
            tokens: reserved.tokens.saturating_mul(times),
            cost: price.map(|_| reserved.cost.saturating_mul(times)),
            estimated: true,
        }
    }

    /// Both together.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            calls: self.calls.saturating_add(other.calls),
            tokens: self.tokens.saturating_add(other.tokens),
            cost: self.cost.zip(other.cost).map(|(one, two)| one.saturating_add(two)),
            estimated: self.estimated || other.estimated,
        }
    }

    /// What it takes from a budget. An unknown price takes no money.
    pub fn spend(self) -> Spend {
        Spend { calls: self.calls, tokens: self.tokens, cost: self.cost.unwrap_or(0) }
    }
}

/// Which limit stood in the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exhausted {
    /// Model calls.
    Calls,
    /// Tokens.
    Tokens,
    /// Money.
    Cost,
    /// Time.
    Time,
}

impl Exhausted {
    /// The limit in words.
    pub fn word(self) -> &'static str {
        match self {
            Self::Calls => "calls",
            Self::Tokens => "tokens",
            Self::Cost => "money",
            Self::Time => "time",
        }
    }
}

/// Whether a reservation can be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// Now.
    Yes,
    /// Perhaps later: others hold reservations that may come back. Until then this limit is in the way.
    Later(Exhausted),
    /// Never.
    No(Exhausted),
}

/// The account of one session, round or turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// What may be spent.
    pub limits: Limits,
    /// What is spent.
    pub spent: Spend,
    /// What running calls may still cost.
    pub reserved: Spend,
    /// Whether part of what is spent is an estimate.
    #[serde(default)]
    pub estimated: bool,
    /// Whether tokens were spent whose price is not known.
    #[serde(default)]
    pub unpriced: bool,
}

impl Account {
    /// An account on which nothing is spent.
    pub fn new(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Whether this much more fits.
    pub fn fit(&self, amount: Spend) -> Fit {
        let total = self.spent.plus(self.reserved).plus(amount);
        let over = |limit: Option<u64>, total: u64| limit.is_some_and(|limit| total > limit);
        let exhausted = if over(self.limits.calls, total.calls) {
            Exhausted::Calls
        } else if over(self.limits.tokens, total.tokens) {
            Exhausted::Tokens
        } else if over(self.limits.cost, total.cost) {
            Exhausted::Cost
        } else {
            return Fit::Yes;
        };
        if self.reserved == Spend::default() { Fit::No(exhausted) } else { Fit::Later(exhausted) }
    }

    /// Sets an amount aside.
    pub fn reserve(&mut self, amount: Spend) {
        self.reserved = self.reserved.plus(amount);
    }

    /// Gives a reservation back and books what was really spent.
    pub fn settle(&mut self, reserved: Spend, actual: Charge) {
        self.reserved = self.reserved.minus(reserved);
        self.spent = self.spent.plus(actual.spend());
        self.estimated |= actual.estimated;
        self.unpriced |= actual.cost.is_none();
    }

    /// Books everything that is still reserved: nothing runs any more that could give it back.
    pub(crate) fn settle_rest(&mut self) {
        let rest = std::mem::take(&mut self.reserved);
        self.spent = self.spent.plus(rest);
        self.estimated |= rest != Spend::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(tokens: u64) -> Account {
        Account::new(Limits { tokens: Some(tokens), ..Limits::default() })
    }

    #[test]
    fn a_reservation_that_does_not_fit_waits_while_others_are_outstanding() {
        let mut account = account(100);
        let sixty = Spend { calls: 1, tokens: 60, cost: 0 };
        assert_eq!(account.fit(sixty), Fit::Yes);
        account.reserve(sixty);
        assert_eq!(account.fit(sixty), Fit::Later(Exhausted::Tokens));
        let cost = |tokens| Charge { calls: 1, tokens, cost: Some(0), estimated: false };
        account.settle(sixty, cost(30));
        assert_eq!(account.fit(sixty), Fit::Yes);
        account.settle(Spend::default(), cost(60));
        assert_eq!(account.fit(sixty), Fit::No(Exhausted::Tokens));
    }

    #[test]
    fn a_limit_can_be_met_exactly() {
        assert_eq!(account(60).fit(Spend { calls: 1, tokens: 60, cost: 0 }), Fit::Yes);
        assert_eq!(
            account(59).fit(Spend { calls: 1, tokens: 60, cost: 0 }),
            Fit::No(Exhausted::Tokens)
        );
    }

    #[test]
    fn a_price_is_rounded_up_and_never_overflows() {
        let price = Price { input: 3_000_000, output: 15_000_000 };
        assert_eq!(price.of(1_000, 100), 4_500);
        assert_eq!(Price { input: 1, output: 0 }.of(1, 0), 1);
        assert_eq!(Price { input: u64::MAX, output: 0 }.of(u64::MAX, 0), u64::MAX);
    }

    #[test]
    fn a_broken_attempt_costs_its_prompt_and_what_arrived_and_never_more_than_was_reserved() {
        let price = Some(Price { input: 1_000_000, output: 10_000_000 });
        let reserved = Spend::most(10, 5, price);
        let estimate = |tokens, cost| Charge { calls: 1, tokens, cost, estimated: true };
        let charge = |arrived, price| Charge::estimate(reserved, arrived, 5, price);
        assert_eq!(charge(0, price), estimate(3, Some(3)));
        assert_eq!(charge(9, price), estimate(6, Some(33)));
        assert_eq!(charge(9, None), estimate(6, None), "an unknown price is not 0");
        assert_eq!(charge(u64::MAX, price), estimate(8, Some(53)));
        assert!(charge(u64::MAX, price).tokens <= reserved.tokens);
    }

    #[test]
    fn an_account_says_whether_it_holds_estimates_and_unknown_prices() {
        let mut account = account(100);
        account.settle(Spend::default(), Charge::REFUSED);
        assert_eq!((account.spent.calls, account.estimated, account.unpriced), (1, false, false));
        account.settle(Spend::default(), Charge::estimate(Spend::most(8, 5, None), 4, 5, None));
        assert_eq!((account.spent.tokens, account.estimated, account.unpriced), (3, true, true));
    }
}
