//! Messages with their ids, messages that wait, and questions to the person.

use roundtable::chat::Message;
use roundtable::core::event::RoundOutcome;
use roundtable::core::tool::ToolDecl;
use roundtable::prelude::*;
use serde_json::json;

use super::{agent, engine, recorded, until_closed};

#[tokio::test]
async fn r001_9_a_message_is_sent_with_its_ids_and_once() {
    let (model, _) = recorded(Script::default().voice("ann", [Reply::text("Yes.")]));
    let engine = engine(&model).await;
    let chat = engine.chat("Mail").supervisor(agent("Ann")).open().await.unwrap();
    let context = chat.context("m1", Some("t1")).unwrap();
    let message = Message::new(context.clone(), "Well?").from("Eve");
    let first = chat.send(message.clone()).await.unwrap();
    assert_eq!(chat.send(message).await.unwrap(), first, "the first receipt");
    until_closed(&chat, 1).await;
    let requests = model.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].scope.message.as_ref(), Some(&context));
    let other = Message::new(context, "Something else");
    assert!(chat.send(other).await.is_err(), "the id stands for another message");
    engine.shutdown().await;
}

#[tokio::test]
async fn a_message_that_waits_is_edited_or_withdrawn_until_its_round_opens() {
    let script = Script::default().voice("ann", [Reply::text("{input}").at_gate("go")]);
    let (model, scripted) = recorded(script);
    let engine = engine(&model).await;
    let chat = engine.chat("Mail").supervisor(agent("Ann")).open().await.unwrap();
    for (id, text) in [("m1", "One."), ("m2", "Two."), ("m3", "Three.")] {
        chat.send(Message::new(chat.context(id, None).unwrap(), text)).await.unwrap();
    }
    chat.edit("m2", "Zwei.").await.unwrap();
    chat.withdraw("m3").await.unwrap();
    let refused = chat.edit("m1", "Eins.").await.unwrap_err().to_string();
    assert!(refused.contains("its round 1 has started"), "{refused}");
    let refused = chat.withdraw("m3").await.unwrap_err().to_string();
    assert!(refused.contains("is not queued"), "{refused}");
    scripted.gates().open("go");
    until_closed(&chat, 2).await;
    let state = chat.state().await.unwrap();
    assert_eq!((state.rounds_completed, state.waiting.len()), (2, 0));
    let asked: Vec<String> =
        model.requests().iter().map(|it| it.messages.last().unwrap().text()).collect();
    assert_eq!(asked, ["User: One.", "User: Zwei."]);
    engine.shutdown().await;
}

#[tokio::test]
async fn a_question_outlives_its_process_and_another_one_brings_the_answer_once() {
    let directory = tempfile::tempdir().unwrap();
    let ask = Call::new("ask", json!({ "question": "Which color?" }));
    let script = || {
        let replies = [Reply::calls([ask.clone()]), Reply::text("Painted.")];
        Script::default().voice("ann", replies)
    };
    let build = || {
        let builder = Engine::builder().sqlite(directory.path());
        builder.custom_model("scripted", ScriptedModel::new(script())).build()
    };
    let mut ann = agent("Ann");
    ann.tools.push(ToolDecl::ask());
    let first = build().await.unwrap();
    let chat = first.chat("Paint").supervisor(ann).open().await.unwrap();
    let report = chat.ask("Paint it.").await.unwrap();
    assert_eq!((report.outcome, report.requests.len()), (None, 1), "it waits for the person");
    first.shutdown().await;

    let second = build().await.unwrap();
    let again = second.session(chat.id());
    let request = again.pending().await.unwrap().remove(0);
    assert_eq!(request.query, "Which color?");
    again.provide(vec![ContextResult::found(request.id.clone(), "Red")]).await.unwrap();
    let late = again.provide(vec![ContextResult::found(request.id, "Blue")]).await.unwrap();
    assert!(late.warnings[0].contains("already has a different answer"), "{:?}", late.warnings);
    let events = until_closed(&again, 1).await;
    let log: Vec<String> = events.iter().map(ToString::to_string).collect();
    assert!(log.iter().any(|line| line.contains("tool_call_finished \"Red\"")), "{log:#?}");
    let state = again.state().await.unwrap();
    assert_eq!(state.marks.back().unwrap().outcome, Some(RoundOutcome::Completed));
    second.shutdown().await;
}
