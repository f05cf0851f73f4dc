//! Messages as every vendor accepts them: whose turn it is, with each tool call next to its
//! result. Vendors refuse prompts in which a call has no result or a result no call.

use std::borrow::Cow;
use std::collections::VecDeque;

use roundtable_core::message::{Image, Message, Part, Reasoning, Role, ToolAnswer};
use serde_json::Value;

use super::ids::Ids;
use super::{Names, Wire};
use crate::catalog::{LateSystem, Profile};

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// Instructions.
    System,
    /// Everyone but the model.
    User,
    /// The model.
    Assistant,
    /// The tools, right after the model asked for them.
    Tools,
}

/// Something that is said.
#[derive(Debug, Clone, PartialEq)]
pub enum Content<'a> {
    Text(Cow<'a, str>),
    Image(&'a Image),
    Reasoning(&'a Reasoning),
    Call { id: Cow<'a, str>, name: Cow<'a, str>, arguments: &'a Value },
    Result { id: Cow<'a, str>, name: Cow<'a, str>, content: Cow<'a, str>, success: bool },
}

/// Something that is said, and the message that it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece<'a> {
    pub said: Content<'a>,
    pub message: usize,
}

/// What one speaker says in a row.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn<'a> {
    pub speaker: Speaker,
    pub pieces: Vec<Piece<'a>>,
}

impl Turn<'_> {
    /// Its texts, one after the other.
    pub fn text(&self) -> Cow<'_, str> {
        let texts = self.pieces.iter().filter_map(|piece| match &piece.said {
            Content::Text(text) => Some(&**text),
            _ => None,
        });
        joined(texts, "\n\n")
    }

    fn is_of(&self, message: usize) -> bool {
        self.pieces.last().is_some_and(|piece| piece.message == message)
    }

    /// Whether it has a picture.
    pub fn has_image(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece.said, Content::Image(_)))
    }
}

/// Texts, one after the other; a single one is borrowed.
fn joined<'a>(mut texts: impl Iterator<Item = &'a str>, between: &str) -> Cow<'a, str> {
    let first = texts.next().unwrap_or_default();
    let Some(second) = texts.next() else { return Cow::Borrowed(first) };
    let mut all = [first, between, second].concat();
    texts.for_each(|text| all.extend([between, text]));
    Cow::Owned(all)
}

const LOST: &str = "The result of this call is unknown.";
const PICTURE: &str = "[An image that this model cannot read.]";
const GO_ON: &str = "Please continue.";

/// The messages as turns, and an instruction after them if there is one. There is at least one that
/// is no instruction; the first of these is something said to the model, and so is the last one.
pub fn turns<'a>(
    messages: &'a [Message],
    instruction: Option<String>,
    profile: &Profile,
    names: &Names,
) -> Vec<Turn<'a>> {
    let joins = matches!(profile.wire, Wire::Anthropic | Wire::Gemini);
    let mut sorter = Sorter {
        profile,
        mark: profile.mark(),
        joins: profile.quirks.alternate || joins,
        names,
        ids: Ids::new(profile.quirks.tool_ids),
        turns: Vec::new(),
        open: VecDeque::new(),
    };
    for (index, message) in messages.iter().enumerate() {
        sorter.take(index, message);
    }
    let end = messages.len() + usize::from(instruction.is_some());
    if let Some(text) = instruction {
        sorter.instruct(messages.len(), text.into());
    }
    sorter.settle();
    sorter.finish(end)
}

/// A call without a result.
struct Waiting<'a> {
    ours: &'a str,
    theirs: Cow<'a, str>,
    name: Cow<'a, str>,
    message: usize,
}

struct Sorter<'a, 'p> {
    profile: &'p Profile,
    /// What its thoughts are marked with.
    mark: String,
    /// Whether messages of one speaker in a row become one turn.
    joins: bool,
    names: &'p Names,
    ids: Ids<'a>,
    turns: Vec<Turn<'a>>,
    open: VecDeque<Waiting<'a>>,
}

impl<'a> Sorter<'a, '_> {
    fn take(&mut self, index: usize, message: &'a Message) {
        match message.role {
            Role::System => self.instruct(index, joined(message.texts(), "")),
            Role::User => self.hear(index, message),
            Role::Assistant => {
                self.settle();
                self.speak(index, message);
            }
        }
    }

    fn instruct(&mut self, index: usize, text: Cow<'a, str>) {
        let late = self.turns.iter().any(|turn| turn.speaker != Speaker::System);
        if text.trim().is_empty() {
            return;
        }
        if !late {
            return self.push(Speaker::System, index, Content::Text(text));
        }
        self.settle();
        match self.profile.quirks.late_system {
            LateSystem::System => self.push(Speaker::System, index, Content::Text(text)),
            LateSystem::User => {
                let marked = format!("<instructions>\n{text}\n</instructions>");
                self.push(Speaker::User, index, Content::Text(marked.into()));
            }
        }
    }

    /// Results come first, each next to its call; what else is said follows.
    fn hear(&mut self, index: usize, message: &'a Message) {
        let mut rest = Vec::new();
        for part in &message.parts {
            match part {
                Part::ToolResult(answer) => rest.extend(self.answer(index, answer)),
                other => rest.extend(self.said(other)),
            }
        }
        if !rest.is_empty() {
            self.settle();
        }
        for said in rest {
            self.push(Speaker::User, index, said);
        }
    }

    /// Puts a result next to its call; as text when it has none.
    fn answer(&mut self, index: usize, answer: &'a ToolAnswer) -> Option<Content<'a>> {
        let found = self.open.iter().position(|call| call.ours == answer.id.as_str());
        let Some(call) = found.and_then(|at| self.open.remove(at)) else {
            return Some(stray(answer));
        };
        let result = Content::Result {
            id: call.theirs,
            name: call.name,
            content: answer.text(),
            success: answer.success,
        };
        self.push(Speaker::Tools, index, result);
        None
    }

    fn speak(&mut self, index: usize, message: &'a Message) {
        // A thought that led to nothing is nothing that a vendor takes back.
        let speaks = |part: &Part| match part {
            Part::Text { text } => !text.trim().is_empty(),
            Part::Reasoning(_) => false,
            Part::ToolCall(_) | Part::ToolResult(_) | Part::Image(_) => true,
        };
        if !message.parts.iter().any(speaks) {
            return;
        }
        for part in &message.parts {
            let said = match part {
                Part::ToolCall(call) => {
                    let (id, name) =
                        (self.ids.take(call.id.as_str()), self.names.there(&call.name));
                    self.open.push_back(Waiting {
                        ours: call.id.as_str(),
                        theirs: id.clone(),
                        name: name.clone(),
                        message: index,
                    });
                    Some(Content::Call { id, name, arguments: &call.arguments })
                }
                Part::Reasoning(thought) => {
                    let own = thought.wire == self.mark;
                    let back = own && !thought.payload.is_null();
                    back.then_some(Content::Reasoning(thought))
                }
                // No vendor takes pictures of a model's own.
                Part::Image(_) => Some(Content::Text(PICTURE.into())),
                other => self.said(other),
            };
            if let Some(said) = said {
                self.push(Speaker::Assistant, index, said);
            }
        }
    }

    fn said(&self, part: &'a Part) -> Option<Content<'a>> {
        match part {
            Part::Text { text } if text.trim().is_empty() => None,
            Part::Text { text } => Some(Content::Text(text.into())),
            Part::Image(_) if !self.profile.quirks.images => Some(Content::Text(PICTURE.into())),
            Part::Image(image) => Some(Content::Image(image)),
            Part::ToolResult(answer) => Some(stray(answer)),
            Part::ToolCall(_) | Part::Reasoning(_) => None,
        }
    }

    /// Answers the calls that nobody answered: a call without a result would be refused.
    fn settle(&mut self) {
        while let Some(call) = self.open.pop_front() {
            let result = Content::Result {
                id: call.theirs,
                name: call.name,
                content: LOST.into(),
                success: false,
            };
            self.push(Speaker::Tools, call.message, result);
        }
    }

    fn push(&mut self, speaker: Speaker, message: usize, said: Content<'a>) {
        let piece = Piece { said, message };
        let joins = self.joins || speaker == Speaker::Tools;
        match self.turns.last_mut() {
            Some(turn) if turn.speaker == speaker && (joins || turn.is_of(message)) => {
                turn.pieces.push(piece);
            }
            _ => self.turns.push(Turn { speaker, pieces: vec![piece] }),
        }
    }

    fn finish(mut self, messages: usize) -> Vec<Turn<'a>> {
        let note = |text: &'static str| Turn {
            speaker: Speaker::User,
            pieces: vec![Piece { said: Content::Text(text.into()), message: messages }],
        };
        let first = self.turns.iter().position(|turn| turn.speaker != Speaker::System);
        match first {
            Some(first) if self.turns[first].speaker == Speaker::Assistant => {
                let mut begin = note("Please begin.");
                // It stays in the shared part, so that this part stays the same for everyone.
                begin.pieces[0].message = 0;
                self.turns.insert(first, begin);
            }
            Some(_) => {}
            None => self.turns.push(note(GO_ON)),
        }
        if self.turns.last().is_some_and(|turn| turn.speaker == Speaker::Assistant) {
            self.turns.push(note(GO_ON));
        }
        self.turns
    }
}

/// A result whose call is not in the prompt.
fn stray<'a>(answer: &ToolAnswer) -> Content<'a> {
    Content::Text(format!("Result of an earlier tool call:\n{}", answer.text()).into())
}

#[cfg(test)]
mod tests;
