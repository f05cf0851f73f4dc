//! The tool `ask`: an agent asks the person in mid-turn, the call waits as a row, and the turn goes
//! on in place with the answer.

use roundtable_core::agent::Agent;
use roundtable_core::context_request::ContextResult;
use roundtable_core::input::{Command, OnBusy, Report};
use roundtable_core::settings::Settings;
use roundtable_core::tool::ToolDecl;
use serde_json::json;

use crate::table::{Table, agent_with, ask};

/// A round in which the agent waits for the person.
fn asked() -> Table {
    let mut table = Table::open(vec![agent_with("Ada", vec![ToolDecl::ask()])]);
    table.say("Book a table.");
    let question = json!({ "question": "For how many?", "reason": "They ask." });
    table.asks("r1.t1.i1", "", vec![ask("ask", question)]);
    table
}

#[test]
fn a_question_waits_as_a_row_and_its_answer_is_the_result_of_the_call() {
    let mut table = asked();
    assert!(!table.session().has_work(), "it waits for people");
    table.ok(Report::WriterChanged);
    let answer = table.found("q1", "Four.");
    table.ok(Command::Provide(vec![answer]));
    insta::assert_snapshot!(table.trace(), @r#"
    session accepted m1 "Book a table."
    r1 opened as round 1 take 1 by m1 message 1
    r1.t1 started ada seat 0.0
    r1.t1.i1 opened 1
    r1.t1.i1 model started #1
      wants model r1.t1.i1 #1
    r1.t1.i1 model finished #1 "" 1 calls
    r1.t1.i1.c1 requested ask {"question":"For how many?","reason":"They ask."} idempotent
    r1.t1.i1.c1 asked q1 by ada, required question: For how many?
      wants nothing
      wants nothing
    session provided q1: Four.
    r1.t1.i1.c1 finished ok "Four."
    r1.t1.i1 closed tools done
    r1.t1.i2 opened 2
    r1.t1.i2 model started #1
      wants model r1.t1.i2 #1
    "#);
    table.answer("r1.t1.i2", "Booked for four.");
    table.say("Thanks.");
    let prompt = table.prompt("r2.t1");
    assert!(!prompt.contains("context-results"), "the answer was for that turn alone: {prompt}");
}

#[test]
fn an_answer_counts_once_whoever_brings_it() {
    let mut table = asked();
    let (first, second) = (table.found("q1", "Four."), table.found("q1", "Five."));
    table.ok(Command::Provide(vec![first.clone()]));
    assert_eq!(table.session().result_warnings(&[first], false), [""; 0], "a retry");
    let warnings = table.session().result_warnings(std::slice::from_ref(&second), false);
    assert!(warnings[0].contains("already has a different answer"), "{warnings:?}");
    table.trace();
    table.ok(Command::Provide(vec![second]));
    insta::assert_snapshot!(table.trace(), @"  wants model r1.t1.i2 #1");
}

#[test]
fn a_person_who_does_not_answer_is_a_failed_result() {
    let mut table = asked();
    table.trace();
    let refused = ContextResult::not_found(table.request("q1"), "not now");
    table.ok(Command::Provide(vec![refused]));
    let trace = table.trace();
    assert!(trace.contains("finished failed \"The person did not answer: not now\""), "{trace}");
}

#[test]
fn what_is_cut_off_withdraws_its_question() {
    let mut table = asked();
    let late = table.found("q1", "Four.");
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
    table.ok(Command::Provide(vec![late]));
    insta::assert_snapshot!(table.trace(), @"  wants nothing");
}

#[test]
fn a_message_waits_for_the_answer_unless_it_brings_it_or_interrupts() {
    let mut table = asked();
    let refused = table.say_busy("And a taxi.", OnBusy::Queue).unwrap_err().to_string();
    assert!(refused.contains("For how many?"), "{refused}");
    let answer = table.found("q1", "Four.");
    table.say_with("And a taxi.", vec![answer]).unwrap();
    assert_eq!(table.session().waiting.len(), 1);

    let mut table = asked();
    table.say_busy("Forget it.", OnBusy::Interrupt).unwrap();
    assert_eq!(table.session().requests, []);
    assert_eq!(table.session().round.as_ref().unwrap().number, 2);
}

#[test]
fn a_worker_asks_and_goes_on_while_its_supervisor_waits() {
    let worker = agent_with("Worker", vec![ToolDecl::ask()]);
    let boss = Agent {
        workers: vec![worker.id.clone()],
        ..agent_with("Boss", vec![ToolDecl::delegate()])
    };
    let settings = Settings { seats: vec![boss.id.clone()], ..Settings::default() };
    let mut table = Table::open_with(vec![boss, worker], settings);
    table.say("Book a table.");
    table.asks(
        "r1.t1.i1",
        "",
        vec![ask("delegate", json!({"agent": "worker", "mission": "book"}))],
    );
    table.asks("r1.t2.i1", "", vec![ask("ask", json!({ "question": "For how many?" }))]);
    assert!(!table.session().has_work(), "both wait for people");
    let answer = table.found("q1", "Four.");
    table.ok(Command::Provide(vec![answer]));
    table.answer("r1.t2.i2", "Booked for four.");
    table.answer("r1.t1.i2", "Done.");
    assert_eq!(table.session().rounds_completed, 1);
}

#[test]
fn a_question_that_does_not_fit_is_refused_with_the_reason() {
    let mut table = Table::open(vec![agent_with("Ada", vec![ToolDecl::ask()])]);
    table.say("Book a table.");
    let calls = [
        json!({ "question": " " }),
        json!({ "question": "x".repeat(1_001) }),
        json!({ "query": "For how many?" }),
    ];
    let calls = calls.map(|arguments| ask("ask", arguments)).to_vec();
    table.asks("r1.t1.i1", "", calls);
    let trace = table.trace();
    for why in [
        "ask: question must have 1 to 1000 characters; this one has 1",
        "ask: question must have 1 to 1000 characters; this one has 1001",
        "the arguments of ask do not match its schema: unknown field `query`",
    ] {
        assert!(trace.contains(why), "{why}\n{trace}");
    }
    assert_eq!(table.session().requests, []);
}
