//! Events as rows: what people query, and where the texts are.

use roundtable_core::event::{Body, Event, IterationEvent, SessionEvent};
use roundtable_core::input::Command;
use roundtable_core::program::Programs;
use roundtable_core::projection::{Row, Summary, rows};
use roundtable_core::session::Status;
use roundtable_core::settings::Settings;
use roundtable_core::tool::{Effect, ToolDecl};
use roundtable_core::{Keep, Live};
use serde_json::json;

use crate::table::{Table, agent, agent_with, ask};

/// A fold of the whole log that keeps everything.
fn whole(table: &Table) -> Live {
    let mut live = Live::reader(table.live.session.id.clone(), &Programs::default(), Keep::All);
    table.log.iter().for_each(|event| live.apply(event));
    live
}

/// The rows of a whole log, one line each.
fn lines(table: &Table) -> String {
    let whole = whole(table);
    let is_shown =
        |row: &Row| !matches!(row, Row::Reservation { .. } | Row::ReservationGone { .. });
    let rows = table
        .log
        .iter()
        .flat_map(|event| rows(event, &whole))
        .filter(is_shown)
        .map(|row| line(table, &row));
    rows.collect::<Vec<_>>().join("\n")
}

fn line(table: &Table, row: &Row) -> String {
    let text = match row {
        Row::Agent { agent, name } => format!("agent {agent} {name}"),
        Row::Round { round, number, take, agents, .. } => {
            format!("round {round} is {number} take {take} of {} agents", agents.len())
        }
        Row::Seats { round, agents } => format!("round {round} has {} more agents", agents.len()),
        Row::RoundEnd { round, outcome, .. } => format!("round {round} ended {outcome:?}"),
        Row::Message { number, round, turn, body, .. } => {
            let event = table.log.iter().find(|event| event.seq == *body).unwrap();
            format!("message {number} in {round} by {turn:?}: {:?}", words(event))
        }
        Row::Take { number, take, active } => format!("take {number}.{take} active {active}"),
        Row::Request { request, agent, .. } => format!("request {request} of {agent}"),
        Row::RequestGone { request } => format!("request {request} gone"),
        Row::Opened { actor } => format!("opened by {}", actor.as_deref().unwrap_or("nobody")),
        Row::Reservation { iteration, amount } => {
            format!("reserved {} tokens for {iteration}", amount.tokens)
        }
        Row::ReservationGone { iteration } => format!("reservation of {iteration} gone"),
    };
    table.labels.replace(&text)
}

/// What an event says.
fn words(event: &Event) -> &str {
    match &event.body {
        Body::Session(SessionEvent::SessionInputAccepted(accepted)) => {
            accepted.text.as_deref().unwrap()
        }
        Body::Iteration(IterationEvent::ModelCallFinished { text, .. }) => text,
        Body::Iteration(IterationEvent::ModelCallCancelled { partial, .. }) => partial,
        other => panic!("this says nothing: {other:?}"),
    }
}

#[test]
fn every_message_row_points_to_the_event_that_has_its_text() {
    let tools = vec![ToolDecl::handler("search", Effect::Pure), ToolDecl::request_context()];
    let mut table = Table::open(vec![agent_with("Ada", tools), agent("Bob")]);
    table.say("Hello");
    let wanted = ask("request_context", json!({"query": "q", "reason": "r"}));
    table.asks("r1.t1.i1", "Let me think.", vec![ask("search", json!({})), wanted]);
    table.returns("r1.t1.i1.c1", "found");
    table.answer("r1.t1.i2", "");
    table.streams("r1.t2.i1", "I was say");
    table.ok(Command::Stop);
    let results = vec![table.found("q1", "a")];
    table.say_with("Again", results).unwrap();
    table.answer("r2.t1.i1", "");
    table.answer("r2.t2.i1", "Here.");
    table.ok(Command::Regenerate);
    table.ok(Command::Stop);
    table.ok(Command::SelectTake { number: 2, take: 1 });
    insta::assert_snapshot!(lines(&table), @r#"
    agent agt_ada Ada
    agent agt_bob Bob
    opened by nobody
    round r1 is 1 take 1 of 2 agents
    message 1 in r1 by None: "Hello"
    request q1 of agt_ada
    message 2 in r1 by Some(r1.t1): "Let me think."
    message 3 in r1 by Some(r1.t2): "I was say"
    round r1 ended Incomplete
    request q1 gone
    round r2 is 2 take 1 of 2 agents
    message 4 in r2 by None: "Again"
    message 5 in r2 by Some(r2.t1): ""
    message 6 in r2 by Some(r2.t2): "Here."
    round r2 ended Completed
    take 2.1 active false
    round r3 is 2 take 2 of 2 agents
    message 4 in r3 by None: "Again"
    round r3 ended Incomplete
    take 2.1 active true
    "#);
}

#[test]
fn what_a_model_call_may_spend_is_a_row_from_its_start_to_its_end() {
    let mut table = Table::open(vec![agent("Ada"), agent("Bob")]);
    table.say("Hello");
    table.answer("r1.t1.i1", "Yes.");
    table.ok(Command::Stop);
    let whole = whole(&table);
    let is_shown = |row: &Row| matches!(row, Row::Reservation { .. } | Row::ReservationGone { .. });
    let rows = table
        .log
        .iter()
        .flat_map(|event| rows(event, &whole))
        .filter(is_shown)
        .map(|row| line(&table, &row));
    assert_eq!(
        rows.collect::<Vec<_>>(),
        [
            "reserved 4119 tokens for r1.t1.i1",
            "reserved 4119 tokens for r1.t2.i1",
            "reservation of r1.t1.i1 gone",
            "reservation of r1.t2.i1 gone",
        ]
    );
}

#[test]
fn a_summary_says_where_a_session_stands() {
    let settings = Settings { total_rounds: Some(2), ..Settings::default() };
    let mut table = Table::open_with(vec![agent("Ada")], settings);
    let stands = |table: &Table| {
        let summary = Summary::of(table.session());
        (summary.status, summary.rounds_completed, summary.current_round, summary.has_work)
    };
    assert_eq!(stands(&table), (Status::Active, 0, 1, false));
    table.say("one");
    assert_eq!(stands(&table), (Status::Active, 0, 1, true));
    table.answer("r1.t1.i1", "1");
    assert_eq!(stands(&table), (Status::Active, 1, 2, false));
    table.say("two");
    table.answer("r2.t1.i1", "2");
    assert_eq!(stands(&table), (Status::Completed, 2, 3, false));
}
