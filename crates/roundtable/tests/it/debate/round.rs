//! Rounds: one per call, each answered with what it came to, and never paid twice.

use roundtable::core::Reject;
use roundtable::core::id::CommandId;
use roundtable::debate::{Action, Level, Standing};
use roundtable::driver::EngineError;
use roundtable::prelude::*;

use super::{analysis, begun, engine, position};

fn busy(error: roundtable::Error) -> u32 {
    match error {
        roundtable::Error::Engine(EngineError::Reject(Reject::Busy { round })) => round,
        other => panic!("it is not busy: {other}"),
    }
}

#[tokio::test]
async fn each_call_runs_one_round_and_says_what_it_came_to() {
    let script = Script::default()
        .voice("ann", [position(Some("YES"), "Begin now.", 0.6)])
        .voice("ann", [position(Some("YES"), "Begin now, but small.", 0.8)])
        .voice("bob", [position(Some("NO"), "Wait for data.", 0.7)])
        .voice("bob", [position(Some("YES"), "Begin now, but small.", 0.9)])
        .voice("judge", [analysis(0.4)])
        .voice("judge", [analysis(0.8)]);
    let (engine, model) = engine(script).await;
    let judge = Agent::new("Judge", "scripted").unwrap();
    let wish = engine.debate("Should we begin?").agent("Ann").agent("Bob").rounds(2).analyst(judge);
    let debate = wish.start().await.unwrap();
    let first = debate.wait(1).await.unwrap();
    assert_eq!((first.standing, first.rounds_completed), (Standing::InProgress, 1));
    assert_eq!((first.decision.agreement, first.decision.level), (0.4, Level::Medium));
    assert_eq!(first.conflicts[0].issue, "cost");
    assert_eq!(model.count(), 3);

    let next = debate.continue_round(Continue::default()).await.unwrap();
    assert_eq!((next.number, next.joined), (2, false));
    let second = debate.wait(2).await.unwrap();
    assert_eq!((second.standing, second.decision.action), (Standing::Completed, Action::Proceed));
    assert_eq!(second.responses[0].confidence_change, Some(0.2));
    assert_eq!(model.count(), 6);
    let added = debate.added().await.unwrap().unwrap();
    assert_eq!((added.first.no, added.last.yes), (1, 2));
    assert_eq!((added.agreement_before, added.agreement_after), (0.4, 0.8));
    let changed: Vec<_> = added.changed.iter().map(|changed| changed.agent.suffix()).collect();
    assert!(changed.contains(&"bob"), "{changed:?}");
    assert_eq!(added.spent.calls, 3);
    engine.shutdown().await;
}

#[tokio::test]
async fn a_retry_that_names_the_round_before_is_answered_with_the_round_after_and_pays_nothing() {
    let (engine, model) = engine(Script::default()).await;
    let (debate, _) = begun(&engine, 3).await;
    let wish = Continue {
        after_round: Some(1),
        focus: Some("The cost?".to_owned()),
        ..Continue::default()
    };
    for joined in [false, true, true] {
        let answered = debate.continue_round(wish.clone()).await.unwrap();
        assert_eq!((answered.number, answered.joined), (2, joined));
        debate.wait(2).await.unwrap();
    }
    assert_eq!(model.count(), 4);
    let ahead = Continue { after_round: Some(7), ..Continue::default() };
    let refused = debate.continue_round(ahead).await.unwrap_err().to_string();
    assert_eq!(refused, "there is no round 7 yet; the last one is 2");
    engine.shutdown().await;
}

#[tokio::test]
async fn many_who_ask_for_the_same_round_at_once_get_the_same_one() {
    let (engine, model) = engine(Script::default()).await;
    let (debate, _) = begun(&engine, 5).await;
    let asks = (0..20).map(|nth| {
        let debate = debate.clone();
        let focus = (nth % 2 == 0).then(|| format!("Question {nth}"));
        async move {
            let wish = Continue { after_round: Some(1), focus, ..Continue::default() };
            let answered = debate.continue_round(wish).await;
            // Who has something else to say while it runs is told so.
            answered.map(|answered| answered.number).or_else(|error| Ok::<u32, ()>(busy(error)))
        }
    });
    let numbers = futures_util::future::join_all(asks).await;
    assert!(numbers.iter().all(|number| *number == Ok(2)), "{numbers:?}");
    debate.wait(2).await.unwrap();
    assert_eq!(model.count(), 4, "one round was run");
    engine.shutdown().await;
}

#[tokio::test]
async fn a_running_round_is_joined_and_something_new_is_refused_while_it_runs() {
    let script = Script::default().voice("ann", [Reply::text("Yes.").at_gate("open")]);
    let (engine, model) = engine(script).await;
    let debate = engine.debate("Why?").agent("Ann").agent("Bob").start().await.unwrap();
    let joined = debate.continue_round(Continue::default()).await.unwrap();
    assert_eq!((joined.number, joined.joined), (1, true));
    let new = Continue { focus: Some("And now?".to_owned()), ..Continue::default() };
    assert_eq!(busy(debate.continue_round(new).await.unwrap_err()), 1);
    let running = debate.findings(None).await.unwrap();
    assert_eq!(running.standing, Standing::Running);
    assert!(running.speaking.iter().any(|agent| agent.suffix() == "ann"));
    model.gates().open("open");
    assert_eq!(debate.wait(1).await.unwrap().standing, Standing::InProgress);
    engine.shutdown().await;
}

#[tokio::test]
async fn a_wish_with_a_name_of_its_own_is_granted_once() {
    let (engine, _) = engine(Script::default()).await;
    let (debate, _) = begun(&engine, 3).await;
    let key = Some(CommandId::new("mine").unwrap().into());
    let wish = Continue { key, ..Continue::default() };
    let first = debate.continue_round(wish.clone()).await.unwrap();
    debate.wait(first.number).await.unwrap();
    debate.continue_round(Continue { after_round: Some(1), ..wish }).await.unwrap();
    assert_eq!(debate.record().await.unwrap().rounds.len(), 2);
    engine.shutdown().await;
}

#[tokio::test]
async fn after_the_last_round_nothing_follows_and_nobody_waits_for_it() {
    let (engine, _) = engine(Script::default()).await;
    let (debate, first) = begun(&engine, 1).await;
    assert_eq!(first.standing, Standing::Completed);
    let refused = debate.continue_round(Continue::default()).await.unwrap_err().to_string();
    assert!(refused.starts_with("session is not active: it is completed"), "{refused}");
    let refused = debate.wait(2).await.unwrap_err().to_string();
    assert!(refused.contains("no such round will follow"), "{refused}");
    let refused = debate.findings(Some(9)).await.unwrap_err().to_string();
    assert_eq!(refused, "there is no round 9; there are rounds 1 to 1");
    engine.shutdown().await;
}

#[tokio::test]
async fn a_round_in_which_nobody_answers_failed_and_another_may_be_tried() {
    use roundtable::models::scripted::Fails;
    let script = Script::default()
        .voice("ann", [Reply::fails(Fails::Overloaded)])
        .voice("ann", [position(None, "Now.", 0.5)])
        .voice("bob", [Reply::fails(Fails::Auth)])
        .voice("bob", [Reply::fails(Fails::Auth)]);
    let (engine, _) = engine(script).await;
    let (debate, first) = begun(&engine, 3).await;
    assert_eq!(first.standing, Standing::Failed);
    assert!(first.responses.iter().all(|response| response.failure().is_some()));
    let next = debate.continue_round(Continue::default()).await.unwrap();
    let second = debate.wait(next.number).await.unwrap();
    assert_eq!(second.standing, Standing::InProgress);
    assert_eq!(
        second.responses[1].failure().map(|why| why.contains("refused the key")),
        Some(true)
    );
    engine.shutdown().await;
}

#[tokio::test]
async fn thoughts_are_all_answers_of_an_agent_with_its_confidence() {
    let script = Script::default()
        .voice("ann", [position(None, "One.", 0.3)])
        .voice("ann", [position(None, "Two.", 0.5)]);
    let (engine, _) = engine(script).await;
    let (debate, _) = begun(&engine, 2).await;
    debate.continue_round(Continue::default()).await.unwrap();
    debate.wait(2).await.unwrap();
    let ann = roundtable::core::id::AgentId::new("ann").unwrap();
    let thoughts = debate.thoughts(&ann).await.unwrap();
    let shown: Vec<_> = thoughts
        .iter()
        .map(|(round, said)| {
            (
                *round,
                said.position.position.as_str(),
                said.position.confidence,
                said.confidence_change,
            )
        })
        .collect();
    assert_eq!(shown, [(1, "One.", Some(0.3), None), (2, "Two.", Some(0.5), Some(0.2))]);
    let nobody = roundtable::core::id::AgentId::new("nobody").unwrap();
    assert_eq!(
        debate.thoughts(&nobody).await.unwrap_err().to_string(),
        "agent agt_nobody is not in this session"
    );
    engine.shutdown().await;
}
