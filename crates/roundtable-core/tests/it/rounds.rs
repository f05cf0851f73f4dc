//! Rounds: order, queue, numbers, and what happens to an input while a round is open.

use roundtable_core::event::{Body, Event, RoundOutcome};
use roundtable_core::input::{Command, OnBusy};
use roundtable_core::session::Status;
use roundtable_core::settings::{Order, Settings};

use crate::table::{Table, agent, opening};

fn sequential() -> Settings {
    Settings { order: Order::Sequential, ..Settings::default() }
}

/// How the last round ended.
fn outcome(table: &Table) -> RoundOutcome {
    table.session().marks.back().unwrap().outcome.unwrap()
}

#[test]
fn a_session_opens_once_and_waits_for_someone_to_speak() {
    let mut table = Table::empty("test");
    table.ok(opening(vec![agent("Ada")], Settings::default()));
    insta::assert_snapshot!(table.trace(), @r"
    session opened with 1 agents
      wants nothing
    ");
    assert!(!table.session().has_work());
    assert_eq!((table.session().current_round(), table.session().rounds_completed), (1, 0));
}

#[test]
fn in_a_parallel_round_all_speak_at_once() {
    let mut table = Table::open(vec![agent("Ada"), agent("Bob")]);
    table.say("Hello");
    table.answer("r1.t2.i1", "Bob here");
    table.answer("r1.t1.i1", "Ada here");
    insta::assert_snapshot!(table.trace(), @r#"
    session accepted m1 "Hello"
    r1 opened as round 1 take 1 by m1 message 1
    r1.t1 started ada seat 0.0
    r1.t1.i1 opened 1
    r1.t1.i1 model started #1
    r1.t2 started bob seat 0.1
    r1.t2.i1 opened 1
    r1.t2.i1 model started #1
      wants model r1.t1.i1 #1, model r1.t2.i1 #1
    r1.t2.i1 model finished #1 "Bob here" 0 calls
    r1.t2.i1 closed answered
    r1.t2 ended answered message 2
      wants model r1.t1.i1 #1
    r1.t1.i1 model finished #1 "Ada here" 0 calls
    r1.t1.i1 closed answered
    r1.t1 ended answered message 3
    r1 closed completed
      wants nothing
    "#);
}

#[test]
fn in_a_parallel_round_nobody_hears_what_another_says_in_the_same_round() {
    let mut table = Table::open(vec![agent("Ada"), agent("Bob")]);
    table.say("Hello");
    table.answer("r1.t1.i1", "Ada's secret");
    insta::assert_snapshot!(table.prompt("r1.t2"), @r"
    System: You are Bob.
    User: User: Hello
    ");
}

#[test]
fn in_a_sequential_round_the_second_hears_the_first() {
    let mut table = Table::open_with(vec![agent("Ada"), agent("Bob")], sequential());
    table.say("Hello");
    table.answer("r1.t1.i1", "Ada here");
    insta::assert_snapshot!(table.prompt("r1.t2"), @r"
    System: You are Bob.
    User: User: Hello

    Said so far in this round:
    Ada: Ada here
    ");
    table.answer("r1.t2.i1", "Bob here");
    insta::assert_snapshot!(table.trace(), @r#"
    session accepted m1 "Hello"
    r1 opened as round 1 take 1 by m1 message 1
    r1.t1 started ada seat 0.0
    r1.t1.i1 opened 1
    r1.t1.i1 model started #1
      wants model r1.t1.i1 #1
    r1.t1.i1 model finished #1 "Ada here" 0 calls
    r1.t1.i1 closed answered
    r1.t1 ended answered message 2
    r1.t2 started bob seat 1.0
    r1.t2.i1 opened 1
    r1.t2.i1 model started #1
      wants model r1.t2.i1 #1
    r1.t2.i1 model finished #1 "Bob here" 0 calls
    r1.t2.i1 closed answered
    r1.t2 ended answered message 3
    r1 closed completed
      wants nothing
    "#);
}

#[test]
fn the_next_round_hears_all_of_the_earlier_ones() {
    let mut table = Table::open(vec![agent("Ada"), agent("Bob")]);
    table.say("Hello");
    table.answer("r1.t1.i1", "Ada here");
    table.fails("r1.t2.i1", "no route to the model");
    table.go_on();
    insta::assert_snapshot!(table.prompt("r2.t2"), @r"
    User: The conversation so far:

    [Round 1]
    User: Hello
    Ada: Ada here

    System: You are Bob.
    User: Continue the conversation.
    ");
}

#[test]
fn only_the_chosen_seats_speak() {
    let seats = vec![agent("Bob").id];
    let settings = Settings { seats, ..Settings::default() };
    let mut table = Table::open_with(vec![agent("Ada"), agent("Bob")], settings);
    table.say("Hello");
    insta::assert_snapshot!(table.trace(), @r#"
    session accepted m1 "Hello"
    r1 opened as round 1 take 1 by m1 message 1
    r1.t1 started bob seat 0.0
    r1.t1.i1 opened 1
    r1.t1.i1 model started #1
      wants model r1.t1.i1 #1
    "#);
}

#[test]
fn a_round_in_which_one_can_answer_is_completed_and_one_in_which_none_can_is_failed() {
    let mut table = Table::open(vec![agent("Ada"), agent("Bob")]);
    table.say("Hello");
    table.fails("r1.t1.i1", "quota");
    table.answer("r1.t2.i1", "Bob here");
    assert_eq!(outcome(&table), RoundOutcome::Completed);
    table.say("Again");
    table.fails("r2.t1.i1", "quota");
    table.fails("r2.t2.i1", "quota");
    assert_eq!(outcome(&table), RoundOutcome::Failed);
    assert_eq!((table.session().rounds_completed, table.session().current_round()), (1, 3));
    insta::assert_snapshot!(table.trace(), @r#"
    session accepted m1 "Hello"
    r1 opened as round 1 take 1 by m1 message 1
    r1.t1 started ada seat 0.0
    r1.t1.i1 opened 1
    r1.t1.i1 model started #1
    r1.t2 started bob seat 0.1
    r1.t2.i1 opened 1
    r1.t2.i1 model started #1
      wants model r1.t1.i1 #1, model r1.t2.i1 #1
    r1.t1.i1 model failed #1: quota
    r1.t1.i1 closed failed
    r1.t1 ended failed: quota
      wants model r1.t2.i1 #1
    r1.t2.i1 model finished #1 "Bob here" 0 calls
    r1.t2.i1 closed answered
    r1.t2 ended answered message 2
    r1 closed completed
      wants nothing
    session accepted m2 "Again"
    r2 opened as round 2 take 1 by m2 message 3
    r2.t1 started ada seat 0.0
    r2.t1.i1 opened 1
    r2.t1.i1 model started #1
    r2.t2 started bob seat 0.1
    r2.t2.i1 opened 1
    r2.t2.i1 model started #1
      wants model r2.t1.i1 #1, model r2.t2.i1 #1
    r2.t1.i1 model failed #1: quota
    r2.t1.i1 closed failed
    r2.t1 ended failed: quota
      wants model r2.t2.i1 #1
    r2.t2.i1 model failed #1: quota
    r2.t2.i1 closed failed
    r2.t2 ended failed: quota
    r2 closed failed
      wants nothing
    "#);
}

#[test]
fn r003_12_rounds_are_numbered_from_one_and_messages_without_a_gap() {
    let mut table = Table::open(vec![agent("Ada"), agent("Bob")]);
    for round in 1..=3 {
        assert_eq!(table.session().current_round(), round);
        table.say("next");
        table.answer(&format!("r{round}.t2.i1"), "b");
        table.answer(&format!("r{round}.t1.i1"), "a");
    }
    let numbers: Vec<u64> = table.log.iter().filter_map(message_number).collect();
    assert_eq!(numbers, (1..=9).collect::<Vec<_>>());
    assert_eq!(table.session().rounds_completed, 3);
}

fn message_number(event: &Event) -> Option<u64> {
    use roundtable_core::event::{RoundEvent, TurnEvent};
    match &event.body {
        Body::Round(RoundEvent::RoundOpened { said, .. }) => said.map(|said| said.number),
        Body::Turn(TurnEvent::TurnEnded { said, .. }) => said.map(|said| said.number),
        _ => None,
    }
}

#[test]
fn a_session_is_over_after_its_last_round() {
    let settings = Settings { total_rounds: Some(2), ..Settings::default() };
    let mut table = Table::open_with(vec![agent("Ada")], settings);
    table.say("one");
    table.say("two");
    let refused = table.say_busy("three", OnBusy::Queue).unwrap_err().to_string();
    assert_eq!(
        refused,
        "all 2 rounds of this session are used; open another session, or fork this one"
    );
    table.answer("r1.t1.i1", "1");
    table.answer("r2.t1.i1", "2");
    insta::assert_snapshot!(table.trace(), @r#"
    session accepted m1 "one"
    r1 opened as round 1 take 1 by m1 message 1
    r1.t1 started ada seat 0.0
    r1.t1.i1 opened 1
    r1.t1.i1 model started #1
      wants model r1.t1.i1 #1
    session accepted m2 "two"
      wants model r1.t1.i1 #1
      refused: all 2 rounds of this session are used; open another session, or fork this one
    r1.t1.i1 model finished #1 "1" 0 calls
    r1.t1.i1 closed answered
    r1.t1 ended answered message 2
    r1 closed completed
    r2 opened as round 2 take 1 by m2 message 3
    r2.t1 started ada seat 0.0
    r2.t1.i1 opened 1
    r2.t1.i1 model started #1
      wants model r2.t1.i1 #1
    r2.t1.i1 model finished #1 "2" 0 calls
    r2.t1.i1 closed answered
    r2.t1 ended answered message 4
    r2 closed completed
    session completed: all rounds are done
      wants nothing
    "#);
    assert_eq!(table.session().status, Status::Completed);
}

#[test]
fn a_session_of_one_round_is_over_when_that_round_is_stopped() {
    let settings = Settings { total_rounds: Some(1), ..Settings::default() };
    let mut table = Table::open_with(vec![agent("Ada")], settings);
    table.say("one");
    table.ok(Command::Stop);
    assert_eq!(table.session().status, Status::Completed);
}

#[test]
fn a_prompt_draws_on_as_many_rounds_as_the_settings_say() {
    let settings = Settings { window_rounds: 2, ..Settings::default() };
    let mut table = Table::open_with(vec![agent("Ada")], settings);
    for round in 1..=4 {
        table.say(&format!("question {round}"));
        table.answer(&format!("r{round}.t1.i1"), &format!("answer {round}"));
    }
    table.say("question 5");
    insta::assert_snapshot!(table.prompt("r5.t1"), @r"
    User: The conversation so far:

    [Round 3]
    User: question 3
    Ada: answer 3

    [Round 4]
    User: question 4
    Ada: answer 4

    System: You are Ada.
    User: User: question 5
    ");
    assert_eq!(table.session().rounds_completed, 4);
    assert_eq!(table.session().marks.len(), 3);
}
