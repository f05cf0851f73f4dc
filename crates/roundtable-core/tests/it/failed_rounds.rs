//! Rounds in which no agent could answer: where rounds are counted they do not count (SPEC 2.1).

use roundtable_core::agent::Agent;
use roundtable_core::budget::{Limits, Price};
use roundtable_core::event::{Body, SessionEvent};
use roundtable_core::input::{Command, OnBusy, Say};
use roundtable_core::session::Status;
use roundtable_core::settings::Settings;
use serde_json::json;

use crate::table::{Table, agent, agent_with, ask};

fn counted_rounds(total: u32) -> Table {
    let settings = Settings { total_rounds: Some(total), ..Settings::default() };
    Table::open_with(vec![agent("Ada")], settings)
}

fn reason(table: &Table) -> Option<String> {
    table.log.iter().find_map(|event| match &event.body {
        Body::Session(SessionEvent::SessionCompleted { reason }) => Some(reason.clone()),
        _ => None,
    })
}

#[test]
fn a_failed_round_does_not_count_and_the_next_input_opens_its_next_take() {
    let mut table = counted_rounds(1);
    table.say("Hello");
    table.fails("r1.t1.i1", "down");
    assert_eq!((table.session().status, table.session().next_number()), (Status::Active, 1));
    table.trace();
    table.go_on();
    insta::assert_snapshot!(table.trace(), @r#"
    session accepted m2 nothing
    session superseded round 1 take 1, again
    r2 opened as round 1 take 2 by m2 message 1
    r2.t1 started ada seat 0.0
    r2.t1.i1 opened 1
    r2.t1.i1 model started #1
      wants model r2.t1.i1 #1
    "#);
    insta::assert_snapshot!(table.prompt("r2.t1"), @r"
    System: You are Ada.
    User: User: Hello
    ");
    table.answer("r2.t1.i1", "Hi");
    assert_eq!(table.session().status, Status::Completed);
    assert_eq!(reason(&table).unwrap(), "all rounds are done");
}

#[test]
fn a_new_message_takes_the_place_of_the_one_that_nobody_answered() {
    let mut table = counted_rounds(2);
    table.say("Hello");
    table.fails("r1.t1.i1", "down");
    table.say("Good morning");
    insta::assert_snapshot!(table.prompt("r2.t1"), @r"
    System: You are Ada.
    User: User: Good morning
    ");
}

#[test]
fn what_a_failed_round_was_told_is_told_again() {
    let settings = Settings { total_rounds: Some(3), ..Settings::default() };
    let tools = vec![roundtable_core::tool::ToolDecl::request_context()];
    let mut table = Table::open_with(vec![agent_with("Ada", tools)], settings);
    table.say("Hello");
    let asked = json!({"query": "How many?", "reason": "to count"});
    table.asks("r1.t1.i1", "", vec![ask("request_context", asked)]);
    table.answer("r1.t1.i2", "Well.");
    let found = table.found("q1", "Seven.");
    table.say_with("Go on", vec![found]).unwrap();
    table.fails("r2.t1.i1", "down");
    table.go_on();
    let prompt = table.prompt("r3.t1");
    assert!(prompt.contains("How many?") && prompt.contains("Seven."), "{prompt}");
    assert!(prompt.contains("User: Go on"), "{prompt}");
}

#[test]
fn an_input_that_waits_runs_the_failed_round_again() {
    let mut table = counted_rounds(2);
    table.say("Hello");
    table.say("And?");
    table.trace();
    table.fails("r1.t1.i1", "down");
    insta::assert_snapshot!(table.trace(), @r#"
    r1.t1.i1 model failed #1: down
    r1.t1.i1 closed failed
    r1.t1 ended failed: down
    r1 closed failed
    session superseded round 1 take 1, again
    r2 opened as round 1 take 2 by m2 message 2
    r2.t1 started ada seat 0.0
    r2.t1.i1 opened 1
    r2.t1.i1 model started #1
      wants model r2.t1.i1 #1
    "#);
}

#[test]
fn a_session_that_goes_on_by_itself_does_not_repeat_a_failed_round_by_itself() {
    let settings = Settings { total_rounds: Some(3), auto_continue: true, ..Settings::default() };
    let mut table = Table::open_with(vec![agent("Ada")], settings);
    table.say("Hello");
    table.fails("r1.t1.i1", "down");
    assert!(table.session().round.is_none());
    table.go_on();
    table.answer("r2.t1.i1", "Hi");
    let open = table.session().round.as_ref().map(|round| (round.number, round.take));
    assert_eq!(open, Some((2, 1)), "and goes on when it was completed");
}

#[test]
fn a_failed_round_can_fail_again_and_again() {
    let mut table = counted_rounds(1);
    for take in 1..=3 {
        table.say("Hello");
        let open = table.session().round.as_ref().map(|round| (round.number, round.take));
        assert_eq!(open, Some((1, take)));
        table.fails(&format!("r{take}.t1.i1"), "down");
    }
    assert_eq!((table.session().rounds_completed, table.session().status), (0, Status::Active));
}

#[test]
fn without_a_count_of_rounds_the_next_input_opens_the_next_number() {
    let mut table = Table::open(vec![agent("Ada")]);
    table.say("Hello");
    table.fails("r1.t1.i1", "down");
    table.say("Again");
    let open = table.session().round.as_ref().map(|round| (round.number, round.take));
    assert_eq!(open, Some((2, 1)), "R003-12");
}

#[test]
fn a_last_round_that_was_stopped_ends_the_session_and_the_reason_says_so() {
    let mut table = counted_rounds(1);
    table.say("Hello");
    table.ok(Command::Stop);
    assert_eq!(reason(&table).unwrap(), "the last round was stopped");
}

#[test]
fn a_round_that_failed_for_want_of_budget_runs_again_with_more() {
    let session_limits = Limits { calls: Some(1), ..Limits::default() };
    let settings = Settings { total_rounds: Some(2), session_limits, ..Settings::default() };
    let mut table = Table::open_with(vec![agent("Ada")], settings);
    table.say("Hello");
    table.answer("r1.t1.i1", "Hi");
    table.say("And?");
    assert_eq!((table.session().status, table.session().next_number()), (Status::Active, 2));
    let more = |table: &mut Table, calls| {
        let limits = Some(Limits { calls: Some(calls), ..Limits::default() });
        Say { limits, on_busy: OnBusy::Reject, ..table.next_say(None) }
    };
    let none = more(&mut table, 1);
    assert_eq!(
        table.refused(Command::Say(none)).to_string(),
        "the session has already spent 1 calls, and the budget covers the whole session; set a higher budget"
    );
    let two = more(&mut table, 2);
    table.ok(Command::Say(two));
    table.answer("r3.t1.i1", "Well.");
    let session = table.session();
    assert_eq!((session.status, session.account.spent.calls), (Status::Completed, 2));
    assert_eq!(session.settings.session_limits.calls, Some(2));
}

#[test]
fn a_budget_of_money_or_time_is_checked_as_at_the_start() {
    let mut table = counted_rounds(2);
    let with = |table: &mut Table, limits| Say { limits: Some(limits), ..table.next_say(None) };
    let money = with(&mut table, Limits { cost: Some(1), ..Limits::default() });
    let refused = table.refused(Command::Say(money)).to_string();
    assert!(refused.contains("the price of Ada's model scripted is unknown"), "{refused}");
    let time = with(&mut table, Limits { time_ms: Some(1), ..Limits::default() });
    let refused = table.refused(Command::Say(time)).to_string();
    assert!(refused.contains("cannot have a time limit"), "{refused}");
    let price = Some(Price { input: 1, output: 1 });
    let settings = Settings { total_rounds: Some(2), ..Settings::default() };
    let mut table = Table::open_with(vec![Agent { price, ..agent("Ada") }], settings);
    let money = with(&mut table, Limits { cost: Some(1_000_000), ..Limits::default() });
    table.ok(Command::Say(money));
    assert_eq!(table.session().account.limits.cost, Some(1_000_000));
}
