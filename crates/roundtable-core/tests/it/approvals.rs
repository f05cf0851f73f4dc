//! Approvals: a call that a person has to agree to is a row that waits, not a task.

use roundtable_core::context_request::ContextResult;
use roundtable_core::input::{Command, OnBusy, Report};
use roundtable_core::tool::{Effect, ToolDecl};
use serde_json::json;

use crate::table::{Table, agent_with, ask};

/// A round in which a call waits for a person.
fn asked(effect: Effect) -> Table {
    let tools = vec![ToolDecl::handler("pay", effect).with_approval()];
    let mut table = Table::open(vec![agent_with("Ada", tools)]);
    table.say("Pay him.");
    table.asks("r1.t1.i1", "", vec![ask("pay", json!({"to": "Bob", "crowns": 12}))]);
    table
}

fn no(table: &Table, why: &str) -> ContextResult {
    ContextResult::deny(table.request("q1"), why)
}

#[test]
fn a_call_that_needs_approval_waits_and_wants_nothing() {
    let mut table = asked(Effect::Effectful);
    insta::assert_snapshot!(table.trace(), @r#"
    session accepted m1 "Pay him."
    r1 opened as round 1 take 1 by m1 message 1
    r1.t1 started ada seat 0.0
    r1.t1.i1 opened 1
    r1.t1.i1 model started #1
      wants model r1.t1.i1 #1
    r1.t1.i1 model finished #1 "" 1 calls
    r1.t1.i1.c1 requested pay {"crowns":12,"to":"Bob"} effectful
    r1.t1.i1.c1 asked q1 by ada, required approval: May pay be called with {"crowns":12,"to":"Bob"}?
      wants nothing
    "#);
    assert!(!table.session().has_work(), "it waits for people");
    table.ok(Report::WriterChanged);
    insta::assert_snapshot!(table.trace(), @"  wants nothing");
}

#[test]
fn a_granted_call_begins_with_a_commit_of_its_own_when_it_is_effectful() {
    let mut table = asked(Effect::Effectful);
    table.trace();
    table.ok(Command::Provide(vec![table.approve("q1")]));
    assert!(table.session().has_work());
    table.begins("r1.t1.i1.c1");
    table.returns("r1.t1.i1.c1", "paid");
    insta::assert_snapshot!(table.trace(), @r#"
    session provided q1: approved
      wants effect r1.t1.i1.c1
    r1.t1.i1.c1 started #1
      wants tool r1.t1.i1.c1 #1
    r1.t1.i1.c1 finished ok "paid"
    r1.t1.i1 closed tools done
    r1.t1.i2 opened 2
    r1.t1.i2 model started #1
      wants model r1.t1.i2 #1
    "#);
}

#[test]
fn a_granted_call_starts_at_once_when_it_is_harmless() {
    let mut table = asked(Effect::Idempotent);
    table.trace();
    table.ok(Command::Provide(vec![table.approve("q1")]));
    insta::assert_snapshot!(table.trace(), @r"
    session provided q1: approved
    r1.t1.i1.c1 started #1
      wants tool r1.t1.i1.c1 #1
    ");
}

#[test]
fn a_refused_call_is_a_failed_result_with_the_reason() {
    let mut table = asked(Effect::Effectful);
    table.trace();
    table.ok(Command::Provide(vec![no(&table, "too expensive")]));
    insta::assert_snapshot!(table.trace(), @r#"
    session provided q1: denied: too expensive
    r1.t1.i1.c1 finished failed "A person refused this call: too expensive"
    r1.t1.i1 closed tools done
    r1.t1.i2 opened 2
    r1.t1.i2 model started #1
      wants model r1.t1.i2 #1
    "#);
}

#[test]
fn a_paused_session_takes_approvals() {
    let mut table = asked(Effect::Idempotent);
    table.ok(Command::Pause);
    table.trace();
    table.ok(Command::Provide(vec![table.approve("q1")]));
    insta::assert_snapshot!(table.trace(), @r"
    session provided q1: approved
    r1.t1.i1.c1 started #1
      wants tool r1.t1.i1.c1 #1
    ");
}

#[test]
fn f25_a_stop_withdraws_the_question_and_a_later_answer_changes_nothing() {
    let mut table = asked(Effect::Effectful);
    table.trace();
    table.ok(Command::Stop);
    insta::assert_snapshot!(table.trace(), @r"
    session withdrew q1
    r1.t1.i1.c1 finished cancelled
    r1.t1.i1 closed cancelled
    r1.t1 ended cancelled
    r1 closed incomplete
      wants nothing
    ");
    let before = table.live.clone();
    let late = vec![table.approve("q1")];
    assert!(table.session().unknown_requests(&late).is_empty());
    assert!(table.ok(Command::Provide(late)).is_empty());
    assert_eq!(table.live, before);
}

#[test]
fn an_approval_is_no_information_for_the_next_round() {
    let mut table = asked(Effect::Idempotent);
    let result = Some("and the code is 4711".to_owned());
    table.ok(Command::Provide(vec![ContextResult { result, ..table.approve("q1") }]));
    table.returns("r1.t1.i1.c1", "paid");
    table.answer("r1.t1.i2", "Done.");
    table.say("Thanks.");
    assert!(!table.prompt("r2.t1").contains("4711"));
}

#[test]
fn a_message_while_a_call_waits_for_approval_has_to_answer_it() {
    let mut table = asked(Effect::Idempotent);
    let refused = table.say_with("Hello?", Vec::new()).unwrap_err().to_string();
    assert!(refused.starts_with("Cannot continue: 1 required context request(s) pending."));
    let yes = vec![table.approve("q1")];
    table.say_with("Go ahead.", yes).unwrap();
    assert_eq!(table.session().waiting.len(), 1);
    assert!(table.session().requests.is_empty());
}

#[test]
fn an_interrupt_need_not_answer_what_it_cuts_off() {
    let mut table = asked(Effect::Effectful);
    table.trace();
    table.say_busy("Stop, something else.", OnBusy::Interrupt).unwrap();
    insta::assert_snapshot!(table.trace(), @r#"
    session withdrew q1
    r1.t1.i1.c1 finished cancelled
    r1.t1.i1 closed cancelled
    r1.t1 ended cancelled
    r1 closed incomplete
    session accepted m2 "Stop, something else."
    r2 opened as round 2 take 1 by m2 message 2
    r2.t1 started ada seat 0.0
    r2.t1.i1 opened 1
    r2.t1.i1 model started #1
      wants model r2.t1.i1 #1
    "#);
}

#[test]
fn an_interrupt_that_answers_what_it_cuts_off_does_not_start_it() {
    let mut table = asked(Effect::Idempotent);
    table.trace();
    let say = roundtable_core::input::Say {
        on_busy: OnBusy::Interrupt,
        results: vec![table.approve("q1")],
        ..table.next_say(Some("Something else."))
    };
    table.ok(Command::Say(say));
    insta::assert_snapshot!(table.trace(), @r#"
    session withdrew q1
    r1.t1.i1.c1 finished cancelled
    r1.t1.i1 closed cancelled
    r1.t1 ended cancelled
    r1 closed incomplete
    session accepted m2 "Something else."
    r2 opened as round 2 take 1 by m2 message 2
    r2.t1 started ada seat 0.0
    r2.t1.i1 opened 1
    r2.t1.i1 model started #1
      wants model r2.t1.i1 #1
    "#);
}
