//! Limits per day, for the sessions of one owner or for all of them. A day is a UTC day.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::budget::{Account, Exhausted, Fit, Limits, Spend};

const SECONDS: i64 = 24 * 60 * 60;

/// A UTC day: how many of them passed since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Day(pub i64);

impl Day {
    /// The day of a time.
    pub fn of(at: Timestamp) -> Self {
        Self(at.as_second().div_euclid(SECONDS))
    }

    /// When the next day begins.
    pub fn end(self) -> Timestamp {
        let next = self.0.saturating_add(1).saturating_mul(SECONDS);
        Timestamp::from_second(next).unwrap_or(Timestamp::MAX)
    }
}

/// What was spent on a day, and what running model calls may still spend.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spending {
    /// What was spent.
    pub spent: Spend,
    /// What is set aside.
    pub reserved: Spend,
}

impl Spending {
    /// Whether a model call may be made. Its own reservation is among those that are set aside; those that
    /// were made after it are not, so of several calls that compete the first one is made. `more` is
    /// what is booked before it is made: requests of the same call that failed.
    pub fn fit(&self, limits: Limits, own: Spend, more: Spend) -> Fit {
        let reserved = self.reserved.minus(own);
        Account { spent: self.spent, reserved, ..Account::new(limits) }.fit(own.plus(more))
    }

    /// Which limit is reached, so that not even the smallest model call fits.
    pub fn exhausted(&self, limits: Limits) -> Option<Exhausted> {
        let smallest = Spend { calls: 1, tokens: 1, cost: 1 };
        let account =
            Account { spent: self.spent, reserved: self.reserved, ..Account::new(limits) };
        match account.fit(smallest) {
            Fit::Yes => None,
            Fit::Later(limit) | Fit::No(limit) => Some(limit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(tokens: u64) -> Spend {
        Spend { calls: 1, tokens, cost: 0 }
    }

    #[test]
    fn a_day_ends_at_midnight_utc() {
        let at: Timestamp = "2026-11-18T23:59:59.9Z".parse().unwrap();
        assert_eq!(Day::of(at).end(), "2026-11-19T00:00:00Z".parse().unwrap());
        assert_eq!(Day::of(Day::of(at).end()), Day(Day::of(at).0 + 1));
        assert_eq!(Day::of("1969-12-31T23:59:59Z".parse().unwrap()), Day(-1));
    }

    #[test]
    fn a_call_fits_beside_what_was_spent_and_reserved_before_it() {
        let limits = Limits { tokens: Some(100), ..Limits::default() };
        let spending =
            |spent, reserved| Spending { spent: tokens(spent), reserved: tokens(reserved) };
        assert_eq!(spending(40, 60).fit(limits, tokens(60), Spend::default()), Fit::Yes);
        let later =
            Spending { spent: tokens(0), reserved: Spend { calls: 2, tokens: 120, cost: 0 } };
        assert_eq!(later.fit(limits, tokens(60), Spend::default()), Fit::Later(Exhausted::Tokens));
        assert_eq!(
            spending(41, 60).fit(limits, tokens(60), Spend::default()),
            Fit::No(Exhausted::Tokens)
        );
    }

    #[test]
    fn a_limit_is_exhausted_when_not_even_one_token_is_left() {
        let limits = Limits { tokens: Some(100), calls: Some(3), ..Limits::default() };
        let spent = |calls, tokens| Spending {
            spent: Spend { calls, tokens, cost: 0 },
            ..Spending::default()
        };
        assert_eq!(spent(2, 99).exhausted(limits), None);
        assert_eq!(spent(2, 100).exhausted(limits), Some(Exhausted::Tokens));
        assert_eq!(spent(3, 0).exhausted(limits), Some(Exhausted::Calls));
        assert_eq!(spent(3, 100).exhausted(Limits::default()), None);
    }
}
