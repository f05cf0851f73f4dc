//! Time limits: what is not over in time is cut off, and keeps what it said.

use jiff::SignedDuration;
use roundtable_core::agent::Agent;
use roundtable_core::budget::Limits;
use roundtable_core::input::Report;
use roundtable_core::settings::{Order, Settings};
use roundtable_core::want::Want;
use serde_json::json;

use crate::budgets::searcher;
use crate::table::{Table, agent, ask};

fn time(time_ms: u64) -> Limits {
    Limits { time_ms: Some(time_ms), ..Limits::default() }
}

#[test]
fn a_turn_whose_time_is_over_is_cut_off_and_keeps_what_it_said() {
    let ada = Agent { limits: time(5_000), ..agent("Ada") };
    let mut table = Table::open(vec![ada, agent("Bob")]);
    table.say("Hello");
    let deadline = table.session().wake_at().unwrap();
    assert!(table.session().wants().contains(&Want::WakeAt(deadline)));
    table.streams("r1.t1.i1", "It is ");
    table.trace();
    assert!(table.ok(Report::Woke).is_empty(), "it is not time yet");
    table.now = deadline;
    table.ok(Report::Woke);
    insta::assert_snapshot!(table.trace(), @r#"
      wants model r1.t1.i1 #1, model r1.t2.i1 #1, wake at 2026-01-01T00:00:06Z
    r1.t1.i1 model cancelled #1 "It is "
    r1.t1.i1 closed exhausted time
    r1.t1 ended exhausted time message 2
      wants model r1.t2.i1 #1
    "#);
}

#[test]
fn a_round_whose_time_is_over_ends_all_of_its_turns() {
    let settings = Settings { round_limits: time(5_000), ..Settings::default() };
    let mut table = Table::open_with(vec![searcher("Ada"), searcher("Bob")], settings);
    table.say("Hello");
    table.asks("r1.t1.i1", "", vec![ask("search", json!({}))]);
    table.later(SignedDuration::from_secs(5));
    table.trace();
    table.ok(Report::Woke);
    insta::assert_snapshot!(table.trace(), @r#"
    r1.t1.i1.c1 finished cancelled
    r1.t1.i1 closed exhausted time
    r1.t2.i1 model cancelled #1 ""
    r1.t2.i1 closed exhausted time
    r1.t1 ended exhausted time
    r1.t2 ended exhausted time
    r1 closed failed
      wants nothing
    "#);
}

#[test]
fn a_round_whose_time_is_over_ends_a_child_once_and_before_its_parent() {
    let boss = Agent { workers: vec![agent("Worker").id], ..searcher("Boss") };
    let settings =
        Settings { seats: vec![boss.id.clone()], round_limits: time(5_000), ..Settings::default() };
    let mut table = Table::open_with(vec![boss, searcher("Worker")], settings);
    table.say("Work.");
    let opened = table.session().round.as_ref().unwrap().opened_at;
    let deadline = opened.checked_add(SignedDuration::from_secs(5)).unwrap();
    assert_eq!(table.session().wake_at(), Some(deadline));
    table.asks("r1.t1.i1", "", vec![ask("delegate", json!({"agent": "worker", "mission": "dig"}))]);
    table.now = deadline;
    table.trace();
    table.ok(Report::Woke);
    insta::assert_snapshot!(table.trace(), @r#"
    r1.t2.i1 model cancelled #1 ""
    r1.t2.i1 closed cancelled
    r1.t2 ended cancelled
    r1.t1.i1.c1 finished cancelled
    r1.t1.i1 closed exhausted time
    r1.t1 ended exhausted time
    r1 closed failed
      wants nothing
    "#);
}

#[test]
fn when_the_time_of_a_sequential_round_is_over_the_seats_that_did_not_speak_yet_are_exhausted() {
    let order = Order::Sequential;
    let settings = Settings { order, round_limits: time(5_000), ..Settings::default() };
    let mut table = Table::open_with(vec![agent("Ada"), agent("Bob")], settings);
    table.say("Hello");
    table.later(SignedDuration::from_secs(5));
    table.trace();
    table.answer("r1.t1.i1", "Just in time.");
    insta::assert_snapshot!(table.trace(), @r#"
    r1.t1.i1 model finished #1 "Just in time." 0 calls
    r1.t1.i1 closed answered
    r1.t1 ended answered message 2
    r1.t2 started bob seat 1.0
    r1.t2.i1 opened 1
    r1.t2.i1 closed exhausted time
    r1.t2 ended exhausted time
    r1 closed completed
      wants nothing
    "#);
}

#[test]
fn what_is_heard_of_an_exhausted_turn_is_marked() {
    let order = Order::Sequential;
    let ada = Agent { limits: time(5_000), ..agent("Ada") };
    let settings = Settings { order, ..Settings::default() };
    let mut table = Table::open_with(vec![ada, agent("Bob")], settings);
    table.say("Hello");
    table.streams("r1.t1.i1", "It is ");
    table.later(SignedDuration::from_secs(6));
    table.ok(Report::Woke);
    assert!(table.prompt("r1.t2").contains("Ada: It is  [cut off]"));
}

#[test]
fn a_child_whose_time_is_over_ends_alone() {
    let worker = Agent { limits: time(1_000), ..searcher("Worker") };
    let boss = Agent { workers: vec![worker.id.clone()], ..searcher("Boss") };
    let settings = Settings { seats: vec![boss.id.clone()], ..Settings::default() };
    let mut table = Table::open_with(vec![boss, worker], settings);
    table.say("Work.");
    table.asks("r1.t1.i1", "", vec![ask("delegate", json!({"agent": "worker", "mission": "dig"}))]);
    table.later(SignedDuration::from_secs(1));
    table.trace();
    table.ok(Report::Woke);
    insta::assert_snapshot!(table.trace(), @r#"
    r1.t2.i1 model cancelled #1 ""
    r1.t2.i1 closed exhausted time
    r1.t2 ended exhausted time
    r1.t1.i1.c1 finished failed "The delegate ran out of its budget (time)."
    r1.t1.i1 closed tools done
    r1.t1.i2 opened 2
    r1.t1.i2 model started #1
      wants model r1.t1.i2 #1
    "#);
}
