//! What each vendor is sent.

use std::sync::{Arc, LazyLock};

use roundtable_core::id::ToolCallId;
use roundtable_core::message::{
    Image, ImageSource, Message, Part, Reasoning, Role, ToolAnswer, ToolRequest,
};
use roundtable_models::catalog::Effort;
use roundtable_models::output::Shape;
use roundtable_models::{Catalog, Profile, Tuning};
use roundtable_ports::{ModelRequest, OutputSchema, ToolChoice};
use serde_json::{Value, json};

use crate::asked::{offering, request};

pub fn profile(model: &str) -> Profile {
    // Read once: a property test asks for it thousands of times.
    static CATALOG: LazyLock<Catalog> = LazyLock::new(|| Catalog::builtin().unwrap());
    CATALOG.profile(model).unwrap()
}

pub fn body(request: &ModelRequest, profile: &Profile) -> Value {
    let shape = Shape::choose(request, profile).unwrap();
    let outgoing = profile.wire.request(request, profile, &shape).unwrap();
    serde_json::from_slice(&outgoing.body).unwrap()
}

/// A turn with a thought, a tool call and its result.
fn looped(wire: &str, payload: Value) -> ModelRequest {
    let id = ToolCallId::new("1").unwrap();
    let call =
        ToolRequest { id: id.clone(), name: "files.read".to_owned(), arguments: json!({"q": 1}) };
    let thought = Reasoning { wire: wire.to_owned(), text: "Hm.".to_owned(), payload };
    let said = vec![Part::Reasoning(thought), Part::ToolCall(call)];
    let answer = ToolAnswer { id, content: "none".to_owned(), value: None, success: false };
    let mut request = offering(request("ann", 1, 2), &["files.read"]);
    let messages = Arc::make_mut(&mut request.messages);
    messages.push(Message { role: Role::Assistant, parts: said });
    messages.push(Message::tool_results(vec![answer]));
    request
}

#[test]
fn chat_gives_thoughts_back_beside_their_calls_where_the_vendor_wants_them() {
    let request = looped("openai_chat/deepseek-chat", json!({"reasoning_content": "Hm."}));
    let deepseek = body(&request, &profile("deepseek/deepseek-chat"));
    let call = json!({"id": "tcl_1", "type": "function", "function": {"name": "files_read", "arguments": "{\"q\":1}"}});
    assert_eq!(
        deepseek["messages"][2],
        json!({"role": "assistant", "content": null, "tool_calls": [call], "reasoning_content": "Hm."})
    );
    assert_eq!(
        deepseek["messages"][3],
        json!({"role": "tool", "tool_call_id": "tcl_1", "name": "files_read", "content": "Error: none"})
    );
    let foreign = body(&looped("gemini/x", json!({})), &profile("deepseek/deepseek-chat"));
    assert_eq!(foreign["messages"][2]["reasoning_content"], "");
    let groq = body(&request, &profile("groq/x"));
    assert_eq!(groq["messages"][2].get("reasoning_content"), None);
    let mistral = body(&request, &profile("mistral/x"));
    let id = mistral["messages"][2]["tool_calls"][0]["id"].as_str().unwrap();
    assert_eq!((id.len(), &mistral["messages"][3]["tool_call_id"]), (9, &json!(id)));
}

#[test]
fn responses_gives_sealed_thoughts_back_and_keeps_nothing_at_the_vendor() {
    let sealed =
        json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"});
    let body = body(&looped("openai_responses/gpt-5", sealed.clone()), &profile("openai/gpt-5"));
    assert_eq!(
        body["input"].as_array().unwrap()[2..],
        [
            sealed,
            json!({"type": "function_call", "call_id": "tcl_1", "name": "files_read", "arguments": "{\"q\":1}"}),
            json!({"type": "function_call_output", "call_id": "tcl_1", "output": "Error: none"}),
        ]
    );
    assert_eq!(body["store"], false);
    assert_eq!(body["include"], json!(["reasoning.encrypted_content"]));
    assert_eq!(body["max_output_tokens"], 100);
    assert_eq!(body["prompt_cache_key"], "ses_mine");
}

#[test]
fn anthropic_gives_signed_thoughts_back_first_and_thinks_as_its_model_can() {
    let signed = json!({"type": "thinking", "thinking": "Hm.", "signature": "s"});
    let mut request = looped("anthropic/claude-sonnet-4-5", signed.clone());
    request.max_tokens = 10_000;
    let thinks = |model: &str, request: &ModelRequest| {
        let tuning = Tuning { effort: Some(Effort::Medium), temperature: Some(0.5) };
        body(request, &Profile { tuning, ..profile(model) })
    };
    let sonnet = thinks("anthropic/claude-sonnet-4-5", &request);
    assert_eq!(
        sonnet["messages"][1]["content"],
        json!([signed, {"type": "tool_use", "id": "tcl_1", "name": "files_read", "input": {"q": 1}}])
    );
    assert_eq!(
        sonnet["messages"][2]["content"],
        json!([{"type": "tool_result", "tool_use_id": "tcl_1", "content": "none", "is_error": true, "cache_control": {"type": "ephemeral"}}])
    );
    assert_eq!(sonnet["thinking"], json!({"type": "enabled", "budget_tokens": 4096}));
    assert_eq!((sonnet.get("temperature"), sonnet.get("output_config")), (None, None));
    let opus = thinks("anthropic/claude-opus-5", &request);
    assert_eq!(opus["thinking"], json!({"type": "adaptive"}));
    assert_eq!(opus["output_config"], json!({"effort": "medium"}));
    let foreign = looped("gemini/x", json!({}));
    assert_eq!(thinks("anthropic/claude-sonnet-4-5", &foreign).get("thinking"), None);
    // A thought is bound to the model that had it.
    let content = &thinks("anthropic/claude-opus-5", &request)["messages"][1]["content"];
    assert_eq!(content[0]["type"], "tool_use");
}

#[test]
fn gemini_gives_signatures_back_on_their_part_and_says_when_there_is_none() {
    let signed = json!({"thoughtSignature": "s", "on": "call", "at": 0});
    let own = body(&looped("gemini/gemini-3-flash", signed), &profile("gemini/gemini-3-flash"));
    let call = json!({"name": "files_read", "args": {"q": 1}});
    assert_eq!(
        own["contents"].as_array().unwrap()[1..],
        [
            json!({"role": "model", "parts": [{"functionCall": call, "thoughtSignature": "s"}]}),
            json!({"role": "user", "parts": [{"functionResponse": {"name": "files_read", "response": {"error": "none"}}}]}),
        ]
    );
    let foreign = looped("anthropic", json!({}));
    let signature = |model: &str| {
        body(&foreign, &profile(model))["contents"][1]["parts"][0].get("thoughtSignature").cloned()
    };
    assert_eq!(signature("gemini/gemini-3-flash"), Some(json!("skip_thought_signature_validator")));
    assert_eq!(signature("gemini/gemini-2.5-flash"), None);
}

#[test]
fn a_tool_choice_is_spelt_as_each_vendor_spells_it() {
    let spelt = |model: &str, choice: ToolChoice| {
        let asked =
            ModelRequest { tool_choice: choice, ..offering(request("ann", 1, 1), &["a.b"]) };
        let body = body(&asked, &profile(model));
        body.get("tool_choice").or(body.get("toolConfig")).cloned().unwrap_or_default()
    };
    let named = || ToolChoice::Named("a.b".to_owned());
    assert_eq!(spelt("groq/x", ToolChoice::Required), "required");
    assert_eq!(spelt("mistral/x", ToolChoice::Required), "any");
    assert_eq!(spelt("groq/x", named()), json!({"type": "function", "function": {"name": "a_b"}}));
    assert_eq!(spelt("groq/x", ToolChoice::Named("gone".to_owned())), "auto");
    assert_eq!(spelt("openai/x", named()), json!({"type": "function", "name": "a_b"}));
    assert_eq!(spelt("anthropic/x", ToolChoice::None), json!({"type": "none"}));
    assert_eq!(spelt("anthropic/claude-sonnet-5-5", named()), json!({"type": "auto"}));
    assert_eq!(spelt("anthropic/x", named()), json!({"type": "tool", "name": "a_b"}));
    let config = json!({"mode": "ANY", "allowedFunctionNames": ["a_b"]});
    assert_eq!(spelt("gemini/x", named()), json!({"functionCallingConfig": config}));
    assert_eq!(spelt("perplexity/sonar", ToolChoice::Required), Value::Null);
}

#[test]
fn a_schema_is_enforced_as_well_as_the_vendor_can() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": false});
    let output = OutputSchema::new("verdict", schema.clone());
    let plain = ModelRequest { output: Some(output), ..request("ann", 1, 1) };
    let with_tools = offering(plain.clone(), &["look", "verdict"]);
    let format = json!({"type": "json_schema", "json_schema": {"name": "verdict", "schema": schema, "strict": true}});
    assert_eq!(body(&plain, &profile("openai-chat/gpt-5"))["response_format"], format);
    let text = &body(&plain, &profile("openai/gpt-5"))["text"]["format"];
    assert_eq!((&text["type"], &text["strict"]), (&json!("json_schema"), &json!(true)));
    let anthropic = body(&plain, &profile("anthropic/x"));
    assert_eq!(
        anthropic["output_config"],
        json!({"format": {"type": "json_schema", "schema": schema}})
    );
    assert_eq!(
        body(&plain, &profile("gemini/x"))["generationConfig"]["responseJsonSchema"],
        schema
    );
    let forced = body(&plain, &profile("groq/x"));
    assert_eq!(forced["tool_choice"]["function"]["name"], "verdict");
    let beside_tools = body(&with_tools, &profile("groq/x"));
    assert_eq!(beside_tools["tool_choice"], "required");
    assert_eq!(beside_tools["tools"][2]["function"]["name"], "verdict_output");
    let told = body(&plain, &profile("deepseek/x"));
    assert!(told["messages"][2]["content"].as_str().unwrap().contains(&schema.to_string()));
    let mut open = plain;
    open.output.as_mut().unwrap().schema = json!({"type": "object"});
    assert_eq!(
        body(&open, &profile("anthropic/x"))["tool_choice"],
        json!({"type": "tool", "name": "verdict"})
    );
    let newest = body(&open, &profile("anthropic/claude-sonnet-5-5"));
    assert_eq!((newest.get("tools"), newest.get("output_config")), (None, None));
    assert!(newest["messages"].to_string().contains("Answer only with JSON"));
    open.output.as_mut().unwrap().schema = json!({"type": 7});
    assert!(Shape::choose(&open, &profile("anthropic/x")).is_err());
}

#[test]
fn pictures_are_sent_as_each_vendor_takes_them() {
    let image = |source| Part::Image(Image { media_type: "image/png".to_owned(), source });
    let parts = vec![
        image(ImageSource::Base64("AAAA".into())),
        image(ImageSource::Url("https://x/y.png".to_owned())),
    ];
    let mut asked = request("ann", 1, 1);
    asked.messages = vec![Message { role: Role::User, parts }].into();
    let data = "data:image/png;base64,AAAA";
    assert_eq!(
        body(&asked, &profile("groq/x"))["messages"][0]["content"],
        json!([{"type": "image_url", "image_url": {"url": data}}, {"type": "image_url", "image_url": {"url": "https://x/y.png"}}])
    );
    assert_eq!(
        body(&asked, &profile("openai/x"))["input"][0]["content"][0],
        json!({"type": "input_image", "image_url": data})
    );
    assert_eq!(
        body(&asked, &profile("anthropic/x"))["messages"][0]["content"],
        json!([
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
            {"type": "image", "source": {"type": "url", "url": "https://x/y.png"}},
        ])
    );
    assert_eq!(
        body(&asked, &profile("gemini/x"))["contents"][0]["parts"],
        json!([
            {"inlineData": {"mimeType": "image/png", "data": "AAAA"}},
            {"fileData": {"mimeType": "image/png", "fileUri": "https://x/y.png"}},
        ])
    );
}

/// A prompt that begins with what all agents share.
fn shared(persona: &str, said: &[&str]) -> ModelRequest {
    let mut asked = request("ann", 1, 1);
    let mut messages = vec![Message::system("Rules.")];
    messages.extend(said.iter().map(|text| Message::user(*text)));
    asked.stable = messages.len();
    messages.push(Message::system(persona));
    asked.messages = messages.into();
    asked
}

#[test]
fn the_shared_part_is_the_same_for_all_agents_and_its_end_is_marked() {
    let claude = profile("anthropic/claude-sonnet-4-5");
    let (ann, bob) =
        (shared("You are Ann.", &["One.", "Two."]), shared("You are Bob.", &["One.", "Two."]));
    let (ann, bob) = (body(&ann, &claude), body(&bob, &claude));
    let marked = json!({"type": "text", "text": "Two.", "cache_control": {"type": "ephemeral"}});
    assert_eq!(ann["system"], json!([{"type": "text", "text": "Rules."}]));
    assert_eq!(ann["messages"][0]["content"][1], marked);
    assert_eq!(
        ann["messages"][0]["content"][2]["text"],
        "<instructions>\nYou are Ann.\n</instructions>"
    );
    assert_eq!(ann["system"], bob["system"]);
    let prefix = |body: &Value| body["messages"][0]["content"].as_array().unwrap()[..2].to_vec();
    assert_eq!(prefix(&ann), prefix(&bob));
    for model in ["openai/gpt-5", "openai-chat/gpt-5", "groq/x"] {
        let one = body(&shared("You are Ann.", &["One.", "Two."]), &profile(model)).to_string();
        let two =
            body(&shared("You are Bob.", &["One.", "Two.", "Three."]), &profile(model)).to_string();
        let messages = |text: &str| {
            let start = text.find("[{").unwrap();
            text[start..text.find("Two.").unwrap()].to_owned()
        };
        assert_eq!(messages(&one), messages(&two), "{model}");
        assert!(one.find("Two.").unwrap() < one.find("You are Ann.").unwrap(), "{model}");
    }
}

#[test]
fn the_same_request_gives_the_same_bytes() {
    let request = looped("anthropic", json!({"type": "thinking", "b": 1, "a": 2}));
    for model in ["openai/gpt-5", "groq/x", "mistral/x", "anthropic/x", "gemini/x"] {
        let bytes = || body(&request, &profile(model)).to_string();
        assert_eq!(bytes(), bytes());
    }
}
