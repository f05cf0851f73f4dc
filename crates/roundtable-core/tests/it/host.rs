//! Agents that speak through whoever calls: their turns wait, and nothing runs for them.

use roundtable_core::Reject;
use roundtable_core::agent::{Agent, HOST};
use roundtable_core::budget::Limits;
use roundtable_core::input::{Command, Report};
use roundtable_core::settings::Settings;
use roundtable_core::want::Want;

use crate::table::{Table, agent};

fn host(name: &str) -> Agent {
    Agent { model: HOST.to_owned(), ..agent(name) }
}

fn contribute(table: &Table, label: &str, text: &str) -> Command {
    Command::Contribute { iteration: table.iteration(label), text: text.to_owned() }
}

/// Who waits for someone to bring a turn in.
fn waiting(table: &Table) -> Vec<&str> {
    table.session().host_turns().map(|turn| turn.agent.suffix()).collect()
}

fn model_calls(table: &Table) -> usize {
    let wants = table.session().wants();
    wants.iter().filter(|want| matches!(want, Want::CallModel { .. })).count()
}

#[test]
fn a_turn_of_the_callers_own_model_waits_without_work_and_is_brought_in_once() {
    let mut table = Table::open(vec![host("Ada"), agent("Bob")]);
    table.say("Debate.");
    assert_eq!((waiting(&table), model_calls(&table)), (vec!["ada"], 1), "only Bob's is asked");
    table.answer("r1.t2.i1", "No.");
    assert_eq!(model_calls(&table), 0);
    assert!(!table.session().has_work(), "nobody has to be there while people think");
    table.ok(contribute(&table, "r1.t1.i1", "Yes."));
    assert_eq!((waiting(&table).len(), table.session().rounds_completed), (0, 1));
    let again = table.refused(contribute(&table, "r1.t1.i1", "Or no."));
    assert!(matches!(again, Reject::Stale { .. }), "{again}");
    table.check();
}

#[test]
fn another_process_finds_the_turn_as_it_was_and_declares_nothing() {
    let mut table = Table::open(vec![host("Ada"), agent("Bob")]);
    table.say("Debate.");
    table.answer("r1.t2.i1", "No.");
    assert!(!table.session().has_started(), "nothing was cut off");
    assert!(table.ok(Report::WriterChanged).is_empty());
    assert_eq!(waiting(&table), ["ada"]);
    table.ok(contribute(&table, "r1.t1.i1", "Yes."));
    assert_eq!(table.session().rounds_completed, 1);
    table.check();
}

#[test]
fn nobody_speaks_for_an_agent_with_a_model_of_its_own() {
    let mut table = Table::open(vec![agent("Bob")]);
    table.say("Debate.");
    let refused = table.refused(contribute(&table, "r1.t1.i1", "I am Bob."));
    assert!(matches!(refused, Reject::Stale { .. }), "{refused}");
    assert_eq!(model_calls(&table), 1);
}

#[test]
fn a_round_that_is_cut_off_takes_waiting_turns_with_it() {
    let mut table = Table::open(vec![host("Ada")]);
    table.say("Debate.");
    table.ok(Command::Stop);
    assert!(waiting(&table).is_empty() && table.session().round.is_none());
    let late = table.refused(contribute(&table, "r1.t1.i1", "Yes."));
    assert!(matches!(late, Reject::Stale { .. }), "{late}");
    table.check();
}

#[test]
fn what_is_set_aside_for_the_callers_own_model_is_spent_and_nobody_waits_for_it_to_come_back() {
    let round_limits = Limits { calls: Some(2), ..Limits::default() };
    let settings = Settings { round_limits, ..Settings::default() };
    let mut table = Table::open_with(vec![host("Ada"), agent("Bob"), agent("Cid")], settings);
    table.say("Debate.");
    let turns = |table: &Table| table.session().round.as_ref().unwrap().turns.len();
    assert_eq!((waiting(&table), model_calls(&table)), (vec!["ada"], 1), "Bob's may cost less");
    assert_eq!(turns(&table), 3, "so Cid waits");
    table.answer("r1.t2.i1", "No.");
    assert_eq!((waiting(&table), turns(&table)), (vec!["ada"], 1), "Cid does not wait for days");
    assert!(!table.session().has_work());
    table.ok(contribute(&table, "r1.t1.i1", "Yes."));
    assert_eq!(table.session().rounds_completed, 1);
    table.check();
}
