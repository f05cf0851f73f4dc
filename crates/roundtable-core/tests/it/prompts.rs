//! Prompts: what an agent is told, and as which tree of sections.

use roundtable_core::agent::Agent;
use roundtable_core::prompt::{Prompt, Section};
use roundtable_core::settings::Settings;
use roundtable_core::tool::{Effect, ToolDecl};
use serde_json::json;

use crate::table::{Table, agent, agent_with, ask};

fn office() -> Table {
    let tools = vec![ToolDecl::handler("judge", Effect::Pure), ToolDecl::delegate()];
    let boss = Agent { workers: vec![agent("Worker").id], ..agent_with("Boss", tools) };
    let settings = Settings { seats: vec![boss.id.clone()], ..Settings::default() };
    Table::open_with(vec![boss, agent("Worker")], settings)
}

fn tree(table: &Table, turn: &str) -> Prompt {
    table.live.window.prompt(table.session(), &table.turn(turn)).unwrap()
}

fn expected(name: &str, ask: &str, persona: &str, tools: &[&str]) -> Prompt {
    let prompt = Prompt::new(name, ask).with(Section::new("", persona));
    tools.iter().fold(prompt, |prompt, tool| prompt.offering(*tool))
}

#[test]
fn a_seat_is_asked_the_message_with_its_persona_and_tools() {
    let mut table = office();
    table.say("Build it.");
    assert_eq!(
        tree(&table, "r1.t1"),
        expected("seat", "User: Build it.", "You are Boss.", &["judge", "delegate"])
    );
}

#[test]
fn a_worker_is_asked_its_mission_and_knows_nothing_else() {
    let mut table = office();
    table.say("A secret.");
    table.answer("r1.t1.i1", "Another secret.");
    table.say("Build it.");
    let plain = ask("delegate", json!({"agent": "worker", "mission": "dig"}));
    table.asks("r2.t1.i1", "", vec![plain]);
    assert_eq!(tree(&table, "r2.t2"), expected("delegated", "dig", "You are Worker.", &[]));
    assert!(!table.prompt("r2.t2").contains("secret"));
}

#[test]
fn a_nested_prompt_brings_its_own_instructions() {
    let mut table = office();
    table.say("Build it.");
    table.asks("r1.t1.i1", "", vec![ask("judge", json!({}))]);
    table.ok(table.evaluates("r1.t1.i1.c1", 1, "Is it good?"));
    assert_eq!(tree(&table, "r1.t2"), expected("sub", "Is it good?", "Judge.", &[]));
}

#[test]
fn an_agent_without_a_persona_gets_no_empty_instructions() {
    let mut table = Table::open(vec![Agent { persona: String::new(), ..agent("Ada") }]);
    table.say("Hello");
    assert_eq!(table.prompt("r1.t1"), "User: User: Hello\n");
}

#[test]
fn a_round_without_a_message_asks_to_go_on_also_when_it_is_the_first() {
    let mut table = Table::open(vec![agent("Ada")]);
    table.go_on();
    assert_eq!(table.prompt("r1.t1"), "System: You are Ada.\nUser: Continue the conversation.\n");
}

#[test]
fn a_turn_that_is_over_has_no_prompt() {
    let mut table = Table::open(vec![agent("Ada"), agent("Bob")]);
    table.say("Hello");
    let turn = table.turn("r1.t1");
    table.answer("r1.t1.i1", "Hi");
    assert!(table.live.window.prompt(table.session(), &turn).is_none());
    assert!(table.live.render(&turn).is_none());
}

#[test]
fn the_arguments_of_an_open_call_can_be_looked_up() {
    let mut table = office();
    table.say("Build it.");
    table.asks("r1.t1.i1", "", vec![ask("judge", json!({"what": "it"}))]);
    let (turn, call) = (table.turn("r1.t1"), table.call("r1.t1.i1.c1"));
    let found = table.live.window.find_call(&turn, &call).unwrap();
    assert_eq!((found.name.as_str(), &found.arguments), ("judge", &json!({"what": "it"})));
    table.returns("r1.t1.i1.c1", "good");
    assert!(table.live.window.find_call(&turn, &call).is_none());
}

#[test]
fn the_same_window_gives_the_same_bytes() {
    let mut table = office();
    table.say("Build it.");
    let turn = table.turn("r1.t1");
    let once = table.live.render(&turn).unwrap();
    assert_eq!(table.live.render(&turn).unwrap(), once);
    let bytes = "You are Boss.".len() + "User: Build it.".len();
    assert_eq!(once.0.content_bytes(), bytes as u64);
}
