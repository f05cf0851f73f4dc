//! Who answers, and what with.

use roundtable::core::agent::Agent;
use roundtable::prelude::*;
use roundtable_server::Settings;
use serde_json::{Value, json};

use super::{answer, ask, chunks, completion, say, session, text_of, with};
use crate::client::{get, request};
use crate::kit::{self, ANN, BOB};

fn supervisor(text: &str) -> Script {
    Script::default().voice("supervisor", [Reply::text(text)])
}

#[tokio::test]
async fn models_are_supervisors_and_panels() {
    let engine = Engine::builder().custom_model("scripted", ScriptedModel::new(Script::default()));
    let engine = engine.agents([Agent::new("Critic", "scripted").expect("a name")]);
    let serving = kit::serve(engine.build().await.expect("an engine"), Settings::default()).await;
    let list = get(serving.address, "/v1/models").send().await.json();
    let models = list["data"].as_array().expect("models").iter();
    let names: Vec<&str> = models.filter_map(|model| model["id"].as_str()).collect();
    assert_eq!(
        names,
        [
            "chat",
            "chat:critic",
            "debate:collaborative",
            "debate:adversarial",
            "debate:socratic",
            "debate:expert-panel",
            "debate:devils-advocate",
            "debate:delphi",
            "debate:red-team-blue-team",
            "debate:council",
        ]
    );
    let one = get(serving.address, "/v1/models/chat:critic").send().await;
    let described =
        json!({ "id": "chat:critic", "object": "model", "created": 0, "owned_by": "roundtable" });
    assert_eq!((one.status, one.json()), (200, described));
    serving.stop().await;
}

#[tokio::test]
async fn a_request_is_answered_with_text_and_usage() {
    let running = kit::local(supervisor("Paris.")).await;
    let answer = answer(&running, &say("The capital of France?")).await;
    let choice = json!({
        "index": 0,
        "message": { "role": "assistant", "content": "Paris.", "refusal": null },
        "logprobs": null,
        "finish_reason": "stop",
    });
    assert_eq!(answer["choices"], json!([choice]));
    assert_eq!((&answer["object"], &answer["model"]), (&json!("chat.completion"), &json!("chat")));
    assert!(answer["created"].as_i64() > Some(1_700_000_000), "{answer}");
    let usage = &answer["usage"];
    assert_eq!(usage["completion_tokens"], 1);
    let total = usage["prompt_tokens"].as_u64().map(|prompt| prompt + 1);
    assert_eq!(usage["total_tokens"].as_u64(), total);
    running.stop().await;
}

#[tokio::test]
async fn the_messages_of_the_request_are_the_history() {
    let running = kit::local(supervisor("Yes.")).await;
    let messages = json!([
        { "role": "system", "content": "Answer in one word." },
        { "role": "user", "content": [{ "type": "text", "text": "My name is Ann." }] },
        { "role": "assistant", "content": "Hello Ann." },
        { "role": "user", "content": "Do you know my name?" },
    ]);
    answer(&running, &ask("chat", messages)).await;
    let prompt = running.model.received().remove(0).prompt;
    for told in [
        "Instructions of the application that you answer in:\nAnswer in one word.",
        "User: My name is Ann.\nAssistant: Hello Ann.\n\nUser: Do you know my name?",
    ] {
        assert!(prompt.contains(told), "{prompt}");
    }
    // The next request brings its own history: nothing is left of this one.
    answer(&running, &say("And now?")).await;
    let prompt = running.model.received().remove(1).prompt;
    assert!(!prompt.contains("Ann") && !prompt.contains("one word"), "{prompt}");
    running.stop().await;
}

#[tokio::test]
async fn a_streamed_answer_has_the_same_text_in_chunks_and_ends_with_done() {
    let said = "One two three, four five six.";
    let script = Script::default().voice("supervisor", [Reply::text(said).in_pieces(7, 0)]);
    let running = kit::local(script).await;
    let streamed = with(say("Count."), json!({ "stream": true }));
    let answer = completion(&running, &streamed).send().await;
    assert!(answer.headers.contains("content-type: text/event-stream"), "{answer:?}");
    let parts = chunks(&answer);
    assert_eq!(text_of(&parts), said);
    let first = &parts[0]["choices"][0];
    assert_eq!(first["delta"], json!({ "role": "assistant", "content": "" }));
    let last = &parts[parts.len() - 1]["choices"][0];
    assert_eq!((&last["delta"], &last["finish_reason"]), (&json!({}), &json!("stop")));
    for part in &parts {
        assert_eq!(
            (&part["id"], &part["object"]),
            (&parts[0]["id"], &json!("chat.completion.chunk"))
        );
        assert_eq!(part.get("usage"), None, "nobody asked for it");
    }
    let counted = with(streamed, json!({ "stream_options": { "include_usage": true } }));
    let parts = chunks(&completion(&running, &counted).send().await);
    let (last, others) = parts.split_last().expect("chunks");
    assert_eq!((&last["choices"], &last["usage"]["completion_tokens"]), (&json!([]), &json!(6)));
    assert!(others.iter().all(|part| part.get("usage") == Some(&Value::Null)), "{others:?}");
    running.stop().await;
}

#[tokio::test]
async fn a_worker_counts_and_is_not_part_of_the_text() {
    let mission = json!({ "agent": "researcher", "mission": "Find it." });
    let delegates =
        Reply { text: "Let me ask.".to_owned(), ..Reply::calls([Call::new("delegate", mission)]) };
    let script = Script::default()
        .voice("supervisor", [delegates, Reply::text("It is 42.")])
        .voice("researcher", [Reply::text("Forty two.")]);
    let running = kit::local(script).await;
    let whole = answer(&running, &say("What is it?")).await;
    assert_eq!(whole["choices"][0]["message"]["content"], "Let me ask.\n\nIt is 42.");
    assert_eq!(whole["usage"]["completion_tokens"], 3 + 3 + 2, "{whole}");
    let streamed = with(say("What is it?"), json!({ "stream": true }));
    let parts = chunks(&completion(&running, &streamed).send().await);
    assert_eq!(text_of(&parts), "Let me ask.\n\nIt is 42.");
    running.stop().await;
}

#[tokio::test]
async fn a_request_is_kept_in_a_session_that_no_list_shows() {
    let running = kit::tenants(supervisor("Paris.")).await;
    let answer = completion(&running, &say("The capital?")).token(ANN).send().await;
    let kept = session(&running, &answer.json()["id"]);
    let header = format!("x-request-id: {}", kept.id());
    assert!(answer.headers.contains(&header), "{answer:?}");
    for path in ["/api/sessions", "/api/sessions?kind=chat", "/api/sessions?archived=true"] {
        let list = get(running.address, path).token(ANN).send().await;
        assert_eq!((list.status, &list.json()["sessions"]), (200, &json!([])), "{path}");
    }
    let search = get(running.address, "/api/search?q=Paris").token(ANN).send().await;
    assert_eq!((search.status, search.body.contains("Paris.")), (200, false), "{search:?}");
    let by_kind = get(running.address, "/api/sessions?kind=completion").token(ANN).send().await;
    assert_eq!(by_kind.json()["sessions"][0]["sessionId"], json!(kept.id()), "{by_kind:?}");
    let path = format!("/api/sessions/{}", kept.id());
    let read = async |token| get(running.address, &path).token(token).send().await;
    assert_eq!(read(ANN).await.json()["kind"], "completion");
    assert_eq!(read(BOB).await.status, 404, "it is the caller's tenant's");
    let messages = format!("{path}/messages");
    let messages = get(running.address, &messages).token(ANN).send().await.json();
    assert_eq!(messages["messages"][1]["content"], "Paris.");
    let deleted = request(running.address, "DELETE", &path).token(ANN).send().await;
    assert_eq!((deleted.status, read(ANN).await.status), (200, 404), "{deleted:?}");
    running.stop().await;
}

#[tokio::test]
async fn a_configured_agent_answers_under_its_own_name_with_its_workers() {
    let mut critic = Agent::new("Critic", "scripted").expect("a name");
    let helper = Agent::new("Helper", "scripted").expect("a name");
    critic.workers = vec![helper.id.clone()];
    let script = Script::default().voice("critic", [Reply::text("I doubt it.")]);
    let engine = Engine::builder().custom_model("scripted", ScriptedModel::new(script));
    let engine = engine.agents([critic, helper]).build().await.expect("an engine");
    let serving = kit::serve(engine, Settings::default()).await;
    let request = ask("chat:critic", json!([{ "role": "user", "content": "Well?" }]));
    let answer = crate::client::post(serving.address, "/v1/chat/completions", &request);
    let answer = answer.send().await.json();
    assert_eq!(answer["choices"][0]["message"]["content"], "I doubt it.");
    assert_eq!(answer["model"], "chat:critic");
    serving.stop().await;
}

#[tokio::test]
async fn a_panel_answers_with_a_report_on_its_debate() {
    let says = |text: &str| Reply::text(json!({ "position": text, "confidence": 0.8 }).to_string());
    let script = Script::default()
        .voice("proponent-1", [says("Yes, because it pays.")])
        .voice("opponent-1", [says("No, because it costs.")]);
    let running = kit::local(script).await;
    let messages = json!([
        { "role": "user", "content": "We are ten people." },
        { "role": "assistant", "content": "Noted." },
        { "role": "user", "content": "Shall we move?" },
    ]);
    let request = ask("debate:adversarial", messages);
    let whole = answer(&running, &request).await;
    let text = whole["choices"][0]["message"]["content"].as_str().expect("text");
    for part in [
        "## Result",
        "Shall we move?",
        "We are ten people.",
        "Yes, because it pays.",
        "No, because it costs.",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(whole["choices"][0]["finish_reason"], "stop");
    assert!(whole["usage"]["completion_tokens"].as_u64() > Some(0), "{whole}");
    let parts =
        chunks(&completion(&running, &with(request, json!({ "stream": true }))).send().await);
    assert!(text_of(&parts).contains("No, because it costs."), "{parts:?}");
    let debates = get(running.address, "/api/debates").send().await.json();
    assert_eq!(debates["sessions"], json!([]), "{debates}");
    running.stop().await;
}

#[tokio::test]
async fn an_answer_can_be_data_of_a_schema_and_as_long_as_the_request_allows() {
    let running = kit::local(supervisor("{\"city\": \"Paris\"}")).await;
    let schema = json!({ "type": "object", "properties": { "city": { "type": "string" } } });
    let format =
        json!({ "type": "json_schema", "json_schema": { "name": "place", "schema": schema } });
    let more = json!({ "response_format": format, "max_completion_tokens": 50, "temperature": 0 });
    let answer = answer(&running, &with(say("Where?"), more)).await;
    assert_eq!(answer["choices"][0]["message"]["content"], "{\"city\": \"Paris\"}");
    let state = session(&running, &answer["id"]).state().await.expect("a state");
    let supervisor = &state.agents[0];
    assert_eq!(supervisor.max_tokens, 50);
    assert_eq!(supervisor.output.as_ref().map(|it| it.schema.clone()), Some(schema));
    assert!(supervisor.find_tool("ask").is_none(), "nobody is there to be asked");
    running.stop().await;
}
