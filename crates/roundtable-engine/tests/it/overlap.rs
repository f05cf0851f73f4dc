//! Conversations that overlap in time (seed 001): everything that a message causes is its own.

use roundtable_core::MessageContext;
use roundtable_core::event::{Body, RoundEvent, RoundOutcome, SessionEvent};
use roundtable_core::id::SessionId;
use roundtable_core::input::{Command, Say};
use roundtable_core::settings::Settings;
use roundtable_core::tool::ToolDecl;
use roundtable_models::scripted::{Call, Reply, Script};
use roundtable_testing::{Kit, RecordingModel, agent, message, opening, rounds, say, until};
use serde_json::json;

use crate::seen::{armed, replies, round_ends};

fn session(name: &str) -> SessionId {
    SessionId::new(name).unwrap()
}

#[tokio::test(start_paused = true)]
async fn r001_4_r001_5_a_starts_b_starts_a_finishes_and_each_names_its_own_conversation() {
    let script = Script::default()
        .voice("abe", [Reply::text("For abc: {input}").at_gate("abc")])
        .voice("xan", [Reply::text("For xyz: {input}").at_gate("xyz")]);
    let mut kit = Kit::new(script);
    let model = RecordingModel::new(kit.model.clone());
    kit = kit.model("recorded", model.clone());
    let engine = kit.start().await;
    let mut sessions = Vec::new();
    for (id, name) in [("abc", "Abe"), ("xyz", "Xan")] {
        let mut agent = agent(name);
        agent.model = "recorded".to_owned();
        let opening = opening(vec![agent], Settings::default());
        let session = engine.open_as(&session(id), opening, None).await.unwrap();
        let text = format!("hello {id}");
        session.command(say(session.id(), &format!("m-{id}"), &text), None).await.unwrap();
        until("its model is asked", || model.requests().len() == sessions.len() + 1).await;
        sessions.push(session);
    }
    // A finishes while B is under way, then B.
    for (session, id) in sessions.iter().zip(["abc", "xyz"]) {
        kit.model.gates().open(id);
        let events = rounds(session, 1).await;
        assert_eq!(replies(&events), [format!("For {id}: User: hello {id}")]);
        for event in &events {
            let context = match &event.body {
                Body::Session(SessionEvent::SessionInputAccepted(accepted)) => &accepted.context,
                Body::Round(RoundEvent::RoundOpened { input, .. }) => input,
                _ => continue,
            };
            assert_eq!(context.conversation_id(), session.id().as_str());
            assert_eq!(context.message_id(), format!("m-{id}"));
        }
    }
    for request in model.requests() {
        let context = request.scope.message.unwrap();
        assert_eq!(context.conversation_id(), request.scope.session.as_str());
        assert_eq!(context.message_id(), format!("m-{}", request.scope.session.suffix()));
        assert_eq!(context.turn_id(), context.message_id());
    }
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn r001_7_a_worker_gets_the_context_of_the_message_that_caused_the_delegation() {
    let delegate = json!({ "agent": "worker", "mission": "dig", "rationale": "strong" });
    let script = Script::default()
        .voice(
            "boss",
            [
                Reply::calls([Call::new("delegate", delegate)]).at_gate("decide"),
                Reply::text("It is done."),
            ],
        )
        .voice("worker", [Reply::text("Dug.")]);
    let mut kit = Kit::new(script);
    let model = RecordingModel::new(kit.model.clone());
    kit = kit.model("recorded", model.clone());
    let (mut boss, mut worker) = (armed("Boss", [ToolDecl::delegate()]), agent("Worker"));
    boss.workers.push(worker.id.clone());
    (boss.model, worker.model) = ("recorded".to_owned(), "recorded".to_owned());
    let settings = Settings { seats: vec![boss.id.clone()], ..Settings::default() };
    let opening = opening(vec![boss, worker], settings);
    let engine = kit.start().await;
    let first = engine.open_as(&session("abc"), opening.clone(), None).await.unwrap();
    let context = MessageContext::new("m1", first.id(), Some("t1")).unwrap();
    let told = Say { context: context.clone(), ..message(first.id(), "m1", "dig here") };
    first.command(Command::Say(told), None).await.unwrap();
    until("the boss thinks", || model.requests().len() == 1).await;
    // Other messages arrive before the worker is started: here, and elsewhere.
    first.command(say(first.id(), "m2", "and there"), None).await.unwrap();
    let second = engine.open_as(&session("xyz"), opening, None).await.unwrap();
    second.command(say(second.id(), "m9", "elsewhere"), None).await.unwrap();
    until("both bosses think", || model.requests().len() == 2).await;
    kit.model.gates().open("decide");
    assert_eq!(round_ends(&rounds(&first, 2).await), [RoundOutcome::Completed; 2]);
    rounds(&second, 1).await;

    let of_workers: Vec<_> = model
        .requests()
        .into_iter()
        .filter(|request| request.scope.agent.suffix() == "worker")
        .map(|request| (request.scope.session, request.scope.message.unwrap()))
        .collect();
    let context_of =
        |id: &str, session: &SessionId| MessageContext::new(id, session, None).unwrap();
    assert_eq!(of_workers.len(), 3);
    assert!(of_workers.contains(&(first.id().clone(), context)));
    assert!(of_workers.contains(&(first.id().clone(), context_of("m2", first.id()))));
    assert!(of_workers.contains(&(second.id().clone(), context_of("m9", second.id()))));
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn r001_12_no_session_waits_for_another() {
    let script = Script::default()
        .voice("slow", [Reply::text("At last.").at_gate("slow")])
        .voice("quick", [Reply::text("Here you are.")]);
    let kit = Kit::new(script);
    let engine = kit.start().await;
    let slow = engine.open(opening(vec![agent("Slow")], Settings::default())).await.unwrap();
    slow.command(say(slow.id(), "m1", "Well?"), None).await.unwrap();
    until("the slow one is asked", || kit.model.count() == 1).await;
    for _ in 0..200 {
        let quick = engine.open(opening(vec![agent("Quick")], Settings::default())).await.unwrap();
        quick.command(say(quick.id(), "m1", "Well?"), None).await.unwrap();
        assert_eq!(round_ends(&rounds(&quick, 1).await), [RoundOutcome::Completed]);
    }
    assert!(slow.state().await.unwrap().round.is_some());
    kit.model.gates().open("slow");
    assert_eq!(replies(&rounds(&slow, 1).await), ["At last."]);
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_message_of_another_conversation_is_refused_and_changes_nothing() {
    let kit = Kit::new(Script::default());
    let engine = kit.start().await;
    let opening = opening(vec![agent("Ann")], Settings::default());
    let mine = engine.open_as(&session("abc"), opening.clone(), None).await.unwrap();
    engine.open_as(&session("xyz"), opening, None).await.unwrap();
    let before = mine.state().await.unwrap();
    let stray = mine.command(say(&session("xyz"), "m1", "hello xyz"), None).await.unwrap_err();
    assert_eq!(
        stray.to_string(),
        "the message belongs to conversation ses_xyz; send it there, not to ses_abc"
    );
    assert_eq!(mine.state().await.unwrap(), before);
    assert_eq!(kit.model.count(), 0);
    engine.shutdown().await;
}
