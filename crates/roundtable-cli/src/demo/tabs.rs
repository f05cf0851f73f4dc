//! `roundtable demo tabs`: two conversations at once on one engine. The second one starts while the
//! first one is being answered, and nothing of either reaches the other.

use std::process::ExitCode;

use roundtable::chat::{Message, Team};
use roundtable::core::event::{Body, Event, IterationEvent, RoundEvent, Task, TurnEvent};
use roundtable::driver::Update;
use roundtable::prelude::*;
use roundtable::{Keep, Reader};
use serde_json::json;

use super::Options;
use crate::config::{Config, built};
use crate::out;

/// How long each word takes, as many words as the longest answer has: the second conversation starts
/// in the middle of the first.
const THINKS: u64 = 40;

/// A tab: a conversation, and how it is shown.
struct Tab {
    label: &'static str,
    question: &'static str,
    /// Words that must not be seen in another tab.
    canary: &'static str,
    session: Session,
    reader: Reader,
    payloads: usize,
    strays: usize,
}

const TABS: [(&str, &str, &str); 2] = [
    ("abc", "Plan a dinner for the team. Budget code: ORANGE-7.", "ORANGE-7"),
    ("xyz", "Draft the note on the outage. Ticket: VIOLET-3.", "VIOLET-3"),
];

pub(super) async fn run(config: &Config, options: &Options) -> anyhow::Result<ExitCode> {
    let model = ScriptedModel::new(script(options.pace));
    let builder = Engine::builder().sqlite(&config.data_dir).custom_model("scripted", model);
    let engine = built(builder).await?;
    let [mut first, mut second] = [open(&engine, 0).await?, open(&engine, 1).await?];
    let say = |text: &str| {
        if !options.json {
            let _ = out::put(&format!("{}\n", out::plain(text)));
        }
    };
    say("Two tabs, one engine. xyz sends a message while abc is being answered.\n");
    first.ask(&say).await?;
    let mut asked = false;
    while !(first.is_over() && asked && second.is_over()) {
        tokio::select! {
            update = first.reader.next(), if !first.is_over() => {
                let update = update?;
                first.take(&update, second.canary, options.json, &say);
                if !asked && first.delegated(&update) {
                    asked = true;
                    second.ask(&say).await?;
                }
            }
            update = second.reader.next(), if asked && !second.is_over() => {
                second.take(&update?, first.canary, options.json, &say);
            }
        }
    }
    let (count, strays) = (first.payloads + second.payloads, first.strays + second.strays);
    say(&format!("\nChecked {count} payloads: {strays} in the wrong conversation."));
    for tab in [&first, &second] {
        say(&format!(
            "Look at {}: {}",
            tab.label,
            config.command(&format!("show {}", tab.session.id()))
        ));
    }
    engine.shutdown().await;
    Ok(if strays == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The supervisor delegates and then answers; both repeat what they were asked.
fn script(pace: u64) -> Script {
    let delegate = json!({ "agent": "researcher", "mission": "Collect what is known." });
    Script::default()
        .voice(
            "supervisor",
            [
                Reply::calls([Call::new("delegate", delegate)]).after(pace * THINKS / 2),
                Reply::text("Here it is. You asked: {input}").in_pieces(8, pace * 4),
            ],
        )
        .voice("researcher", [Reply::text("Three options, one of them good.").after(pace * THINKS)])
}

async fn open(engine: &Engine, index: usize) -> anyhow::Result<Tab> {
    let (label, question, canary) = TABS[index];
    let researcher = Agent::new("Researcher", "scripted")?;
    let team = Team::new(Agent::new("Supervisor", "scripted")?).worker(researcher, "finds facts");
    let session = engine.open(team.opening(question)).await?;
    let reader = Reader::open(&session, Keep::Window).await?;
    Ok(Tab { label, question, canary, session, reader, payloads: 0, strays: 0 })
}

impl Tab {
    async fn ask(&mut self, say: &impl Fn(&str)) -> anyhow::Result<()> {
        say(&format!("{} │ You: {}", self.label, self.question));
        let context = self.session.context(&format!("msg_{}", self.label), None)?;
        self.session.send(Message::new(context, self.question)).await?;
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.reader.now().session.rounds_completed > 0
    }

    fn delegated(&self, update: &Update) -> bool {
        matches!(update, Update::Event(event) if matches!(&event.body,
            Body::Turn(TurnEvent::TurnStarted { task: Task::Delegated { .. }, .. })))
    }

    /// Checks that a payload is this conversation's own, and shows it.
    fn take(&mut self, update: &Update, foreign: &str, json: bool, say: &impl Fn(&str)) {
        self.payloads += 1;
        let event = match update {
            Update::Delta(delta) => {
                self.strays += usize::from(delta.text.contains(foreign));
                return;
            }
            Update::Event(event) => event,
        };
        let line = serde_json::to_string(event.as_ref()).unwrap_or_default();
        let names_other = matches!(&event.body, Body::Round(RoundEvent::RoundOpened { input, .. })
            if input.conversation_id() != self.session.id().as_str());
        self.strays += usize::from(names_other || line.contains(foreign));
        if json {
            let _ = out::put(&out::json_line(line));
        } else if let Some(text) = self.words(event) {
            say(&format!("{} │ {text}", self.label));
        }
    }

    fn words(&self, event: &Event) -> Option<String> {
        let state = &self.reader.now().session;
        match &event.body {
            Body::Turn(TurnEvent::TurnStarted { agent, task: Task::Delegated { mission, .. } }) => {
                Some(format!("  → {}: {mission}", state.name_of(agent)))
            }
            Body::Iteration(IterationEvent::ModelCallFinished { text, .. }) if !text.is_empty() => {
                let turn = event.place.turn.as_ref();
                let turn = turn.and_then(|id| state.find_turn(id))?.1;
                Some(format!("{}: {text}", state.name_of(&turn.agent)))
            }
            _ => None,
        }
    }
}
