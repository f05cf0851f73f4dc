//! A message that waits for its round can be edited or withdrawn, once its round opened no more.

use roundtable_core::input::Command;

use crate::table::{Table, agent};

/// A round is open, and two messages wait.
fn busy() -> Table {
    let mut table = Table::open(vec![agent("Ada")]);
    table.say("First.");
    table.say("Second.");
    table.say("Third.");
    table.trace();
    table
}

fn edit(id: &str, text: &str) -> Command {
    Command::Edit { message_id: id.to_owned(), text: text.to_owned() }
}

fn withdraw(id: &str) -> Command {
    Command::Withdraw { message_id: id.to_owned() }
}

#[test]
fn an_edited_message_keeps_its_place_and_its_round_answers_what_it_says_now() {
    let mut table = busy();
    table.ok(edit("m2", "Second, but better."));
    table.ok(edit("m2", "Second, but better."));
    table.answer("r1.t1.i1", "One.");
    insta::assert_snapshot!(table.trace(), @r#"
    session edited m2 "Second, but better."
      wants model r1.t1.i1 #1
      wants model r1.t1.i1 #1
    r1.t1.i1 model finished #1 "One." 0 calls
    r1.t1.i1 closed answered
    r1.t1 ended answered message 2
    r1 closed completed
    r2 opened as round 2 take 1 by m2 message 3
    r2.t1 started ada seat 0.0
    r2.t1.i1 opened 1
    r2.t1.i1 model started #1
      wants model r2.t1.i1 #1
    "#);
    insta::assert_snapshot!(table.prompt("r2.t1"), @r"
    User: The conversation so far:

    [Round 1]
    User: First.
    Ada: One.

    System: You are Ada.
    User: User: Second, but better.
    ");
    table.answer("r2.t1.i1", "Two.");
    assert!(table.prompt("r3.t1").trim_end().ends_with("User: Third."));
}

#[test]
fn a_withdrawn_message_opens_no_round() {
    let mut table = busy();
    table.ok(withdraw("m2"));
    table.answer("r1.t1.i1", "One.");
    insta::assert_snapshot!(table.trace(), @r#"
    session withdrew m2
      wants model r1.t1.i1 #1
    r1.t1.i1 model finished #1 "One." 0 calls
    r1.t1.i1 closed answered
    r1.t1 ended answered message 2
    r1 closed completed
    r2 opened as round 2 take 1 by m3 message 3
    r2.t1 started ada seat 0.0
    r2.t1.i1 opened 1
    r2.t1.i1 model started #1
      wants model r2.t1.i1 #1
    "#);
}

#[test]
fn a_message_whose_round_opened_is_neither_edited_nor_withdrawn() {
    let mut table = busy();
    let refused = |table: &mut Table, command| table.refused(command).to_string();
    insta::assert_snapshot!(refused(&mut table, edit("m1", "Else.")), @"message m1 cannot be edited: its round 1 has started; stop the round, then send another message");
    insta::assert_snapshot!(refused(&mut table, withdraw("m1")), @"message m1 cannot be withdrawn: its round 1 has started; stop the round, then send another message");
    table.ok(withdraw("m2"));
    insta::assert_snapshot!(refused(&mut table, withdraw("m2")), @"message m2 cannot be withdrawn: it is not queued");
    insta::assert_snapshot!(refused(&mut table, edit("never", "Else.")), @"message never cannot be edited: it is not queued");
    table.answer("r1.t1.i1", "One.");
    table.answer("r2.t1.i1", "Two.");
    insta::assert_snapshot!(refused(&mut table, edit("m1", "Else.")), @"message m1 cannot be edited: its round 1 has started; rewind to its round, or send another message");
}

#[test]
fn an_edit_is_checked_like_a_message() {
    let mut table = busy();
    assert!(table.refused(edit("m2", "  ")).to_string().contains("empty"));
    let long = "x".repeat(256 * 1024 + 1);
    assert!(table.refused(edit("m2", &long)).to_string().contains("the limit is"));
}
