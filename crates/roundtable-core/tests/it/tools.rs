//! The tool loop: calls run side by side, results go back in the order of the calls.

use roundtable_core::input::{AskedCall, Ran, Report};
use roundtable_core::message::{Part, Role};
use roundtable_core::settings::Settings;
use roundtable_core::tool::{Effect, ToolDecl, ToolResult};
use serde_json::json;

use crate::table::{Table, agent, agent_with, ask};

fn searcher() -> Table {
    let tools = vec![ToolDecl::handler("search", Effect::Pure)];
    Table::open(vec![agent_with("Ada", tools)])
}

#[test]
fn a_reply_with_a_tool_call_runs_the_tool_and_asks_the_model_again() {
    let mut table = searcher();
    table.say("Who?");
    table.asks("r1.t1.i1", "Let me look.", vec![ask("search", json!({"q": "who"}))]);
    table.returns("r1.t1.i1.c1", "nobody");
    table.answer("r1.t1.i2", "Nobody.");
    insta::assert_snapshot!(table.trace(), @r#"
    session accepted m1 "Who?"
    r1 opened as round 1 take 1 by m1 message 1
    r1.t1 started ada seat 0.0
    r1.t1.i1 opened 1
    r1.t1.i1 model started #1
      wants model r1.t1.i1 #1
    r1.t1.i1 model finished #1 "Let me look." 1 calls
    r1.t1.i1.c1 requested search {"q":"who"} pure
    r1.t1.i1.c1 started #1
      wants tool r1.t1.i1.c1 #1
    r1.t1.i1.c1 finished ok "nobody"
    r1.t1.i1 closed tools done
    r1.t1.i2 opened 2
    r1.t1.i2 model started #1
      wants model r1.t1.i2 #1
    r1.t1.i2 model finished #1 "Nobody." 0 calls
    r1.t1.i2 closed answered
    r1.t1 ended answered message 2
    r1 closed completed
      wants nothing
    "#);
}

/// What the model is told of its calls in its next prompt.
fn results(table: &Table, turn: &str) -> Vec<(String, String, bool)> {
    let (rendered, _) = table.live.render(&table.turn(turn)).unwrap();
    let last = rendered.messages.last().unwrap();
    assert_eq!(last.role, Role::User);
    let told = |part: &Part| match part {
        Part::ToolResult(answer) => {
            (table.labels.of(answer.id.as_str()), answer.content.clone(), answer.success)
        }
        other => panic!("only results are in this message: {other:?}"),
    };
    last.parts.iter().map(told).collect()
}

#[test]
fn f06_results_go_back_in_the_order_of_the_calls_not_of_their_arrival() {
    let mut table = searcher();
    table.say("Compare.");
    let calls = ["a", "b", "c"].map(|q| ask("search", json!({"q": q})));
    table.asks("r1.t1.i1", "", calls.to_vec());
    table.returns("r1.t1.i1.c3", "third");
    table.returns("r1.t1.i1.c1", "first");
    table.returns("r1.t1.i1.c2", "second");
    insta::assert_snapshot!(table.trace(), @r#"
    session accepted m1 "Compare."
    r1 opened as round 1 take 1 by m1 message 1
    r1.t1 started ada seat 0.0
    r1.t1.i1 opened 1
    r1.t1.i1 model started #1
      wants model r1.t1.i1 #1
    r1.t1.i1 model finished #1 "" 3 calls
    r1.t1.i1.c1 requested search {"q":"a"} pure
    r1.t1.i1.c2 requested search {"q":"b"} pure
    r1.t1.i1.c3 requested search {"q":"c"} pure
    r1.t1.i1.c1 started #1
    r1.t1.i1.c2 started #1
    r1.t1.i1.c3 started #1
      wants tool r1.t1.i1.c1 #1, tool r1.t1.i1.c2 #1, tool r1.t1.i1.c3 #1
    r1.t1.i1.c3 finished ok "third"
      wants tool r1.t1.i1.c1 #1, tool r1.t1.i1.c2 #1
    r1.t1.i1.c1 finished ok "first"
      wants tool r1.t1.i1.c2 #1
    r1.t1.i1.c2 finished ok "second"
    r1.t1.i1 closed tools done
    r1.t1.i2 opened 2
    r1.t1.i2 model started #1
      wants model r1.t1.i2 #1
    "#);
    let told = |label: &str, text: &str| (label.to_owned(), text.to_owned(), true);
    assert_eq!(
        results(&table, "r1.t1"),
        [told("r1.t1.i1.c1", "first"), told("r1.t1.i1.c2", "second"), told("r1.t1.i1.c3", "third")]
    );
}

#[test]
fn f06_after_a_crash_between_two_calls_only_the_unfinished_one_runs_again() {
    let mut table = searcher();
    table.say("Compare.");
    let calls = ["a", "b"].map(|q| ask("search", json!({"q": q})));
    table.asks("r1.t1.i1", "", calls.to_vec());
    table.returns("r1.t1.i1.c2", "second");
    table.trace();
    table.ok(Report::WriterChanged);
    table.returns("r1.t1.i1.c1", "first");
    insta::assert_snapshot!(table.trace(), @r#"
    r1.t1.i1.c1 interrupted #1
    r1.t1.i1.c1 started #2
      wants tool r1.t1.i1.c1 #2
    r1.t1.i1.c1 finished ok "first"
    r1.t1.i1 closed tools done
    r1.t1.i2 opened 2
    r1.t1.i2 model started #1
      wants model r1.t1.i2 #1
    "#);
    let told = |label: &str, text: &str| (label.to_owned(), text.to_owned(), true);
    assert_eq!(
        results(&table, "r1.t1"),
        [told("r1.t1.i1.c1", "first"), told("r1.t1.i1.c2", "second")]
    );
}

#[test]
fn every_failure_of_a_tool_is_data_for_the_model() {
    let mut table = searcher();
    table.say("Try.");
    let misfit = Some("\"q\" must be a string".to_owned());
    let calls = vec![
        ask("serach", json!({})),
        AskedCall { misfit, ..ask("search", json!({"q": 1})) },
        ask("search", json!({"q": "error"})),
        ask("search", json!({"q": "gone"})),
        ask("search", json!({"q": "timeout"})),
    ];
    table.asks("r1.t1.i1", "", calls);
    let failed = Ran::Returned(ToolResult::failed("the index is corrupt"));
    table.ok(table.ran("r1.t1.i1.c3", failed));
    table.ok(table.ran("r1.t1.i1.c4", Ran::Refused("the tool is gone".to_owned())));
    table.ok(table.ran("r1.t1.i1.c5", Ran::CutOff("no answer for 30 s".to_owned())));
    insta::assert_snapshot!(table.trace(), @r#"
    session accepted m1 "Try."
    r1 opened as round 1 take 1 by m1 message 1
    r1.t1 started ada seat 0.0
    r1.t1.i1 opened 1
    r1.t1.i1 model started #1
      wants model r1.t1.i1 #1
    r1.t1.i1 model finished #1 "" 5 calls
    r1.t1.i1.c1 requested serach {} pure
    r1.t1.i1.c1 finished failed "unknown tool \"serach\"; available: search"
    r1.t1.i1.c2 requested search {"q":1} pure
    r1.t1.i1.c2 finished failed "\"q\" must be a string"
    r1.t1.i1.c3 requested search {"q":"error"} pure
    r1.t1.i1.c4 requested search {"q":"gone"} pure
    r1.t1.i1.c5 requested search {"q":"timeout"} pure
    r1.t1.i1.c3 started #1
    r1.t1.i1.c4 started #1
    r1.t1.i1.c5 started #1
      wants tool r1.t1.i1.c3 #1, tool r1.t1.i1.c4 #1, tool r1.t1.i1.c5 #1
    r1.t1.i1.c3 finished failed "the index is corrupt"
      wants tool r1.t1.i1.c4 #1, tool r1.t1.i1.c5 #1
    r1.t1.i1.c4 finished failed "the tool is gone"
      wants tool r1.t1.i1.c5 #1
    r1.t1.i1.c5 finished failed "no answer for 30 s"
    r1.t1.i1 closed tools done
    r1.t1.i2 opened 2
    r1.t1.i2 model started #1
      wants model r1.t1.i2 #1
    "#);
    assert!(results(&table, "r1.t1").iter().all(|(_, _, success)| !success));
}

#[test]
fn an_agent_without_tools_is_told_to_answer_without_them() {
    let mut table = Table::open(vec![agent("Ada")]);
    table.say("Try.");
    table.asks("r1.t1.i1", "", vec![ask("search", json!({}))]);
    let (_, told, _) = results(&table, "r1.t1").remove(0);
    assert_eq!(told, "unknown tool \"search\"; answer without tools");
}

#[test]
fn f29_a_wrong_tool_name_is_repeated_to_the_model_only_in_part() {
    let mut table = Table::open(vec![agent("Ada")]);
    table.say("Try.");
    table.asks("r1.t1.i1", "", vec![ask(&"x".repeat(100_000), json!({}))]);
    let (_, told, _) = results(&table, "r1.t1").remove(0);
    assert!(told.len() < 200, "{} bytes", told.len());
}

#[test]
fn f29_a_reply_with_too_many_calls_fails_and_runs_none_of_them() {
    let settings = Settings { max_tool_calls: 2, ..Settings::default() };
    let tools = vec![ToolDecl::handler("search", Effect::Pure)];
    let mut table = Table::open_with(vec![agent_with("Ada", tools)], settings);
    table.say("Go wild.");
    table.asks("r1.t1.i1", "", vec![ask("search", json!({})); 3]);
    insta::assert_snapshot!(table.trace(), @r#"
    session accepted m1 "Go wild."
    r1 opened as round 1 take 1 by m1 message 1
    r1.t1 started ada seat 0.0
    r1.t1.i1 opened 1
    r1.t1.i1 model started #1
      wants model r1.t1.i1 #1
    r1.t1.i1 model failed #1: the model requested 3 tool calls at once; the limit is 2
    r1.t1.i1 closed failed
    r1.t1 ended failed: the model requested 3 tool calls at once; the limit is 2
    r1 closed failed
      wants nothing
    "#);
}

#[test]
fn f29_an_empty_reply_is_an_answer_and_no_crash() {
    let mut table = searcher();
    table.say("Say nothing.");
    table.answer("r1.t1.i1", "");
    assert_eq!(table.session().rounds_completed, 1);
    table.say("And now?");
    assert!(table.prompt("r2.t1").contains("User: Say nothing.\nAda: \n"));
}

#[test]
fn f28_a_model_that_cannot_answer_fails_its_turn_and_not_the_round() {
    let mut table = Table::open(vec![agent("Ada"), agent("Bob")]);
    table.say("Hello");
    table.trace();
    table.fails("r1.t1.i1", "429 for the fifth time");
    table.answer("r1.t2.i1", "Here.");
    insta::assert_snapshot!(table.trace(), @r#"
    r1.t1.i1 model failed #1: 429 for the fifth time
    r1.t1.i1 closed failed
    r1.t1 ended failed: 429 for the fifth time
      wants model r1.t2.i1 #1
    r1.t2.i1 model finished #1 "Here." 0 calls
    r1.t2.i1 closed answered
    r1.t2 ended answered message 2
    r1 closed completed
      wants nothing
    "#);
}

#[test]
fn what_a_handler_publishes_is_noted_once_however_often_it_runs() {
    let mut table = searcher();
    table.say("Who?");
    table.asks("r1.t1.i1", "", vec![ask("search", json!({}))]);
    table.trace();
    let publish = |table: &Table, ordinal: u32| Report::Publish {
        tool_call: table.call("r1.t1.i1.c1"),
        ordinal,
        topic: "progress".to_owned(),
        data: json!({"page": ordinal}),
    };
    table.ok(publish(&table, 1));
    table.ok(publish(&table, 2));
    table.ok(Report::WriterChanged);
    table.ok(publish(&table, 1));
    table.ok(publish(&table, 2));
    table.ok(publish(&table, 3));
    table.returns("r1.t1.i1.c1", "done");
    insta::assert_snapshot!(table.trace(), @r#"
    r1.t1.i1.c1 published 1 progress {"page":1}
      wants tool r1.t1.i1.c1 #1
    r1.t1.i1.c1 published 2 progress {"page":2}
      wants tool r1.t1.i1.c1 #1
    r1.t1.i1.c1 interrupted #1
    r1.t1.i1.c1 started #2
      wants tool r1.t1.i1.c1 #2
      wants tool r1.t1.i1.c1 #2
      wants tool r1.t1.i1.c1 #2
    r1.t1.i1.c1 published 3 progress {"page":3}
      wants tool r1.t1.i1.c1 #2
    r1.t1.i1.c1 finished ok "done"
    r1.t1.i1 closed tools done
    r1.t1.i2 opened 2
    r1.t1.i2 model started #1
      wants model r1.t1.i2 #1
    "#);
    let late = table.refused(publish(&table, 4)).to_string();
    assert_eq!(
        table.labels.replace(&late),
        "tool call r1.t1.i1.c1 has already ended; this result is not recorded"
    );
}

#[test]
fn a_prompt_shows_calls_and_results_to_the_model_that_made_them() {
    let mut table = searcher();
    table.say("Who?");
    table.asks("r1.t1.i1", "Looking.", vec![ask("search", json!({"q": "who"}))]);
    table.returns("r1.t1.i1.c1", "nobody");
    let (rendered, record) = table.live.render(&table.turn("r1.t1")).unwrap();
    let json = serde_json::to_string_pretty(&rendered.messages).unwrap();
    insta::assert_snapshot!(table.labels.replace(&json), @r#"
    [
      {
        "role": "system",
        "parts": [
          {
            "type": "text",
            "text": "You are Ada."
          }
        ]
      },
      {
        "role": "user",
        "parts": [
          {
            "type": "text",
            "text": "User: Who?"
          }
        ]
      },
      {
        "role": "assistant",
        "parts": [
          {
            "type": "text",
            "text": "Looking."
          },
          {
            "type": "tool_call",
            "id": "r1.t1.i1.c1",
            "name": "search",
            "arguments": {
              "q": "who"
            }
          }
        ]
      },
      {
        "role": "user",
        "parts": [
          {
            "type": "tool_result",
            "id": "r1.t1.i1.c1",
            "content": "nobody",
            "success": true
          }
        ]
      }
    ]
    "#);
    assert_eq!(rendered.tools, ["search"]);
    assert_eq!(record.hash, rendered.hash);
}
