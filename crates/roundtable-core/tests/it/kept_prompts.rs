//! Prompts that providers can keep, that fit the model's window, and that give thoughts back.

use roundtable_core::agent::Agent;
use roundtable_core::event::{Body, Event, IterationEvent, PromptRecord};
use roundtable_core::input::Reply;
use roundtable_core::message::{Citation, Message, Part, Reasoning, Role};
use roundtable_core::prompt::OutputSchema;
use roundtable_core::settings::Settings;
use roundtable_core::tool::{Effect, ToolDecl};
use serde_json::json;

use crate::table::{Table, agent, agent_with, ask, counted, reply};

fn rendered(table: &Table, turn: &str) -> Vec<Message> {
    let (rendered, _) = table.live.render(&table.turn(turn)).unwrap();
    rendered.messages.to_vec()
}

fn texts(message: &Message) -> Vec<String> {
    let text = |part: &Part| match part {
        Part::Text { text } => text.clone(),
        part => panic!("{part:?}"),
    };
    message.parts.iter().map(text).collect()
}

fn talk(table: &mut Table, rounds: std::ops::RangeInclusive<u32>) {
    for round in rounds {
        table.say(&format!("question {round}"));
        for turn in 1..=table.session().agents.len() {
            table.answer(&format!("r{round}.t{turn}.i1"), &format!("answer {round}"));
        }
    }
}

fn started(events: &[Event]) -> Vec<PromptRecord> {
    let prompt = |event: &Event| match &event.body {
        Body::Iteration(IterationEvent::ModelCallStarted { prompt, .. }) => Some(prompt.clone()),
        _ => None,
    };
    events.iter().filter_map(prompt).collect()
}

#[test]
fn all_agents_of_a_round_share_the_beginning_of_their_prompts() {
    let mut table = Table::open(vec![agent("Ada"), agent("Bob")]);
    talk(&mut table, 1..=2);
    table.say("question 3");
    let (ada, bob) = (rendered(&table, "r3.t1"), rendered(&table, "r3.t2"));
    assert_eq!(ada[0], bob[0]);
    assert_eq!((ada[0].role, ada[1].role), (Role::User, Role::System));
    assert_ne!(ada[1], bob[1], "the persona comes after what is shared");
    let (prompt, _) = table.live.render(&table.turn("r3.t1")).unwrap();
    assert_eq!(prompt.stable, 1);
}

#[test]
fn what_a_provider_has_read_stays_as_it_was_when_the_next_round_comes() {
    let settings = Settings { window_rounds: 8, ..Settings::default() };
    let mut table = Table::open_with(vec![agent("Ada")], settings);
    let (mut told, mut cuts) = (Vec::new(), 0);
    for round in 1..=40 {
        table.say(&format!("question {round}"));
        let messages = rendered(&table, &format!("r{round}.t1"));
        table.answer(&format!("r{round}.t1.i1"), &format!("answer {round}"));
        if round == 1 {
            continue;
        }
        let next = texts(&messages[0]);
        let rounds = next.len() - 1;
        assert!(rounds == round - 1 || (8..=9).contains(&rounds), "{rounds} before round {round}");
        cuts += u32::from(!next.starts_with(&told));
        told = next;
    }
    assert_eq!(cuts, 15, "rounds are let go of two at a time");
}

#[test]
fn the_oldest_rounds_are_left_out_of_a_prompt_that_does_not_fit_and_the_log_says_so() {
    let ada = Agent { window: Some(400), max_tokens: 100, ..agent("Ada") };
    let mut table = Table::open(vec![ada, agent("Bob")]);
    talk(&mut table, 1..=11);
    let events = table.say("question 12");
    let left: Vec<_> = started(&events).iter().map(|prompt| prompt.left_out).collect();
    assert_eq!(left, [0, 0], "it fits");
    table.answer("r12.t1.i1", &"a long answer ".repeat(20));
    table.answer("r12.t2.i1", "short");
    let events = table.say("question 13");
    let prompts = started(&events);
    assert_eq!((prompts[0].left_out, prompts[1].left_out), (8, 0), "only where it does not fit");
    assert!(prompts[1].from < prompts[0].from, "where it begins is recorded too");
    let ada = rendered(&table, "r13.t1");
    assert!(texts(&ada[0])[1].starts_with("\n[Round 9]"), "whole rounds, eight at a time");
}

#[test]
fn rounds_that_fit_no_window_are_left_out_one_and_all() {
    let ada = Agent { window: Some(20), max_tokens: 10, ..agent("Ada") };
    let mut table = Table::open(vec![ada]);
    talk(&mut table, 1..=3);
    let events = table.say("question 4");
    assert_eq!(started(&events)[0].left_out, 3);
    assert_eq!(table.prompt("r4.t1"), "System: You are Ada.\nUser: User: question 4\n");
}

fn thought() -> Reasoning {
    let payload = json!({ "type": "thinking", "signature": "abc" });
    Reasoning { wire: "anthropic".to_owned(), text: "Hm.".to_owned(), payload }
}

#[test]
fn what_a_model_thought_is_given_back_with_its_calls_and_nowhere_else() {
    let look = ToolDecl::handler("look", Effect::Pure);
    let mut table = Table::open(vec![agent_with("Ada", vec![look])]);
    table.say("Think.");
    let calls = vec![ask("look", json!({})), ask("look", json!({"more": 1}))];
    let said = Reply { thoughts: vec![thought()], ..reply("Let me look.", calls) };
    table.ok(table.replied("r1.t1.i1", said));
    table.returns("r1.t1.i1.c2", "two");
    table.returns("r1.t1.i1.c1", "one");
    let messages = rendered(&table, "r1.t1");
    let answer = &messages[2];
    assert_eq!(answer.role, Role::Assistant);
    assert_eq!(answer.parts[0], Part::Reasoning(thought()));
    assert_eq!((answer.parts.len(), answer.tool_calls().count()), (4, 2));
    table.answer("r1.t1.i2", "Done.");
    table.say("And now?");
    let later = rendered(&table, "r2.t1");
    let has_thought = |message: &Message| message.parts.contains(&Part::Reasoning(thought()));
    assert!(!later.iter().any(has_thought), "not even the same agent's later turns get it");
}

#[test]
fn sources_are_recorded_and_the_providers_own_bill_counts() {
    let priced = |name: &str| Agent {
        price: Some(roundtable_core::budget::Price { input: 1_000_000, output: 1_000_000 }),
        ..agent(name)
    };
    let mut table = Table::open(vec![priced("Ada"), priced("Bob")]);
    table.say("Well?");
    let source = Citation { url: Some("https://example.org".to_owned()), ..Citation::default() };
    let mut said = Reply { citations: vec![source.clone()], ..counted("So.", vec![], 100, 10) };
    said.record.cost = Some(42);
    let events = table.ok(table.replied("r1.t1.i1", said));
    let Body::Iteration(IterationEvent::ModelCallFinished { citations, record, .. }) =
        &events[0].body
    else {
        panic!("{:?}", events[0]);
    };
    assert_eq!((citations.as_slice(), record.cost), ([source].as_slice(), Some(42)));
    table.ok(table.replied("r1.t2.i1", counted("No.", vec![], 100, 10)));
    assert_eq!(table.session().account.spent.cost, 42 + 110, "else the price decides");
}

pub fn form() -> OutputSchema {
    OutputSchema::new("verdict", json!({ "type": "object" }))
}

#[test]
fn an_agent_that_answers_with_data_says_so_in_its_prompts_and_nested_prompts_say_it_themselves() {
    let judge = ToolDecl::handler("judge", Effect::Pure);
    let ada = Agent { output: Some(form()), ..agent_with("Ada", vec![judge]) };
    let mut table = Table::open(vec![ada, agent("Bob")]);
    table.say("Well?");
    let rendered = |table: &Table, turn: &str| table.live.render(&table.turn(turn)).unwrap().0;
    assert_eq!(rendered(&table, "r1.t1").output, Some(form()));
    assert_eq!(rendered(&table, "r1.t2").output, None);
    let words = "You are Ada.".len() + "User: Well?".len();
    let schema = form().schema.to_string().len();
    assert_eq!(rendered(&table, "r1.t1").content_bytes(), (words + schema) as u64);
    table.asks("r1.t1.i1", "", vec![ask("judge", json!({}))]);
    table.ok(table.evaluates("r1.t1.i1.c1", 1, "Is it good?"));
    assert_eq!(rendered(&table, "r1.t3").output, None, "it asks for prose");
}
