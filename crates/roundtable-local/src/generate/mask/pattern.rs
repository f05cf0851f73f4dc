//! Patterns over bytes, and the network of nodes that they are walked as.

use super::MaskError;

/// How many nodes a network may have: a few thousand characters of free text.
const MOST_NODES: usize = 1 << 17;

/// A pattern. There is none that repeats for ever, so what it accepts has an end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Pattern {
    /// A byte between these two, both included.
    Byte(u8, u8),
    /// One after the other.
    All(Vec<Pattern>),
    /// One of them.
    OneOf(Vec<Pattern>),
    /// The same again and again, between `least` and `most` times.
    Repeat { what: Box<Pattern>, least: usize, most: usize },
}

impl Pattern {
    pub(super) fn text(text: &str) -> Self {
        Self::All(text.bytes().map(|byte| Self::Byte(byte, byte)).collect())
    }

    pub(super) fn repeat(what: Pattern, least: usize, most: usize) -> Self {
        Self::Repeat { what: Box::new(what), least, most }
    }
}

/// A place in a network.
pub(super) type Node = u32;

/// What is at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// The pattern is complete.
    Accept,
    /// A byte between these two leads on.
    Byte { low: u8, high: u8, next: Node },
    /// It goes on at all of these places at once.
    Split(Vec<Node>),
}

/// A pattern as nodes. Every node leads to nodes before it only, so no walk comes back.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Network {
    steps: Vec<Step>,
}

impl Network {
    /// The nodes of a pattern; the last one is where it begins, the first one where it ends.
    pub(super) fn of(pattern: &Pattern) -> Result<Self, MaskError> {
        let mut network = Self { steps: vec![Step::Accept] };
        let first = network.add(pattern, 0)?;
        network.push(Step::Split(vec![first]))?;
        Ok(network)
    }

    /// What is at each node; a node leads to earlier ones only.
    pub(super) fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Where one is at the beginning, as a set of nodes without splits.
    pub(super) fn begin(&self) -> Vec<Node> {
        let last = Node::try_from(self.steps.len() - 1).unwrap_or(0);
        self.settle(vec![last])
    }

    /// Where a byte leads from a set of nodes.
    pub(super) fn follow(&self, nodes: &[Node], byte: u8) -> Vec<Node> {
        let next = nodes.iter().filter_map(|node| match self.steps[*node as usize] {
            Step::Byte { low, high, next } if (low..=high).contains(&byte) => Some(next),
            _ => None,
        });
        self.settle(next.collect())
    }

    /// Whether the bytes are all of what the pattern asks for.
    pub(super) fn accepts(&self, bytes: &[u8]) -> bool {
        let nodes = bytes.iter().fold(self.begin(), |nodes, byte| self.follow(&nodes, *byte));
        self.is_accepting(&nodes)
    }

    pub(super) fn is_accepting(&self, nodes: &[Node]) -> bool {
        nodes.iter().any(|node| self.steps[*node as usize] == Step::Accept)
    }

    /// Follows splits until none is left. Sorted, each node once.
    fn settle(&self, mut open: Vec<Node>) -> Vec<Node> {
        let mut settled = Vec::new();
        let mut seen = std::collections::HashSet::new();
        while let Some(node) = open.pop() {
            if !seen.insert(node) {
                continue;
            }
            match &self.steps[node as usize] {
                Step::Split(nodes) => open.extend(nodes),
                Step::Accept | Step::Byte { .. } => settled.push(node),
            }
        }
        settled.sort_unstable();
        settled
    }

    /// Adds the nodes of a pattern that goes on at `next`; where it begins.
    fn add(&mut self, pattern: &Pattern, next: Node) -> Result<Node, MaskError> {
        match pattern {
            Pattern::Byte(low, high) => self.push(Step::Byte { low: *low, high: *high, next }),
            Pattern::All(parts) => {
                parts.iter().rev().try_fold(next, |next, part| self.add(part, next))
            }
            Pattern::OneOf(parts) => {
                let nodes: Result<_, _> = parts.iter().map(|part| self.add(part, next)).collect();
                self.push(Step::Split(nodes?))
            }
            Pattern::Repeat { what, least, most } => {
                let mut first = next;
                for left in 0..*most {
                    let again = self.add(what, first)?;
                    // Built from the end: the last ones may be left out.
                    let optional = left < most.saturating_sub(*least);
                    first =
                        if optional { self.push(Step::Split(vec![again, next]))? } else { again };
                }
                Ok(first)
            }
        }
    }

    fn push(&mut self, step: Step) -> Result<Node, MaskError> {
        if self.steps.len() >= MOST_NODES {
            return Err(MaskError::TooLarge);
        }
        self.steps.push(step);
        Node::try_from(self.steps.len() - 1).map_err(|_| MaskError::TooLarge)
    }
}
