//! Masks: what they accept, and that what is drawn under them is always a whole answer.

use proptest::prelude::*;

use super::*;
use crate::generate::testing::{load, run};
use crate::generate::{FinishReason, GenerateError, Message, Request, Sampling};
use crate::weights::synthetic::Synthetic;

fn text(max_chars: usize) -> Shape {
    Shape::Text { max_chars }
}

fn list(of: Shape, max_items: usize) -> Shape {
    Shape::List { of: Box::new(of), max_items }
}

#[test]
fn a_choice_accepts_its_answers_and_nothing_else() {
    let mask = Mask::choice(["yes", "yes please", "né"]).unwrap();
    let accepted = ["yes", "yes please", "né"];
    let refused = ["", "y", "yes ", "no", "yes please!", "n", "nee"];
    assert!(accepted.iter().all(|answer| mask.accepts(answer)));
    assert!(!refused.iter().any(|answer| mask.accepts(answer)));
}

#[test]
fn json_is_accepted_in_one_spelling() {
    let shape = Shape::Object(vec![
        ("say \"it\"".into(), text(3)),
        ("n".into(), Shape::Number),
        ("all".into(), list(Shape::Integer, 2)),
        ("ok".into(), Shape::Boolean),
        ("mood".into(), Shape::OneOf(vec!["a\nb".into(), "c\u{1}".into()])),
    ]);
    let mask = Mask::json(&shape).unwrap();
    let with = |say: &str, n: &str, all: &str, mood: &str| {
        format!(r#"{{"say \"it\"": {say}, "n": {n}, "all": {all}, "ok": true, "mood": {mood}}}"#)
    };
    let accepted = [
        with(r#""""#, "0", "[]", r#""a\nb""#),
        with(r#""äö😀""#, "-12.5", "[1]", r#""c\u0001""#),
        with(r#""\"\\\n""#, "123456789.1234", "[1, -2]", r#""a\nb""#),
    ];
    for answer in &accepted {
        assert!(mask.accepts(answer), "{answer}");
        serde_json::from_str::<serde_json::Value>(answer).unwrap();
    }
    let refused = [
        with(r#""abcd""#, "0", "[]", r#""a\nb""#),
        with("\"\n\"", "0", "[]", r#""a\nb""#),
        with(r#""\x""#, "0", "[]", r#""a\nb""#),
        with(r#""""#, "01", "[]", r#""a\nb""#),
        with(r#""""#, "-", "[]", r#""a\nb""#),
        with(r#""""#, "1.", "[]", r#""a\nb""#),
        with(r#""""#, "1", "[1, 2, 3]", r#""a\nb""#),
        with(r#""""#, "1", "[1,2]", r#""a\nb""#),
        with(r#""""#, "1", "[]", r#""other""#),
    ];
    assert!(!refused.iter().any(|answer| mask.accepts(answer)));
}

#[test]
fn masks_that_make_no_sense_are_refused() {
    assert_eq!(Mask::choice([""; 0]), Err(MaskError::Empty));
    assert_eq!(Mask::choice(["a", ""]), Err(MaskError::Empty));
    assert_eq!(Mask::json(&Shape::OneOf(vec![])), Err(MaskError::Empty));
    assert_eq!(Mask::json(&text(usize::MAX)), Err(MaskError::TooLarge));
    assert_eq!(Mask::json(&list(list(text(99), 99), 99)), Err(MaskError::TooLarge));
    let deep = (0..16).fold(Shape::Boolean, |shape, _| list(shape, 1));
    assert_eq!(Mask::json(&deep), Err(MaskError::TooDeep { most: 16 }));
    assert!(Mask::json(&text(2_000)).is_ok());
}

#[test]
fn an_answer_that_cannot_fit_or_be_written_is_refused_before_it_begins() {
    let engine = load(&Synthetic::new(1).bytes()).unwrap();
    let ask = |mask: Mask, max_tokens| {
        let messages = vec![Message::user("hello")];
        run(&engine, &Request { messages, mask: Some(mask), max_tokens, ..Request::default() })
    };
    let long = || Mask::choice(["abcdef"]).unwrap();
    assert_eq!(ask(long(), 5), Err(GenerateError::NoRoom { needed: 6, allowed: 5 }));
    assert_eq!(ask(long(), 6).unwrap().0, "abcdef");
    let rare = Mask::choice(["\u{40000}"]).unwrap();
    assert_eq!(ask(rare, 50), Err(GenerateError::Unwritable));
}

fn shapes() -> impl Strategy<Value = Shape> {
    let leaf = prop_oneof![
        (0usize..12).prop_map(text),
        Just(Shape::Integer),
        Just(Shape::Number),
        Just(Shape::Boolean),
        prop::collection::vec("[a-c\"é\n]{0,4}", 1..4).prop_map(Shape::OneOf),
    ];
    leaf.prop_recursive(2, 6, 3, |inner| {
        prop_oneof![
            (inner.clone(), 0usize..3).prop_map(|(of, max_items)| list(of, max_items)),
            prop::collection::vec(("[a-z]{1,3}", inner), 0..3).prop_map(Shape::Object),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn whatever_is_drawn_is_a_whole_answer_of_the_mask(
        weights in 0u64..4, seed in any::<u64>(), temperature in 0f32..3.0, room in 0usize..40,
        shape in prop::option::of(shapes()), answers in prop::collection::vec("[a-cé ]{1,6}", 1..5),
    ) {
        let engine = load(&Synthetic::new(weights).bytes()).unwrap();
        let mask = match &shape {
            Some(shape) => Mask::json(shape).unwrap(),
            None => Mask::choice(&answers).unwrap(),
        };
        let request = Request {
            messages: vec![Message::user("a")],
            sampling: Sampling { temperature, ..Sampling::default() },
            mask: Some(mask.clone()),
            max_tokens: room,
            seed,
            ..Request::default()
        };
        match run(&engine, &request) {
            Err(GenerateError::NoRoom { needed, .. }) => prop_assert!(needed > room),
            other => {
                let (answer, finish) = other.unwrap();
                prop_assert!(mask.accepts(&answer), "{answer:?}");
                prop_assert_eq!(finish.reason, FinishReason::End);
                if shape.is_some() {
                    prop_assert!(serde_json::from_str::<serde_json::Value>(&answer).is_ok());
                } else {
                    prop_assert!(answers.contains(&answer));
                }
            }
        }
    }
}
