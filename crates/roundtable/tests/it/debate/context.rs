//! Context requests of debates: R000-1 to R000-18, in this library's own words.

use roundtable::core::Reject;
use roundtable::core::context_request::Priority;
use roundtable::core::id::ContextRequestId;
use roundtable::core::session::Status;
use roundtable::debate::RoundStatus;
use roundtable::driver::EngineError;
use roundtable::prelude::*;

use super::{begun, engine, position, question};

/// Ann needs one thing, Bob needs another and would like a third.
fn script() -> Script {
    Script::default()
        .voice(
            "ann",
            [question("How many?", "required"), position(None, "It depends on the number.", 0.4)],
        )
        .voice("ann", [position(None, "Now I know.", 0.8)])
        .voice(
            "bob",
            [
                question("How much?", "required"),
                question("Since when?", "optional"),
                position(None, "It depends on the price.", 0.4),
            ],
        )
        .voice("bob", [position(None, "So do I.", 0.8)])
}

fn pending(requests: &[ContextRequest]) -> Vec<(&str, &str)> {
    let mut shown: Vec<_> = requests.iter().map(|r| (r.agent.suffix(), r.query.as_str())).collect();
    shown.sort_unstable();
    shown
}

fn with(results: Vec<ContextResult>) -> ContinueRequest {
    ContinueRequest { results, ..ContinueRequest::default() }
}

#[tokio::test]
async fn r000_1_a_debate_without_requests_has_none_pending_and_goes_on_as_before() {
    let (engine, _) = engine(Script::default()).await;
    let (debate, first) = begun(&engine, 2).await;
    assert!(debate.pending().await.unwrap().is_empty() && first.requests.is_empty());
    assert_eq!(debate.continue_round(ContinueRequest::default()).await.unwrap().number, 2);
    engine.shutdown().await;
}

#[tokio::test]
async fn r000_2_a_request_has_id_agent_query_reason_priority_and_time() {
    let (engine, _) = engine(script()).await;
    let (debate, _) = begun(&engine, 2).await;
    let pending = debate.pending().await.unwrap();
    let optional = pending.iter().find(|request| request.priority == Priority::Optional).unwrap();
    assert!(optional.id.as_str().starts_with("ctx_") && optional.at.as_second() > 0);
    assert_eq!(
        (optional.agent.as_str(), optional.query.as_str(), optional.reason.as_str()),
        ("agt_bob", "Since when?", "It matters.")
    );
    engine.shutdown().await;
}

#[tokio::test]
async fn r000_3_r000_4_requests_are_stored_with_the_debate_and_read_by_another_engine() {
    let directory = tempfile::tempdir().unwrap();
    let engine = || async {
        let model = ScriptedModel::new(script());
        Engine::builder()
            .sqlite(directory.path())
            .custom_model("scripted", model)
            .build()
            .await
            .unwrap()
    };
    let first = engine().await;
    let (debate, _) = begun(&first, 2).await;
    let before = debate.pending().await.unwrap();
    first.shutdown().await;
    let second = engine().await;
    assert_eq!(second.find_debate(debate.id()).pending().await.unwrap(), before);
    assert_eq!(before.len(), 3);
    second.shutdown().await;
}

#[tokio::test]
async fn r000_5_r000_12_what_is_answered_is_cleared_and_the_rest_stays() {
    let (engine, _) = engine(script()).await;
    let (debate, first) = begun(&engine, 3).await;
    let required = first.requests.iter().filter(|request| request.priority == Priority::Required);
    let results = required.map(|request| ContextResult::found(request.id.clone(), "Two")).collect();
    debate.continue_round(with(results)).await.unwrap();
    debate.wait(2).await.unwrap();
    assert_eq!(pending(&debate.pending().await.unwrap()), [("bob", "Since when?")]);
    engine.shutdown().await;
}

#[tokio::test]
async fn r000_6_a_round_that_asks_is_answered_with_needs_context_and_what_it_asked() {
    let (engine, _) = engine(script()).await;
    let (_, first) = begun(&engine, 2).await;
    assert_eq!(first.status, RoundStatus::NeedsContext);
    assert_eq!(
        pending(&first.requests),
        [("ann", "How many?"), ("bob", "How much?"), ("bob", "Since when?")]
    );
    engine.shutdown().await;
}

#[tokio::test]
async fn r000_7_r000_8_going_on_without_the_answers_is_refused_to_the_letter_and_changes_nothing() {
    let (engine, model) = engine(script()).await;
    let (debate, first) = begun(&engine, 2).await;
    let (calls, log) = (model.count(), debate.session().log().await.unwrap());
    let refused = debate.continue_round(ContinueRequest::default()).await.unwrap_err();
    let line = |query: &str| {
        let request = first.requests.iter().find(|request| request.query == query).unwrap();
        format!("- [{}] ({}): {query}", request.id, request.agent)
    };
    let mut lines: Vec<(usize, String)> = ["How many?", "How much?"]
        .map(|query| {
            (first.requests.iter().position(|request| request.query == query).unwrap(), line(query))
        })
        .to_vec();
    lines.sort();
    assert_eq!(
        refused.to_string(),
        format!(
            "Cannot continue: 2 required context request(s) pending.\n\nYou MUST provide contextResults for these requests:\n{}\n{}\n\nAnswer these requests, then continue the session.",
            lines[0].1, lines[1].1
        )
    );
    assert_eq!((model.count(), debate.session().log().await.unwrap()), (calls, log));
    assert_eq!(debate.findings(None).await.unwrap(), first);
    engine.shutdown().await;
}

#[tokio::test]
async fn r000_9_only_the_missing_ones_are_counted_and_listed() {
    let (engine, _) = engine(script()).await;
    let (debate, first) = begun(&engine, 2).await;
    let many = first.requests.iter().find(|request| request.query == "How many?").unwrap();
    let refused = debate
        .continue_round(with(vec![ContextResult::found(many.id.clone(), "Two")]))
        .await
        .unwrap_err();
    assert!(
        refused.to_string().starts_with("Cannot continue: 1 required context request(s) pending.")
    );
    assert_eq!(pending(refused.missing_context()), [("bob", "How much?")]);
    assert_eq!(debate.pending().await.unwrap().len(), 3, "what was refused is not half done");
    engine.shutdown().await;
}

#[tokio::test]
async fn r000_10_r000_13_a_failure_is_an_answer_too_and_the_round_runs() {
    let (engine, model) = engine(script()).await;
    let (debate, first) = begun(&engine, 2).await;
    let required = first.requests.iter().filter(|request| request.priority == Priority::Required);
    let results = required
        .map(|request| ContextResult::not_found(request.id.clone(), "nobody knows"))
        .collect();
    debate.continue_round(with(results)).await.unwrap();
    let second = debate.wait(2).await.unwrap();
    assert_eq!(second.responses[0].position.position, "Now I know.");
    let told = model
        .received()
        .iter()
        .filter(|call| call.prompt.contains("[Error: nobody knows]"))
        .count();
    assert_eq!(told, 2, "every agent of the next round is told");
    engine.shutdown().await;
}

#[tokio::test]
async fn r000_6_r000_11_optional_requests_need_context_and_never_block() {
    let script = Script::default()
        .voice("ann", [question("Since when?", "optional"), position(None, "Soon.", 0.5)]);
    let (engine, _) = engine(script).await;
    let (debate, first) = begun(&engine, 2).await;
    assert_eq!(first.status, RoundStatus::NeedsContext);
    assert_eq!(debate.continue_round(ContinueRequest::default()).await.unwrap().number, 2);
    engine.shutdown().await;
}

#[tokio::test]
async fn r000_14_r000_16_r000_17_each_request_is_its_agents_own_however_many_ask_at_once() {
    let names = ["Ann", "Bob", "Cyd", "Dan", "Eve", "Fay", "Gus", "Hal"];
    let script = names.iter().fold(Script::default(), |script, name| {
        let agent = name.to_lowercase();
        let query = format!("What does {agent} need?");
        script.voice(&agent, [question(&query, "required"), position(None, "Asked.", 0.5)])
    });
    let (engine, _) = engine(script).await;
    let mut debates = Vec::new();
    for _ in 0..10 {
        let wish = names.iter().fold(engine.debate("Who asks?"), |wish, name| wish.agent(name));
        debates.push(wish.start().await.unwrap());
    }
    for debate in &debates {
        let first = debate.wait(1).await.unwrap();
        assert_eq!(first.requests.len(), names.len());
        for request in &first.requests {
            assert_eq!(request.query, format!("What does {} need?", request.agent.suffix()));
        }
    }
    engine.shutdown().await;
}

#[tokio::test]
async fn r000_15_the_tool_answers_with_the_id_and_that_it_is_queued() {
    let (engine, model) = engine(script()).await;
    let (_, first) = begun(&engine, 2).await;
    assert_eq!(first.responses[0].tools, ["request_context"]);
    let told = model
        .received()
        .iter()
        .filter(|call| call.prompt.contains("Context request queued."))
        .count();
    assert!(told >= 2);
    engine.shutdown().await;
}

#[tokio::test]
async fn r000_18_not_found_and_not_active_come_before_what_is_missing() {
    let (engine, _) = engine(script()).await;
    let nobody = engine.find_debate(&SessionId::new("nobody").unwrap());
    let refused = nobody.continue_round(ContinueRequest::default()).await.unwrap_err();
    assert!(matches!(
        refused,
        roundtable::Error::Engine(EngineError::Reject(Reject::NotFound { .. }))
    ));
    let (debate, _) = begun(&engine, 2).await;
    debate.pause().await.unwrap();
    let refused = debate.continue_round(ContinueRequest::default()).await.unwrap_err().to_string();
    assert_eq!(refused, "session is not active: it is paused; resume it first");
    assert_eq!(debate.record().await.unwrap().status, Status::Paused);
    engine.shutdown().await;
}

#[tokio::test]
async fn an_id_that_was_never_issued_is_named_and_one_answered_before_is_passed_over() {
    let (engine, _) = engine(script()).await;
    let (debate, first) = begun(&engine, 3).await;
    let mut results: Vec<ContextResult> = first
        .requests
        .iter()
        .map(|request| ContextResult::found(request.id.clone(), "Two"))
        .collect();
    let unknown = ContextRequestId::new("never").unwrap();
    results.push(ContextResult::found(unknown, "?"));
    let answered = debate.continue_round(with(results.clone())).await.unwrap();
    assert_eq!(answered.warnings, ["unknown request ctx_never; the answer is ignored"]);
    debate.wait(2).await.unwrap();
    results.pop();
    assert_eq!(debate.provide(results).await.unwrap().warnings, [""; 0]);
    engine.shutdown().await;
}

#[tokio::test]
async fn on_the_final_round_nobody_can_ask() {
    let (engine, model) = engine(script()).await;
    let (debate, first) = begun(&engine, 1).await;
    assert_eq!((first.status, first.requests.len()), (RoundStatus::Completed, 0));
    assert!(debate.pending().await.unwrap().is_empty());
    let refusal = "Cannot request context on the final round. This is round 1 of 1. Please provide your best response with available information.";
    assert!(model.received().iter().any(|call| call.prompt.contains(refusal)));
    engine.shutdown().await;
}
