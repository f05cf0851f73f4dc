//! How a debate begins: agents named or made, a quote, a key, a budget.

use roundtable::core::budget::{Limits, Price};
use roundtable::core::event::RoundOutcome;
use roundtable::debate::RoundStatus;
use roundtable::prelude::*;

use super::{analysis, engine, position};

#[tokio::test]
async fn agents_are_made_for_the_mode_and_spread_over_the_providers() {
    let model = || ScriptedModel::new(Script::default());
    let engine = Engine::builder()
        .custom_model("b/one", model())
        .custom_model("a/one", model())
        .custom_model("a/two", model())
        .build()
        .await
        .unwrap();
    let debate = engine.debate("Why?").mode(Mode::DevilsAdvocate).start().await.unwrap();
    debate.wait(1).await.unwrap();
    let record = debate.record().await.unwrap();
    let members: Vec<_> =
        record.members.iter().map(|m| (m.name.as_str(), m.model.as_str())).collect();
    assert_eq!(
        members,
        [
            ("Primary", "b/one"),
            ("Opposition", "a/one"),
            ("Evaluator 1", "b/one"),
            ("Evaluator 2", "a/two")
        ]
    );
    engine.shutdown().await;
}

#[tokio::test]
async fn agents_that_the_engine_knows_are_named_by_id_and_an_unknown_one_is_refused() {
    let known = ["Critic", "Optimist"].map(|name| Agent::new(name, "scripted").unwrap());
    let model = ScriptedModel::new(Script::default());
    let engine =
        Engine::builder().custom_model("scripted", model).agents(known).build().await.unwrap();
    let debate =
        engine.debate("Why?").known(&["critic", "agt_optimist"]).unwrap().start().await.unwrap();
    assert_eq!(debate.wait(1).await.unwrap().responses.len(), 2);
    let refused = engine.debate("Why?").known(&["eve"]).err().unwrap().to_string();
    assert_eq!(refused, "unknown agent \"eve\"; available: critic, optimist");
    engine.shutdown().await;
}

#[tokio::test]
async fn what_cannot_be_a_debate_is_refused_and_nothing_is_opened() {
    let (engine, _) = engine(Script::default()).await;
    let ann = Agent::new("Ann", "scripted").unwrap();
    let wishes = [
        (
            engine.debate("  ").agent("Ann").agent("Bob"),
            "the topic must have 1 to 10000 characters",
        ),
        (
            engine.debate(&"x".repeat(10_001)).agent("Ann").agent("Bob"),
            "the topic must have 1 to 10000 characters; this one has 10001",
        ),
        (engine.debate("Why?").agent("Ann"), "a debate needs 2 to 10 agents; this one has 1"),
        (engine.debate("Why?").agents(11), "a debate needs 2 to 10 agents, not 11"),
        (engine.debate("Why?").agents(2).rounds(0), "rounds must be at least 1"),
        (engine.debate("Why?").agent("Ann").agent("Ann"), "duplicate agent agt_ann"),
        (engine.debate("Why?").agent("Ann").agent("Bob").analyst(ann), "duplicate agent agt_ann"),
        (
            engine.debate("Why?").agents(2).budget(Limits { cost: Some(5), ..Limits::default() }),
            "a money budget needs known prices",
        ),
        (
            engine.debate("Why?").agents(2).perspectives([Perspective::new(" ")]),
            "at most 10 perspectives are allowed",
        ),
    ];
    for (wish, why) in wishes {
        let refused = wish.start().await.err().unwrap().to_string();
        assert!(refused.contains(why), "{refused}");
    }
    assert!(engine.debates(&DebateFilter::default()).await.unwrap().is_empty());
    engine.shutdown().await;
}

#[tokio::test]
async fn the_same_wish_under_one_key_is_one_debate() {
    let (engine, model) = engine(Script::default()).await;
    let wish = engine.debate("Why?").agent("Ann").agent("Bob").key("monday");
    let first = wish.clone().start().await.unwrap();
    first.wait(1).await.unwrap();
    let again = wish.clone().start().await.unwrap();
    assert_eq!(again.id(), first.id());
    assert_eq!((again.wait(1).await.unwrap().number, model.count()), (1, 2));
    let other = engine.debate("Why not?").agent("Ann").agent("Bob").key("monday").start().await;
    assert!(other.err().unwrap().to_string().contains("was already used with other content"));
    let elsewhere = wish.tenant("acme").start().await.unwrap();
    assert_ne!(elsewhere.id(), first.id());
    engine.shutdown().await;
}

#[tokio::test]
async fn a_quote_knows_the_price_of_every_call_or_none() {
    let (engine, _) = engine(Script::default()).await;
    let priced = |name: &str| {
        let mut agent = Agent::new(name, "scripted").unwrap();
        agent.price = Some(Price { input: 1_000_000, output: 2_000_000 });
        agent.max_tokens = 100;
        agent
    };
    let wish =
        engine.debate("Why?").participant(priced("Ann")).participant(priced("Bob")).rounds(2);
    let quote = wish.quote().unwrap();
    assert_eq!((quote.calls, quote.output), (4, 400));
    assert_eq!(quote.cost, Some(quote.input + 2 * quote.output));
    let council = wish.clone().mode(Mode::Council).chair(priced("Cyd"));
    assert_eq!(council.quote().unwrap().calls, 10);
    assert_eq!(
        wish.participant(Agent::new("Eve", "scripted").unwrap()).quote().unwrap().cost,
        None
    );
    engine.shutdown().await;
}

#[tokio::test]
async fn a_spent_budget_ends_turns_and_the_debate_says_so() {
    let (engine, _) = engine(Script::default()).await;
    let budget = Limits { calls: Some(1), ..Limits::default() };
    let debate =
        engine.debate("Why?").agent("Ann").agent("Bob").budget(budget).start().await.unwrap();
    let first = debate.wait(1).await.unwrap();
    let failures: Vec<_> =
        first.responses.iter().filter_map(|response| response.error.as_deref()).collect();
    assert_eq!(failures, ["its budget of calls is exhausted"]);
    assert_eq!(debate.record().await.unwrap().rounds[0].outcome, Some(RoundOutcome::Completed));
    engine.shutdown().await;
}

#[tokio::test]
async fn all_rounds_follow_by_themselves_when_that_is_wanted_and_end_early_on_consensus() {
    let script = Script::default()
        .voice("ann", [position(Some("YES"), "Begin.", 0.5)])
        .voice("bob", [position(Some("NO"), "Never do that.", 0.5)])
        .voice("bob", [position(Some("YES"), "Begin.", 0.5)]);
    let (engine, _) = engine(script).await;
    let wish = engine.debate("Why?").agent("Ann").agent("Bob").rounds(5).exit_on_consensus();
    let debate = wish.run().await.unwrap();
    let last = debate.wait(2).await.unwrap();
    assert_eq!(last.status, RoundStatus::Completed);
    assert_eq!(
        last.completed_because.as_deref(),
        Some("consensus: the panel agrees (agreement of 0.9 or more)")
    );
    engine.shutdown().await;
}

#[tokio::test]
async fn the_engines_own_analyst_judges_unless_nobody_shall() {
    let script = Script::default().voice("debate-analyst", [analysis(0.75)]);
    let model = ScriptedModel::new(script);
    let engine = Engine::builder()
        .custom_model("scripted", model.clone())
        .analyst("scripted")
        .build()
        .await
        .unwrap();
    let wish = engine.debate("Why?").agent("Ann").agent("Bob").rounds(1);
    let judged = wish.clone().start().await.unwrap();
    let consensus = judged.wait(1).await.unwrap().consensus;
    assert_eq!((consensus.agreement, consensus.summary.as_str()), (0.75, "They are close."));
    let plain = wish.without_analyst().start().await.unwrap();
    let consensus = plain.wait(1).await.unwrap().consensus;
    assert_eq!((consensus.is_analyzed, consensus.failure), (false, None));
    assert_eq!(
        consensus.measured.map(|measure| measure.by).as_deref(),
        Some("hashed-ngrams-1/512")
    );
    assert_eq!(model.count(), 5);
    engine.shutdown().await;
}
