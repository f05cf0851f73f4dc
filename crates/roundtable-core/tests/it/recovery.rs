//! Draining, restarting, reading what others wrote: the same rules go on where a log ends.

use std::collections::BTreeMap;

use roundtable_core::budget::{Limits, Spend};
use roundtable_core::event::{
    Body, ContextEvent, Event, IterationEvent, SessionEvent, ToolCallEvent,
};
use roundtable_core::input::{Command, Env, Report};
use roundtable_core::settings::Settings;
use roundtable_core::tool::{Effect, ToolDecl};
use roundtable_core::{Live, Reject, Starts};
use serde_json::json;

use crate::table::{Table, agent, agent_with, ask};

fn searcher() -> Table {
    let tools = vec![
        ToolDecl::handler("search", Effect::Pure),
        ToolDecl::handler("pay", Effect::Effectful),
        ToolDecl::request_context(),
    ];
    Table::open(vec![agent_with("Ada", tools), agent("Bob")])
}

#[test]
fn an_engine_that_drains_starts_nothing_and_whoever_comes_next_starts_it() {
    let mut table = searcher();
    table.starts = Starts::Held;
    table.say("Hello");
    assert!(table.session().has_work());
    assert!(!table.session().has_started());
    table.starts = Starts::Allowed;
    table.settle();
    insta::assert_snapshot!(table.trace(), @r#"
    session accepted m1 "Hello"
    r1 opened as round 1 take 1 by m1 message 1
    r1.t1 started ada seat 0.0
    r1.t1.i1 opened 1
    r1.t2 started bob seat 0.1
    r1.t2.i1 opened 1
      wants nothing
    r1.t1.i1 model started #1
    r1.t2.i1 model started #1
      wants model r1.t1.i1 #1, model r1.t2.i1 #1
    "#);
    assert!(table.session().has_started());
}

#[test]
fn what_ends_while_an_engine_drains_is_recorded_and_followed_up_later() {
    let mut table = searcher();
    table.say("Hello");
    table.trace();
    table.starts = Starts::Held;
    table.asks("r1.t1.i1", "", vec![ask("search", json!({})), ask("search", json!({"n": 2}))]);
    table.answer("r1.t2.i1", "Bob is done.");
    assert!(!table.session().has_started());
    table.starts = Starts::Allowed;
    table.settle();
    table.starts = Starts::Held;
    table.returns("r1.t1.i1.c1", "one");
    table.returns("r1.t1.i1.c2", "two");
    table.starts = Starts::Allowed;
    table.settle();
    insta::assert_snapshot!(table.trace(), @r#"
    r1.t1.i1 model finished #1 "" 2 calls
    r1.t1.i1.c1 requested search {} pure
    r1.t1.i1.c2 requested search {"n":2} pure
      wants model r1.t2.i1 #1
    r1.t2.i1 model finished #1 "Bob is done." 0 calls
    r1.t2.i1 closed answered
    r1.t2 ended answered message 2
      wants nothing
    r1.t1.i1.c1 started #1
    r1.t1.i1.c2 started #1
      wants tool r1.t1.i1.c1 #1, tool r1.t1.i1.c2 #1
    r1.t1.i1.c1 finished ok "one"
      wants tool r1.t1.i1.c2 #1
    r1.t1.i1.c2 finished ok "two"
    r1.t1.i1 closed tools done
    r1.t1.i2 opened 2
      wants nothing
    r1.t1.i2 model started #1
      wants model r1.t1.i2 #1
    "#);
}

#[test]
fn what_a_running_handler_waits_for_is_started_while_an_engine_drains() {
    let mut table = searcher();
    table.say("Hello");
    table.asks("r1.t1.i1", "", vec![ask("search", json!({}))]);
    table.trace();
    table.starts = Starts::Held;
    table.ok(table.evaluates("r1.t1.i1.c1", 1, "Which one?"));
    assert!(!table.session().is_awaited(&table.call("r1.t1.i1.c1")), "a seat is not awaited");
    table.answer("r1.t3.i1", "the first");
    table.returns("r1.t1.i1.c1", "found the first");
    insta::assert_snapshot!(table.trace(), @r#"
    r1.t3 started ada for r1.t1.i1.c1 nested 1: Which one?
    r1.t3.i1 opened 1
    r1.t3.i1 model started #1
      wants tool r1.t1.i1.c1 #1, model r1.t2.i1 #1, model r1.t3.i1 #1
    r1.t3.i1 model finished #1 "the first" 0 calls
    r1.t3.i1 closed answered
    r1.t3 ended answered
      wants tool r1.t1.i1.c1 #1, model r1.t2.i1 #1
    r1.t1.i1.c1 finished ok "found the first"
    r1.t1.i1 closed tools done
    r1.t1.i2 opened 2
      wants model r1.t2.i1 #1
    "#);
}

#[test]
fn after_a_planned_stop_nothing_is_in_doubt() {
    let mut table = searcher();
    table.say("Hello");
    table.starts = Starts::Held;
    table.asks("r1.t1.i1", "", vec![ask("search", json!({}))]);
    table.answer("r1.t2.i1", "Bob is done.");
    table.trace();
    table.starts = Starts::Allowed;
    table.ok(Report::WriterChanged);
    insta::assert_snapshot!(table.trace(), @r"
    r1.t1.i1.c1 started #1
      wants tool r1.t1.i1.c1 #1
    ");
}

#[test]
fn nothing_is_due_after_a_step() {
    let mut table = searcher();
    table.say("Hello");
    assert!(table.settle().is_empty());
    table.answer("r1.t1.i1", "Hi");
    assert!(table.settle().is_empty());
}

#[test]
fn a_session_is_resumed_while_tool_calls_are_pending_and_goes_on_the_same() {
    let mut table = searcher();
    table.say("Hello");
    let calls = vec![ask("search", json!({"q": 1})), ask("pay", json!({}))];
    table.asks("r1.t1.i1", "Both.", calls);
    table.begins("r1.t1.i1.c2");
    let mut other = table.clone();
    other.live = table.resumed();
    for table in [&mut table, &mut other] {
        table.returns("r1.t1.i1.c2", "paid");
        table.returns("r1.t1.i1.c1", "found");
        table.answer("r1.t1.i2", "Done.");
        table.answer("r1.t2.i1", "Me too.");
    }
    assert_eq!(other.log, table.log);
    assert_eq!(other.live, table.live);
}

#[test]
fn f24_a_session_that_waits_for_an_answer_goes_on_from_its_snapshot_a_month_later() {
    let mut table = searcher();
    table.say("Hello");
    let wanted = ask("request_context", json!({"query": "the price", "reason": "to decide"}));
    table.asks("r1.t1.i1", "", vec![wanted]);
    table.answer("r1.t1.i2", "I wait.");
    table.answer("r1.t2.i1", "Me too.");
    table.live = table.resumed();
    table.later(jiff::SignedDuration::from_hours(24 * 30));
    let results = vec![table.found("q1", "12 crowns")];
    table.say_with("Here it is.", results).unwrap();
    assert!(table.prompt("r2.t1").contains("12 crowns"));
}

#[test]
fn f34_a_session_that_holds_something_newer_can_be_read_and_not_written() {
    let mut table = searcher();
    table.say("Hello");
    let newer = Event {
        seq: table.session().head.next(),
        at: table.now,
        place: roundtable_core::scope::Place::session(),
        body: Body::Unknown { kind: "moon_landed".to_owned(), version: 1, data: json!({"x": 1}) },
    };
    table.live.apply(&newer);
    table.log.push(newer);
    table.check();
    let refusal = "this session was written by a newer version; update roundtable to continue it (reading works)";
    for command in [Command::Stop, Command::Pause, Command::Regenerate] {
        assert_eq!(table.refused(command).to_string(), refusal);
    }
    assert_eq!(table.refused(Report::WriterChanged), Reject::Newer);
    table.refused(table.replied("r1.t1.i1", crate::table::reply("Hi", Vec::new())));
    assert!(table.settle().is_empty());
    assert_eq!(table.session().round.as_ref().unwrap().number, 1, "it is still there to read");
}

/// The bodies that hold what people or models said.
fn is_personal(body: &Body) -> bool {
    match body {
        Body::Session(body) => matches!(body, SessionEvent::SessionInputAccepted(_)),
        Body::Iteration(body) => matches!(body, IterationEvent::ModelCallFinished { .. }),
        Body::ToolCall(body) => matches!(
            body,
            ToolCallEvent::ToolCallRequested { .. } | ToolCallEvent::ToolCallFinished(_)
        ),
        Body::Context(body) => {
            matches!(body, ContextEvent::ContextRequested(_) | ContextEvent::ContextProvided(_))
        }
        _ => false,
    }
}

/// Two rounds with a tool, a question and its answer, under a budget.
fn personal() -> Table {
    let tools = vec![ToolDecl::handler("search", Effect::Pure), ToolDecl::request_context()];
    let limits = Limits { tokens: Some(1_000_000), ..Limits::default() };
    let settings = Settings { session_limits: limits, ..Settings::default() };
    let mut table = Table::open_with(vec![agent_with("Ada", tools)], settings);
    table.say("My name is Eve.");
    let wanted = ask("request_context", json!({"query": "Eve's age", "reason": "to greet"}));
    table.asks("r1.t1.i1", "Hm.", vec![ask("search", json!({"q": "Eve"})), wanted]);
    table.returns("r1.t1.i1.c1", "Eve lives here.");
    table.answer("r1.t1.i2", "Hello, Eve.");
    let results = vec![table.found("q1", "Eve is 30.")];
    table.say_with("Eve again.", results).unwrap();
    table.answer("r2.t1.i1", "Hello again, Eve.");
    table
}

fn without(table: &Table, erased: impl Fn(&Event) -> bool) -> Live {
    let mut live = Live::new(table.session().id.clone(), &crate::programs());
    for event in &table.log {
        let body = if erased(event) { Body::Redacted } else { event.body.clone() };
        live.apply(&Event { body, ..event.clone() });
    }
    live
}

#[test]
fn a_session_goes_on_after_a_persons_words_were_erased() {
    let table = personal();
    let personal: Vec<_> = table.log.iter().filter(|e| is_personal(&e.body)).collect();
    assert!(personal.len() > 8);
    let one_by_one = personal.iter().map(|erased| without(&table, |event| event == *erased));
    let all_at_once = without(&table, |event| is_personal(&event.body));
    for live in one_by_one.chain([all_at_once]) {
        assert_eq!(live.session.rounds_completed, 2);
        assert_eq!(live.session.account.reserved, Spend::default(), "no reservation is stuck");
        assert!(live.session.required().next().is_none(), "no answered question comes back");
        let mut after = table.clone();
        after.live = live;
        let say = after.next_say(Some("And now?"));
        let env = roundtable_core::input::Env::at(after.now);
        let input = Command::Say(say).into();
        let events = after.live.step(&input, &env, Starts::Allowed).unwrap();
        events.iter().for_each(|event| after.labels.see(event));
        assert!(after.prompt("r3.t1").contains("User: And now?"));
    }
}

#[test]
fn what_was_erased_is_in_no_prompt() {
    let table = personal();
    let mut after = table.clone();
    after.live = without(&table, |event| is_personal(&event.body));
    let say = after.next_say(Some("And now?"));
    let env = roundtable_core::input::Env::at(after.now);
    let events = after.live.step(&Command::Say(say).into(), &env, Starts::Allowed).unwrap();
    events.iter().for_each(|event| after.labels.see(event));
    assert!(!after.prompt("r3.t1").contains("Eve"));
}

#[test]
fn f34_nothing_follows_by_itself_in_a_session_that_holds_something_newer() {
    let mut table = Table::open(vec![agent("Ada")]);
    let events = table.say("Well?");
    // As if the process had died right after the message was taken: its round is still to open.
    let until = events[0].seq;
    let left = |newer: bool| {
        let mut live = Live::new(table.session().id.clone(), &crate::programs());
        let taken = table.log.iter().filter(|event| event.seq <= until);
        taken.for_each(|event| live.apply(event));
        let kind = "moon_landed".to_owned();
        let body = Body::Unknown { kind, version: 1, data: json!({}) };
        if newer {
            live.apply(&Event { seq: until.next(), body, ..events[0].clone() });
        }
        let env = Env { now: events[0].at, partials: BTreeMap::new() };
        live.settle(&env, Starts::Allowed).len()
    };
    assert!(left(false) > 0);
    assert_eq!(left(true), 0);
}
