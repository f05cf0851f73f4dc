//! How events and states are spelt: what is written reads back, in every build.

use proptest::prelude::*;
use proptest::test_runner::Config;
use roundtable_core::digest::Digest;
use roundtable_core::event::{Body, Event, IterationEvent, NestedPrompt, Seq, ToolCallEvent};
use roundtable_core::id::ToolCallId;
use roundtable_core::scope::Place;
use roundtable_core::tool::Effect;
use serde_json::{Value, json};

use crate::kept_prompts::form;
use crate::table::{Table, agent, nested};

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        prop::num::f64::NORMAL.prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{1,4}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn requested(arguments: Value) -> Event {
    Event {
        seq: Seq(1),
        at: "2026-01-01T00:00:00.123456789Z".parse().unwrap(),
        place: Place::session().tool_call(&ToolCallId::derive("parent", 1)),
        body: Body::ToolCall(ToolCallEvent::ToolCallRequested {
            name: "tool".to_owned(),
            arguments,
            effect: Effect::Effectful,
            reference: Some("call_1".to_owned()),
        }),
    }
}

proptest! {
    #![proptest_config(Config { cases: 128, failure_persistence: None, ..Config::default() })]

    /// Otherwise a call that started before a restart would be another action after it.
    #[test]
    fn arguments_of_any_shape_read_back_and_have_the_same_digest(arguments in json_value()) {
        let event = requested(arguments.clone());
        let text = serde_json::to_string(&event).unwrap();
        let read: Event = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(&read, &event);
        let Body::ToolCall(ToolCallEvent::ToolCallRequested { arguments: again, .. }) = &read.body
        else {
            panic!("another kind of event");
        };
        prop_assert_eq!(Digest::of_json(again), Digest::of_json(&arguments));
    }
}

#[test]
fn equal_values_have_equal_digests_whatever_the_order_of_their_keys() {
    let one: Value = serde_json::from_str(r#"{"a":1,"b":{"c":2,"d":[3]}}"#).unwrap();
    let other: Value = serde_json::from_str(r#"{"b":{"d":[3],"c":2},"a":1}"#).unwrap();
    assert_eq!(Digest::of_json(&one), Digest::of_json(&other));
    assert_ne!(Digest::of_json(&one), Digest::of_json(&json!({"a": 1})));
}

#[test]
fn a_nested_prompt_is_the_same_when_all_of_it_is() {
    let prompt = nested("Is it good?");
    assert_eq!(prompt.digest(), nested("Is it good?").digest());
    for other in [
        NestedPrompt { name: "other".to_owned(), ..prompt.clone() },
        NestedPrompt { system: "other".to_owned(), ..prompt.clone() },
        NestedPrompt { input: "other".to_owned(), ..prompt.clone() },
        NestedPrompt { tools: vec!["other".to_owned()], ..prompt.clone() },
        NestedPrompt { output: Some(form()), ..prompt.clone() },
    ] {
        assert_ne!(other.digest(), prompt.digest());
    }
}

#[test]
fn a_model_call_records_what_its_prompt_was_made_of() {
    let mut table = Table::open(vec![agent("Ada")]);
    table.say("one");
    table.answer("r1.t1.i1", "1");
    table.say("two");
    let records: Vec<_> = table
        .log
        .iter()
        .filter_map(|event| match &event.body {
            Body::Iteration(IterationEvent::ModelCallStarted { prompt, .. }) => {
                Some((prompt.clone(), event.seq))
            }
            _ => None,
        })
        .collect();
    let accepted = Seq(2);
    for (prompt, seq) in &records {
        assert_eq!(prompt.from, accepted, "the first message is in both prompts");
        assert_eq!(Seq(prompt.to.0 + 1), *seq, "everything before the call counts");
        assert_eq!(prompt.template, roundtable_core::prompt::TEMPLATE);
    }
    assert_ne!(records[0].0.hash, records[1].0.hash);
}

#[test]
fn a_prompt_can_be_made_again_from_the_part_of_the_log_that_its_record_names() {
    let mut table = Table::open(vec![agent("Ada")]);
    table.say("one");
    table.answer("r1.t1.i1", "1");
    table.say("two");
    table.say("three");
    table.answer("r2.t1.i1", "2");
    let (rendered, record) = table.live.render(&table.turn("r3.t1")).unwrap();
    let part = table.log.iter().filter(|event| event.seq >= record.from && event.seq <= record.to);
    let again = roundtable_core::Live::resume(table.session().clone(), part, &crate::programs());
    let (repeated, _) = again.render(&table.turn("r3.t1")).unwrap();
    assert_eq!(repeated, rendered);
}
