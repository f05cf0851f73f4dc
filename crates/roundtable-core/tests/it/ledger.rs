//! The ledger: what is booked for each request to a provider, and that limits hold request by request.

use roundtable_core::agent::Agent;
use roundtable_core::budget::{Charge, Limits, Price, Spend};
use roundtable_core::event::{Body, Event, IterationEvent};
use roundtable_core::input::{Command, Report, Unanswered};
use roundtable_core::settings::Settings;

use crate::budgets::searcher;
use crate::table::{Table, agent, counted};

const PRICE: Price = Price { input: 1_000_000, output: 2_000_000 };

fn with_limits(session_limits: Limits, agents: Vec<Agent>) -> Table {
    Table::open_with(agents, Settings { session_limits, ..Settings::default() })
}

fn priced() -> Agent {
    Agent { price: Some(PRICE), ..searcher("Ada") }
}

/// The prompt of a session whose first message is "Hello".
fn prompt_tokens() -> u64 {
    ("You are Ada.User: Hello".len() as u64).div_ceil(4)
}

fn spent(table: &Table) -> Spend {
    table.session().account.spent
}

#[test]
fn a_request_that_is_refused_without_output_counts_as_a_call_and_costs_nothing() {
    let mut table = Table::open(vec![priced()]);
    table.say("Hello");
    table.fails("r1.t1.i1", "rate limit of the provider reached");
    assert_eq!(spent(&table), Spend { calls: 1, tokens: 0, cost: 0 });
    assert!(!table.session().account.estimated);
}

#[test]
fn f28_a_request_that_broke_off_costs_its_prompt_and_what_arrived_as_an_estimate() {
    let mut table = Table::open(vec![priced()]);
    table.say("Hello");
    table.breaks_off("r1.t1.i1", 9);
    let tokens = prompt_tokens() + 3;
    assert_eq!(spent(&table), Spend { calls: 1, tokens, cost: prompt_tokens() + 6 });
    assert!(table.session().account.estimated);
}

#[test]
fn calls_that_are_stopped_or_interrupted_cost_their_prompt_and_what_had_been_said() {
    for end in [Command::Stop.into(), roundtable_core::input::Input::from(Report::WriterChanged)] {
        let mut table = Table::open(vec![priced()]);
        table.say("Hello");
        table.streams("r1.t1.i1", "Half a sen");
        let ended = table.ok(end);
        let estimate = Charge {
            calls: 1,
            tokens: prompt_tokens() + 3,
            cost: Some(prompt_tokens() + 6),
            estimated: true,
        };
        assert_eq!(charge(&ended[0]), Some(estimate));
        assert_eq!(spent(&table), estimate.spend());
    }
}

fn charge(event: &Event) -> Option<Charge> {
    match &event.body {
        Body::Iteration(
            IterationEvent::ModelCallInterrupted { charge, .. }
            | IterationEvent::ModelCallCancelled { charge, .. },
        ) => *charge,
        _ => None,
    }
}

#[test]
fn f28_every_request_of_a_call_counts_and_is_recorded_when_it_fails() {
    let mut table = Table::open(vec![priced()]);
    table.say("Hello");
    table.trace();
    table.ok(table.retries("r1.t1.i1", Unanswered::Refused));
    table.ok(table.retries("r1.t1.i1", Unanswered::BrokenOff { arrived: 4 }));
    table.ok(table.replied("r1.t1.i1", counted("Hi", Vec::new(), 20, 10)));
    insta::assert_snapshot!(table.trace(), @r#"
    r1.t1.i1 model retried #1: down
      wants model r1.t1.i1 #1
    r1.t1.i1 model retried #1: down
      wants model r1.t1.i1 #1
    r1.t1.i1 model finished #1 "Hi" 0 calls
    r1.t1.i1 closed answered
    r1.t1 ended answered message 2
    r1 closed completed
      wants nothing
    "#);
    let prompt = prompt_tokens();
    assert_eq!(spent(&table), Spend { calls: 3, tokens: prompt + 1 + 30, cost: prompt + 2 + 40 });
    assert_eq!(table.session().account.reserved, Spend::default());
}

#[test]
fn a_limit_of_calls_holds_over_the_retries_of_agents_that_speak_side_by_side() {
    let limits = Limits { calls: Some(4), ..Limits::default() };
    let agents = ["Ada", "Bob", "Cid"].map(searcher).to_vec();
    let mut table = with_limits(limits, agents);
    table.say("Hello");
    table.ok(table.retries("r1.t1.i1", Unanswered::Refused));
    let refused = "the budget of calls leaves no room for a retry";
    for label in ["r1.t1.i1", "r1.t2.i1", "r1.t3.i1"] {
        let retry = table.retries(label, Unanswered::Refused);
        assert_eq!(table.refused(retry).to_string(), refused);
        table.fails(label, "down");
    }
    assert_eq!(spent(&table), Spend { calls: 4, tokens: 0, cost: 0 });
}

#[test]
fn a_limit_of_tokens_holds_over_requests_that_break_off() {
    // A prompt of 23 bytes and a reply of 10 tokens at most are reserved: 33 tokens.
    let limits = Limits { tokens: Some(40), ..Limits::default() };
    let mut table = with_limits(limits, vec![searcher("Ada")]);
    table.say("Hello");
    table.ok(table.retries("r1.t1.i1", Unanswered::Refused));
    table.ok(table.retries("r1.t1.i1", Unanswered::BrokenOff { arrived: 4 }));
    let retry = table.retries("r1.t1.i1", Unanswered::BrokenOff { arrived: 4 });
    let refused = table.refused(retry).to_string();
    assert_eq!(refused, "the budget of tokens leaves no room for a retry");
    assert_eq!(spent(&table), Spend { calls: 2, tokens: prompt_tokens() + 1, cost: 0 });
}

#[test]
fn a_retry_of_a_call_that_is_over_is_stale() {
    let mut table = Table::open(vec![agent("Ada")]);
    table.say("Hello");
    let late = table.retries("r1.t1.i1", Unanswered::Refused);
    table.answer("r1.t1.i1", "Hi");
    assert!(table.refused(late).to_string().contains("has already ended"));
}

#[test]
fn old_events_without_a_charge_book_what_was_reserved() {
    let mut table = Table::open(vec![agent("Ada")]);
    table.say("Hello");
    let reserved = table.session().account.reserved;
    let failed = table.fails("r1.t1.i1", "down").remove(0);
    let mut json = serde_json::to_value(&failed).unwrap();
    assert!(json["data"].as_object_mut().unwrap().remove("charge").is_some());
    let old: Event = serde_json::from_value(json).unwrap();
    let mut live = roundtable_core::Live::new(table.session().id.clone(), &crate::programs());
    table.log.iter().filter(|event| event.seq < old.seq).for_each(|event| live.apply(event));
    live.apply(&old);
    assert_eq!(live.session.account.spent, reserved);
}
