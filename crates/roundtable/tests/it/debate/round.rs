//! Rounds: one per call, each answered with what it came to.

use roundtable::core::agent::Agent;
use roundtable::debate::{Action, Level, Standing};
use roundtable::prelude::*;

use super::{analysis, engine, position};

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
    assert_eq!(first.responses.len(), 2);
    assert_eq!(model.count(), 3);

    let next = debate.continue_round(Continue::default()).await.unwrap();
    assert_eq!((next.number, next.joined), (2, false));
    let second = debate.wait(2).await.unwrap();
    assert_eq!(second.standing, Standing::Completed);
    assert_eq!(second.decision.action, Action::Proceed);
    assert_eq!(second.responses[0].confidence_change, Some(0.2));
    assert_eq!(model.count(), 6);
    let added = debate.added().await.unwrap().unwrap();
    assert_eq!((added.first.no, added.last.yes), (1, 2));
    engine.shutdown().await;
}
