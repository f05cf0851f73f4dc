//! Budgets: a call is reserved before it is made, so no interleaving overshoots.

use roundtable_core::agent::Agent;
use roundtable_core::budget::{Exhausted, Limits, Price, Spend};
use roundtable_core::event::{Body, IterationEvent};
use roundtable_core::input::{Command, Report};
use roundtable_core::settings::Settings;
use roundtable_core::tool::{Effect, ToolDecl};
use serde_json::json;

use crate::table::{Table, agent, agent_with, ask, counted, opening};

fn calls(calls: u64) -> Limits {
    Limits { calls: Some(calls), ..Limits::default() }
}

fn tokens(tokens: u64) -> Limits {
    Limits { tokens: Some(tokens), ..Limits::default() }
}

/// An agent that searches, whose replies have ten tokens at most.
pub fn searcher(name: &str) -> Agent {
    let tools = vec![ToolDecl::handler("search", Effect::Pure), ToolDecl::delegate()];
    Agent { max_tokens: 10, ..agent_with(name, tools) }
}

fn session_with(session_limits: Limits, agents: Vec<Agent>) -> Table {
    Table::open_with(agents, Settings { session_limits, ..Settings::default() })
}

/// What the last model call that started had set aside for it.
fn reserved(table: &Table) -> Spend {
    let reserved = table.log.iter().rev().find_map(|event| match &event.body {
        Body::Iteration(IterationEvent::ModelCallStarted { reserved, .. }) => Some(*reserved),
        _ => None,
    });
    reserved.unwrap()
}

#[test]
fn a_turn_whose_calls_are_spent_ends_with_what_it_has_and_says_so() {
    let ada = Agent { limits: calls(1), ..searcher("Ada") };
    let mut table = Table::open(vec![ada]);
    table.say("Search.");
    table.asks("r1.t1.i1", "First thoughts.", vec![ask("search", json!({}))]);
    table.trace();
    table.returns("r1.t1.i1.c1", "found");
    insta::assert_snapshot!(table.trace(), @r#"
    r1.t1.i1.c1 finished ok "found"
    r1.t1.i1 closed tools done
    r1.t1.i2 opened 2
    r1.t1.i2 closed exhausted calls
    r1.t1 ended exhausted calls message 2
    r1 closed completed
      wants nothing
    "#);
    table.say("And?");
    insta::assert_snapshot!(table.prompt("r2.t1"), @r"
    User: The conversation so far:

    [Round 1]
    User: Search.
    Ada: First thoughts. [cut off]

    System: You are Ada.
    User: User: And?
    ");
}

#[test]
fn a_turn_that_said_nothing_before_its_budget_was_spent_is_no_message() {
    let mut table = session_with(calls(0), vec![agent("Ada")]);
    table.say("Hello?");
    insta::assert_snapshot!(table.trace(), @r#"
    session accepted m1 "Hello?"
    r1 opened as round 1 take 1 by m1 message 1
    r1.t1 started ada seat 0.0
    r1.t1.i1 opened 1
    r1.t1.i1 closed exhausted calls
    r1.t1 ended exhausted calls
    r1 closed failed
      wants nothing
    "#);
}

#[test]
fn a_call_reserves_its_prompt_and_all_of_the_reply_that_it_may_give() {
    let price = Some(Price { input: 1_000_000, output: 2_000_000 });
    let mut table = Table::open(vec![Agent { price, max_tokens: 7, ..agent("Ada") }]);
    table.say("Hello");
    let bytes = "You are Ada.User: Hello".len() as u64;
    let expected = Spend { calls: 1, tokens: bytes + 7, cost: bytes + 14 };
    assert_eq!(reserved(&table), expected);
    assert_eq!(table.session().account.reserved, expected);
    table.ok(table.replied("r1.t1.i1", counted("Hi", Vec::new(), 5, 3)));
    assert_eq!(table.session().account.reserved, Spend::default());
    assert_eq!(table.session().account.spent, Spend { calls: 1, tokens: 8, cost: 11 });
}

#[test]
fn what_a_provider_does_not_count_is_estimated_from_the_prompt_and_the_answer() {
    let mut table = Table::open(vec![agent("Ada")]);
    table.say("Hello");
    let prompt = "You are Ada.User: Hello".len() as u64;
    table.answer("r1.t1.i1", "Hi there");
    let expected = Spend { calls: 1, tokens: prompt.div_ceil(4) + 2, cost: 0 };
    assert_eq!(table.session().account.spent, expected);
    assert!(table.session().account.estimated);
}

#[test]
fn a_call_that_does_not_fit_waits_while_others_hold_reservations() {
    // Each prompt has 23 bytes and each reply 10 tokens, so two calls do not fit at once.
    let mut table = session_with(tokens(60), vec![searcher("Ada"), searcher("Bob")]);
    table.say("Hello");
    table.trace();
    table.ok(table.replied("r1.t1.i1", counted("Hi", Vec::new(), 20, 5)));
    insta::assert_snapshot!(table.trace(), @r#"
    r1.t1.i1 model finished #1 "Hi" 0 calls
    r1.t1.i1 closed answered
    r1.t1 ended answered message 2
    r1.t2.i1 model started #1
      wants model r1.t2.i1 #1
    "#);
    table.ok(table.replied("r1.t2.i1", counted("Hi", Vec::new(), 23, 10)));
    assert_eq!(table.session().account.spent.tokens, 58);
}

#[test]
fn a_call_that_never_fits_ends_its_turn_when_the_others_are_done() {
    let mut table = session_with(tokens(60), vec![searcher("Ada"), searcher("Bob")]);
    table.say("Hello");
    table.trace();
    table.ok(table.replied("r1.t1.i1", counted("Hi", Vec::new(), 23, 10)));
    insta::assert_snapshot!(table.trace(), @r#"
    r1.t1.i1 model finished #1 "Hi" 0 calls
    r1.t1.i1 closed answered
    r1.t1 ended answered message 2
    r1.t2.i1 closed exhausted tokens
    r1.t2 ended exhausted tokens
    r1 closed completed
      wants nothing
    "#);
}

#[test]
fn a_waiting_call_is_given_up_with_its_round() {
    let mut table = session_with(tokens(60), vec![searcher("Ada"), searcher("Bob")]);
    table.say("Hello");
    table.trace();
    table.ok(Command::Stop);
    insta::assert_snapshot!(table.trace(), @r#"
    r1.t1.i1 model cancelled #1 ""
    r1.t1.i1 closed cancelled
    r1.t1 ended cancelled
    r1.t2.i1 closed cancelled
    r1.t2 ended cancelled
    r1 closed incomplete
      wants nothing
    "#);
}

#[test]
fn a_money_budget_ends_a_turn_too() {
    let price = Some(Price { input: 1_000_000, output: 1_000_000 });
    let ada = Agent { price, ..searcher("Ada") };
    let limits = Limits { cost: Some(60), ..Limits::default() };
    let mut table = session_with(limits, vec![ada]);
    table.say("Hello");
    table.ok(table.replied("r1.t1.i1", counted("Hi", Vec::new(), 20, 10)));
    table.trace();
    table.say("Again");
    assert!(table.trace().contains("r2.t1 ended exhausted money"));
    assert_eq!(table.session().account.spent.cost, 30);
}

#[test]
fn a_round_has_a_budget_of_its_own_and_the_next_one_too() {
    let settings = Settings { round_limits: calls(1), ..Settings::default() };
    let mut table = Table::open_with(vec![searcher("Ada")], settings);
    for round in 1..=2 {
        table.say("Search.");
        let label = format!("r{round}.t1.i1");
        table.asks(&label, "Hm.", vec![ask("search", json!({}))]);
        table.trace();
        table.returns(&format!("{label}.c1"), "found");
        assert!(table.trace().contains(&format!("r{round}.t1 ended exhausted calls message")));
    }
}

#[test]
fn children_draw_on_the_budget_of_the_turn_that_waits_for_them() {
    let workers = vec![agent("Worker").id];
    let boss = Agent { workers, limits: calls(2), ..searcher("Boss") };
    let settings = Settings { seats: vec![boss.id.clone()], ..Settings::default() };
    let mut table = Table::open_with(vec![boss, searcher("Worker")], settings);
    table.say("Work.");
    let delegate = ask("delegate", json!({"agent": "worker", "mission": "dig"}));
    table.asks("r1.t1.i1", "Worker will.", vec![delegate]);
    table.asks("r1.t2.i1", "Digging.", vec![ask("search", json!({}))]);
    table.trace();
    table.returns("r1.t2.i1.c1", "found");
    insta::assert_snapshot!(table.trace(), @r#"
    r1.t2.i1.c1 finished ok "found"
    r1.t2.i1 closed tools done
    r1.t2.i2 opened 2
    r1.t2.i2 closed exhausted calls
    r1.t2 ended exhausted calls
    r1.t1.i1.c1 finished failed "The delegate ran out of its budget (calls)."
    r1.t1.i1 closed tools done
    r1.t1.i2 opened 2
    r1.t1.i2 closed exhausted calls
    r1.t1 ended exhausted calls message 2
    r1 closed completed
      wants nothing
    "#);
}

#[test]
fn a_parent_that_waits_for_its_child_holds_no_reservation() {
    let boss = Agent { workers: vec![agent("Worker").id], ..searcher("Boss") };
    let settings = Settings {
        seats: vec![boss.id.clone()],
        session_limits: tokens(200),
        ..Settings::default()
    };
    let mut table = Table::open_with(vec![boss, searcher("Worker")], settings);
    table.say("Work.");
    let delegate = ask("delegate", json!({"agent": "worker", "mission": "dig"}));
    table.ok(table.replied("r1.t1.i1", counted("", vec![delegate], 10, 10)));
    let round = table.session().round.as_ref().unwrap();
    let worker = reserved(&table);
    assert_eq!(round.turns[0].account.reserved, worker, "its child's alone");
    assert_eq!(table.session().account.reserved, worker);
}

#[test]
fn an_interrupted_call_is_charged_and_may_leave_no_room_for_another() {
    let mut table = session_with(calls(1), vec![agent("Ada")]);
    table.say("Hello");
    table.trace();
    table.ok(Report::WriterChanged);
    insta::assert_snapshot!(table.trace(), @r#"
    r1.t1.i1 model interrupted #1 "", possible duplicate
    r1.t1.i1 closed exhausted calls
    r1.t1 ended exhausted calls
    r1 closed failed
      wants nothing
    "#);
}

#[test]
fn a_money_budget_over_a_model_without_a_price_is_refused_at_the_start() {
    let cost = Limits { cost: Some(1), ..Limits::default() };
    let refusal = "a money budget needs known prices, and the price of Ada's model scripted is unknown; set its price, or use a token budget";
    for (session_limits, round_limits, limits) in [
        (cost, Limits::default(), Limits::default()),
        (Limits::default(), cost, Limits::default()),
        (Limits::default(), Limits::default(), cost),
    ] {
        let settings = Settings { session_limits, round_limits, ..Settings::default() };
        let unpriced = Agent { limits, ..agent("Ada") };
        let mut table = Table::empty("poor");
        let refused = table.refused(opening(vec![unpriced.clone()], settings.clone()));
        assert_eq!(refused.to_string(), refusal);
        let price = Some(Price { input: 1, output: 1 });
        table.ok(opening(vec![Agent { price, ..unpriced }], settings));
    }
}

#[test]
fn every_limit_has_a_word() {
    let all = [Exhausted::Calls, Exhausted::Tokens, Exhausted::Cost, Exhausted::Time];
    assert_eq!(all.map(Exhausted::word), ["calls", "tokens", "money", "time"]);
}
