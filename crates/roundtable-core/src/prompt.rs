//! Prompts: trees of sections with parameters, and their text for one call.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::digest::Digest;
use crate::event::NestedPrompt;
use crate::json;
use crate::message::Message;
use crate::reject::Reject;

/// The version of the templates by which prompts are made; a replay needs the same one.
pub const TEMPLATE: u32 = 4;

/// The values of a prompt's parameters.
pub type Params = BTreeMap<String, String>;

/// Why a prompt has no text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "section \"{section}\" of prompt \"{prompt}\" uses the parameter \"{parameter}\", which was not given"
)]
pub struct MissingParameter {
    /// The prompt.
    pub prompt: String,
    /// The section, as a path.
    pub section: String,
    /// The parameter.
    pub parameter: String,
}

/// A part of a prompt: a title, a text in which `{name}` stands for a parameter, and parts of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    /// Its title; an empty one is not shown.
    pub title: String,
    /// Its text.
    pub body: String,
    /// Its parts.
    pub sections: Vec<Section>,
}

impl Section {
    /// A section without parts.
    pub fn new(title: impl Into<String>, body: impl Into<String>) -> Self {
        Self { title: title.into(), body: body.into(), sections: Vec::new() }
    }

    /// The same section with one more part.
    #[must_use]
    pub fn with(mut self, section: Section) -> Self {
        self.sections.push(section);
        self
    }
}

/// What a reply has to look like, when it is to be data instead of prose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputSchema {
    /// What the data is called, in letters, digits, `_` and `-`.
    pub name: String,
    /// Its JSON Schema.
    pub schema: Value,
    /// Whether prose will do when there is no such data in the reply.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub or_text: bool,
}

impl OutputSchema {
    /// Data of this form, and nothing else.
    pub fn new(name: impl Into<String>, schema: Value) -> Self {
        Self { name: name.into(), schema, or_text: false }
    }

    /// Refuses a schema that nests too deeply.
    pub(crate) fn check(&self) -> Result<(), Reject> {
        json::check(&self.schema).map_err(|error| Reject::Invalid {
            what: format!("the output schema \"{}\" is {error}", self.name),
        })
    }

    /// Data of this form if it can be had, else prose.
    pub fn or_text(name: impl Into<String>, schema: Value) -> Self {
        Self { or_text: true, ..Self::new(name, schema) }
    }
}

/// A prompt: instructions as a tree of sections, what is asked, and the tools on offer.
///
/// ```
/// use roundtable_core::prompt::{Params, Prompt, Section};
/// let prompt = Prompt::new("summary", "Summarize {what}.").with(Section::new("Style", "Plain words."));
/// let params = Params::from([("what".to_owned(), "the debate".to_owned())]);
/// assert_eq!(prompt.nest(&params)?.input, "Summarize the debate.");
/// # Ok::<(), roundtable_core::prompt::MissingParameter>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompt {
    /// Its name.
    pub name: String,
    /// Its instructions.
    pub sections: Vec<Section>,
    /// What is asked; `{name}` stands for a parameter here too.
    pub ask: String,
    /// The tools on offer, by name.
    pub tools: Vec<String>,
    /// What the answer has to look like.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<OutputSchema>,
}

impl Prompt {
    /// A prompt that asks something and has no instructions yet.
    pub fn new(name: impl Into<String>, ask: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            sections: Vec::new(),
            ask: ask.into(),
            tools: Vec::new(),
            output: None,
        }
    }

    /// The same prompt with one more section.
    #[must_use]
    pub fn with(mut self, section: Section) -> Self {
        self.sections.push(section);
        self
    }

    /// The same prompt with one more tool on offer.
    #[must_use]
    pub fn offering(mut self, tool: impl Into<String>) -> Self {
        self.tools.push(tool.into());
        self
    }

    /// The same prompt, to be answered with data of this form.
    #[must_use]
    pub fn answered_with(mut self, output: OutputSchema) -> Self {
        self.output = Some(output);
        self
    }

    /// The prompt's text with these parameters, for a child turn.
    ///
    /// # Errors
    /// [`MissingParameter`] when a text uses a parameter that is not among them.
    pub fn nest(&self, params: &Params) -> Result<NestedPrompt, MissingParameter> {
        let mut system = String::new();
        for section in &self.sections {
            self.write(section, 1, &section.title, params, &mut system)?;
        }
        Ok(NestedPrompt {
            name: self.name.clone(),
            system: system.trim_end().to_owned(),
            input: self.fill(&self.ask, "ask", params)?,
            tools: self.tools.clone(),
            output: self.output.clone(),
        })
    }

    fn write(
        &self,
        section: &Section,
        level: usize,
        path: &str,
        params: &Params,
        out: &mut String,
    ) -> Result<(), MissingParameter> {
        if !section.title.is_empty() {
            let _ = writeln!(out, "{} {}", "#".repeat(level), section.title);
        }
        let _ = writeln!(out, "{}\n", self.fill(&section.body, path, params)?);
        for part in &section.sections {
            self.write(part, level + 1, &format!("{path}/{}", part.title), params, out)?;
        }
        Ok(())
    }

    /// Puts parameters in. What a parameter brings is data: it is not looked at again. `{{` is a brace.
    fn fill(&self, text: &str, path: &str, params: &Params) -> Result<String, MissingParameter> {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find('{') {
            let (before, from) = rest.split_at(start);
            out.push_str(before);
            let name_end = from[1..]
                .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
                .map(|end| end + 1);
            match name_end {
                Some(end) if end > 1 && from[end..].starts_with('}') => {
                    let name = &from[1..end];
                    let missing = || MissingParameter {
                        prompt: self.name.clone(),
                        section: path.to_owned(),
                        parameter: name.to_owned(),
                    };
                    out.push_str(params.get(name).ok_or_else(missing)?);
                    rest = &from[end + 1..];
                }
                _ => {
                    out.push('{');
                    rest = from[1..].strip_prefix('{').unwrap_or(&from[1..]);
                }
            }
        }
        out.push_str(rest);
        Ok(out)
    }
}

/// A prompt's text for one call.
#[derive(Debug, Clone, PartialEq)]
pub struct RenderedPrompt {
    /// The messages that the model gets.
    pub messages: Arc<Vec<Message>>,
    /// How many of the first messages all agents share; they only ever get longer.
    pub stable: usize,
    /// The tools on offer, by name.
    pub tools: Vec<String>,
    /// What the answer has to look like.
    pub output: Option<OutputSchema>,
    /// The digest of the messages.
    pub hash: Digest,
}

impl RenderedPrompt {
    /// A prompt of these messages.
    pub fn new(messages: Vec<Message>, stable: usize, tools: Vec<String>) -> Self {
        let hash = Digest::of_json(&messages);
        Self { messages: Arc::new(messages), stable, tools, output: None, hash }
    }

    /// How many bytes of content it has: an upper bound of its tokens.
    pub fn content_bytes(&self) -> u64 {
        let output = self.output.as_ref().map_or(0, |output| output.schema.to_string().len());
        self.messages.iter().map(Message::content_bytes).sum::<u64>() + output as u64
    }

    /// The whole text, for people and tests.
    pub fn text(&self) -> String {
        self.messages
            .iter()
            .map(|message| format!("{:?}: {}\n", message.role, message.text()))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(pairs: &[(&str, &str)]) -> Params {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn sections_nest_and_parameters_are_filled() {
        let prompt = Prompt::new("p", "Ask {it}")
            .with(Section::new("Role", "You are {who}.").with(Section::new("Style", "Brief.")));
        let nested = prompt.nest(&params(&[("who", "a judge"), ("it", "now")])).unwrap();
        assert_eq!(nested.system, "# Role\nYou are a judge.\n\n## Style\nBrief.");
        assert_eq!(nested.input, "Ask now");
    }

    #[test]
    fn a_missing_parameter_is_named_with_its_section() {
        let prompt = Prompt::new("p", "x")
            .with(Section::new("Role", "").with(Section::new("Style", "{tone}")));
        let missing = prompt.nest(&Params::new()).unwrap_err().to_string();
        assert_eq!(
            missing,
            "section \"Role/Style\" of prompt \"p\" uses the parameter \"tone\", which was not given"
        );
    }

    #[test]
    fn what_a_parameter_brings_is_data() {
        let nested =
            Prompt::new("p", "{a} {{b} {\"json\": 1}").nest(&params(&[("a", "{b}{{")])).unwrap();
        assert_eq!(nested.input, "{b}{{ {b} {\"json\": 1}");
    }
}
