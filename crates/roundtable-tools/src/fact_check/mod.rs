//! `fact_check`: who said what, looked up in the session's log. No model is asked.

mod quote;
mod record;

use std::sync::Arc;

use roundtable_core::event::{Event, Seq};
use roundtable_core::scope::Place;
use roundtable_core::tool::{Effect, ToolResult};
use roundtable_ports::{Tool, ToolContext, ToolError};
use serde_json::json;

use quote::Needle;
use record::{Record, Statement};

const PAGE: usize = 500;
const MOST_FOUND: usize = 10;
const MAX_QUOTE: usize = 2000;
/// From this share of common words on, a statement is worth mentioning as a near miss.
const NEAR: f64 = 0.6;

/// The tool `fact_check`: finds quoted statements of the session.
#[derive(Debug, Clone, Copy, Default)]
pub struct FactCheck;

/// What `fact_check` is told.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
pub struct Quote {
    /// The words that were allegedly said. Case, spaces and the form of quotation marks do not matter.
    #[schemars(length(min = 1, max = 2000))]
    pub quote: String,
    /// Only what this participant said, by name or id.
    #[serde(default)]
    pub said_by: Option<String>,
}

impl Tool for FactCheck {
    type Params = Quote;

    fn name(&self) -> &str {
        "fact_check"
    }

    fn description(&self) -> &str {
        "Checks whether something was really said in this conversation: finds the exact statement, \
         who said it, in which round, and in which event. Use it before you hold a quote against someone."
    }

    fn effect(&self) -> Effect {
        Effect::Pure
    }

    async fn run(&self, params: Quote, context: &ToolContext) -> Result<ToolResult, ToolError> {
        if params.quote.len() > MAX_QUOTE {
            return Err(format!("a quote has at most {MAX_QUOTE} bytes").into());
        }
        let needle = Needle::new(&params.quote).ok_or("there are no words in the quote")?;
        let mut search = Search::new(needle, params.said_by.as_deref(), &context.scope.ids.place);
        let mut from = Seq(1);
        loop {
            let events = context.session.read(from, PAGE).await?;
            let Some(last) = events.last() else { break };
            from = last.seq.next();
            search.add(&events);
        }
        Ok(search.result())
    }
}

/// A search under way.
struct Search<'a> {
    needle: Needle,
    said_by: Option<String>,
    record: Record<'a>,
    looked_at: usize,
    found: Vec<(Statement, String)>,
    times: usize,
    nearest: Option<(f64, Statement, String)>,
}

impl<'a> Search<'a> {
    fn new(needle: Needle, said_by: Option<&str>, here: &'a Place) -> Self {
        let said_by = said_by.map(str::to_lowercase);
        let record = Record::new(here);
        Self { needle, said_by, record, looked_at: 0, found: Vec::new(), times: 0, nearest: None }
    }

    fn add(&mut self, events: &[Arc<Event>]) {
        for event in events {
            if let Some((statement, text)) = self.record.next(event) {
                self.look(statement, &text);
            }
        }
    }

    fn look(&mut self, statement: Statement, text: &str) {
        if !self.said_by.as_deref().is_none_or(|name| statement.is_by(name)) {
            return;
        }
        self.looked_at += 1;
        if let Some(passage) = self.needle.find(text) {
            self.times += 1;
            if self.found.len() < MOST_FOUND {
                self.found.push((statement, passage));
            }
            return;
        }
        let near = self.needle.nearness(text);
        if near >= NEAR && self.nearest.as_ref().is_none_or(|(most, ..)| near > *most) {
            self.nearest = Some((near, statement, quote::shortened(text)));
        }
    }

    fn result(mut self) -> ToolResult {
        for (statement, text) in self.record.heard() {
            self.look(statement, &text);
        }
        let gone = |statement: &Statement| self.record.is_superseded(statement);
        let line = |(statement, passage): &(Statement, String)| {
            let note = if gone(statement) { ", in a take that no longer counts" } else { "" };
            format!("- {statement}{note}: \"{passage}\"")
        };
        // The model receives both: what the message says is not repeated in the value.
        let events: Vec<_> = self.found.iter().map(|(statement, _)| statement.seq).collect();
        let mut lines = match self.times {
            0 => vec![format!("Not found in {} message(s) of this session.", self.looked_at)],
            times => vec![format!("Found in {times} message(s) of this session:")],
        };
        lines.extend(self.found.iter().map(line));
        if self.times > self.found.len() {
            lines.push(format!("and {} more", self.times - self.found.len()));
        }
        if let (0, Some((_, statement, text))) = (self.times, self.nearest) {
            lines.push(format!("The nearest is {}", &line(&(statement, text))[2..]));
        }
        ToolResult::ok(lines.join("\n")).with_value(json!({ "events": events }))
    }
}
