//! The value of a tool's result: the model receives it after the message, and the iteration keeps
//! it with its tool call.

use roundtable_core::message::{Part, ToolAnswer};
use roundtable_core::tool::ToolResult;
use roundtable_models::scripted::ScriptedModel;
use roundtable_models::scripted::{Call, Reply, Script};
use roundtable_testing::{FnTool, Kit, RecordingModel};
use serde_json::json;

use crate::seen::{armed, one_round};

/// What the next prompt says of a call that returned this, and what it is charged for.
async fn told(result: ToolResult) -> (String, ToolAnswer) {
    let returned = result.clone();
    let look = FnTool::new("look", move |_, _| {
        let returned = returned.clone();
        Box::pin(async move { Ok(returned) })
    });
    let mut ann = armed("Ann", [look.declare()]);
    ann.model = "recorded".to_owned();
    let script = Script::default()
        .voice("ann", [Reply::calls([Call::new("look", json!({}))]), Reply::text("Done.")]);
    let model = RecordingModel::new(ScriptedModel::new(script));
    let kit = Kit::new(Script::default()).tool(look).model("recorded", model.clone());
    let engine = kit.start().await;
    one_round(&engine, vec![ann]).await;
    engine.shutdown().await;
    let last = model.requests().last().unwrap().messages.last().unwrap().clone();
    let [Part::ToolResult(answer)] = &last.parts[..] else { panic!("{last:?}") };
    let text = answer.text().into_owned();
    assert_eq!(last.content_bytes(), text.len() as u64);
    (text, answer.clone())
}

#[tokio::test(start_paused = true)]
async fn r002_9_the_model_receives_the_value_after_the_message() {
    let (text, answer) = told(ToolResult::ok("added").with_value(json!({ "sum": 5 }))).await;
    assert_eq!(text, "added\n{\"sum\":5}");
    assert_eq!((answer.content.as_str(), answer.value), ("added", Some(json!({ "sum": 5 }))));
    let (text, _) = told(ToolResult::failed("no").with_value(json!([1]))).await;
    assert_eq!(text, "no\n[1]");
    let (text, _) = told(ToolResult::ok("").with_value(json!("x"))).await;
    assert_eq!(text, "\"x\"");
}

#[tokio::test(start_paused = true)]
async fn a_value_that_the_message_says_already_is_not_repeated() {
    let value = json!({ "sum": [5, "x"] });
    for message in [value.to_string(), format!("{value:#}\n")] {
        let (text, _) = told(ToolResult::ok(&message).with_value(value.clone())).await;
        assert_eq!(text, message);
    }
    let (text, _) = told(ToolResult::ok("5").with_value(json!(5))).await;
    assert_eq!(text, "5");
    let (text, _) = told(ToolResult::ok("{other}").with_value(value.clone())).await;
    assert_eq!(text, format!("{{other}}\n{value}"));
}
