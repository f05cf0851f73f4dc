//! Hundreds of conversations at once, each with a secret, stopped and interrupted at random: no
//! secret is ever seen anywhere but at home.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::future::join_all;
use roundtable_core::event::Seq;
use roundtable_core::id::SessionId;
use roundtable_core::input::{Command, OnBusy, Say};
use roundtable_core::prompt::{Params, Prompt};
use roundtable_core::settings::Settings;
use roundtable_core::tool::{ToolDecl, ToolResult};
use roundtable_engine::{Engine, SessionHandle, Update};
use roundtable_models::scripted::{Call, Reply, Script};
use roundtable_testing::{FnTool, Kit, agent, message, opening};
use serde_json::json;

use crate::seen::armed;

const SESSIONS: u64 = 250;
const MESSAGES: u64 = 3;

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

/// A tool that repeats what was asked, and has a nested prompt repeat it too.
fn echo() -> FnTool {
    FnTool::new("echo", |_, context| {
        Box::pin(async move {
            let prompt = Prompt::new("repeat", "{text}");
            let params = Params::from([("text".to_owned(), context.prompt.ask.clone())]);
            let (bus, session) = (&context.event_bus, &context.session);
            let child = context.adapter.evaluate(&prompt, &params, bus, session).await?;
            bus.publish("echo", json!({ "said": context.prompt.ask })).await?;
            Ok(ToolResult::ok(child.output))
        })
    })
}

fn talkative() -> Script {
    let mission = json!({ "agent": "worker", "mission": "repeat", "rationale": "" });
    Script::default()
        .voice(
            "ann",
            [
                Reply::calls([Call::new("echo", json!({})), Call::new("delegate", mission)])
                    .after(2),
                Reply::text("Ann heard: {input}").in_pieces(7, 1),
            ],
        )
        .voice("ann/repeat", [Reply::text("again: {input}").in_pieces(11, 2)])
        .voice("bob", [Reply::text("Bob heard: {input}").in_pieces(5, 1).after(3)])
        .voice("worker", [Reply::text("{input}").after(1)])
}

fn secret(session: &SessionId, number: u64) -> String {
    format!("canary-{}-{number}.", session.suffix())
}

/// The sessions whose secrets a text holds; of one that was cut short it is not known.
fn homes(text: &str) -> impl Iterator<Item = &str> {
    text.split("canary-").skip(1).filter_map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric())?;
        rest[end..].starts_with('-').then_some(&rest[..end])
    })
}

fn assert_at_home(what: &str, text: &str, session: &SessionId) {
    for home in homes(text) {
        assert_eq!(home, session.suffix(), "a secret of {home} in {what} of {session}");
    }
}

/// One person: talks, interrupts, stops, at times of their own.
async fn talk(session: SessionHandle, mut dice: Dice) {
    for number in 1..=MESSAGES {
        tokio::time::sleep(Duration::from_millis(dice.below(30))).await;
        let text = secret(session.id(), number);
        let on_busy = if dice.below(3) == 0 { OnBusy::Interrupt } else { OnBusy::Queue };
        let say = Say { on_busy, ..message(session.id(), &format!("m{number}"), &text) };
        session.command(Command::Say(say), None).await.unwrap();
        if dice.below(4) == 0 {
            tokio::time::sleep(Duration::from_millis(dice.below(20))).await;
            session.command(Command::Stop, None).await.unwrap();
        }
    }
}

/// One reader: takes in all that its session says, until every message had its round.
async fn read(session: SessionHandle) -> (usize, usize) {
    let mut subscription = session.subscribe(Seq(1)).await.unwrap();
    let (mut closed, mut deltas, mut secrets) = (0, 0, 0);
    let mut said: BTreeMap<Seq, String> = BTreeMap::new();
    while closed < MESSAGES {
        match subscription.next().await.unwrap() {
            Update::Event(event) => {
                let text = serde_json::to_string(&event).unwrap();
                secrets += homes(&text).count();
                assert_at_home("an event", &text, session.id());
                closed += u64::from(event.body.kind() == "round_closed");
            }
            Update::Delta(delta) => {
                deltas += 1;
                let said = said.entry(delta.since).or_default();
                said.push_str(&delta.text);
                assert_at_home("a stream", said, session.id());
            }
        }
    }
    (deltas, secrets)
}

async fn open(engine: &Engine, echo: &FnTool) -> SessionHandle {
    let worker = agent("Worker");
    let mut ann = armed("Ann", [echo.declare(), ToolDecl::delegate()]);
    ann.workers.push(worker.id.clone());
    let bob = agent("Bob");
    let seats = vec![ann.id.clone(), bob.id.clone()];
    let settings = Settings { seats, ..Settings::default() };
    engine.open(opening(vec![ann, bob, worker], settings)).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn r001_4_secrets_of_hundreds_of_overlapping_sessions_stay_at_home() {
    let echo = echo();
    let kit = Kit::new(talkative()).tool(echo.clone());
    let engine = kit.start().await;
    let mut people = Vec::new();
    let mut readers = Vec::new();
    for number in 0..SESSIONS {
        let session = open(&engine, &echo).await;
        people.push(talk(session.clone(), Dice(number + 1)));
        readers.push(read(session));
    }
    let (_, read) = tokio::join!(join_all(people), join_all(readers));
    // The test is worth something only if there was much to see.
    assert!(read.iter().all(|(_, secrets)| *secrets as u64 >= MESSAGES));
    assert!(read.iter().map(|(deltas, _)| deltas).sum::<usize>() > 5_000);

    let received = kit.model.received();
    assert!(received.len() as u64 > SESSIONS * MESSAGES);
    for call in &received {
        assert_at_home("a prompt", &call.prompt, &call.session);
        assert!(homes(&call.prompt).count() > 0 || call.agent.suffix() == "worker");
    }
    engine.shutdown().await;
    assert_eq!(engine.loaded(), 0);
}
