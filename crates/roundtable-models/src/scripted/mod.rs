//! A model that answers from a script. Which reply it gives depends on the request alone, so it
//! gives the same one after a restart.

mod gate;
mod script;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::StreamExt as _;
use futures_util::stream;
use roundtable_core::budget::Usage;
use roundtable_core::event::{CallRecord, StopReason};
use roundtable_core::id::{AgentId, IterationId, SessionId};
use roundtable_core::message::{Message, Role};
use roundtable_ports::{Chunk, Model, ModelError, ModelRequest, ModelStream};

pub use gate::Gates;
pub use script::{Call, Fails, Reply, Script, Turn, Voice};

/// A call that the model received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// The key of the call.
    pub key: IterationId,
    /// Which attempt.
    pub attempt: u32,
    /// For which session.
    pub session: SessionId,
    /// For which agent.
    pub agent: AgentId,
    /// What was asked, as text.
    pub prompt: String,
    /// What was counted for it; nothing until the answer is complete.
    pub usage: Option<Usage>,
}

/// A model that answers from a script, and counts every call that it receives.
///
/// ```
/// use roundtable_models::scripted::{Reply, Script, ScriptedModel};
/// let script = Script::default().voice("critic", [Reply::text("I doubt it.")]);
/// let model = ScriptedModel::new(script);
/// assert!(model.received().is_empty());
/// ```
#[derive(Clone)]
pub struct ScriptedModel {
    script: Arc<Script>,
    gates: Gates,
    received: Arc<Mutex<Vec<Received>>>,
    remembers: bool,
}

impl ScriptedModel {
    /// A model that follows this script.
    pub fn new(script: Script) -> Self {
        Self {
            script: Arc::new(script),
            gates: Gates::default(),
            received: Arc::default(),
            remembers: true,
        }
    }

    /// The same, but it keeps no record of what it received: for long runs.
    pub fn forgetful(script: Script) -> Self {
        Self { remembers: false, ..Self::new(script) }
    }

    /// The gates that replies wait at.
    pub fn gates(&self) -> &Gates {
        &self.gates
    }

    /// Every call that was received, in order.
    pub fn received(&self) -> Vec<Received> {
        self.calls().clone()
    }

    /// How many calls were received.
    pub fn count(&self) -> usize {
        self.calls().len()
    }

    /// Keeps a record of a request; where it is, if records are kept.
    fn remember(&self, request: &ModelRequest) -> Option<usize> {
        let mut calls = self.remembers.then(|| self.calls())?;
        calls.push(Received {
            key: request.key.clone(),
            attempt: request.attempt,
            session: request.scope.session.clone(),
            agent: request.scope.agent.clone(),
            prompt: whole_text(&request.messages),
            usage: None,
        });
        Some(calls.len() - 1)
    }

    fn calls(&self) -> std::sync::MutexGuard<'_, Vec<Received>> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Model for ScriptedModel {
    async fn stream(&self, request: &ModelRequest) -> Result<ModelStream, ModelError> {
        let reply = self.script.reply(request);
        let index = self.remember(request);
        if let Some(gate) = &reply.gate {
            self.gates.wait(gate).await;
        }
        if reply.delay_ms > 0 {
            tokio::time::sleep(Duration::from_millis(reply.delay_ms)).await;
        }
        if let Some(fails) = reply.fails {
            return Err(fails.error());
        }
        let text = reply.text.replace("{input}", &last_asked(&request.messages));
        let usage = Usage {
            input: words(&whole_text(&request.messages)),
            output: words(&text),
            ..Usage::default()
        };
        let stop = if reply.calls.is_empty() { StopReason::End } else { StopReason::ToolCalls };
        let done = CallRecord {
            model: "scripted".to_owned(),
            usage: Some(usage),
            stop,
            ..CallRecord::default()
        };
        let received = self.received.clone();
        let pause = Duration::from_millis(reply.chunk_delay_ms);
        let texts = pieces(&text, reply.chunk_chars).into_iter().map(Chunk::Text);
        let calls = reply.calls.into_iter().map(Call::chunk);
        let middle = reply.middle_gate.map(|gate| (self.gates.clone(), gate));
        let chunks = stream::iter(texts.chain(calls).enumerate()).then(move |(index, chunk)| {
            let middle = middle.clone().filter(|_| index == 1);
            async move {
                if let Some((gates, gate)) = middle {
                    gates.wait(&gate).await;
                }
                if !pause.is_zero() {
                    tokio::time::sleep(pause).await;
                }
                Ok(chunk)
            }
        });
        // The provider bills an answer when it is complete.
        let end = stream::once(async move {
            let mut received = received.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(call) = index.and_then(|index| received.get_mut(index)) {
                call.usage = Some(usage);
            }
            Ok(Chunk::Done(done))
        });
        Ok(chunks.chain(end).boxed())
    }
}

/// The text in pieces of so many characters; all of it when that is 0.
fn pieces(text: &str, chars: usize) -> Vec<String> {
    if text.is_empty() {
        return Vec::new();
    }
    if chars == 0 {
        return vec![text.to_owned()];
    }
    let letters: Vec<char> = text.chars().collect();
    letters.chunks(chars).map(|piece| piece.iter().collect()).collect()
}

fn words(text: &str) -> u64 {
    text.split_whitespace().count() as u64
}

fn whole_text(messages: &[Message]) -> String {
    let mut text = String::new();
    for message in messages {
        text.push_str(&message.text());
        for part in &message.parts {
            if let roundtable_core::message::Part::ToolResult(answer) = part {
                text.push_str(&answer.text());
            }
        }
        text.push('\n');
    }
    text
}

/// The last thing that was said to the model in words.
fn last_asked(messages: &[Message]) -> String {
    let mut asked =
        messages.iter().rev().filter(|message| message.role == Role::User).map(Message::text);
    asked.find(|text| !text.is_empty()).unwrap_or_default()
}
