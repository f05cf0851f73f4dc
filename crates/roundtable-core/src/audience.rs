//! Who received what. One comparison decides it, for prompts and for everything that tools read.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::event::Seq;
use crate::id::AgentId;

/// Those who received something, as it was when it was said. Where the log has no audience,
/// everyone received it, whoever joins later included.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Audience(BTreeSet<AgentId>);

impl Audience {
    /// Whether an agent is in it.
    pub fn has(&self, agent: &AgentId) -> bool {
        self.0.contains(agent)
    }

    /// Whether nobody is in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Those who are in it.
    pub fn agents(&self) -> impl Iterator<Item = &AgentId> {
        self.0.iter()
    }

    /// The same, and this agent.
    #[must_use]
    pub(crate) fn and(mut self, agent: &AgentId) -> Self {
        self.0.insert(agent.clone());
        self
    }

    /// Those who are in both; nothing where neither names anybody.
    pub(crate) fn both(one: Option<&Self>, other: Option<&Self>) -> Option<Self> {
        match (one, other) {
            (Some(one), Some(other)) => Some(Self(one.0.intersection(&other.0).cloned().collect())),
            (one, other) => one.or(other).cloned(),
        }
    }
}

impl FromIterator<AgentId> for Audience {
    fn from_iter<I: IntoIterator<Item = AgentId>>(agents: I) -> Self {
        Self(agents.into_iter().collect())
    }
}

/// Whose view of a session is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Viewer {
    /// Nobody's in particular: all of it.
    Everything,
    /// An agent's, at a point of the log.
    Agent {
        /// The agent.
        id: AgentId,
        /// Where its stage began. What others say from there on, it does not receive: seats of a
        /// stage answer side by side.
        until: Seq,
    },
}

impl Viewer {
    /// Whether it has received what went to this audience, complete with the event at this position.
    pub fn received(&self, audience: Option<&Audience>, at: Seq) -> bool {
        match self {
            Self::Everything => true,
            Self::Agent { id, until } => {
                at < *until && audience.is_none_or(|audience| audience.has(id))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agents(names: &[&str]) -> Audience {
        names.iter().map(|name| AgentId::new(name).unwrap()).collect()
    }

    #[test]
    fn an_agent_received_what_went_to_it_before_its_stage_began() {
        let bob = Viewer::Agent { id: AgentId::new("bob").unwrap(), until: Seq(5) };
        let (with, without) = (agents(&["ann", "bob"]), agents(&["ann"]));
        assert!(bob.received(None, Seq(4)) && bob.received(Some(&with), Seq(4)));
        assert!(!bob.received(Some(&without), Seq(4)) && !bob.received(Some(&agents(&[])), Seq(4)));
        assert!(!bob.received(None, Seq(5)) && !bob.received(Some(&with), Seq(6)));
        assert!(Viewer::Everything.received(Some(&without), Seq(9)));
    }

    #[test]
    fn an_audience_narrows_another() {
        let (two, other) = (agents(&["ann", "bob"]), agents(&["bob", "cid"]));
        assert_eq!(Audience::both(Some(&two), Some(&other)), Some(agents(&["bob"])));
        assert_eq!(Audience::both(Some(&two), None), Some(two.clone()));
        assert_eq!(Audience::both(None, Some(&other)), Some(other));
        assert_eq!(Audience::both(None, None), None);
        assert_eq!(agents(&[]).and(&AgentId::new("ann").unwrap()), agents(&["ann"]));
    }

    #[test]
    fn an_audience_is_a_list_of_agents_in_the_log() {
        let text = serde_json::to_string(&agents(&["cid", "ann", "cid"])).unwrap();
        assert_eq!(text, r#"["agt_ann","agt_cid"]"#);
    }
}
