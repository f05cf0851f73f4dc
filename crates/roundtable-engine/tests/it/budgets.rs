//! Budgets: reserved before a call is made, so no interleaving overshoots.

use roundtable_core::agent::Agent;
use roundtable_core::budget::{Exhausted, Limits, Price, Usage};
use roundtable_core::event::{Body, IterationEvent, RoundOutcome, TurnEvent, TurnOutcome};
use roundtable_core::settings::Settings;
use roundtable_models::scripted::{Call, Reply, Script};
use roundtable_testing::{FnTool, Kit, agent, opening, rounds, say};
use serde_json::json;

use crate::seen::{armed, round_ends, turn_ends};

const NAMES: [&str; 8] = ["Ann", "Bob", "Cid", "Dee", "Eve", "Fay", "Gus", "Hal"];

fn eight(change: impl Fn(&mut Agent)) -> Vec<Agent> {
    NAMES
        .iter()
        .map(|name| {
            let mut agent = agent(name);
            change(&mut agent);
            agent
        })
        .collect()
}

fn exhausted(budget: Exhausted) -> TurnOutcome {
    TurnOutcome::Exhausted { budget }
}

fn billed(kit: &Kit) -> u64 {
    let tokens = |usage: Usage| usage.input + usage.output;
    kit.model.received().into_iter().filter_map(|call| call.usage).map(tokens).sum()
}

#[tokio::test(start_paused = true)]
async fn parallel_turns_never_make_more_calls_than_the_session_may() {
    let kit = Kit::new(Script::default());
    let engine = kit.start().await;
    let session_limits = Limits { calls: Some(11), ..Limits::default() };
    let settings = Settings { session_limits, ..Settings::default() };
    let session = engine.open(opening(eight(|_| ()), settings)).await.unwrap();
    for id in ["m1", "m2", "m3"] {
        session.command(say(session.id(), id, "Go."), None).await.unwrap();
    }
    let events = rounds(&session, 3).await;
    let ends: Vec<_> = turn_ends(&events).into_iter().map(|(_, end)| end).collect();
    let answered = ends.iter().filter(|end| **end == TurnOutcome::Answered).count();
    let spent = ends.iter().filter(|end| **end == exhausted(Exhausted::Calls)).count();
    assert_eq!((kit.model.count(), answered, spent), (11, 11, 13));
    // A round in which someone answered is complete; one in which nobody could is not.
    let [one, two, three] = round_ends(&events)[..] else { panic!("three rounds") };
    assert_eq!(
        (one, two, three),
        (RoundOutcome::Completed, RoundOutcome::Completed, RoundOutcome::Failed)
    );
    assert_eq!(session.state().await.unwrap().account.spent.calls, 11);
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn parallel_turns_never_use_more_tokens_than_the_round_may() {
    let mut script = Script::default();
    for name in NAMES {
        let words = "many words of wisdom ".repeat(10);
        script = script.voice(&name.to_lowercase(), [Reply::text(words).after(10)]);
    }
    for limit in [100, 200, 300, 500, 1000, 5000] {
        let kit = Kit::new(script.clone());
        let engine = kit.start().await;
        let round_limits = Limits { tokens: Some(limit), ..Limits::default() };
        let settings = Settings { round_limits, ..Settings::default() };
        let agents = eight(|agent| agent.max_tokens = 60);
        let session = engine.open(opening(agents, settings)).await.unwrap();
        session.command(say(session.id(), "m1", "Go."), None).await.unwrap();
        let events = rounds(&session, 1).await;
        let spent = session.state().await.unwrap().account.spent.tokens;
        assert_eq!(spent, billed(&kit), "what is booked is what was billed");
        assert!(spent <= limit, "{spent} of {limit}");
        let answered =
            turn_ends(&events).iter().filter(|(_, end)| *end == TurnOutcome::Answered).count();
        assert_eq!(answered, kit.model.count());
        assert!(answered > 0 && (limit < 1000 || answered == 8), "{answered} of {limit}");
        engine.shutdown().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_has_spent_its_budget_keeps_what_it_said_and_says_so() {
    let echo = FnTool::echo("echo");
    let step = |text: &str| Reply {
        text: text.to_owned(),
        ..Reply::calls([Call::new("echo", json!({}))])
    };
    let script = Script::default()
        .voice("ann", [step("Let me see."), step("It seems so."), Reply::text("Yes.")]);
    let mut ann = armed("Ann", [echo.declare()]);
    ann.limits = Limits { calls: Some(2), ..Limits::default() };
    let kit = Kit::new(script).tool(echo);
    let engine = kit.start().await;
    let session = engine.open(opening(vec![ann], Settings::default())).await.unwrap();
    session.command(say(session.id(), "m1", "Is it so?"), None).await.unwrap();
    let events = rounds(&session, 1).await;
    let ended = events.iter().find_map(|event| match &event.body {
        Body::Turn(TurnEvent::TurnEnded { outcome, said }) => {
            Some((outcome.clone(), said.map(|said| said.number)))
        }
        _ => None,
    });
    // A partial answer is a message of the session.
    assert_eq!(ended, Some((exhausted(Exhausted::Calls), Some(2))));
    assert_eq!(kit.model.count(), 2);
    session.command(say(session.id(), "m2", "And?"), None).await.unwrap();
    rounds(&session, 2).await;
    let prompt = &kit.model.received()[2].prompt;
    assert!(prompt.contains("Ann: It seems so. [cut off]"), "{prompt}");
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn money_is_reserved_at_the_most_a_call_can_cost_and_booked_at_what_it_did() {
    let mut script = Script::default();
    for name in NAMES {
        script = script.voice(&name.to_lowercase(), [Reply::text("one two three").after(10)]);
    }
    let kit = Kit::new(script);
    let engine = kit.start().await;
    let price = Price { input: 1_000_000, output: 10_000_000 };
    let session_limits = Limits { cost: Some(700), ..Limits::default() };
    let settings = Settings { session_limits, ..Settings::default() };
    let agents = eight(|agent| (agent.price, agent.max_tokens) = (Some(price), 20));
    let session = engine.open(opening(agents, settings)).await.unwrap();
    session.command(say(session.id(), "m1", "Go."), None).await.unwrap();
    let events = rounds(&session, 1).await;
    let costs: Vec<u64> = events
        .iter()
        .filter_map(|event| match &event.body {
            Body::Iteration(IterationEvent::ModelCallFinished { record, .. }) => record.cost,
            _ => None,
        })
        .collect();
    let state = session.state().await.unwrap();
    assert_eq!(state.account.spent.cost, costs.iter().sum::<u64>());
    assert!(state.account.spent.cost <= 700);
    assert_eq!(state.account.reserved, roundtable_core::budget::Spend::default());
    assert_eq!(costs.len(), 8, "calls that do not fit beside others wait for them");
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_money_budget_over_a_model_without_a_price_is_refused_at_the_start() {
    let kit = Kit::new(Script::default());
    let engine = kit.start().await;
    let session_limits = Limits { cost: Some(700), ..Limits::default() };
    let settings = Settings { session_limits, ..Settings::default() };
    let refused = engine.open(opening(vec![agent("Ann")], settings)).await.err().unwrap();
    assert_eq!(
        refused.to_string(),
        "a money budget needs known prices, and the price of Ann's model scripted is unknown; set its price, or use a token budget"
    );
    engine.shutdown().await;
}
