//! Usage as people and programs outside read it: calls, tokens, and dollars. The log counts
//! millionths of a dollar.

use std::fmt;

use serde::{Serialize as _, Serializer};
use serde_json::{Map, Value, json};

use super::record::Spent;
use roundtable_core::document::{self, Usage};

/// The largest amount of dollars that a file may claim.
const MOST_DOLLARS: f64 = 1e9;

impl fmt::Display for Spent {
    /// `12 model calls, 6092 tokens, $0.0123`; an unknown cost is shown as unknown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let calls = if self.calls == 1 { "call" } else { "calls" };
        write!(f, "{} model {calls}, {} tokens, ", self.calls, self.tokens)?;
        match self.cost {
            Some(0) => f.write_str("no cost")?,
            Some(cost) => f.write_str(&dollars(cost))?,
            None => f.write_str("cost unknown")?,
        }
        f.write_str(if self.estimated { " (partly estimated)" } else { "" })
    }
}

/// Millionths of a dollar as an amount in dollars, with as many digits as a small amount needs.
pub fn dollars(cost: u64) -> String {
    match cost {
        1_000_000.. => format!("${:.2}", document::dollars(cost)),
        10_000.. => format!("${:.4}", document::dollars(cost)),
        _ => format!("${:.6}", document::dollars(cost)),
    }
}

impl From<Spent> for Usage {
    fn from(spent: Spent) -> Self {
        let Spent { calls, tokens, cost, estimated } = spent;
        Self { calls, tokens, cost: cost.map(document::dollars), estimated }
    }
}

/// Writes what was spent as [`Usage`]: for `serialize_with`.
pub(super) fn usage<S: Serializer>(spent: &Spent, serializer: S) -> Result<S::Ok, S::Error> {
    Usage::from(*spent).serialize(serializer)
}

/// Writes all that was spent as `usage`, in dollars.
pub(super) fn outward(record: &mut Map<String, Value>) {
    rename(record, "total", "usage", outside);
    each_turn(record, |turn| rename(turn, "spent", "usage", outside));
}

/// Reads it back. Files of version 1 have it as the log spells it.
pub(super) fn inward(record: &mut Map<String, Value>) -> Result<(), String> {
    let mut broken = None;
    let mut inside = |usage: Value| {
        inside(usage).unwrap_or_else(|what| {
            broken = Some(what);
            Value::Null
        })
    };
    rename(record, "usage", "total", &mut inside);
    each_turn(record, |turn| rename(turn, "usage", "spent", &mut inside));
    broken.map_or(Ok(()), Err)
}

pub(super) fn rename(
    object: &mut Map<String, Value>,
    from: &str,
    to: &str,
    convert: impl FnOnce(Value) -> Value,
) {
    if let Some(value) = object.remove(from) {
        object.insert(to.to_owned(), convert(value));
    }
}

fn each_turn(record: &mut Map<String, Value>, mut change: impl FnMut(&mut Map<String, Value>)) {
    let rounds = record.get_mut("rounds").and_then(Value::as_array_mut).into_iter().flatten();
    for round in rounds {
        let turns = round.get_mut("turns").and_then(Value::as_array_mut).into_iter().flatten();
        turns.filter_map(Value::as_object_mut).for_each(&mut change);
    }
    let sums = record.get_mut("syntheses").and_then(Value::as_array_mut).into_iter().flatten();
    let turns = sums.filter_map(|sum| sum.get_mut("turn"));
    turns.filter_map(Value::as_object_mut).for_each(change);
}

fn outside(mut spent: Value) -> Value {
    if let Some(cost) = spent.get("cost").and_then(Value::as_u64) {
        spent["cost"] = json!(document::dollars(cost));
    }
    spent
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be in range"
)]
fn inside(mut usage: Value) -> Result<Value, String> {
    match usage.get("cost") {
        None | Some(Value::Null) => {}
        Some(cost) => {
            let known = cost.as_f64().filter(|cost| (0.0..=MOST_DOLLARS).contains(cost));
            let cost = known.ok_or_else(|| format!("invalid cost {cost} in usage"))?;
            usage["cost"] = json!((cost * 1e6).round() as u64);
        }
    }
    Ok(usage)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_cost_is_never_shown_as_no_cost() {
        let spent = Spent { calls: 1, tokens: 30, cost: None, estimated: false };
        assert_eq!(spent.to_string(), "1 model call, 30 tokens, cost unknown");
        let free = Spent { calls: 2, cost: Some(0), estimated: true, ..spent };
        assert_eq!(free.to_string(), "2 model calls, 30 tokens, no cost (partly estimated)");
    }

    #[test]
    fn small_amounts_keep_their_digits() {
        assert_eq!([7, 12_345, 2_500_000].map(dollars), ["$0.000007", "$0.0123", "$2.50"]);
    }

    #[test]
    fn every_amount_survives_an_export() {
        for cost in [0_u64, 1, 12_345, 999_999_999_999_999] {
            let spent = json!({ "calls": 1, "tokens": 2, "cost": cost });
            assert_eq!(inside(outside(spent.clone())), Ok(spent));
        }
        let unknown = json!({ "calls": 1, "tokens": 2, "cost": null });
        assert_eq!(inside(outside(unknown.clone())), Ok(unknown));
        for bad in [json!(-1), json!("1"), json!(1e10)] {
            assert!(inside(json!({ "cost": bad })).is_err(), "{bad}");
        }
    }
}
