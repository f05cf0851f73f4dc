//! Takes: a round can be run again, an earlier take chosen again, and rounds left behind.
//! Prompts use the takes that count.

use roundtable_core::input::{AskedCall, Command};
use roundtable_core::settings::{Order, Settings};
use roundtable_core::tool::ToolDecl;
use serde_json::json;

use crate::table::{Table, agent, agent_with, ask};

/// A session of this many rounds, each with one question and one answer.
fn talked(rounds: u32, window_rounds: u32) -> Table {
    let settings = Settings { window_rounds, ..Settings::default() };
    let mut table = Table::open_with(vec![agent("Ada")], settings);
    for round in 1..=rounds {
        table.say(&format!("question {round}"));
        table.answer(&format!("r{round}.t1.i1"), &format!("answer {round}"));
    }
    table.quietly()
}

/// Numbers and takes of the rounds that count, in the order of their numbers.
fn counting(table: &Table) -> Vec<(u32, u32)> {
    let marks = table.session().marks.iter().filter(|mark| mark.active);
    let mut counting: Vec<_> = marks.map(|mark| (mark.number, mark.take)).collect();
    counting.sort_unstable();
    counting
}

fn select(number: u32, take: u32) -> Command {
    Command::SelectTake { number, take }
}

fn rewind(number: u32) -> Command {
    Command::Rewind { number }
}

#[test]
fn regenerate_runs_the_last_round_again_with_the_same_message() {
    let mut table = talked(2, 32);
    table.ok(Command::Regenerate);
    insta::assert_snapshot!(table.prompt("r3.t1"), @r"
    User: The conversation so far:

    [Round 1]
    User: question 1
    Ada: answer 1

    System: You are Ada.
    User: User: question 2
    ");
    table.answer("r3.t1.i1", "better answer 2");
    insta::assert_snapshot!(table.trace(), @r#"
    session superseded round 2 take 1, again
    r3 opened as round 2 take 2 by m2 message 3
    r3.t1 started ada seat 0.0
    r3.t1.i1 opened 1
    r3.t1.i1 model started #1
      wants model r3.t1.i1 #1
    r3.t1.i1 model finished #1 "better answer 2" 0 calls
    r3.t1.i1 closed answered
    r3.t1 ended answered message 5
    r3 closed completed
      wants nothing
    "#);
    assert_eq!(counting(&table), [(1, 1), (2, 2)]);
    assert_eq!((table.session().rounds_completed, table.session().current_round()), (2, 3));
}

#[test]
fn a_prompt_uses_the_takes_that_count_and_no_others() {
    let mut table = talked(1, 32);
    table.ok(Command::Regenerate);
    table.answer("r2.t1.i1", "second try");
    table.ok(Command::Regenerate);
    table.answer("r3.t1.i1", "third try");
    table.ok(select(1, 2));
    table.say("question 2");
    insta::assert_snapshot!(table.prompt("r4.t1"), @r"
    User: The conversation so far:

    [Round 1]
    User: question 1
    Ada: second try

    System: You are Ada.
    User: User: question 2
    ");
    insta::assert_snapshot!(table.trace(), @r#"
    session superseded round 1 take 1, again
    r2 opened as round 1 take 2 by m1 message 1
    r2.t1 started ada seat 0.0
    r2.t1.i1 opened 1
    r2.t1.i1 model started #1
      wants model r2.t1.i1 #1
    r2.t1.i1 model finished #1 "second try" 0 calls
    r2.t1.i1 closed answered
    r2.t1 ended answered message 3
    r2 closed completed
      wants nothing
    session superseded round 1 take 2, again
    r3 opened as round 1 take 3 by m1 message 1
    r3.t1 started ada seat 0.0
    r3.t1.i1 opened 1
    r3.t1.i1 model started #1
      wants model r3.t1.i1 #1
    r3.t1.i1 model finished #1 "third try" 0 calls
    r3.t1.i1 closed answered
    r3.t1 ended answered message 4
    r3 closed completed
      wants nothing
    session selected round 1 take 2
      wants nothing
    session accepted m2 "question 2"
    r4 opened as round 2 take 1 by m2 message 5
    r4.t1 started ada seat 0.0
    r4.t1.i1 opened 1
    r4.t1.i1 model started #1
      wants model r4.t1.i1 #1
    "#);
}

#[test]
fn selecting_the_take_that_counts_changes_nothing() {
    let mut table = talked(2, 32);
    assert!(table.ok(select(2, 1)).is_empty());
}

#[test]
fn a_rewind_leaves_rounds_behind_and_the_next_message_takes_their_number() {
    let mut table = talked(3, 32);
    table.ok(rewind(2));
    assert_eq!(counting(&table), [(1, 1)]);
    assert_eq!((table.session().rounds_completed, table.session().current_round()), (1, 2));
    table.say("another question 2");
    insta::assert_snapshot!(table.prompt("r4.t1"), @r"
    User: The conversation so far:

    [Round 1]
    User: question 1
    Ada: answer 1

    System: You are Ada.
    User: User: another question 2
    ");
    insta::assert_snapshot!(table.trace(), @r#"
    session superseded round 3 take 1
    session superseded round 2 take 1
      wants nothing
    session accepted m4 "another question 2"
    r4 opened as round 2 take 2 by m4 message 7
    r4.t1 started ada seat 0.0
    r4.t1.i1 opened 1
    r4.t1.i1 model started #1
      wants model r4.t1.i1 #1
    "#);
}

#[test]
fn a_rewind_to_the_first_round_begins_anew() {
    let mut table = talked(2, 32);
    table.ok(rewind(1));
    assert_eq!(table.session().rounds_completed, 0);
    table.say("hello again");
    insta::assert_snapshot!(table.prompt("r3.t1"), @r"
    System: You are Ada.
    User: User: hello again
    ");
    assert_eq!(table.session().round.as_ref().unwrap().number, 1);
}

#[test]
fn what_was_left_behind_can_be_chosen_again_in_order() {
    let mut table = talked(2, 32);
    table.ok(rewind(1));
    let refused = table.refused(select(2, 1)).to_string();
    assert_eq!(refused, "round 1 is inactive; select one of its takes first");
    table.ok(select(1, 1));
    table.ok(select(2, 1));
    assert_eq!(counting(&table), [(1, 1), (2, 1)]);
    assert_eq!((table.session().rounds_completed, table.session().current_round()), (2, 3));
}

#[test]
fn after_a_choice_the_last_round_is_the_one_with_the_highest_number() {
    let mut table = talked(2, 32);
    table.ok(rewind(1));
    table.say("another question 1");
    table.answer("r3.t1.i1", "another answer 1");
    table.ok(select(2, 1));
    assert_eq!(counting(&table), [(1, 2), (2, 1)]);
    table.ok(Command::Regenerate);
    let round = table.session().round.as_ref().unwrap();
    assert_eq!((round.number, round.take, round.input.message_id()), (2, 2, "m2"));
    insta::assert_snapshot!(table.prompt("r4.t1"), @r"
    User: The conversation so far:

    [Round 1]
    User: another question 1
    Ada: another answer 1

    System: You are Ada.
    User: User: question 2
    ");
    table.answer("r4.t1.i1", "another answer 2");
    table.say("question 3");
    insta::assert_snapshot!(table.prompt("r5.t1"), @r"
    User: The conversation so far:

    [Round 1]
    User: another question 1
    Ada: another answer 1

    [Round 2]
    User: question 2
    Ada: another answer 2

    System: You are Ada.
    User: User: question 3
    ");
}

#[test]
fn a_prompt_tells_rounds_by_their_numbers_not_in_the_order_in_which_they_were_run() {
    let mut table = talked(2, 32);
    table.ok(rewind(1));
    table.say("another question 1");
    table.answer("r3.t1.i1", "another answer 1");
    table.ok(select(2, 1));
    table.say("question 3");
    insta::assert_snapshot!(table.prompt("r4.t1"), @r"
    User: The conversation so far:

    [Round 1]
    User: another question 1
    Ada: another answer 1

    [Round 2]
    User: question 2
    Ada: answer 2

    System: You are Ada.
    User: User: question 3
    ");
}

#[test]
fn later_rounds_keep_the_takes_that_they_build_on() {
    let mut table = talked(2, 32);
    let refused = table.refused(select(1, 1)).to_string();
    assert_eq!(refused, "later rounds depend on round 1; rewind to it, or fork there");
    let refused = table.refused(select(2, 7)).to_string();
    assert_eq!(refused, "round 2 has no take 7");
    let refused = table.refused(rewind(9)).to_string();
    assert_eq!(refused, "round 9 is not among rounds 1 to 2; fork the session there instead");
}

#[test]
fn rounds_that_left_the_window_can_no_longer_be_changed() {
    let mut table = talked(4, 2);
    let refused = table.refused(rewind(1)).to_string();
    assert_eq!(refused, "round 1 is not among rounds 3 to 4; fork the session there instead");
    table.ok(rewind(3));
    assert_eq!((table.session().rounds_completed, table.session().current_round()), (2, 3));
    table.say("another question 3");
    table.answer("r5.t1.i1", "another answer 3");
    assert_eq!((table.session().rounds_completed, table.session().current_round()), (3, 4));
}

#[test]
fn a_round_leaves_the_window_with_all_of_its_takes() {
    let mut table = talked(2, 2);
    table.ok(rewind(1));
    for round in 3..=5 {
        table.say(&format!("new question {round}"));
        table.answer(&format!("r{round}.t1.i1"), &format!("new answer {round}"));
    }
    let numbers: Vec<_> = table.session().marks.iter().map(|m| (m.number, m.take)).collect();
    assert_eq!(numbers, [(2, 1), (2, 2), (3, 1)]);
    table.ok(rewind(2));
    assert_eq!((table.session().rounds_completed, table.session().current_round()), (1, 2));
    table.say("newest question 2");
    insta::assert_snapshot!(table.prompt("r6.t1"), @r"
    System: You are Ada.
    User: User: newest question 2
    ");
}

#[test]
fn nothing_past_can_be_changed_while_a_round_is_open() {
    let mut table = talked(1, 32);
    table.say("question 2");
    for command in [Command::Regenerate, rewind(1), select(1, 1)] {
        let refused = table.refused(command).to_string();
        assert_eq!(
            refused,
            "round 2 is still running; wait for it, stop it, or send with on_busy = queue"
        );
    }
}

#[test]
fn there_is_nothing_to_regenerate_in_a_session_without_rounds() {
    let mut table = talked(0, 32);
    let refused = table.refused(Command::Regenerate).to_string();
    assert_eq!(refused, "no round to run again; send a message first");
    let refused = table.refused(rewind(1)).to_string();
    assert_eq!(refused, "no round to go back to; send a message first");
}

#[test]
fn a_round_that_is_run_again_is_told_again_what_it_was_told() {
    let mut table = Table::open(vec![agent_with("Ada", vec![ToolDecl::request_context()])]);
    table.say("question 1");
    table.asks("r1.t1.i1", "", vec![wanted()]);
    table.answer("r1.t1.i2", "answer 1");
    let results = vec![table.found("q1", "12 crowns")];
    table.say_with("question 2", results).unwrap();
    let first = table.prompt("r2.t1");
    table.answer("r2.t1.i1", "answer 2");
    table.ok(Command::Regenerate);
    assert_eq!(table.prompt("r3.t1"), first);
    assert!(first.contains("12 crowns"));
}

fn wanted() -> AskedCall {
    ask("request_context", json!({"query": "the price", "reason": "to decide"}))
}

#[test]
fn a_required_request_holds_a_regeneration_back() {
    let mut table = Table::open(vec![agent_with("Ada", vec![ToolDecl::request_context()])]);
    table.say("question 1");
    table.asks("r1.t1.i1", "", vec![wanted()]);
    table.answer("r1.t1.i2", "answer 1");
    let refused = table.refused(Command::Regenerate).to_string();
    assert!(refused.starts_with("Cannot continue: 1 required context request(s) pending."));
}

#[test]
fn a_stopped_round_can_be_run_again_and_its_cut_off_words_are_gone_from_the_prompt() {
    let settings = Settings { order: Order::Sequential, ..Settings::default() };
    let mut table = Table::open_with(vec![agent("Ada"), agent("Bob")], settings);
    table.say("question 1");
    table.streams("r1.t1.i1", "Cut o");
    table.ok(Command::Stop);
    table.ok(Command::Regenerate);
    table.answer("r2.t1.i1", "Whole.");
    insta::assert_snapshot!(table.prompt("r2.t2"), @r"
    System: You are Bob.
    User: User: question 1

    Said so far in this round:
    Ada: Whole.
    ");
}

#[test]
fn a_session_with_a_number_of_rounds_counts_those_that_count() {
    let settings = Settings { total_rounds: Some(3), ..Settings::default() };
    let mut table = Table::open_with(vec![agent("Ada")], settings);
    table.say("question 1");
    table.answer("r1.t1.i1", "answer 1");
    table.say("question 2");
    table.answer("r2.t1.i1", "answer 2");
    table.ok(Command::Regenerate);
    table.answer("r3.t1.i1", "again 2");
    table.ok(rewind(2));
    table.say("new 2");
    table.answer("r4.t1.i1", "new answer 2");
    assert!(table.trace().lines().all(|line| !line.starts_with("session completed")));
    table.say("question 3");
    table.answer("r5.t1.i1", "answer 3");
    assert!(table.trace().contains("session completed: all rounds are done"));
}

#[test]
fn a_message_id_that_is_used_again_after_a_rewind_brings_its_own_text() {
    let mut table = talked(1, 32);
    table.ok(rewind(1));
    let mut say = table.next_say(Some("the question, edited"));
    say.context = roundtable_core::MessageContext::new("m1", &table.session().id, None).unwrap();
    table.ok(Command::Say(say));
    insta::assert_snapshot!(table.prompt("r2.t1"), @r"
    System: You are Ada.
    User: User: the question, edited
    ");
}
