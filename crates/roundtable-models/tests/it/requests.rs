//! Whatever the messages are, each vendor gets a body that it accepts.

use std::collections::BTreeSet;

use proptest::prelude::*;
use roundtable_core::id::ToolCallId;
use roundtable_core::message::{
    Image, ImageSource, Message, Part, Reasoning, Role, ToolAnswer, ToolRequest,
};
use roundtable_models::Profile;
use roundtable_ports::{ModelRequest, ToolChoice};
use serde_json::{Value, json};

use crate::asked::{offering, request};
use crate::bodies::{body, profile};

fn id() -> impl Strategy<Value = ToolCallId> {
    (0..4_u8).prop_map(|n| ToolCallId::new(&n.to_string()).unwrap())
}

fn part() -> impl Strategy<Value = Part> {
    let text = prop_oneof![Just(String::new()), Just(" \n".to_owned()), "[a-zé🙂\"\\\\ ]{1,12}"];
    let call = (id(), "[a-z./ ]{0,8}", any::<bool>()).prop_map(|(id, name, whole)| {
        let arguments = if whole { json!({"q": 1}) } else { json!("not an object") };
        Part::ToolCall(ToolRequest { id, name, arguments })
    });
    let result = (id(), "[a-z]{0,5}", any::<bool>()).prop_map(|(id, content, success)| {
        Part::ToolResult(ToolAnswer { id, content, value: None, success })
    });
    let wire = prop_oneof![
        Just("openai_chat/x"),
        Just("openai_responses/gpt-5"),
        Just("anthropic/claude-sonnet-4-5"),
        Just("gemini/gemini-3-flash")
    ];
    let thought = (wire, any::<bool>()).prop_map(|(wire, sealed)| {
        let payload =
            if sealed { json!({"type": "thinking", "signature": "s"}) } else { Value::Null };
        Part::Reasoning(Reasoning { wire: wire.to_owned(), text: "hm".to_owned(), payload })
    });
    let source = ImageSource::Base64("AAAA".into());
    let image = Part::Image(Image { media_type: "image/png".to_owned(), source });
    prop_oneof![text.prop_map(|text| Part::Text { text }), call, result, thought, Just(image)]
}

fn message() -> impl Strategy<Value = Message> {
    let role = prop_oneof![Just(Role::System), Just(Role::User), Just(Role::Assistant)];
    (role, prop::collection::vec(part(), 0..4)).prop_map(|(role, parts)| Message { role, parts })
}

fn any_request() -> impl Strategy<Value = ModelRequest> {
    let choice = prop_oneof![
        Just(ToolChoice::Auto),
        Just(ToolChoice::None),
        Just(ToolChoice::Required),
        Just(ToolChoice::Named("look".to_owned()))
    ];
    let messages = prop::collection::vec(message(), 0..9);
    (messages, 0_usize..10, choice, any::<bool>()).prop_map(
        |(messages, stable, tool_choice, tools)| {
            let tools: &[&str] = if tools { &["look", "files.read"] } else { &[] };
            let messages = messages.into();
            ModelRequest { messages, stable, tool_choice, ..offering(request("ann", 1, 1), tools) }
        },
    )
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn id_of(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// Each id once.
fn distinct(ids: &[String]) {
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{ids:?}");
}

fn check_chat(request: &ModelRequest, profile: &Profile) {
    let body = body(request, profile);
    let messages = list(&body["messages"]);
    let (mut open, mut all) = (BTreeSet::new(), Vec::new());
    for message in messages {
        let role = message["role"].as_str().unwrap();
        if role == "tool" {
            assert!(
                open.remove(&id_of(&message["tool_call_id"])),
                "a result has its call before it"
            );
            continue;
        }
        assert!(open.is_empty(), "every call has its result right after it");
        let calls = message.get("tool_calls").map(list).unwrap_or_default();
        open.extend(calls.iter().map(|call| id_of(&call["id"])));
        all.extend(open.iter().cloned());
        for call in calls {
            let arguments = call["function"]["arguments"].as_str().unwrap();
            assert!(serde_json::from_str::<Value>(arguments).is_ok());
        }
        let empty = message["content"].as_str().is_some_and(str::is_empty);
        let nothing = message["content"].is_null() && calls.is_empty();
        assert!(!empty && !nothing, "{message}");
    }
    assert!(open.is_empty());
    distinct(&all);
    assert_ne!(messages.last().unwrap()["role"], "assistant");
    let first = messages.iter().find(|message| message["role"] != "system");
    assert_eq!(first.map_or("user", |first| first["role"].as_str().unwrap()), "user");
}

fn check_responses(request: &ModelRequest, profile: &Profile) {
    let body = body(request, profile);
    let (mut open, mut all) = (BTreeSet::new(), Vec::new());
    for item in list(&body["input"]) {
        match item["type"].as_str() {
            Some("function_call") => {
                all.push(id_of(&item["call_id"]));
                assert!(open.insert(id_of(&item["call_id"])));
            }
            Some("function_call_output") => assert!(open.remove(&id_of(&item["call_id"]))),
            _ if item["role"] == "user" => {
                assert!(open.is_empty());
                assert!(!list(&item["content"]).is_empty());
            }
            _ => {}
        }
    }
    assert!(open.is_empty());
    distinct(&all);
}

fn check_anthropic(request: &ModelRequest, profile: &Profile) {
    let body = body(request, profile);
    let messages = list(&body["messages"]);
    let mut all = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let role = if at % 2 == 0 { "user" } else { "assistant" };
        assert_eq!(message["role"], role, "speakers take turns");
        let blocks = list(&message["content"]);
        let thinks = |block: &Value| block["type"] == "thinking";
        assert!(!blocks.iter().all(thinks), "someone says something: {message}");
        let of = |kind: &str, id: &str| -> Vec<String> {
            let found = blocks.iter().filter(|block| block["type"] == kind);
            found.map(|block| id_of(&block[id])).collect()
        };
        for block in blocks.iter().filter(|block| block["type"] == "text") {
            assert!(!block["text"].as_str().unwrap().trim().is_empty());
        }
        let results = of("tool_result", "tool_use_id");
        let asked: Vec<String> = match at
            .checked_sub(1)
            .map(|before| list(&messages[before]["content"]))
        {
            Some(before) => {
                before.iter().filter(|b| b["type"] == "tool_use").map(|b| id_of(&b["id"])).collect()
            }
            None => Vec::new(),
        };
        let sorted = |mut ids: Vec<String>| {
            ids.sort();
            ids
        };
        assert_eq!(sorted(results.clone()), sorted(asked), "calls and results are paired");
        let leading = blocks.iter().take_while(|block| block["type"] == "tool_result").count();
        assert_eq!(leading, results.len(), "results come first");
        all.extend(of("tool_use", "id"));
    }
    distinct(&all);
    assert_eq!(messages.len() % 2, 1, "the model is spoken to last");
    assert!(body.to_string().matches("cache_control").count() <= 4);
}

fn check_gemini(request: &ModelRequest, profile: &Profile) {
    let body = body(request, profile);
    let contents = list(&body["contents"]);
    for (at, content) in contents.iter().enumerate() {
        assert_eq!(content["role"], if at % 2 == 0 { "user" } else { "model" });
        assert!(!list(&content["parts"]).is_empty());
        let names = |content: &Value, kind: &str| {
            let found = list(&content["parts"]).iter().filter_map(|part| part.get(kind));
            let mut names: Vec<String> = found.map(|one| id_of(&one["name"])).collect();
            names.sort();
            names
        };
        let asked = at.checked_sub(1).map(|before| names(&contents[before], "functionCall"));
        assert_eq!(names(content, "functionResponse"), asked.unwrap_or_default());
    }
    assert_eq!(contents.len() % 2, 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_messages_make_a_body_that_its_vendor_accepts(request in any_request()) {
        for model in ["groq/x", "mistral/x", "openai-chat/gpt-5", "deepseek/x", "perplexity/sonar"] {
            check_chat(&request, &profile(model));
        }
        check_responses(&request, &profile("openai/gpt-5"));
        check_anthropic(&request, &profile("anthropic/claude-sonnet-4-5"));
        check_gemini(&request, &profile("gemini/gemini-3-flash"));
    }
}
