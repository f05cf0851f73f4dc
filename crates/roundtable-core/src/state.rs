//! The state of a program: a JSON value that changes by recorded merge patches (RFC 7396) alone.
//!
//! A member that is null is a member that is absent, so a patch can be made between any two states,
//! and back.

use serde_json::{Map, Value};

/// A state without anything in it.
pub(crate) fn empty() -> Value {
    Value::Object(Map::new())
}

pub(crate) fn is_empty(state: &Value) -> bool {
    state.as_object().is_some_and(Map::is_empty)
}

/// What a patch makes of a state.
pub fn merge(state: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *state = patch.clone();
        return;
    };
    if !state.is_object() {
        *state = empty();
    }
    let Value::Object(members) = state else { return };
    for (name, change) in patch {
        if change.is_null() {
            members.remove(name);
        } else {
            merge(members.entry(name.clone()).or_insert(Value::Null), change);
        }
    }
}

/// The patch that makes one state into another.
pub fn diff(from: &Value, to: &Value) -> Value {
    let (Value::Object(from), Value::Object(to)) = (from, to) else {
        return to.clone();
    };
    let gone = from.keys().filter(|name| !to.contains_key(*name));
    let mut patch: Map<String, Value> = gone.map(|name| (name.clone(), Value::Null)).collect();
    for (name, value) in to {
        match from.get(name) {
            Some(before) if before == value => {}
            Some(before) => {
                patch.insert(name.clone(), diff(before, value));
            }
            None => {
                patch.insert(name.clone(), value.clone());
            }
        }
    }
    Value::Object(patch)
}

/// A state as patches can express it: objects without members that are null.
pub fn normal(mut state: Value) -> Value {
    if let Value::Object(members) = &mut state {
        members.retain(|_, value| !value.is_null());
        for value in members.values_mut() {
            *value = normal(value.take());
        }
    }
    state
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn merged(mut state: Value, patch: &Value) -> Value {
        merge(&mut state, patch);
        state
    }

    #[test]
    fn patches_do_what_rfc_7396_says() {
        let state = json!({ "a": "b", "c": { "d": 1, "e": 2 }, "list": [1, 2] });
        let patch =
            json!({ "a": "z", "c": { "e": null }, "list": [3], "new": { "x": null, "y": 1 } });
        let expected = json!({ "a": "z", "c": { "d": 1 }, "list": [3], "new": { "y": 1 } });
        assert_eq!(merged(state, &patch), expected);
        assert_eq!(merged(json!([1]), &json!({ "a": 1 })), json!({ "a": 1 }));
        assert_eq!(merged(json!({ "a": 1 }), &json!([1])), json!([1]));
    }

    #[test]
    fn what_is_the_same_is_not_in_a_patch() {
        let state = json!({ "a": { "b": 1, "c": [1] }, "d": 2 });
        assert_eq!(diff(&state, &state), json!({}));
        let changed = json!({ "a": { "b": 1, "c": [2] } });
        assert_eq!(diff(&state, &changed), json!({ "a": { "c": [2] }, "d": null }));
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[a-c]{0,3}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-d]", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    /// A state of a program that is a struct or a map.
    fn any_state() -> impl Strategy<Value = Value> {
        prop::collection::btree_map("[a-d]", any_json(), 0..4)
            .prop_map(|map| normal(Value::Object(map.into_iter().collect())))
    }

    proptest! {
        #[test]
        fn a_patch_between_two_states_leads_from_one_to_the_other(a in any_state(), b in any_state()) {
            prop_assert_eq!(merged(a.clone(), &diff(&a, &b)), b);
        }

        #[test]
        fn every_patch_can_be_undone(state in any_state(), patch in any_json()) {
            let after = merged(state.clone(), &patch);
            let undo = diff(&after, &state);
            prop_assert_eq!(merged(after, &undo), state);
        }

        #[test]
        fn a_state_stays_expressible_whatever_patches_do(state in any_state(), patch in any_state()) {
            let after = merged(state, &patch);
            prop_assert_eq!(normal(after.clone()), after);
        }
    }
}
