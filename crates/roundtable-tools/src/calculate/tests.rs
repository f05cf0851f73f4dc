use proptest::prelude::*;

use super::Mistake;
use super::parse::evaluate;

#[track_caller]
fn check(expression: &str, expected: &str) {
    let shown = match evaluate(expression) {
        Ok(number) => number.to_string(),
        Err(mistake) => mistake.to_string(),
    };
    assert_eq!(shown, expected, "{expression}");
}

#[test]
fn operators_bind_as_people_expect() {
    check("1 + 2 * 3", "7");
    check("(1 + 2) * 3", "9");
    check("10 - 4 - 3", "3");
    check("2 ^ 3 ^ 2", "512");
    check("-2 ^ 2", "-4");
    check("(-2) ^ 2", "4");
    check("2 ^ -3", "0.125");
    check("2 * -3 + +4", "-2");
    check("100 / 10 / 5", "2");
    check("7 % 3 * 2", "2");
    check("-1 % 7", "6");
    check("6 ÷ 3 × 2 − 1", "3");
}

#[test]
fn decimal_numbers_are_exact() {
    check("0.1 + 0.2", "0.3");
    check("1e3 + 2.5E-3", "1000.0025");
    check("1_000_000 * .5", "500000");
    check("1.05 ^ 12", "1.795856326022129150390625");
    check("-1 / 8", "-0.125");
    check("1 / 3", "1/3 (about 0.33333333333333333333)");
    check("1 / 3 * 3", "1");
    check("2 ^ 100", "1267650600228229401496703205376");
}

#[test]
fn functions_take_what_they_say() {
    check("max(1, 5, 3) - min(4, 2)", "3");
    check("round(2.5) + ROUND(-2.5) + floor(-0.5) + ceil(0.2) + abs(-7)", "7");
    check("sqrt(2.25)", "1.5");
    check("sqrt(2)", "the root is not a rational number; it is about 1.4142135623");
    check("abs(1, 2)", "abs takes one argument");
    check("min()", "unexpected ')' at \")\"");
    check(
        "sin(1)",
        "there is no function \"sin\"; there are: abs, ceil, floor, max, min, round, sqrt",
    );
}

#[test]
fn mistakes_say_what_is_wrong() {
    check("", "the expression ends early");
    check("1 +", "the expression ends early");
    check("(1", "the expression ends early");
    check("1 2", "unexpected '2' at \"2\"");
    check(".", "unexpected '.' at \"\"");
    check("1 / (2 - 2)", "division by zero");
    check("1 % 0", "division by zero");
    check("0 ^ -1", "division by zero");
    check("4 ^ 0.5", "a power has to be a whole number");
    check("sqrt(-1)", "a negative number has no square root");
    check("os.exit()", "unexpected '.' at \".exit()\"");
    check("__import__", "unexpected '_' at \"__import__\"");
}

#[test]
fn no_expression_costs_much() {
    for expression in ["9^9^9^9", "1e999999", "1e-999999", "2^4097", "1e99999999999", "0.5^5000"] {
        assert_eq!(evaluate(expression), Err(Mistake::TooLarge), "{expression}");
    }
    assert_eq!(evaluate(&"(".repeat(500)), Err(Mistake::TooDeep));
    assert_eq!(evaluate(&"-".repeat(500)), Err(Mistake::TooDeep));
    assert_eq!(evaluate(&"2^".repeat(400)), Err(Mistake::TooDeep));
    assert_eq!(evaluate(&"1+".repeat(600)), Err(Mistake::TooLong { most: 1000 }));
    assert!(evaluate(&"9".repeat(1000)).is_ok());
    assert_eq!(evaluate(&format!("{}*{0}", "9".repeat(490))).map(|_| ()), Ok(()));
    assert_eq!(evaluate(&["9"; 9].map(|nine| nine.repeat(100)).join("*")).map(|_| ()), Ok(()));
    assert_eq!(evaluate("(9^1000)*(9^1000)"), Err(Mistake::TooLarge));
}

proptest! {
    #[test]
    fn any_text_has_a_value_or_a_mistake(text in ".{0,200}") {
        let _ = evaluate(&text).map(|number| number.to_string());
    }

    #[test]
    fn any_likely_text_has_a_value_or_a_mistake(text in "[0-9.e+*/%^() ,a-z_−÷-]{0,80}") {
        let _ = evaluate(&text).map(|number| number.to_string());
    }

    #[test]
    fn whole_numbers_agree_with_the_machine(a in -10_000_i64..10_000, b in -10_000_i64..10_000, c in 1_i64..100) {
        let shown = evaluate(&format!("({a}) * ({b}) - ({a}) % {c}")).map(|number| number.to_string());
        prop_assert_eq!(shown, Ok((a * b - a.rem_euclid(c)).to_string()));
    }

    #[test]
    fn what_is_divided_and_multiplied_again_is_the_same(a in -1000_i64..1000, b in 1_i64..1000) {
        let shown = evaluate(&format!("({a}) / {b} * {b}")).map(|number| number.to_string());
        prop_assert_eq!(shown, Ok(a.to_string()));
    }
}
