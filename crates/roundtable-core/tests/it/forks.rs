//! Forks: another session that begins as a copy of this one's past.

use roundtable_core::agent::Agent;
use roundtable_core::budget::{Limits, Price};
use roundtable_core::event::{Change, Origin};
use roundtable_core::id::SessionId;
use roundtable_core::input::Command;
use roundtable_core::session::Status;
use roundtable_core::settings::Settings;

use crate::table::{Table, agent};

fn talked(settings: Settings) -> Table {
    let price = Some(Price { input: 1, output: 1 });
    let ada = Agent { price, ..agent("Ada") };
    let mut table = Table::open_with(vec![ada], settings);
    for round in 1..=2 {
        table.say(&format!("question {round}"));
        table.answer(&format!("r{round}.t1.i1"), &format!("answer {round}"));
    }
    table.quietly()
}

/// The past of a session under the id of its fork.
fn past(parent: &Table, head: usize) -> (Table, Origin) {
    let mut fork = Table::empty("fork");
    fork.now = parent.now;
    for event in &parent.log[..head] {
        fork.live.apply(event);
        fork.labels.see(event);
        fork.log.push(event.clone());
    }
    fork.check();
    let origin = Origin { session: parent.session().id.clone(), seq: fork.session().head };
    (fork, origin)
}

fn forked(parent: &Table, agents: Option<Vec<Agent>>) -> Table {
    let (mut fork, origin) = past(parent, parent.log.len());
    fork.ok(Command::Fork { origin, agents });
    fork
}

fn say(fork: &mut Table, id: &str, text: &str) {
    let mut say = fork.next_say(Some(text));
    say.context = roundtable_core::MessageContext::new(id, &fork.session().id, None).unwrap();
    fork.ok(Command::Say(say));
}

#[test]
fn a_fork_goes_on_from_the_past_of_its_origin() {
    let parent = talked(Settings::default());
    let mut fork = forked(&parent, None);
    say(&mut fork, "f1", "question 3");
    insta::assert_snapshot!(fork.trace(), @r#"
    session forked from ses_test at 19
      wants nothing
    session accepted f1 "question 3"
    r3 opened as round 3 take 1 by f1 message 5
    r3.t1 started ada seat 0.0
    r3.t1.i1 opened 1
    r3.t1.i1 model started #1
      wants model r3.t1.i1 #1
    "#);
    insta::assert_snapshot!(fork.prompt("r3.t1"), @r"
    User: The conversation so far:

    [Round 1]
    User: question 1
    Ada: answer 1

    [Round 2]
    User: question 2
    Ada: answer 2

    System: You are Ada.
    User: User: question 3
    ");
}

#[test]
fn a_fork_can_go_on_with_other_agents_and_still_knows_what_the_earlier_ones_said() {
    let parent = talked(Settings::default());
    let mut fork = forked(&parent, Some(vec![agent("Bob")]));
    say(&mut fork, "f1", "question 3");
    insta::assert_snapshot!(fork.prompt("r3.t1"), @r"
    User: The conversation so far:

    [Round 1]
    User: question 1
    ada: answer 1

    [Round 2]
    User: question 2
    ada: answer 2

    System: You are Bob.
    User: User: question 3
    ");
    fork.answer("r3.t1.i1", "Bob's answer");
    say(&mut fork, "f2", "question 4");
    insta::assert_snapshot!(fork.prompt("r4.t1"), @r"
    User: The conversation so far:

    [Round 1]
    User: question 1
    ada: answer 1

    [Round 2]
    User: question 2
    ada: answer 2

    [Round 3]
    User: question 3
    Bob: Bob's answer

    System: You are Bob.
    User: User: question 4
    ");
}

#[test]
fn rounds_of_a_fork_have_ids_of_their_own() {
    let mut parent = talked(Settings::default());
    let mut fork = forked(&parent, None);
    say(&mut fork, "f1", "question 3");
    parent.say("question 3");
    let id = |table: &Table| table.session().round.as_ref().unwrap().id.clone();
    assert_ne!(id(&fork), id(&parent));
}

#[test]
fn a_round_that_is_run_again_in_a_fork_belongs_to_the_fork() {
    let parent = talked(Settings::default());
    let mut fork = forked(&parent, None);
    fork.ok(Command::Regenerate);
    let input = &fork.session().round.as_ref().unwrap().input;
    assert_eq!((input.conversation_id(), input.message_id()), ("ses_fork", "m2"));
}

#[test]
fn what_waited_in_the_origin_does_not_wait_in_the_fork() {
    let mut parent = talked(Settings { window_rounds: 1, ..Settings::default() });
    parent.say("question 3");
    parent.say("question 4");
    parent.ok(Command::Pause);
    parent.answer("r3.t1.i1", "answer 3");
    let mut fork = forked(&parent, None);
    assert!(fork.session().waiting.is_empty());
    assert_eq!(fork.session().status, Status::Active, "and it is not paused");
    say(&mut fork, "f4", "the fork's own question 4");
    assert!(fork.prompt("r4.t1").contains("User: the fork's own question 4"));
    // The table compares with a state resumed from the window, which no longer reaches back.
    fork.answer("r4.t1.i1", "answer 4");
    say(&mut fork, "f5", "question 5");
    fork.answer("r5.t1.i1", "answer 5");
}

#[test]
fn a_fork_has_the_budget_of_a_new_session() {
    let limits = Limits { calls: Some(2), ..Limits::default() };
    let parent = talked(Settings { session_limits: limits, ..Settings::default() });
    assert_eq!(parent.session().account.spent.calls, 2);
    let mut fork = forked(&parent, None);
    assert_eq!(fork.session().account.spent.calls, 0);
    say(&mut fork, "f1", "question 3");
    fork.answer("r3.t1.i1", "There is room.");
}

#[test]
fn a_fork_starts_where_a_round_has_closed() {
    let parent = talked(Settings::default());
    let middle = parent.log.len() - 2;
    let (mut fork, origin) = past(&parent, middle);
    let refused = fork.refused(Command::Fork { origin, agents: None }).to_string();
    assert_eq!(refused, "a fork must start at the end of a round");
}

#[test]
fn a_fork_of_nothing_is_not_found() {
    let mut table = Table::empty("fork");
    let origin =
        Origin { session: SessionId::new("nowhere").unwrap(), seq: roundtable_core::event::Seq(0) };
    let refused = table.refused(Command::Fork { origin, agents: None }).to_string();
    assert_eq!(refused, "session ses_nowhere was not found; list the sessions to find its id");
}

#[test]
fn a_session_that_lives_cannot_become_a_fork() {
    let parent = talked(Settings::default());
    let mut other = Table::open(vec![agent("Eve")]);
    let origin = Origin { session: parent.session().id.clone(), seq: parent.session().head };
    let own = Origin { session: other.session().id.clone(), seq: other.session().head };
    for origin in [origin, own] {
        let refused = other.refused(Command::Fork { origin, agents: None }).to_string();
        assert_eq!(
            refused,
            "session ses_test already exists; choose another id, or send your message to it"
        );
    }
}

#[test]
fn the_agents_of_a_fork_are_checked_like_those_of_any_session() {
    let seats = vec![agent("Ada").id];
    let limits = Limits { cost: Some(1_000_000), ..Limits::default() };
    let settings = Settings { seats, session_limits: limits, ..Settings::default() };
    let parent = talked(settings);
    for (agents, expected) in [
        (vec![], "a session needs 1 to 64 agents; this one has 0".to_owned()),
        // Bob takes Ada's place, and so her seat; what he lacks is a price.
        (
            vec![agent("Bob")],
            "a money budget needs known prices, and the price of Bob's model scripted is unknown; set its price, or use a token budget"
                .to_owned(),
        ),
    ] {
        let (mut fork, origin) = past(&parent, parent.log.len());
        let refused = fork.refused(Command::Fork { origin, agents: Some(agents) }).to_string();
        assert_eq!(refused, expected);
    }
}

#[test]
fn a_fork_where_all_rounds_are_done_is_refused_and_an_earlier_one_goes_on() {
    let parent = talked(Settings { total_rounds: Some(2), ..Settings::default() });
    assert_eq!(parent.session().status, Status::Completed);
    let (mut fork, origin) = past(&parent, parent.log.len());
    let refused = fork.refused(Command::Fork { origin, agents: None }).to_string();
    assert_eq!(refused, "all 2 rounds are done at that point; fork at the end of an earlier round");
    let closed = |line: &String| line.ends_with("closed completed");
    let lines: Vec<String> = parent.log.iter().map(|e| parent.labels.line(e)).collect();
    let end = lines.iter().position(closed).unwrap() + 1;
    let (mut fork, origin) = past(&parent, end);
    fork.ok(Command::Fork { origin, agents: None });
    say(&mut fork, "f1", "another question 2");
    assert_eq!(fork.session().round.as_ref().unwrap().number, 2);
}

#[test]
fn a_fork_keeps_the_title_and_is_not_archived() {
    let mut parent = talked(Settings::default());
    parent.ok(Command::Change(Change { title: Some("Plans".to_owned()), archived: Some(true) }));
    let fork = forked(&parent, None);
    assert_eq!((fork.session().title(), fork.session().archived), ("Plans", false));
}
