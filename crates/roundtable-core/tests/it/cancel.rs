//! Stopping: everything that is open is closed, children first, and what was said is kept.

use roundtable_core::agent::Agent;
use roundtable_core::event::{Body, TurnEvent};
use roundtable_core::input::{Command, Ran};
use roundtable_core::tool::{Effect, ToolDecl, ToolResult};
use serde_json::json;

use crate::table::{Table, agent, agent_with, ask, reply};

fn office() -> Table {
    let tools = vec![ToolDecl::handler("search", Effect::Pure), ToolDecl::delegate()];
    let boss = Agent { workers: vec![agent("Worker").id], ..agent_with("Boss", tools.clone()) };
    let settings = roundtable_core::settings::Settings {
        seats: vec![boss.id.clone()],
        ..roundtable_core::settings::Settings::default()
    };
    Table::open_with(vec![boss, agent_with("Worker", tools)], settings)
}

#[test]
fn f27_stop_closes_calls_children_iteration_and_turn_in_that_order_and_keeps_what_was_said() {
    let mut table = office();
    table.say("Work.");
    let delegate = ask("delegate", json!({"agent": "worker", "mission": "dig"}));
    table.asks("r1.t1.i1", "On it.", vec![ask("search", json!({})), delegate]);
    table.streams("r1.t2.i1", "I have dug so f");
    table.trace();
    table.ok(Command::Stop);
    insta::assert_snapshot!(table.trace(), @r#"
    r1.t1.i1.c1 finished cancelled
    r1.t2.i1 model cancelled #1 "I have dug so f"
    r1.t2.i1 closed cancelled
    r1.t2 ended cancelled
    r1.t1.i1.c2 finished cancelled
    r1.t1.i1 closed cancelled
    r1.t1 ended cancelled message 2
    r1 closed incomplete
      wants nothing
    "#);
}

#[test]
fn f27_a_partial_answer_is_a_message_and_marked_in_the_next_prompt() {
    let mut table = Table::open(vec![agent("Ada"), agent("Bob")]);
    table.say("Talk.");
    table.streams("r1.t1.i1", "Once upon a");
    table.trace();
    table.ok(Command::Stop);
    insta::assert_snapshot!(table.trace(), @r#"
    r1.t1.i1 model cancelled #1 "Once upon a"
    r1.t1.i1 closed cancelled
    r1.t1 ended cancelled message 2
    r1.t2.i1 model cancelled #1 ""
    r1.t2.i1 closed cancelled
    r1.t2 ended cancelled
    r1 closed incomplete
      wants nothing
    "#);
    table.say("Go on.");
    insta::assert_snapshot!(table.prompt("r2.t1"), @r"
    User: The conversation so far:

    [Round 1]
    User: Talk.
    Ada: Once upon a [cut off]

    System: You are Ada.
    User: User: Go on.
    ");
}

#[test]
fn f27_a_reply_that_comes_after_the_stop_is_stale() {
    let mut table = Table::open(vec![agent("Ada")]);
    table.say("Talk.");
    table.trace();
    let late = table.replied("r1.t1.i1", reply("Too late.", Vec::new()));
    table.ok(Command::Stop);
    table.refused(late);
    insta::assert_snapshot!(table.trace(), @r#"
    r1.t1.i1 model cancelled #1 ""
    r1.t1.i1 closed cancelled
    r1.t1 ended cancelled
    r1 closed incomplete
      wants nothing
      refused: model call r1.t1.i1 attempt 1 has already ended; this result is not recorded
    "#);
    assert_eq!(ends(&table), 1);
}

#[test]
fn f27_a_stop_that_comes_after_the_reply_stops_nothing() {
    let mut table = Table::open(vec![agent("Ada")]);
    table.say("Talk.");
    table.answer("r1.t1.i1", "In time.");
    table.trace();
    assert!(table.ok(Command::Stop).is_empty());
    assert_eq!(ends(&table), 1);
    assert_eq!(table.session().rounds_completed, 1);
}

fn ends(table: &Table) -> usize {
    let ended = |body: &Body| matches!(body, Body::Turn(TurnEvent::TurnEnded { .. }));
    table.log.iter().filter(|event| ended(&event.body)).count()
}

#[test]
fn what_a_model_has_finished_saying_is_not_taken_for_a_partial_answer() {
    let mut table = office();
    table.say("Work.");
    table.streams("r1.t1.i1", "");
    table.asks("r1.t1.i1", "", vec![ask("search", json!({}))]);
    // The driver still holds the text of the call that is over.
    table.streams("r1.t1.i1", "stale text");
    table.trace();
    table.ok(Command::Stop);
    insta::assert_snapshot!(table.trace(), @r"
    r1.t1.i1.c1 finished cancelled
    r1.t1.i1 closed cancelled
    r1.t1 ended cancelled
    r1 closed incomplete
      wants nothing
    ");
}

#[test]
fn f27_a_result_that_comes_after_the_stop_is_stale() {
    let mut table = office();
    table.say("Work.");
    table.asks("r1.t1.i1", "", vec![ask("search", json!({}))]);
    let late = table.ran("r1.t1.i1.c1", Ran::Returned(ToolResult::ok("late")));
    table.ok(Command::Stop);
    let refused = table.refused(late).to_string();
    assert_eq!(
        table.labels.replace(&refused),
        "tool call r1.t1.i1.c1 has already ended; this result is not recorded"
    );
}

#[test]
fn what_was_said_in_an_earlier_iteration_is_kept_when_a_later_one_is_stopped() {
    let mut table = office();
    table.say("Work.");
    table.asks("r1.t1.i1", "First thoughts.", vec![ask("search", json!({}))]);
    table.returns("r1.t1.i1.c1", "found");
    table.ok(Command::Stop);
    table.say("And?");
    insta::assert_snapshot!(table.prompt("r2.t1"), @r"
    User: The conversation so far:

    [Round 1]
    User: Work.
    Boss: First thoughts. [cut off]

    System: You are Boss.
    User: User: And?
    ");
}

#[test]
fn stopping_when_nothing_runs_changes_nothing() {
    let mut table = office();
    let before = table.live.clone();
    assert!(table.ok(Command::Stop).is_empty());
    assert_eq!(table.live, before);
}

#[test]
fn after_a_stop_the_next_message_that_waits_has_its_round() {
    let mut table = Table::open(vec![agent("Ada")]);
    table.say("one");
    table.say("two");
    table.trace();
    table.ok(Command::Stop);
    insta::assert_snapshot!(table.trace(), @r#"
    r1.t1.i1 model cancelled #1 ""
    r1.t1.i1 closed cancelled
    r1.t1 ended cancelled
    r1 closed incomplete
    r2 opened as round 2 take 1 by m2 message 2
    r2.t1 started ada seat 0.0
    r2.t1.i1 opened 1
    r2.t1.i1 model started #1
      wants model r2.t1.i1 #1
    "#);
}
