//! `fact_check`: who said what, among the messages that the agent has received. No model is asked.

mod quote;

use futures_util::TryStreamExt as _;
use roundtable_core::id::AgentId;
use roundtable_core::tool::{Effect, ToolResult};
use roundtable_core::window::ReceivedMessage;
use roundtable_ports::{Tool, ToolContext, ToolError};
use serde_json::json;

use quote::Needle;

const MOST_FOUND: usize = 10;
const MAX_QUOTE: usize = 2000;
/// From this share of common words on, a statement is worth mentioning as a near miss.
const NEAR: f64 = 0.6;

/// The tool `fact_check`: finds quoted statements of the session.
#[derive(Debug, Clone, Copy, Default)]
pub struct FactCheck;

/// Arguments of `fact_check`.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
pub struct Quote {
    /// The quoted words. Case, spaces and the form of quotation marks are ignored.
    #[schemars(length(min = 1, max = 2000))]
    pub quote: String,
    /// Name or id of the participant. Default: all participants.
    #[serde(default)]
    pub said_by: Option<String>,
}

impl Tool for FactCheck {
    type Params = Quote;

    fn name(&self) -> &str {
        "fact_check"
    }

    fn description(&self) -> &str {
        "Check a quote against this conversation. Returns the exact statement, its author, its \
         round and its event. Use it before you attribute a statement to someone."
    }

    fn effect(&self) -> Effect {
        Effect::Pure
    }

    async fn run(&self, params: Quote, context: &ToolContext) -> Result<ToolResult, ToolError> {
        if params.quote.len() > MAX_QUOTE {
            return Err(format!("the quote is longer than {MAX_QUOTE} bytes").into());
        }
        let needle = Needle::new(&params.quote).ok_or("the quote is empty")?;
        let mut search = Search::new(needle, params.said_by.as_deref());
        let mut messages = context.session.messages();
        while let Some(message) = messages.try_next().await? {
            search.look(message);
        }
        Ok(search.result())
    }
}

/// A message without its text, and a passage of it.
struct Found {
    message: ReceivedMessage,
    passage: String,
}

impl Found {
    fn new(mut message: ReceivedMessage, passage: String) -> Self {
        message.text.clear();
        Self { message, passage }
    }
}

impl std::fmt::Display for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ReceivedMessage { agent, sender, round, seq, counts, .. } = &self.message;
        f.write_str(sender)?;
        if let Some(agent) = agent {
            write!(f, " ({agent})")?;
        }
        let note = if *counts { "" } else { ", in an inactive take" };
        write!(f, ", round {round}, event {seq}{note}: \"{}\"", self.passage)
    }
}

/// A search under way.
struct Search {
    needle: Needle,
    said_by: Option<String>,
    looked_at: usize,
    found: Vec<Found>,
    times: usize,
    nearest: Option<(f64, Found)>,
}

impl Search {
    fn new(needle: Needle, said_by: Option<&str>) -> Self {
        let said_by = said_by.map(str::to_lowercase);
        Self { needle, said_by, looked_at: 0, found: Vec::new(), times: 0, nearest: None }
    }

    fn look(&mut self, message: ReceivedMessage) {
        if !self.said_by.as_deref().is_none_or(|name| is_by(&message, name)) {
            return;
        }
        self.looked_at += 1;
        if let Some(passage) = self.needle.find(&message.text) {
            self.times += 1;
            if self.found.len() < MOST_FOUND {
                self.found.push(Found::new(message, passage));
            }
            return;
        }
        let near = self.needle.nearness(&message.text);
        if near >= NEAR && self.nearest.as_ref().is_none_or(|(most, _)| near > *most) {
            let passage = quote::shortened(&message.text);
            self.nearest = Some((near, Found::new(message, passage)));
        }
    }

    fn result(self) -> ToolResult {
        // The model receives both: what the message says is not repeated in the value.
        let events: Vec<_> = self.found.iter().map(|found| found.message.seq).collect();
        let mut lines = match self.times {
            0 => vec![format!("Not found in {} message(s) of this session.", self.looked_at)],
            times => vec![format!("Found in {times} message(s) of this session:")],
        };
        lines.extend(self.found.iter().map(|found| format!("- {found}")));
        if self.times > self.found.len() {
            lines.push(format!("and {} more", self.times - self.found.len()));
        }
        if let (0, Some((_, nearest))) = (self.times, self.nearest) {
            lines.push(format!("Closest match: {nearest}"));
        }
        ToolResult::ok(lines.join("\n")).with_value(json!({ "events": events }))
    }
}

/// Whether this participant said it, by name or id; the name is in lower case.
fn is_by(message: &ReceivedMessage, name: &str) -> bool {
    let is = |agent: &AgentId| agent.as_str() == name || agent.suffix() == name;
    message.sender.to_lowercase() == name || message.agent.as_ref().is_some_and(is)
}
