//! The queue: what happens to an input while a round is open.

use roundtable_core::Reject;
use roundtable_core::input::{Command, OnBusy};
use roundtable_core::settings::Settings;

use crate::table::{Table, agent};

#[test]
fn r003_13_a_message_that_arrives_while_a_round_is_open_opens_the_next_one() {
    let mut table = Table::open(vec![agent("Ada")]);
    table.say("one");
    table.say("two");
    table.go_on();
    table.say("four");
    table.answer("r1.t1.i1", "1");
    table.answer("r2.t1.i1", "2");
    table.answer("r3.t1.i1", "3");
    table.answer("r4.t1.i1", "4");
    insta::assert_snapshot!(table.trace(), @r#"
    session accepted m1 "one"
    r1 opened as round 1 take 1 by m1 message 1
    r1.t1 started ada seat 0.0
    r1.t1.i1 opened 1
    r1.t1.i1 model started #1
      wants model r1.t1.i1 #1
    session accepted m2 "two"
      wants model r1.t1.i1 #1
    session accepted m3 nothing
      wants model r1.t1.i1 #1
    session accepted m4 "four"
      wants model r1.t1.i1 #1
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
    r3 opened as round 3 take 1 by m3
    r3.t1 started ada seat 0.0
    r3.t1.i1 opened 1
    r3.t1.i1 model started #1
      wants model r3.t1.i1 #1
    r3.t1.i1 model finished #1 "3" 0 calls
    r3.t1.i1 closed answered
    r3.t1 ended answered message 5
    r3 closed completed
    r4 opened as round 4 take 1 by m4 message 6
    r4.t1 started ada seat 0.0
    r4.t1.i1 opened 1
    r4.t1.i1 model started #1
      wants model r4.t1.i1 #1
    r4.t1.i1 model finished #1 "4" 0 calls
    r4.t1.i1 closed answered
    r4.t1 ended answered message 7
    r4 closed completed
      wants nothing
    "#);
}

#[test]
fn a_round_opens_with_the_text_that_its_event_points_to() {
    let mut table = Table::open(vec![agent("Ada")]);
    table.say("one");
    table.say("two");
    table.answer("r1.t1.i1", "1");
    insta::assert_snapshot!(table.prompt("r2.t1"), @r"
    User: The conversation so far:

    [Round 1]
    User: one
    Ada: 1

    System: You are Ada.
    User: User: two
    ");
}

#[test]
fn who_does_not_want_to_wait_is_refused_while_a_round_is_open() {
    let mut table = Table::open(vec![agent("Ada")]);
    table.say("one");
    let refused = table.say_busy("two", OnBusy::Reject).unwrap_err();
    assert_eq!(refused, Reject::Busy { round: 1 });
    table.answer("r1.t1.i1", "1");
    assert!(table.say_busy("three", OnBusy::Reject).is_ok());
}

#[test]
fn an_interrupt_cuts_the_open_round_off_and_opens_its_own() {
    let mut table = Table::open(vec![agent("Ada"), agent("Bob")]);
    table.say("one");
    table.answer("r1.t1.i1", "Ada is done");
    table.streams("r1.t2.i1", "Bob is no");
    table.say_busy("stop, listen", OnBusy::Interrupt).unwrap();
    insta::assert_snapshot!(table.trace(), @r#"
    session accepted m1 "one"
    r1 opened as round 1 take 1 by m1 message 1
    r1.t1 started ada seat 0.0
    r1.t1.i1 opened 1
    r1.t1.i1 model started #1
    r1.t2 started bob seat 0.1
    r1.t2.i1 opened 1
    r1.t2.i1 model started #1
      wants model r1.t1.i1 #1, model r1.t2.i1 #1
    r1.t1.i1 model finished #1 "Ada is done" 0 calls
    r1.t1.i1 closed answered
    r1.t1 ended answered message 2
      wants model r1.t2.i1 #1
    r1.t2.i1 model cancelled #1 "Bob is no"
    r1.t2.i1 closed cancelled
    r1.t2 ended cancelled message 3
    r1 closed incomplete
    session accepted m2 "stop, listen"
    r2 opened as round 2 take 1 by m2 message 4
    r2.t1 started ada seat 0.0
    r2.t1.i1 opened 1
    r2.t1.i1 model started #1
    r2.t2 started bob seat 0.1
    r2.t2.i1 opened 1
    r2.t2.i1 model started #1
      wants model r2.t1.i1 #1, model r2.t2.i1 #1
    "#);
    insta::assert_snapshot!(table.prompt("r2.t1"), @r"
    User: The conversation so far:

    [Round 1]
    User: one
    Ada: Ada is done
    Bob: Bob is no [cut off]

    System: You are Ada.
    User: User: stop, listen
    ");
}

#[test]
fn an_interrupt_waits_behind_what_was_acknowledged_before() {
    let mut table = Table::open(vec![agent("Ada")]);
    table.say("one");
    table.say("two");
    table.say_busy("three", OnBusy::Interrupt).unwrap();
    let round = table.session().round.as_ref().unwrap();
    assert_eq!((round.number, round.input.message_id()), (2, "m2"));
    assert_eq!(table.session().waiting.len(), 1);
}

#[test]
fn an_interrupt_of_nothing_is_a_message_like_any_other() {
    let mut table = Table::open(vec![agent("Ada")]);
    table.say_busy("hello", OnBusy::Interrupt).unwrap();
    assert_eq!(table.session().round.as_ref().unwrap().number, 1);
}

#[test]
fn no_more_messages_wait_than_the_settings_allow() {
    let settings = Settings { max_waiting: 2, ..Settings::default() };
    let mut table = Table::open_with(vec![agent("Ada")], settings);
    table.say("runs");
    table.say("waits");
    table.say("waits");
    let refused = table.say_busy("too many", OnBusy::Queue).unwrap_err();
    assert_eq!(refused, Reject::QueueFull { waiting: 2 });
}

#[test]
fn where_nothing_may_wait_an_idle_session_still_takes_a_message() {
    let settings = Settings { max_waiting: 0, ..Settings::default() };
    let mut table = Table::open_with(vec![agent("Ada")], settings);
    table.say("hello");
    let refused = table.say_busy("wait", OnBusy::Queue).unwrap_err();
    assert_eq!(refused, Reject::QueueFull { waiting: 0 });
    assert!(table.say_busy("now", OnBusy::Interrupt).is_ok());
}

#[test]
fn messages_that_wait_when_the_session_is_completed_are_dropped_one_and_all() {
    for count in 1..=3 {
        let mut table = Table::open(vec![agent("Ada")]);
        table.say("now");
        for number in 1..=count {
            table.say(&format!("later {number}"));
        }
        assert_eq!(table.session().waiting.len(), count);
        table.ok(Command::Complete { reason: "enough".to_owned() });
        assert!(table.session().waiting.is_empty(), "{count} waited");
    }
}
