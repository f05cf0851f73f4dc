//! The iteration limit: N model calls, and an answer in the last one is a success.

use roundtable_core::agent::Agent;
use roundtable_core::event::{Body, IterationEvent};
use roundtable_core::tool::{Effect, ToolDecl};
use serde_json::json;

use crate::table::{Table, agent_with, ask};

fn limited(max_iterations: u32) -> Table {
    let ada = agent_with("Ada", vec![ToolDecl::handler("search", Effect::Pure)]);
    Table::open(vec![Agent { max_iterations, ..ada }])
}

fn model_calls(table: &Table) -> usize {
    let started =
        |body: &Body| matches!(body, Body::Iteration(IterationEvent::ModelCallStarted { .. }));
    table.log.iter().filter(|event| started(&event.body)).count()
}

fn search(table: &mut Table, iteration: u32) {
    let label = format!("r1.t1.i{iteration}");
    table.asks(&label, "Hm.", vec![ask("search", json!({"n": iteration}))]);
}

#[test]
fn r004_8_a_turn_that_wants_tools_in_its_last_iteration_fails_and_runs_none() {
    let mut table = limited(2);
    table.say("Search on.");
    search(&mut table, 1);
    table.returns("r1.t1.i1.c1", "1");
    search(&mut table, 2);
    insta::assert_snapshot!(table.trace(), @r#"
    session accepted m1 "Search on."
    r1 opened as round 1 take 1 by m1 message 1
    r1.t1 started ada seat 0.0
    r1.t1.i1 opened 1
    r1.t1.i1 model started #1
      wants model r1.t1.i1 #1
    r1.t1.i1 model finished #1 "Hm." 1 calls
    r1.t1.i1.c1 requested search {"n":1} pure
    r1.t1.i1.c1 started #1
      wants tool r1.t1.i1.c1 #1
    r1.t1.i1.c1 finished ok "1"
    r1.t1.i1 closed tools done
    r1.t1.i2 opened 2
    r1.t1.i2 model started #1
      wants model r1.t1.i2 #1
    r1.t1.i2 model finished #1 "Hm." 1 calls
    r1.t1.i2.c1 requested search {"n":2} pure
    r1.t1.i2.c1 finished not run: the turn has reached its iteration limit
    r1.t1.i2 closed limit reached
    r1.t1 ended failed: Max iterations (2) exceeded
    r1 closed failed
      wants nothing
    "#);
    assert_eq!(model_calls(&table), 2);
}

#[test]
fn r004_8_an_answer_in_the_last_iteration_is_a_success() {
    let mut table = limited(2);
    table.say("Search once.");
    search(&mut table, 1);
    table.returns("r1.t1.i1.c1", "1");
    table.trace();
    table.answer("r1.t1.i2", "Found.");
    insta::assert_snapshot!(table.trace(), @r#"
    r1.t1.i2 model finished #1 "Found." 0 calls
    r1.t1.i2 closed answered
    r1.t1 ended answered message 2
    r1 closed completed
      wants nothing
    "#);
    assert_eq!(model_calls(&table), 2);
}

#[test]
fn r004_8_the_limit_is_ten_by_default() {
    let mut table =
        Table::open(vec![agent_with("Ada", vec![ToolDecl::handler("search", Effect::Pure)])]);
    table.say("Search on.");
    for iteration in 1..=9 {
        search(&mut table, iteration);
        table.returns(&format!("r1.t1.i{iteration}.c1"), "more");
    }
    table.trace();
    search(&mut table, 10);
    insta::assert_snapshot!(table.trace(), @r#"
    r1.t1.i10 model finished #1 "Hm." 1 calls
    r1.t1.i10.c1 requested search {"n":10} pure
    r1.t1.i10.c1 finished not run: the turn has reached its iteration limit
    r1.t1.i10 closed limit reached
    r1.t1 ended failed: Max iterations (10) exceeded
    r1 closed failed
      wants nothing
    "#);
    assert_eq!(model_calls(&table), 10);
}

#[test]
fn a_limit_of_one_allows_one_model_call_and_zero_counts_as_one() {
    for limit in [0, 1] {
        let mut table = limited(limit);
        table.say("Answer at once.");
        table.answer("r1.t1.i1", "Yes.");
        assert_eq!(table.session().rounds_completed, 1);
        let mut table = limited(limit);
        table.say("Search.");
        search(&mut table, 1);
        assert!(table.trace().contains("r1.t1 ended failed: Max iterations (1) exceeded"));
        assert_eq!(model_calls(&table), 1);
    }
}

#[test]
fn a_second_attempt_is_no_iteration_of_its_own() {
    let mut table = limited(1);
    table.say("Answer.");
    table.ok(roundtable_core::input::Report::WriterChanged);
    table.answer("r1.t1.i1", "Yes.");
    assert_eq!((model_calls(&table), table.session().rounds_completed), (2, 1));
}
