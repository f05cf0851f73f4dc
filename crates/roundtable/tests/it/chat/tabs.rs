//! Several conversations at once (seed 001): everything that a message causes is its own.

use roundtable::chat::Message;
use roundtable::core::event::{Body, RoundEvent};
use roundtable::core::id::SessionId;
use roundtable::driver::Update;
use roundtable::prelude::*;
use roundtable_testing::until;
use serde_json::json;

use super::{agent, engine, recorded, until_closed};

/// A supervisor that waits at the gate of its conversation before and after a delegation.
fn script() -> Script {
    let delegate = json!({ "agent": "digger", "mission": "dig for {input}" });
    Script::default()
        .voice(
            "boss",
            [
                Reply::calls([Call::new("delegate", delegate)]).at_gate("decide"),
                Reply::text("Answer to {input}").at_gate("answer"),
            ],
        )
        .voice("digger", [Reply::text("Dug.")])
}

async fn open(engine: &Engine, id: &str) -> Session {
    let team = roundtable::chat::Team::new(agent("Boss")).worker(agent("Digger"), "digs");
    let id = SessionId::new(id).unwrap();
    engine.driver().open_as(&id, team.opening("Tab"), None).await.unwrap();
    engine.session(&id)
}

fn message(chat: &Session, id: &str) -> Message {
    let text = format!("canary-{}", chat.id().suffix());
    Message::new(chat.context(id, None).unwrap(), text)
}

/// The seed's timeline: A (abc) starts, B (xyz) starts, A finishes. Before the fix of the seed, A's
/// output was sent to xyz.
#[tokio::test(start_paused = true)]
async fn r001_3_to_r001_7_a_starts_b_starts_a_finishes_and_each_keeps_its_own_ids() {
    let (model, scripted) = recorded(script());
    let engine = engine(&model).await;
    let (abc, xyz) = (open(&engine, "abc").await, open(&engine, "xyz").await);
    let mut heard = abc.updates(Since::Start).await.unwrap();
    abc.send(message(&abc, "msg-a")).await.unwrap();
    until("A's supervisor is asked", || model.requests().len() == 1).await;
    xyz.send(message(&xyz, "msg-b")).await.unwrap();
    until("B's supervisor is asked", || model.requests().len() == 2).await;
    // Between the delegation and the worker's start, another message arrives in A.
    abc.send(message(&abc, "msg-a2")).await.unwrap();
    scripted.gates().open("decide");
    until("both workers are done", || model.requests().len() == 6).await;
    scripted.gates().open("answer");
    let mut closed = 0;
    while closed < 2 {
        match heard.next().await.unwrap() {
            Update::Event(event) => {
                let own = event.place.round.as_ref();
                assert!(own.is_none_or(|round| !round.as_str().contains("xyz")));
                closed +=
                    usize::from(matches!(&event.body, Body::Round(RoundEvent::RoundClosed { .. })));
            }
            Update::Delta(delta) => assert!(!delta.text.contains("xyz"), "{}", delta.text),
        }
    }
    until_closed(&xyz, 1).await;
    let requests = model.requests();
    assert_eq!(requests.len(), 9, "three messages, each answered with a delegation");
    for request in &requests {
        let context = request.scope.message.as_ref().unwrap();
        let conversation = request.scope.session.as_str();
        assert_eq!(context.conversation_id(), conversation);
        let stray = if conversation == "ses_abc" { "canary-xyz" } else { "canary-abc" };
        let prompt = format!("{request:?}");
        assert!(!prompt.contains(stray), "{prompt}");
    }
    let workers = requests.iter().filter(|it| it.scope.agent.suffix() == "digger");
    let mut contexts: Vec<&str> =
        workers.map(|it| it.scope.message.as_ref().unwrap().message_id()).collect();
    contexts.sort_unstable();
    assert_eq!(contexts, ["msg-a", "msg-a2", "msg-b"], "R001-7: whatever arrives meanwhile");
    for (chat, own) in [(&abc, "canary-abc"), (&xyz, "canary-xyz")] {
        let log: Vec<String> =
            chat.log().await.unwrap().iter().map(|it| serde_json::to_string(it).unwrap()).collect();
        let log = log.join("\n");
        let other = if own == "canary-abc" { "canary-xyz" } else { "canary-abc" };
        assert!(log.contains(own) && !log.contains(other));
    }
    engine.shutdown().await;
}

/// Each conversation thinks for a second, delegates for a second and answers after another.
#[tokio::test(start_paused = true)]
async fn r001_12_a_hundred_conversations_take_the_time_of_one() {
    let delegate = json!({ "agent": "digger", "mission": "dig" });
    let script = Script::default()
        .voice(
            "boss",
            [
                Reply::calls([Call::new("delegate", delegate)]).after(1_000),
                Reply::text("Answer to {input}").after(1_000),
            ],
        )
        .voice("digger", [Reply::text("Dug.").after(1_000)]);
    let (model, _) = recorded(script);
    let engine = engine(&model).await;
    let elapsed = async |count: usize, name: &str| {
        let mut chats = Vec::new();
        for number in 0..count {
            chats.push(open(&engine, &format!("{name}-{number}")).await);
        }
        let begun = tokio::time::Instant::now();
        for chat in &chats {
            chat.send(message(chat, "m1")).await.unwrap();
        }
        for chat in &chats {
            until_closed(chat, 1).await;
        }
        begun.elapsed()
    };
    let one = elapsed(1, "alone").await;
    let hundred = elapsed(100, "many").await;
    assert!(one.as_millis() >= 3_000, "{one:?}");
    assert!(hundred <= one + one / 10, "one takes {one:?}, a hundred {hundred:?}");
    let canaries = |prompt: &str| prompt.matches("canary-").count();
    for request in model.requests() {
        let own = format!("canary-{}", request.scope.session.suffix());
        let prompt = format!("{:?}", request.messages);
        assert_eq!(canaries(&prompt), prompt.matches(&own).count(), "{prompt}");
    }
    engine.shutdown().await;
}
