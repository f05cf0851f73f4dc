//! Rounds: one per call, each answered with what it came to, and never paid twice.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use roundtable::core::Reject;
use roundtable::core::budget::Limits;
use roundtable::core::id::CommandId;
use roundtable::debate::{Action, Level, RoundStatus, Spent};
use roundtable::driver::EngineError;
use roundtable::ports::{Model, ModelError, ModelRequest, ModelStream};
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
    assert_eq!((first.status, first.rounds_completed), (RoundStatus::InProgress, 1));
    let decision = first.decision.unwrap();
    assert_eq!((decision.agreement, decision.level), (0.4, Level::Medium));
    assert_eq!(first.evidence.conflicts[0].issue, "cost");
    assert_eq!(model.count(), 3);

    let next = debate.continue_round(ContinueRequest::default()).await.unwrap();
    assert_eq!((next.number, next.joined), (2, false));
    let second = debate.wait(2).await.unwrap();
    assert_eq!(second.status, RoundStatus::Completed);
    assert_eq!(second.decision.unwrap().recommendation.action, Action::Proceed);
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
    let wish = ContinueRequest {
        after_round: Some(1),
        focus: Some("The cost?".to_owned()),
        ..ContinueRequest::default()
    };
    for joined in [false, true, true] {
        let answered = debate.continue_round(wish.clone()).await.unwrap();
        assert_eq!((answered.number, answered.joined), (2, joined));
        debate.wait(2).await.unwrap();
    }
    assert_eq!(model.count(), 4);
    let ahead = ContinueRequest { after_round: Some(7), ..ContinueRequest::default() };
    let refused = debate.continue_round(ahead).await.unwrap_err().to_string();
    assert_eq!(refused, "round 7 does not exist yet; the last round is 2");
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
            let wish =
                ContinueRequest { after_round: Some(1), focus, ..ContinueRequest::default() };
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
    let joined = debate.continue_round(ContinueRequest::default()).await.unwrap();
    assert_eq!((joined.number, joined.joined), (1, true));
    let new = ContinueRequest { focus: Some("And now?".to_owned()), ..ContinueRequest::default() };
    assert_eq!(busy(debate.continue_round(new).await.unwrap_err()), 1);
    let running = debate.findings(None).await.unwrap();
    assert_eq!(running.status, RoundStatus::Running);
    assert_eq!(running.decision, None, "nothing is decided while the round runs");
    assert!(running.speaking.iter().any(|name| name == "Ann"));
    model.gates().open("open");
    assert_eq!(debate.wait(1).await.unwrap().status, RoundStatus::InProgress);
    engine.shutdown().await;
}

#[tokio::test]
async fn a_wish_with_a_name_of_its_own_is_granted_once() {
    let (engine, _) = engine(Script::default()).await;
    let (debate, _) = begun(&engine, 3).await;
    let key = Some(CommandId::new("mine").unwrap().into());
    let wish = ContinueRequest { key, ..ContinueRequest::default() };
    let first = debate.continue_round(wish.clone()).await.unwrap();
    debate.wait(first.number).await.unwrap();
    debate.continue_round(ContinueRequest { after_round: Some(1), ..wish }).await.unwrap();
    assert_eq!(debate.record().await.unwrap().rounds.len(), 2);
    engine.shutdown().await;
}

#[tokio::test]
async fn after_the_last_round_nothing_follows_and_nobody_waits_for_it() {
    let (engine, _) = engine(Script::default()).await;
    let (debate, first) = begun(&engine, 1).await;
    assert_eq!(first.status, RoundStatus::Completed);
    let refused = debate.continue_round(ContinueRequest::default()).await.unwrap_err().to_string();
    assert!(refused.starts_with("session is not active: it is completed"), "{refused}");
    let refused = debate.wait(2).await.unwrap_err().to_string();
    assert!(refused.contains("the debate has no further rounds"), "{refused}");
    let refused = debate.findings(Some(9)).await.unwrap_err().to_string();
    assert_eq!(refused, "round 9 does not exist; the rounds are 1 to 1");
    engine.shutdown().await;
}

/// A provider that is out of reach until it is repaired.
#[derive(Clone)]
struct Outage {
    down: Arc<AtomicBool>,
    model: ScriptedModel,
}

#[async_trait]
impl Model for Outage {
    async fn stream(&self, request: &ModelRequest) -> Result<ModelStream, ModelError> {
        if self.down.load(Ordering::Relaxed) {
            return Err(ModelError::Overloaded("connection refused".to_owned()));
        }
        self.model.stream(request).await
    }
}

#[tokio::test]
async fn a_failed_round_does_not_count_and_continue_runs_its_next_take() {
    let down = Arc::new(AtomicBool::new(true));
    let model = ScriptedModel::new(Script::default());
    let outage = Outage { down: down.clone(), model };
    let engine = Engine::builder().custom_model("scripted", outage).build().await.unwrap();
    let (debate, first) = begun(&engine, 1).await;
    assert_eq!((first.status, first.take, first.rounds_completed), (RoundStatus::Failed, 1, 0));
    assert!(first.responses.iter().all(|response| response.error.as_deref().is_some()));
    let state = debate.session().state().await.unwrap();
    assert_eq!(first.total_spent, Spent::of(&state.account));
    assert_eq!((first.total_spent.tokens, first.total_spent.cost), (0, Some(0)));
    down.store(false, Ordering::Relaxed);
    let again = ContinueRequest { after_round: Some(0), ..ContinueRequest::default() };
    let next = debate.continue_round(again).await.unwrap();
    assert_eq!((next.number, next.joined), (1, false));
    let second = debate.wait(1).await.unwrap();
    assert_eq!((second.status, second.take), (RoundStatus::Completed, 2));
    let state = debate.session().state().await.unwrap();
    assert_eq!(second.total_spent, Spent::of(&state.account), "both takes, in one total");
    assert_eq!(second.total_spent.calls, first.total_spent.calls + second.spent.calls);
    engine.shutdown().await;
}

#[tokio::test]
async fn a_round_that_had_no_budget_is_run_again_with_more() {
    let (engine, _) = engine(Script::default()).await;
    let budget = |calls| Limits { calls: Some(calls), ..Limits::default() };
    let debate = engine.debate("Trams?").agent("Ann").agent("Bob").rounds(1).budget(budget(0));
    let debate = debate.start().await.unwrap();
    let first = debate.wait(1).await.unwrap();
    assert_eq!(first.status, RoundStatus::Failed);
    assert_eq!(first.responses[0].error.as_deref(), Some("its budget of calls is exhausted"));
    let more = ContinueRequest { budget: Some(budget(20)), ..ContinueRequest::default() };
    debate.continue_round(more).await.unwrap();
    assert_eq!(debate.wait(1).await.unwrap().status, RoundStatus::Completed);
    engine.shutdown().await;
}

#[tokio::test]
async fn thoughts_are_all_answers_of_an_agent_with_its_confidence() {
    let script = Script::default()
        .voice("ann", [position(None, "One.", 0.3)])
        .voice("ann", [position(None, "Two.", 0.5)]);
    let (engine, _) = engine(script).await;
    let (debate, _) = begun(&engine, 2).await;
    debate.continue_round(ContinueRequest::default()).await.unwrap();
    debate.wait(2).await.unwrap();
    let ann = roundtable::core::id::AgentId::new("ann").unwrap();
    let thoughts = debate.thoughts(&ann).await.unwrap();
    let shown: Vec<_> = thoughts
        .iter()
        .map(|full| {
            let said = &full.response;
            let words = said.position.position.as_str();
            (full.number, words, said.position.confidence, said.confidence_change)
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
