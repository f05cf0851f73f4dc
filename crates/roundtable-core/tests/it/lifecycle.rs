//! Pause, resume, complete: which inputs are taken, and that none vanishes silently.

use roundtable_core::Reject;
use roundtable_core::input::{Command, Report};
use roundtable_core::session::Status;
use roundtable_core::settings::Settings;

use crate::table::{Table, agent, opening};

fn complete() -> Command {
    Command::Complete { reason: "enough".to_owned() }
}

#[test]
fn a_paused_session_finishes_its_round_and_opens_no_other() {
    let mut table = Table::open(vec![agent("Ada")]);
    table.say("one");
    table.say("two");
    table.trace();
    table.ok(Command::Pause);
    table.answer("r1.t1.i1", "1");
    assert!(!table.session().has_work());
    table.ok(Command::Resume);
    insta::assert_snapshot!(table.trace(), @r#"
    session paused
      wants model r1.t1.i1 #1
    r1.t1.i1 model finished #1 "1" 0 calls
    r1.t1.i1 closed answered
    r1.t1 ended answered message 2
    r1 closed completed
      wants nothing
    session resumed
    r2 opened as round 2 take 1 by m2 message 3
    r2.t1 started ada seat 0.0
    r2.t1.i1 opened 1
    r2.t1.i1 model started #1
      wants model r2.t1.i1 #1
    "#);
}

#[test]
fn only_an_active_session_can_be_paused_and_only_a_paused_one_resumed() {
    let mut table = Table::open(vec![agent("Ada")]);
    let refused = table.refused(Command::Resume).to_string();
    assert_eq!(refused, "only a paused session can be resumed; this one is active");
    table.ok(Command::Pause);
    let refused = table.refused(Command::Pause).to_string();
    assert_eq!(refused, "session is not active: it is paused; resume it first");
    table.ok(complete());
    for command in [Command::Pause, Command::Resume, complete()] {
        let refused = table.refused(command).to_string();
        assert_eq!(
            refused,
            "session is not active: it is completed; open another session, or fork this one"
        );
    }
}

#[test]
fn completing_cuts_the_round_off_and_names_every_message_that_opens_none() {
    let mut table = Table::open(vec![agent("Ada")]);
    table.say("one");
    table.say("two");
    table.say("three");
    table.streams("r1.t1.i1", "One, I ");
    table.trace();
    table.ok(complete());
    insta::assert_snapshot!(table.trace(), @r#"
    r1.t1.i1 model cancelled #1 "One, I "
    r1.t1.i1 closed cancelled
    r1.t1 ended cancelled message 2
    r1 closed incomplete
    session dropped m2
    session dropped m3
    session completed: enough
      wants nothing
    "#);
    assert_eq!(table.session().status, Status::Completed);
    assert!(!table.session().has_work());
}

#[test]
fn a_paused_session_can_be_completed_with_what_waits_in_it() {
    let mut table = Table::open(vec![agent("Ada")]);
    table.say("one");
    table.say("two");
    table.ok(Command::Pause);
    table.answer("r1.t1.i1", "1");
    table.trace();
    table.ok(complete());
    insta::assert_snapshot!(table.trace(), @r"
    session dropped m2
    session completed: enough
      wants nothing
    ");
}

#[test]
fn a_session_whose_rounds_are_done_while_it_is_paused_ends_when_it_is_resumed() {
    let settings = Settings { total_rounds: Some(1), ..Settings::default() };
    let mut table = Table::open_with(vec![agent("Ada")], settings);
    table.say("one");
    table.ok(Command::Pause);
    table.answer("r1.t1.i1", "1");
    assert_eq!(table.session().status, Status::Paused);
    table.trace();
    table.ok(Command::Resume);
    insta::assert_snapshot!(table.trace(), @r"
    session resumed
    session completed: all rounds are done
      wants nothing
    ");
}

/// A session of three rounds that goes on by itself.
fn by_itself(agents: Vec<roundtable_core::agent::Agent>) -> Table {
    let settings = Settings { total_rounds: Some(3), auto_continue: true, ..Settings::default() };
    Table::open_with(agents, settings)
}

#[test]
fn a_session_that_is_set_so_goes_on_by_itself_until_its_last_round() {
    let mut table = by_itself(vec![agent("Ada")]);
    assert!(table.session().round.is_none(), "someone has to begin");
    table.say("one");
    table.answer("r1.t1.i1", "1");
    table.answer("r2.t1.i1", "2");
    table.answer("r3.t1.i1", "3");
    insta::assert_snapshot!(table.trace(), @r#"
    session accepted m1 "one"
    r1 opened as round 1 take 1 by m1 message 1
    r1.t1 started ada seat 0.0
    r1.t1.i1 opened 1
    r1.t1.i1 model started #1
      wants model r1.t1.i1 #1
    r1.t1.i1 model finished #1 "1" 0 calls
    r1.t1.i1 closed answered
    r1.t1 ended answered message 2
    r1 closed completed
    session accepted auto_2_1 nothing
    r2 opened as round 2 take 1 by auto_2_1
    r2.t1 started ada seat 0.0
    r2.t1.i1 opened 1
    r2.t1.i1 model started #1
      wants model r2.t1.i1 #1
    r2.t1.i1 model finished #1 "2" 0 calls
    r2.t1.i1 closed answered
    r2.t1 ended answered message 3
    r2 closed completed
    session accepted auto_3_1 nothing
    r3 opened as round 3 take 1 by auto_3_1
    r3.t1 started ada seat 0.0
    r3.t1.i1 opened 1
    r3.t1.i1 model started #1
      wants model r3.t1.i1 #1
    r3.t1.i1 model finished #1 "3" 0 calls
    r3.t1.i1 closed answered
    r3.t1 ended answered message 4
    r3 closed completed
    session completed: all rounds are done
      wants nothing
    "#);
}

#[test]
fn a_session_that_goes_on_by_itself_stops_where_nobody_could_answer() {
    let mut table = by_itself(vec![agent("Ada")]);
    table.say("one");
    table.fails("r1.t1.i1", "down");
    assert!(table.session().round.is_none());
    table.say("again");
    table.ok(Command::Stop);
    assert!(table.session().round.is_none(), "and where it was stopped");
}

#[test]
fn a_session_that_goes_on_by_itself_waits_for_people_and_lets_them_speak_first() {
    use roundtable_core::tool::ToolDecl;
    let tools = vec![ToolDecl::request_context()];
    let mut table = by_itself(vec![crate::table::agent_with("Ada", tools)]);
    table.say("one");
    let wanted = serde_json::json!({"query": "the price", "reason": "to decide"});
    table.asks("r1.t1.i1", "", vec![crate::table::ask("request_context", wanted)]);
    table.answer("r1.t1.i2", "I wait.");
    assert!(table.session().round.is_none());
    table.trace();
    table.ok(Command::Provide(vec![table.found("q1", "12")]));
    assert!(table.trace().contains("r2 opened as round 2 take 1 by auto_2_1"));
    table.say("three");
    table.answer("r2.t1.i1", "2");
    assert!(table.trace().contains("r3 opened as round 3 take 1 by m2"));
}

#[test]
fn a_paused_session_goes_on_by_itself_when_it_is_resumed() {
    let mut table = by_itself(vec![agent("Ada")]);
    table.say("one");
    table.ok(Command::Pause);
    table.answer("r1.t1.i1", "1");
    assert!(table.session().round.is_none());
    table.ok(Command::Resume);
    assert_eq!(table.session().round.as_ref().unwrap().number, 2);
}

#[test]
fn a_session_opens_once() {
    let mut table = Table::open(vec![agent("Ada")]);
    let refused = table.refused(opening(vec![agent("Bob")], Settings::default())).to_string();
    assert_eq!(
        refused,
        "session ses_test already exists; choose another id, or send your message to it"
    );
}

#[test]
fn what_never_opened_knows_nothing_and_does_nothing() {
    let mut table = Table::empty("ghost");
    for command in [Command::Stop, Command::Pause, complete(), Command::Regenerate] {
        assert!(matches!(table.refused(command), Reject::NotFound { .. }));
    }
    assert!(matches!(table.refused(Report::Woke), Reject::NotFound { .. }));
    assert!(table.settle().is_empty());
}

#[test]
fn a_change_of_writer_or_a_passing_hour_does_nothing_to_a_quiet_session() {
    let mut table = Table::open(vec![agent("Ada")]);
    assert!(table.ok(Report::WriterChanged).is_empty());
    table.later(jiff::SignedDuration::from_hours(1));
    assert!(table.ok(Report::Woke).is_empty());
}
