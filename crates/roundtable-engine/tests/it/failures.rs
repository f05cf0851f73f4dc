//! Models that fail and code that panics: one turn fails, the others go on (F31).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::{FutureExt as _, StreamExt as _, stream};
use roundtable_backend::{Fault, Faults, MemoryStore};
use roundtable_core::agent::Agent;
use roundtable_core::event::{Body, IterationEvent, RoundOutcome, Seq, TurnOutcome};
use roundtable_core::id::SessionId;
use roundtable_core::settings::Settings;
use roundtable_core::tool::ToolResult;
use roundtable_models::scripted::{Call, Fails, Reply, Script, ScriptedModel};
use roundtable_ports::{Chunk, Model, ModelError, ModelRequest, ModelStream};
use roundtable_testing::{FnModel, FnTool, Kit, agent, opening, rounds, say};
use serde_json::json;

use crate::seen::{armed, json as as_json, one_round, replies, round_ends, turn_ends};

fn with_model(name: &str, model: &str) -> Agent {
    Agent { model: model.to_owned(), ..agent(name) }
}

fn failed(error: &str) -> TurnOutcome {
    TurnOutcome::Failed { error: error.to_owned() }
}

/// How the turn of an agent with this model ends, while another agent answers beside it.
async fn beside_bob(model: FnModel) -> TurnOutcome {
    let kit = Kit::new(Script::default()).model("bad", model);
    let engine = kit.start().await;
    let (_, events) = one_round(&engine, vec![with_model("Ann", "bad"), agent("Bob")]).await;
    assert_eq!(replies(&events), ["Bob has nothing to add."]);
    assert_eq!(round_ends(&events), [RoundOutcome::Completed]);
    let ends = turn_ends(&events);
    engine.shutdown().await;
    ends.into_iter().find(|(agent, _)| agent.suffix() == "ann").unwrap().1
}

#[tokio::test(start_paused = true)]
async fn every_failure_of_a_model_ends_its_turn_with_its_text_and_the_others_answer() {
    let errors = [
        ModelError::Auth("no such key".to_owned()),
        ModelError::RateLimited { retry_after: Some(Duration::from_secs(7)) },
        ModelError::RateLimited { retry_after: None },
        ModelError::Overloaded("503".to_owned()),
        ModelError::TooLong("9000 tokens".to_owned()),
        ModelError::Refused("not this".to_owned()),
        ModelError::BadRequest("what?".to_owned()),
        ModelError::Broken("reset".to_owned()),
        ModelError::Timeout,
    ];
    for error in errors {
        let (text, answer) = (error.to_string(), error.clone());
        let at_once = FnModel::new(move |_| {
            let answer = answer.clone();
            async move { Err(answer) }.boxed()
        });
        assert_eq!(beside_bob(at_once).await, failed(&text));
        let midway = FnModel::new(move |_| {
            let chunks = [Ok(Chunk::Text("I think ".to_owned())), Err(error.clone())];
            async move { Ok(stream::iter(chunks).boxed()) }.boxed()
        });
        assert_eq!(beside_bob(midway).await, failed(&text));
    }
}

#[tokio::test(start_paused = true)]
async fn f31_a_panic_in_a_model_adapter_fails_its_turn_alone() {
    let text = "the model adapter panicked; this is a bug in it";
    let at_once = FnModel::new(|_| panic!("before a stream"));
    assert_eq!(beside_bob(at_once).await, failed(text));
    let on_the_way = FnModel::new(|_| async { panic!("before the first word") }.boxed());
    assert_eq!(beside_bob(on_the_way).await, failed(text));
    let midway = FnModel::new(|_| {
        let words = stream::iter([Ok(Chunk::Text("I think ".to_owned()))]);
        let panics = stream::once(async { panic!("mid-stream") });
        async move { Ok(words.chain(panics).boxed()) }.boxed()
    });
    assert_eq!(beside_bob(midway).await, failed(text));
}

#[tokio::test(start_paused = true)]
async fn a_round_in_which_nobody_can_answer_has_failed() {
    let script = Script::default()
        .voice("ann", [Reply::fails(Fails::Auth)])
        .voice("bob", [Reply::fails(Fails::Timeout)]);
    let kit = Kit::new(script);
    let engine = kit.start().await;
    let (session, events) = one_round(&engine, vec![agent("Ann"), agent("Bob")]).await;
    let ends: Vec<_> = turn_ends(&events).into_iter().map(|(_, end)| end).collect();
    let auth = "the provider rejected the API key: as the script says";
    assert_eq!(ends, [failed(auth), failed("the request to the provider timed out")]);
    assert_eq!(round_ends(&events), [RoundOutcome::Failed]);
    assert_eq!(session.state().await.unwrap().rounds_completed, 0);
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn f31_other_sessions_go_on_while_one_panics_again_and_again() {
    let wild = FnModel::new(|_| panic!("always"));
    let kit = Kit::new(Script::default()).model("wild", wild);
    let engine = kit.start().await;
    let bad =
        engine.open(opening(vec![with_model("Ann", "wild")], Settings::default())).await.unwrap();
    let good = engine.open(opening(vec![agent("Bob")], Settings::default())).await.unwrap();
    for number in 1..=20 {
        let id = format!("m{number}");
        bad.command(say(bad.id(), &id, "Go."), None).await.unwrap();
        good.command(say(good.id(), &id, "Go."), None).await.unwrap();
    }
    assert_eq!(round_ends(&rounds(&bad, 20).await), [RoundOutcome::Failed; 20]);
    assert_eq!(round_ends(&rounds(&good, 20).await), [RoundOutcome::Completed; 20]);
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn f31_a_session_whose_own_task_panics_is_loaded_again_and_goes_on() {
    /// The commit that follows on the sixth event panics, once.
    struct Panics(AtomicBool);
    impl Faults for Panics {
        fn on_append(&self, session: &SessionId, expect: Seq) -> Fault {
            if session.suffix() == "bad"
                && expect == Seq(6)
                && !self.0.swap(true, Ordering::Relaxed)
            {
                panic!("in the store");
            }
            Fault::None
        }
    }
    let mut kit = Kit::new(Script::default().voice("ann", [Reply::text("Well.")]));
    let faults = Arc::new(Panics(AtomicBool::new(false)));
    kit.store = Arc::new(MemoryStore::with_faults(kit.store.disk().clone(), faults));
    let engine = kit.start().await;
    let mut sessions = Vec::new();
    for id in ["bad", "good"] {
        let opening = opening(vec![agent("Ann")], Settings::default());
        let session = engine.open_as(&SessionId::new(id).unwrap(), opening, None).await.unwrap();
        session.command(say(session.id(), "m1", "Go."), None).await.unwrap();
        sessions.push(session);
    }
    // Nobody says a word to it: it is looked at by itself.
    for session in sessions {
        let log = || kit.store.disk().dump(session.id());
        roundtable_testing::until("the round closes", || {
            log().last().is_some_and(|stored| stored.event.body.kind() == "round_closed")
        })
        .await;
        assert_eq!(replies(&rounds(&session, 1).await), ["Well."]);
    }
    engine.shutdown().await;
    assert_eq!(engine.loaded(), 0);
}

const SECRET: &str = "sk-canary-5f2e";

/// A model adapter with a key of its own, as a real one has.
#[derive(Debug)]
struct Keyed {
    key: &'static str,
    script: KeyedScript,
}

struct KeyedScript(ScriptedModel);

impl std::fmt::Debug for KeyedScript {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a script")
    }
}

#[async_trait]
impl Model for Keyed {
    async fn stream(&self, request: &ModelRequest) -> Result<ModelStream, ModelError> {
        if request.scope.agent.suffix() == "eve" {
            panic!("{self:?} could not connect with {}", self.key);
        }
        self.script.0.stream(request).await
    }
}

#[tokio::test(start_paused = true)]
async fn r002_12_what_a_model_adapter_keeps_to_itself_reaches_no_prompt_and_no_event() {
    let look = FnTool::new("look", |_, context| {
        Box::pin(async move {
            let prompt = roundtable_core::prompt::Prompt::new("inner", "And?");
            let params = roundtable_core::prompt::Params::new();
            let (bus, session) = (&context.event_bus, &context.session);
            let child = context.adapter.evaluate(&prompt, &params, bus, session).await?;
            Ok(ToolResult::ok(format!("{child:?} {:?} {:?}", context.prompt, context.scope)))
        })
    });
    let script = Script::default()
        .voice("ann", [Reply::calls([Call::new("look", json!({}))]), Reply::text("I looked.")]);
    let mut kit = Kit::new(script).tool(look.clone());
    let model = Keyed { key: SECRET, script: KeyedScript(kit.model.clone()) };
    assert!(format!("{model:?}").contains(SECRET), "there is something to find");
    kit = kit.model("keyed", model);
    let engine = kit.start().await;
    let mut ann = armed("Ann", [look.declare()]);
    ann.model = "keyed".to_owned();
    let (session, events) = one_round(&engine, vec![ann, with_model("Eve", "keyed")]).await;
    assert!(events.iter().any(|event| matches!(
        &event.body,
        Body::Iteration(IterationEvent::ModelCallFailed { error, .. }) if error.contains("panicked")
    )));
    assert!(!as_json(&events).contains("canary"));
    assert!(!format!("{:?}", session.state().await.unwrap()).contains("canary"));
    assert!(kit.model.received().iter().all(|call| !call.prompt.contains("canary")));
    engine.shutdown().await;
}
