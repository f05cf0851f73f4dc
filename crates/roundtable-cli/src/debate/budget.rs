//! What a debate may spend, as it is typed.

use roundtable::core::budget::Limits;

/// Reads `calls=N,tokens=N,dollars=N`.
pub(crate) fn read(text: &str) -> Result<Limits, String> {
    let mut limits = Limits::default();
    for part in text.split(',') {
        let how = "expected calls=N, tokens=N or dollars=N, separated by commas";
        let (name, value) = part.split_once('=').ok_or(how)?;
        let (name, value) = (name.trim(), value.trim());
        let whole = || value.parse::<u64>().map_err(|_| format!("{value:?} is not a whole number"));
        match name {
            "calls" => limits.calls = Some(whole()?),
            "tokens" => limits.tokens = Some(whole()?),
            "dollars" => limits.cost = Some(millionths(value)?),
            _ => return Err(format!("unknown limit {name:?}; {how}")),
        }
    }
    Ok(limits)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be in range"
)]
fn millionths(dollars: &str) -> Result<u64, String> {
    let amount = dollars.parse::<f64>().ok().filter(|amount| (0.0..1e9).contains(amount));
    let amount = amount.ok_or_else(|| format!("{dollars:?} is not an amount of dollars"))?;
    Ok((amount * 1e6).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_named_and_anything_else_is_refused_with_a_reason() {
        let limits =
            Limits { calls: Some(9), tokens: Some(5000), cost: Some(250_000), time_ms: None };
        assert_eq!(read("calls=9, tokens=5000,dollars=0.25"), Ok(limits));
        for (text, why) in [
            ("9", "expected calls=N"),
            ("words=9", "unknown limit"),
            ("calls=-1", "not a whole number"),
            ("dollars=NaN", "not an amount of dollars"),
        ] {
            assert!(read(text).unwrap_err().contains(why), "{text}");
        }
    }
}
