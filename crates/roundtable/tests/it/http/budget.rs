//! Budgets hold against what the provider counted, however often the process dies.

use roundtable::core::budget::{Exhausted, Limits};
use roundtable::core::event::TurnOutcome;
use roundtable::core::settings::Settings;
use roundtable_testing::provider::{Answer, Received, Server, Stage};

use super::{Story, agent, voice};

/// An agent that never comes to an end by itself.
fn restless(limits: Limits) -> Story {
    let settings = Settings { session_limits: limits, ..Settings::default() };
    let mut ann = agent("Ann", "groq/restless");
    ann.max_iterations = 100;
    Story::new(ann, settings, &["How many?"])
}

/// Two requests are cut in the middle; whoever asked them dies.
async fn failing() -> Server {
    Server::following(|number, request| match number {
        1 | 4 => Answer::Stall(voice::half(request)),
        _ => voice::answer(request),
    })
    .await
}

/// Everything that the provider may bill: whole answers, and those that were cut.
fn billed(received: &[Received]) -> u64 {
    received.iter().map(voice::usage).map(|usage| usage.input + usage.output).sum()
}

#[tokio::test]
async fn f04_a_budget_of_calls_counts_the_calls_that_were_cut() {
    let server = failing().await;
    let mut story = restless(Limits { calls: Some(6), ..Limits::default() });
    story.cut(&server, 1, Stage::Begun).await;
    story.cut(&server, 4, Stage::Begun).await;
    let account = story.finish(&server).await;
    assert_eq!((account.received.len(), account.declared()), (6, 2));
    assert_eq!(account.outcomes(), [TurnOutcome::Exhausted { budget: Exhausted::Calls }]);
}

#[tokio::test]
async fn f04_a_budget_of_tokens_is_not_exceeded_by_what_the_provider_may_bill() {
    const TOKENS: u64 = 2_000;
    let server = failing().await;
    let mut story = restless(Limits { tokens: Some(TOKENS), ..Limits::default() });
    story.cut(&server, 1, Stage::Begun).await;
    story.cut(&server, 4, Stage::Begun).await;
    let account = story.finish(&server).await;
    assert_eq!(account.declared(), 2);
    assert_eq!(account.outcomes(), [TurnOutcome::Exhausted { budget: Exhausted::Tokens }]);
    let (billed, asked) = (billed(&account.received), account.received.len());
    assert!(billed <= TOKENS && asked > 6, "{billed} tokens in {asked} calls");
}

#[tokio::test]
async fn f04_a_nested_prompt_draws_on_the_budget_of_its_session() {
    // One call of the worker and one of its tool, which is cut: nothing is left for a third.
    let server = super::but_one(1, |request| Answer::Stall(voice::half(request))).await;
    let limits = Limits { calls: Some(2), ..Limits::default() };
    let settings = Settings { session_limits: limits, ..Settings::default() };
    let mut story = Story::new(agent("Ann", "groq/worker"), settings, &["How many?"]);
    story.cut(&server, 1, Stage::Begun).await;
    let account = story.finish(&server).await;
    assert_eq!((account.received.len(), account.declared()), (2, 1));
    assert_eq!(account.outcomes(), [TurnOutcome::Exhausted { budget: Exhausted::Calls }]);
}
