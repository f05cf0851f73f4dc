//! Sessions as an embedder opens and drives them.

use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use futures_util::stream;
use roundtable::core::event::{Body, CallRecord, RoundOutcome, SessionEvent};
use roundtable::core::input::Command;
use roundtable::core::session::Status;
use roundtable::ports::{Chunk, Model, ModelError, ModelRequest, ModelStream};
use roundtable::prelude::*;

async fn engine(script: Script) -> Engine {
    Engine::builder().custom_model("scripted", ScriptedModel::new(script)).build().await.unwrap()
}

fn question() -> Reply {
    let asked = serde_json::json!({ "query": "How many?", "reason": "It matters." });
    Reply::calls([Call::new("request_context", asked)])
}

async fn kinds(session: &Session) -> Vec<String> {
    session.log().await.unwrap().iter().map(|event| event.body.kind().to_owned()).collect()
}

#[tokio::test]
async fn a_debate_runs_all_of_its_rounds_and_its_events_end() {
    let engine = engine(Script::default()).await;
    let debate = engine.panel("Why?").agent("Ann").agent("Bob").rounds(3).run().await.unwrap();
    let events: Vec<_> = debate.events(Since::Start).await.unwrap().collect().await;
    let last = events.last().unwrap().as_ref().unwrap();
    assert!(matches!(last.body, Body::Session(SessionEvent::SessionCompleted { .. })));
    assert_eq!(debate.state().await.unwrap().rounds_completed, 3);
    engine.shutdown().await;
}

#[tokio::test]
async fn a_debate_that_goes_on_by_itself_waits_for_required_context() {
    let script = Script::default()
        .voice("ann", [question(), Reply::text("I asked.")])
        .voice("ann", [Reply::text("Thank you.")]);
    let engine = engine(script).await;
    let panel = engine.panel("Why?").agent("Ann").may_request_context().rounds(2);
    let debate = panel.run().await.unwrap();
    let mut events = debate.events(Since::Start).await.unwrap();
    while events.next().await.unwrap().unwrap().body.kind() != "round_closed" {}
    let pending = debate.pending().await.unwrap();
    assert_eq!(debate.state().await.unwrap().current_round(), 2);
    assert!(debate.state().await.unwrap().round.is_none(), "the next round waits");
    debate.provide(vec![ContextResult::found(pending[0].id.clone(), "Two")]).await.unwrap();
    while let Some(event) = events.next().await {
        event.unwrap();
    }
    assert_eq!(debate.state().await.unwrap().status, Status::Completed);
    engine.shutdown().await;
}

#[tokio::test]
async fn a_stopped_debate_does_not_go_on_by_itself() {
    let model =
        ScriptedModel::new(Script::default().voice("ann", [Reply::text("…").at_gate("never")]));
    let engine = Engine::builder().custom_model("scripted", model).build().await.unwrap();
    let debate = engine.panel("Why?").agent("Ann").rounds(3).run().await.unwrap();
    debate.stop().await.unwrap();
    let state = debate.state().await.unwrap();
    assert_eq!((state.round, state.last_number, state.status), (None, 1, Status::Active));
    engine.shutdown().await;
}

#[tokio::test]
async fn asking_returns_the_answers_of_its_own_round() {
    let script = Script::default().voice("ann", [Reply::text("Because.")]);
    let engine = engine(script).await;
    let chat = engine.chat("Questions").agent("Ann").open().await.unwrap();
    let report = chat.ask("Why?").await.unwrap();
    assert_eq!((report.number, report.outcome), (1, Some(RoundOutcome::Completed)));
    assert_eq!(report.answers[0].text, "Because.");
    engine.shutdown().await;
}

#[tokio::test]
async fn asking_ends_when_the_engine_does_and_what_was_said_is_kept() {
    let model =
        ScriptedModel::new(Script::default().voice("ann", [Reply::text("…").at_gate("never")]));
    let engine = Engine::builder().custom_model("scripted", model).build().await.unwrap();
    let chat = engine.chat("Questions").agent("Ann").open().await.unwrap();
    let end = async {
        while chat.state().await.unwrap().round.is_none() {
            tokio::task::yield_now().await;
        }
        engine.stop().await;
    };
    let (asked, ()) = tokio::join!(chat.ask("Why?"), end);
    asked.unwrap_err();
    assert!(kinds(&chat).await.contains(&"session_input_accepted".to_owned()));
}

#[tokio::test]
async fn asking_does_not_wait_for_a_round_that_will_never_open() {
    let model =
        ScriptedModel::new(Script::default().voice("ann", [Reply::text("…").at_gate("never")]));
    let engine = Engine::builder().custom_model("scripted", model).build().await.unwrap();
    let chat = engine.chat("Questions").agent("Ann").open().await.unwrap();
    chat.say("First").await.unwrap();
    let second = chat.ask("Second");
    let end = async {
        // The second message has to be waiting before the session ends.
        while chat.state().await.unwrap().waiting.is_empty() {
            tokio::task::yield_now().await;
        }
        chat.complete("enough").await.unwrap();
    };
    let (asked, ()) = tokio::join!(second, end);
    let refused = asked.unwrap_err().to_string();
    assert!(refused.contains("completed") && refused.contains("started no round"), "{refused}");
    engine.shutdown().await;
}

#[tokio::test]
async fn a_chat_can_be_forked_to_another_agent_in_the_same_seat() {
    let script = Script::default()
        .voice("ann", [Reply::text("I am Ann.")])
        .voice("bob", [Reply::text("I am Bob.")]);
    let engine = engine(script).await;
    let chat = engine.chat("Who?").agent("Ann").open().await.unwrap();
    chat.ask("Who are you?").await.unwrap();
    let origin = chat.here().await.unwrap();
    let bob = Agent::new("Bob", "scripted").unwrap();
    let fork = engine.driver().fork(origin, Some(vec![bob])).await.unwrap();
    let fork = engine.session(fork.id());
    assert_eq!(fork.ask("And you?").await.unwrap().answers[0].text, "I am Bob.");
    assert_eq!(chat.ask("Still you?").await.unwrap().answers[0].text, "I am Ann.");
    engine.shutdown().await;
}

#[tokio::test]
async fn events_end_when_the_engine_does() {
    let engine = engine(Script::default()).await;
    let chat = engine.chat("Quiet").agent("Ann").open().await.unwrap();
    let events = chat.events(Since::Start).await.unwrap();
    let (seen, ()) = tokio::join!(events.collect::<Vec<_>>(), engine.shutdown());
    assert_eq!(seen.len(), 1);
}

struct SendMail;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

impl Tool for SendMail {
    type Params = Nothing;
    fn name(&self) -> &'static str {
        "send_mail"
    }
    fn description(&self) -> &'static str {
        "Sends mail."
    }
    fn effect(&self) -> Effect {
        Effect::Effectful
    }
    async fn run(&self, _params: Nothing, _context: &ToolContext) -> Result<ToolResult, ToolError> {
        Ok(ToolResult::ok("sent"))
    }
}

#[tokio::test]
async fn a_tool_cannot_be_declared_more_harmless_than_it_is() {
    let model = ScriptedModel::new(Script::default());
    let engine =
        Engine::builder().custom_model("scripted", model).tool(SendMail).build().await.unwrap();
    let open = |effect: Effect| {
        let mut ann = Agent::new("Ann", "scripted").unwrap();
        ann.tools = vec![ToolDecl::handler("send_mail", effect)];
        engine.chat("Mail").participant(ann).open()
    };
    let refused = open(Effect::Pure).await.err().unwrap().to_string();
    assert!(refused.contains("send_mail") && refused.contains("effect class"), "{refused}");
    open(Effect::Effectful).await.unwrap();
    engine.shutdown().await;
}

#[tokio::test]
async fn a_session_in_a_directory_is_there_after_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let start = || {
        let model = ScriptedModel::new(Script::default().voice("ann", [Reply::text("Noted.")]));
        Engine::builder().custom_model("scripted", model).sqlite(directory.path()).build()
    };
    let engine = start().await.unwrap();
    let chat = engine.chat("Notes").agent("Ann").open().await.unwrap();
    chat.ask("Milk").await.unwrap();
    let before = kinds(&chat).await;
    engine.shutdown().await;
    drop((engine, chat.clone()));
    let engine = start().await.unwrap();
    let chat = engine.session(chat.id());
    assert_eq!(kinds(&chat).await, before);
    assert_eq!(chat.ask("Eggs").await.unwrap().number, 2);
    engine.shutdown().await;
}

#[tokio::test]
async fn a_round_that_a_restart_interrupted_is_waited_for_with_one_call() {
    let directory = tempfile::tempdir().unwrap();
    let start = |reply: Reply| {
        let model = ScriptedModel::new(Script::default().voice("ann", [reply]));
        Engine::builder().custom_model("scripted", model).sqlite(directory.path()).build()
    };
    let engine = start(Reply::text("…").at_gate("never")).await.unwrap();
    let chat = engine.chat("Notes").agent("Ann").open().await.unwrap();
    chat.wait_current().await.unwrap_err();
    chat.say("Milk").await.unwrap();
    while chat.state().await.unwrap().round.is_none() {
        tokio::task::yield_now().await;
    }
    engine.stop().await;
    drop(engine);
    let engine = start(Reply::text("Noted.")).await.unwrap();
    let chat = engine.session(chat.id());
    let report = chat.wait_current().await.unwrap();
    assert_eq!((report.number, report.outcome), (1, Some(RoundOutcome::Completed)));
    assert_eq!(report.answers[0].text, "Noted.");
    assert_eq!(chat.wait_current().await.unwrap(), report, "a round that is over is read");
    engine.shutdown().await;
}

/// Answers with the number of the call.
#[derive(Default)]
struct Counter(AtomicU32);

#[async_trait]
impl Model for Counter {
    async fn stream(&self, _: &ModelRequest) -> Result<ModelStream, ModelError> {
        let count = self.0.fetch_add(1, Ordering::Relaxed) + 1;
        let chunks = [Chunk::Text(count.to_string()), Chunk::Done(CallRecord::default())];
        Ok(stream::iter(chunks.map(Ok)).boxed())
    }
}

#[tokio::test]
async fn waiting_for_the_current_round_means_its_last_take() {
    let builder = Engine::builder().custom_model("counter", Counter::default());
    let engine = builder.build().await.unwrap();
    let chat = engine.chat("Takes").agent("Ann").open().await.unwrap();
    assert_eq!(chat.ask("Why?").await.unwrap().answers[0].text, "1");
    chat.command(Command::Regenerate).await.unwrap();
    let second = chat.wait_current().await.unwrap();
    assert_eq!((second.number, second.answers[0].text.as_str()), (1, "2"));
    engine.shutdown().await;
}

#[tokio::test]
async fn a_debate_that_a_restart_interrupted_is_waited_for_with_one_call() {
    let directory = tempfile::tempdir().unwrap();
    let start = |reply: Reply| {
        let script = Script::default().voice("ann", [reply.clone()]).voice("bob", [reply]);
        let model = ScriptedModel::new(script);
        Engine::builder().custom_model("scripted", model).sqlite(directory.path()).build()
    };
    let engine = start(Reply::text("…").at_gate("never")).await.unwrap();
    let debate = engine.debate("Why?").agent("Ann").agent("Bob").start().await.unwrap();
    engine.stop().await;
    drop(engine);
    let engine = start(Reply::text("Because.")).await.unwrap();
    let findings = engine.find_debate(debate.id()).wait_current().await.unwrap();
    assert_eq!((findings.number, findings.responses.len()), (1, 2));
    engine.shutdown().await;
}
