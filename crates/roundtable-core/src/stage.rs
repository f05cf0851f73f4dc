//! A stage: a part of a round whose seats answer side by side, with what it is for and how its
//! answers count. Stages are recorded when they are decided, so no reader has to guess.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::audience::Audience;
use crate::id::AgentId;
use crate::settings::Order;

/// A word of a program, such as what a stage is for: 1 to 32 lowercase letters and underscores.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name(Cow<'static, str>);

/// A text is not a [`Name`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a name must have 1 to 32 lowercase letters and underscores")]
pub struct InvalidName;

impl Name {
    /// A name that is written in code. One that is not a name is a compile error where the result
    /// is a constant.
    #[must_use]
    #[expect(clippy::panic, reason = "constants are checked by the compiler")]
    pub const fn constant(text: &'static str) -> Self {
        let bytes = text.as_bytes();
        let mut index = 0;
        while index < bytes.len() {
            if !is_part(bytes[index]) {
                panic!("a name must have lowercase letters and underscores");
            }
            index += 1;
        }
        if bytes.is_empty() || bytes.len() > MAX_LEN {
            panic!("a name must have 1 to 32 characters");
        }
        Self(Cow::Borrowed(text))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

const MAX_LEN: usize = 32;

const fn is_part(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte == b'_'
}

impl TryFrom<String> for Name {
    type Error = InvalidName;

    fn try_from(text: String) -> Result<Self, InvalidName> {
        let valid = (1..=MAX_LEN).contains(&text.len()) && text.bytes().all(is_part);
        if valid { Ok(Self(Cow::Owned(text))) } else { Err(InvalidName) }
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0.into_owned()
    }
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// What most stages are for.
pub const ANSWER: Name = Name::constant("answer");

/// Which of its agent's tools a turn offers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tools {
    /// All of them.
    #[default]
    Own,
    /// None.
    None,
    /// Those with these names.
    Only(Vec<String>),
}

impl Tools {
    /// The names of the only tools that are offered, where not all are.
    pub fn chosen(&self) -> Option<&[String]> {
        match self {
            Self::Own => None,
            Self::None => Some(&[]),
            Self::Only(names) => Some(names),
        }
    }
}

/// An agent's place in a stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seat {
    /// The agent.
    pub agent: AgentId,
    /// Guidance for this turn, or why this agent responds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Who of those present receives the answer, besides the agent itself; everyone, where it says
    /// nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audience: Option<Audience>,
}

impl From<AgentId> for Seat {
    fn from(agent: AgentId) -> Self {
        Self { agent, note: None, audience: None }
    }
}

/// A stage of a round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stage {
    /// What it is for, in the program's own word.
    pub purpose: Name,
    /// Who answers, side by side.
    pub seats: Vec<Seat>,
    /// Whether its answers are messages of the session.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub public: bool,
    /// Whether an answer in it makes the round worth something.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub counts: bool,
    /// Which tools its turns offer.
    #[serde(default, skip_serializing_if = "is_own")]
    pub tools: Tools,
    /// Whether it is passed over while nobody has answered. Only rounds of the first log format
    /// have such stages: those of later ones are added when somebody has.
    #[serde(default, skip_serializing_if = "is_no")]
    pub if_answered: bool,
}

impl Stage {
    /// A stage in which these agents answer, publicly, with their own tools.
    pub fn new(purpose: Name, agents: impl IntoIterator<Item = AgentId>) -> Self {
        let seats = agents.into_iter().map(Seat::from).collect();
        let tools = Tools::default();
        Self { purpose, seats, public: true, counts: true, tools, if_answered: false }
    }

    /// The same, with answers that are not messages, do not count for the outcome of the round, and
    /// go to nobody.
    #[must_use]
    pub fn private(self) -> Self {
        Self { public: false, counts: false, ..self }.to([])
    }

    /// The same, with answers that go to these agents alone.
    #[must_use]
    pub fn to(mut self, agents: impl IntoIterator<Item = AgentId>) -> Self {
        let audience: Audience = agents.into_iter().collect();
        for seat in &mut self.seats {
            seat.audience = Some(audience.clone());
        }
        self
    }

    /// The same, with guidance for each of its seats.
    #[must_use]
    pub fn with_note(mut self, note: &str) -> Self {
        for seat in &mut self.seats {
            seat.note = Some(note.to_owned());
        }
        self
    }

    /// The stages in which these agents answer in this order.
    pub fn answers(order: Order, agents: Vec<AgentId>) -> Vec<Self> {
        match order {
            Order::Parallel => vec![Self::new(ANSWER, agents)],
            Order::Sequential => {
                agents.into_iter().map(|agent| Self::new(ANSWER, [agent])).collect()
            }
        }
    }

    /// Who answers.
    pub fn agents(&self) -> impl Iterator<Item = &AgentId> {
        self.seats.iter().map(|seat| &seat.agent)
    }
}

fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_yes(flag: &bool) -> bool {
    *flag
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_no(flag: &bool) -> bool {
    !*flag
}

fn is_own(tools: &Tools) -> bool {
    *tools == Tools::Own
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_stage_with_defaults_is_written_without_them() {
        let stage = Stage::new(ANSWER, [AgentId::new("ann").unwrap()]);
        let written = serde_json::to_value(&stage).unwrap();
        assert_eq!(written, json!({ "purpose": "answer", "seats": [{ "agent": "agt_ann" }] }));
        assert_eq!(serde_json::from_value::<Stage>(written).unwrap(), stage);
    }

    #[test]
    fn a_name_is_a_word_of_lowercase_letters() {
        for bad in ["", "Answer", "a b", "a-b", "é", &"a".repeat(33)] {
            assert_eq!(Name::try_from((*bad).to_owned()), Err(InvalidName), "{bad}");
        }
        assert_eq!(Name::try_from("a_b".to_owned()).unwrap().as_str(), "a_b");
    }
}
