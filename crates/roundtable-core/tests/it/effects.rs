//! Effectful calls: begun by a commit of their own, never repeated, never guessed.

use roundtable_core::agent::Agent;
use roundtable_core::context_request::{ContextResult, Decision, Priority};
use roundtable_core::input::{Command, Ran, Report};
use roundtable_core::tool::{Effect, ToolDecl};
use serde_json::{Value, json};

use crate::table::{Table, agent_with, ask};

fn bank() -> Table {
    let tools =
        vec![ToolDecl::handler("pay", Effect::Effectful), ToolDecl::handler("rate", Effect::Pure)];
    Table::open(vec![Agent { max_iterations: 20, ..agent_with("Ada", tools) }])
}

fn pay() -> Value {
    json!({"to": "Bob", "crowns": 12})
}

/// A payment that has started.
fn paying() -> Table {
    let mut table = bank();
    table.say("Pay him.");
    table.asks("r1.t1.i1", "", vec![ask("pay", pay())]);
    table.begins("r1.t1.i1.c1");
    table
}

#[test]
fn an_effectful_call_is_begun_by_a_commit_of_its_own() {
    let mut table = bank();
    table.say("Pay him.");
    table.trace();
    table.asks("r1.t1.i1", "", vec![ask("pay", pay()), ask("rate", json!({}))]);
    table.begins("r1.t1.i1.c1");
    table.refused(Report::EffectBegins { tool_call: table.call("r1.t1.i1.c1") });
    table.returns("r1.t1.i1.c1", "paid");
    insta::assert_snapshot!(table.trace(), @r#"
    r1.t1.i1 model finished #1 "" 2 calls
    r1.t1.i1.c1 requested pay {"crowns":12,"to":"Bob"} effectful
    r1.t1.i1.c2 requested rate {} pure
    r1.t1.i1.c2 started #1
      wants effect r1.t1.i1.c1, tool r1.t1.i1.c2 #1
    r1.t1.i1.c1 started #1
      wants tool r1.t1.i1.c1 #1, tool r1.t1.i1.c2 #1
      refused: tool call r1.t1.i1.c1 has already ended; this result is not recorded
    r1.t1.i1.c1 finished ok "paid"
      wants tool r1.t1.i1.c2 #1
    "#);
}

#[test]
fn an_effectful_call_that_timed_out_is_unknown_and_a_required_question() {
    let mut table = paying();
    table.trace();
    table.ok(table.ran("r1.t1.i1.c1", Ran::CutOff("no answer for 30 s".to_owned())));
    insta::assert_snapshot!(table.trace(), @r"
    r1.t1.i1.c1 asked q1 by ada, required outcome: Did the call of pay (r1.t1.i1.c1) take effect?
    r1.t1.i1.c1 finished unknown, see q1
    r1.t1.i1 closed tools done
    r1.t1.i2 opened 2
    r1.t1.i2 model started #1
      wants model r1.t1.i2 #1
    ");
    let request = &table.session().requests[0];
    assert_eq!(request.priority, Priority::Required);
    assert_eq!(
        request.reason,
        "The call started, and no answer for 30 s. Do not repeat it without knowing its outcome."
    );
}

#[test]
fn an_equal_call_is_refused_until_the_question_is_answered() {
    let mut table = paying();
    table.ok(table.ran("r1.t1.i1.c1", Ran::CutOff("timeout".to_owned())));
    table.trace();
    let other = ask("pay", json!({"to": "Bob", "crowns": 13}));
    table.asks("r1.t1.i2", "", vec![ask("pay", pay()), other]);
    insta::assert_snapshot!(table.trace(), @r#"
    r1.t1.i2 model finished #1 "" 2 calls
    r1.t1.i2.c1 requested pay {"crowns":12,"to":"Bob"} effectful
    r1.t1.i2.c1 finished failed "not run: an equal call of pay may already have taken effect (q1); wait for the answer"
    r1.t1.i2.c2 requested pay {"crowns":13,"to":"Bob"} effectful
      wants effect r1.t1.i2.c2
    "#);
    table.begins("r1.t1.i2.c2");
    table.returns("r1.t1.i2.c2", "paid 13");
    table.ok(Command::Provide(vec![table.decided("q1", Decision::DidNotHappen)]));
    table.trace();
    table.asks("r1.t1.i3", "", vec![ask("pay", pay())]);
    insta::assert_snapshot!(table.trace(), @r#"
    r1.t1.i3 model finished #1 "" 1 calls
    r1.t1.i3.c1 requested pay {"crowns":12,"to":"Bob"} effectful
      wants effect r1.t1.i3.c1
    "#);
}

#[test]
fn an_equal_call_that_waited_meanwhile_is_not_begun_either() {
    let mut table = bank();
    table.say("Pay him.");
    table.asks("r1.t1.i1", "", vec![ask("pay", pay()), ask("pay", pay())]);
    table.begins("r1.t1.i1.c1");
    table.ok(table.ran("r1.t1.i1.c1", Ran::CutOff("timeout".to_owned())));
    table.trace();
    table.begins("r1.t1.i1.c2");
    insta::assert_snapshot!(table.trace(), @r#"
    r1.t1.i1.c2 finished failed "not run: an equal call of pay may already have taken effect (q1); wait for the answer"
    r1.t1.i1 closed tools done
    r1.t1.i2 opened 2
    r1.t1.i2 model started #1
      wants model r1.t1.i2 #1
    "#);
}

#[test]
fn equal_arguments_in_another_order_are_the_same_action() {
    let mut table = paying();
    table.ok(table.ran("r1.t1.i1.c1", Ran::CutOff("timeout".to_owned())));
    table.trace();
    let reordered: Value = serde_json::from_str(r#"{"crowns":12,"to":"Bob"}"#).unwrap();
    table.asks("r1.t1.i2", "", vec![ask("pay", reordered)]);
    assert!(table.trace().contains("r1.t1.i2.c1 finished failed \"not run: an equal call"));
}

#[test]
fn the_answer_reaches_the_agent_and_lets_the_next_round_open() {
    let mut table = paying();
    table.ok(table.ran("r1.t1.i1.c1", Ran::CutOff("timeout".to_owned())));
    table.answer("r1.t1.i2", "I do not know whether it was paid.");
    assert!(table.say_with("And?", Vec::new()).is_err());
    let happened = table.decided("q1", Decision::Happened);
    let result = ContextResult { result: Some("Bob has the money.".to_owned()), ..happened };
    table.say_with("And?", vec![result]).unwrap();
    let prompt = table.labels.replace(&table.prompt("r2.t1"));
    let told = "[q1] Did the call of pay (r1.t1.i1.c1) take effect?\n\
                It happened: the call took effect. Do not repeat it. Bob has the money.\n";
    assert!(prompt.contains(told), "{prompt}");
}

#[test]
fn a_call_that_refused_before_doing_anything_has_failed_and_is_not_in_doubt() {
    let mut table = paying();
    table.ok(table.ran("r1.t1.i1.c1", Ran::Refused("no such account".to_owned())));
    assert!(table.session().requests.is_empty());
}

#[test]
fn f05_after_a_crash_an_effectful_call_is_a_question_a_pure_one_runs_again_and_a_model_call_is_made_again()
 {
    let tools = vec![
        ToolDecl::handler("pay", Effect::Effectful),
        ToolDecl::handler("note", Effect::Idempotent),
    ];
    let mut table = Table::open(vec![agent_with("Ada", tools.clone()), agent_with("Bob", tools)]);
    table.say("Work.");
    let calls = vec![ask("pay", pay()), ask("note", json!({})), ask("pay", json!({"to": "Eve"}))];
    table.asks("r1.t1.i1", "", calls);
    table.begins("r1.t1.i1.c1");
    table.streams("r1.t2.i1", "Half a sen");
    table.trace();
    table.ok(Report::WriterChanged);
    insta::assert_snapshot!(table.trace(), @r#"
    r1.t1.i1.c1 asked q1 by ada, required outcome: Did the call of pay (r1.t1.i1.c1) take effect?
    r1.t1.i1.c1 finished unknown, see q1
    r1.t1.i1.c2 interrupted #1
    r1.t2.i1 model interrupted #1 "Half a sen", possible duplicate
    r1.t1.i1.c2 started #2
    r1.t2.i1 model started #2
      wants tool r1.t1.i1.c2 #2, effect r1.t1.i1.c3, model r1.t2.i1 #2
    "#);
}

#[test]
fn a_stop_while_an_effectful_call_runs_leaves_a_question_and_no_guess() {
    let mut table = paying();
    table.trace();
    table.ok(Command::Stop);
    insta::assert_snapshot!(table.trace(), @r"
    r1.t1.i1.c1 asked q1 by ada, required outcome: Did the call of pay (r1.t1.i1.c1) take effect?
    r1.t1.i1.c1 finished unknown, see q1
    r1.t1.i1 closed cancelled
    r1.t1 ended cancelled
    r1 closed incomplete
      wants nothing
    ");
    assert!(table.session().required().next().is_some());
}

#[test]
fn a_stop_before_an_effectful_call_has_begun_cancels_it() {
    let mut table = bank();
    table.say("Pay him.");
    table.asks("r1.t1.i1", "", vec![ask("pay", pay())]);
    table.trace();
    table.ok(Command::Stop);
    insta::assert_snapshot!(table.trace(), @r"
    r1.t1.i1.c1 finished cancelled
    r1.t1.i1 closed cancelled
    r1.t1 ended cancelled
    r1 closed incomplete
      wants nothing
    ");
    assert!(table.session().requests.is_empty());
}

#[test]
fn the_children_of_a_call_in_doubt_end_with_it() {
    let mut table = paying();
    table.ok(table.evaluates("r1.t1.i1.c1", 1, "Which account?"));
    table.trace();
    table.ok(Report::WriterChanged);
    insta::assert_snapshot!(table.trace(), @r#"
    r1.t2.i1 model cancelled #1 ""
    r1.t2.i1 closed cancelled
    r1.t2 ended cancelled
    r1.t1.i1.c1 asked q1 by ada, required outcome: Did the call of pay (r1.t1.i1.c1) take effect?
    r1.t1.i1.c1 finished unknown, see q1
    r1.t1.i1 closed tools done
    r1.t1.i2 opened 2
    r1.t1.i2 model started #1
      wants model r1.t1.i2 #1
    "#);
}

#[test]
fn an_effectful_handler_that_asks_another_prompt_under_an_old_ordinal_is_in_doubt() {
    let mut table = paying();
    table.ok(table.evaluates("r1.t1.i1.c1", 1, "Which account?"));
    table.answer("r1.t2.i1", "the first");
    table.trace();
    table.ok(table.evaluates("r1.t1.i1.c1", 1, "Which bank?"));
    insta::assert_snapshot!(table.trace(), @r"
    r1.t1.i1.c1 asked q1 by ada, required outcome: Did the call of pay (r1.t1.i1.c1) take effect?
    r1.t1.i1.c1 finished unknown, see q1
    r1.t1.i1 closed tools done
    r1.t1.i2 opened 2
    r1.t1.i2 model started #1
      wants model r1.t1.i2 #1
    ");
}

#[test]
fn f25_the_first_answer_to_a_question_of_doubt_counts_even_when_it_is_no() {
    let mut table = paying();
    table.ok(table.ran("r1.t1.i1.c1", Ran::CutOff("timeout".to_owned())));
    table.ok(Command::Provide(vec![table.decided("q1", Decision::Unknown)]));
    assert!(table.session().requests.is_empty());
    table.trace();
    table.asks("r1.t1.i2", "", vec![ask("pay", pay())]);
    assert!(table.trace().contains("wants effect r1.t1.i2.c1"));
}
