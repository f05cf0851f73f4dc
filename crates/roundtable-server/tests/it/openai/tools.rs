//! Tools of the caller: the answer ends with their calls, and their results resume the turn.

use roundtable::core::event::{Body, ToolCallEvent};
use roundtable::prelude::*;
use serde_json::{Value, json};

use super::{answer, ask, chunks, completion, say, session, with};
use crate::kit::{self, ANN, BOB};

fn tools(names: &[&str]) -> Value {
    let parameters = json!({ "type": "object", "properties": { "city": { "type": "string" } } });
    let tool = |name: &&str| {
        let function =
            json!({ "name": name, "description": "Looks it up.", "parameters": parameters });
        json!({ "type": "function", "function": function })
    };
    json!({ "tools": names.iter().map(tool).collect::<Vec<_>>() })
}

fn calls(cities: &[&str]) -> Reply {
    Reply::calls(cities.iter().map(|city| Call::new("weather", json!({ "city": city }))))
}

/// Asks for the weather of two cities, then of a third, then answers.
fn script() -> Script {
    let first = Reply { text: "I look.".to_owned(), ..calls(&["Paris", "Rome"]) };
    let replies = [first, calls(&["Oslo"]), Reply::text("Sunny everywhere.")];
    Script::default().voice("supervisor", replies)
}

fn asked() -> Value {
    with(say("How is the weather?"), tools(&["weather"]))
}

/// The request that follows an answer with calls: all messages, and a result for each call.
fn results(answer: &Value, result: &str) -> Value {
    let message = &answer["choices"][0]["message"];
    let calls = message["tool_calls"].as_array().expect("calls").iter();
    let answers =
        calls.map(|call| json!({ "role": "tool", "tool_call_id": call["id"], "content": result }));
    let question = json!({ "role": "user", "content": "How is the weather?" });
    let messages: Vec<Value> = [question, message.clone()].into_iter().chain(answers).collect();
    with(ask("chat", json!(messages)), tools(&["weather"]))
}

#[tokio::test]
async fn an_answer_ends_with_the_calls_and_their_results_resume_that_very_turn() {
    let running = kit::local(script()).await;
    let first = answer(&running, &asked()).await;
    let choice = &first["choices"][0];
    assert_eq!(
        (&choice["finish_reason"], &choice["message"]["content"]),
        (&json!("tool_calls"), &json!("I look."))
    );
    let called: Vec<_> = choice["message"]["tool_calls"]
        .as_array()
        .expect("calls")
        .iter()
        .map(|call| (call["type"].clone(), call["function"].clone()))
        .collect();
    let of = |city: &str| {
        (
            json!("function"),
            json!({ "name": "weather", "arguments": format!("{{\"city\":\"{city}\"}}") }),
        )
    };
    assert_eq!(called, [of("Paris"), of("Rome")]);

    let second = answer(&running, &results(&first, "sunny")).await;
    assert_eq!(second["choices"][0]["finish_reason"], "tool_calls");
    assert_eq!(second["choices"][0]["message"]["content"], Value::Null);
    let third = answer(&running, &results(&second, "sunny")).await;
    assert_eq!(third["choices"][0]["message"]["content"], "Sunny everywhere.");
    assert_eq!(third["choices"][0]["finish_reason"], "stop");

    let kept = session(&running, &first["id"]);
    assert_eq!(kept.id(), session(&running, &third["id"]).id(), "one session");
    assert_ne!(first["id"], third["id"]);
    let state = kept.state().await.expect("a state");
    assert_eq!((state.last_number, state.requests.len()), (1, 0), "one round");
    assert_eq!(running.model.count(), 3);
    assert!(running.model.received()[1].prompt.contains("sunny"));
    running.stop().await;
}

#[tokio::test]
async fn calls_and_results_survive_a_restart_of_the_server() {
    let directory = tempfile::tempdir().expect("a directory");
    let before = kit::on(directory.path(), script()).await;
    let first = answer(&before, &asked()).await;
    before.end().await;
    let after = kit::on(directory.path(), script()).await;
    let second = answer(&after, &results(&first, "rainy")).await;
    assert_eq!(second["choices"][0]["finish_reason"], "tool_calls");
    after.end().await;
    let later = kit::on(directory.path(), script()).await;
    let third = answer(&later, &results(&second, "rainy")).await;
    assert_eq!(third["choices"][0]["message"]["content"], "Sunny everywhere.");
    assert!(later.model.received()[0].prompt.contains("rainy"));
    later.stop().await;
}

#[tokio::test]
async fn results_that_are_sent_again_are_answered_alike_and_run_nothing() {
    let running = kit::local(script()).await;
    let first = answer(&running, &asked()).await;
    let request = results(&first, "sunny");
    let second = answer(&running, &request).await;
    assert_eq!(answer(&running, &request).await, second);
    let third = answer(&running, &results(&second, "sunny")).await;
    assert_eq!(answer(&running, &request).await, second, "also when the turn has gone on");
    assert_eq!(answer(&running, &results(&second, "sunny")).await, third);
    let other = completion(&running, &results(&first, "cloudy")).send().await;
    assert_eq!(other.json()["error"]["code"], "idempotency_key_reused", "{other:?}");
    assert_eq!(running.model.count(), 3);
    running.stop().await;
}

#[tokio::test]
async fn streamed_calls_are_indexed_and_resumed_as_a_stream() {
    let running = kit::local(script()).await;
    let streams = json!({ "stream": true, "stream_options": { "include_usage": true } });
    let parts = chunks(&completion(&running, &with(asked(), streams.clone())).send().await);
    let delta = |part: &Value| part["choices"][0]["delta"]["tool_calls"].clone();
    let found: Vec<Value> = parts.iter().map(delta).filter(|it| !it.is_null()).collect();
    assert_eq!(found.len(), 1, "{parts:?}");
    assert_eq!((&found[0][0]["index"], &found[0][1]["index"]), (&json!(0), &json!(1)));
    assert_eq!(found[0][1]["function"]["name"], "weather");
    assert_eq!(parts[parts.len() - 2]["choices"][0]["finish_reason"], "tool_calls");
    let first =
        json!({ "choices": [{ "message": { "role": "assistant", "tool_calls": found[0] } }] });
    let parts =
        chunks(&completion(&running, &with(results(&first, "sunny"), streams)).send().await);
    assert_eq!(parts[parts.len() - 2]["choices"][0]["finish_reason"], "tool_calls");
    running.stop().await;
}

#[tokio::test]
async fn results_have_to_be_complete_and_of_a_turn_of_the_callers_tenant() {
    let running = kit::tenants(script()).await;
    let first = completion(&running, &asked()).token(ANN).send().await.json();
    let whole = results(&first, "sunny");
    let mut half = whole.clone();
    half["messages"].as_array_mut().expect("messages").pop();
    let missing = first["choices"][0]["message"]["tool_calls"][1]["id"].as_str().expect("an id");
    let refused = completion(&running, &half).token(ANN).send().await;
    let said = refused.json()["error"]["message"].to_string();
    assert!(refused.status == 400 && said.contains(missing), "{refused:?}");
    let strange = completion(&running, &whole).token(BOB).send().await;
    assert_eq!(
        (strange.status, &strange.json()["error"]["code"]),
        (400, &json!("tool_call_not_found"))
    );
    assert_eq!(running.model.count(), 1, "nothing ran");
    let second = completion(&running, &whole).token(ANN).send().await;
    assert_eq!(second.status, 200, "{second:?}");
    running.stop().await;
}

#[tokio::test]
async fn a_worker_and_a_tool_of_the_caller_can_be_called_at_once() {
    let mission = json!({ "agent": "researcher", "mission": "Find it." });
    let both = Reply::calls([
        Call::new("weather", json!({ "city": "Rome" })),
        Call::new("delegate", mission),
    ]);
    let script = Script::default()
        .voice("supervisor", [both, Reply::text("Done.")])
        .voice("researcher", [Reply::text("Found.")]);
    let running = kit::local(script).await;
    let first = answer(&running, &asked()).await;
    let calls = first["choices"][0]["message"]["tool_calls"].as_array().expect("calls");
    assert_eq!(calls.len(), 1, "only the caller's: {first}");
    let second = answer(&running, &results(&first, "sunny")).await;
    assert_eq!(second["choices"][0]["message"]["content"], "Done.");
    let log = session(&running, &first["id"]).log().await.expect("a log");
    let finished = log
        .iter()
        .filter(|event| matches!(&event.body, Body::ToolCall(ToolCallEvent::ToolCallFinished(_))));
    assert_eq!(finished.count(), 2);
    running.stop().await;
}

#[tokio::test]
async fn a_tool_cannot_take_the_name_of_one_of_the_server() {
    let running = kit::local(script()).await;
    for name in ["delegate", "ask", "request_context"] {
        let refused = completion(&running, &with(say("Hi"), tools(&[name]))).send().await;
        assert_eq!(
            (refused.status, &refused.json()["error"]["param"]),
            (400, &json!("tools")),
            "{name}"
        );
    }
    let panel = with(with(say("Hi"), json!({ "model": "debate" })), tools(&["weather"]));
    let refused = completion(&running, &panel).send().await;
    assert_eq!(refused.json()["error"]["code"], "unsupported_parameter", "{refused:?}");
    assert_eq!(running.model.count(), 0);
    running.stop().await;
}

#[tokio::test]
async fn results_of_calls_from_elsewhere_are_history() {
    let running = kit::local(Script::default().voice("supervisor", [Reply::text("Sunny.")])).await;
    let call = json!({ "id": "call_abc123", "type": "function", "function": { "name": "weather", "arguments": "{}" } });
    let messages = json!([
        { "role": "user", "content": "How is the weather?" },
        { "role": "assistant", "content": null, "tool_calls": [call] },
        { "role": "tool", "tool_call_id": "call_abc123", "content": "22 degrees" },
    ]);
    let answer = answer(&running, &ask("chat", messages)).await;
    assert_eq!(answer["choices"][0]["message"]["content"], "Sunny.");
    let prompt = running.model.received().remove(0).prompt;
    assert!(prompt.contains("Assistant: [called weather with {}]\nTool: 22 degrees"), "{prompt}");
    running.stop().await;
}
