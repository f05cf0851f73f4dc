//! Walking along a mask, token by token. Sets of nodes are numbered as they are met, and where
//! bytes lead is remembered, because every token of the vocabulary may have to be tried.

use std::collections::HashMap;

use super::Mask;
use super::pattern::{Network, Node, Step};
use crate::generate::GenerateError;
use crate::tokens::{Token, Vocabulary};

/// How many sets are remembered before all but the present one are forgotten.
const MOST_PLACES: usize = 4_096;

/// Where a byte leads when nobody looked yet.
const UNKNOWN: u32 = u32::MAX;

/// A walk along a mask, with so many tokens to go at most.
pub(in crate::generate) struct Walk<'a> {
    network: &'a Network,
    vocabulary: &'a Vocabulary,
    /// How many bytes it takes at least from each node to the end, with bytes that have a token of
    /// their own; nothing, if there is no such way.
    ways: Vec<Option<usize>>,
    places: Vec<Place>,
    numbers: HashMap<Vec<Node>, u32>,
    at: u32,
    left: usize,
}

/// A set of nodes.
struct Place {
    nodes: Vec<Node>,
    next: Box<[u32; 256]>,
    /// How many bytes it takes at least to the end.
    way: Option<usize>,
}

impl<'a> Walk<'a> {
    /// Begins a walk that can be finished within so many tokens, whatever is drawn.
    pub(in crate::generate) fn begin(
        mask: &'a Mask,
        vocabulary: &'a Vocabulary,
        allowed: usize,
    ) -> Result<Self, GenerateError> {
        let network = &*mask.network;
        let mut walk = Self {
            network,
            vocabulary,
            ways: ways(network, vocabulary),
            places: Vec::new(),
            numbers: HashMap::new(),
            at: 0,
            left: allowed,
        };
        walk.at = walk.place(network.begin());
        match walk.places[walk.at as usize].way {
            None => Err(GenerateError::Unwritable),
            Some(needed) if needed > allowed => Err(GenerateError::NoRoom { needed, allowed }),
            Some(_) => Ok(walk),
        }
    }

    /// Whether the answer may end here.
    pub(in crate::generate) fn may_end(&self) -> bool {
        self.network.is_accepting(&self.places[self.at as usize].nodes)
    }

    /// Whether the answer has to end here.
    pub(in crate::generate) fn must_end(&self) -> bool {
        // The node at the end is the first; nothing leads on from it.
        self.left == 0 || self.places[self.at as usize].nodes == [0]
    }

    /// Whether a token leads along the mask to where the rest still fits.
    pub(in crate::generate) fn allows(&mut self, token: Token) -> bool {
        self.follow(token).is_some()
    }

    /// Takes a token that is allowed.
    pub(in crate::generate) fn take(&mut self, token: Token) {
        let Some(next) = self.follow(token) else { return };
        self.at = next;
        self.left -= 1;
        if self.places.len() > MOST_PLACES {
            let nodes = std::mem::take(&mut self.places[next as usize].nodes);
            self.places.clear();
            self.numbers.clear();
            self.at = self.place(nodes);
        }
    }

    /// Where a token leads, if one can go on from there with the tokens that are left after it: a
    /// byte takes a token at most.
    fn follow(&mut self, token: Token) -> Option<u32> {
        let vocabulary = self.vocabulary;
        let bytes = vocabulary.bytes(token);
        let left = self.left.checked_sub(1)?;
        if bytes.is_empty() {
            return None;
        }
        let mut at = self.at;
        for byte in bytes {
            at = self.next(at, *byte);
            self.places[at as usize].way?;
        }
        self.places[at as usize].way.filter(|way| *way <= left).map(|_| at)
    }

    fn next(&mut self, at: u32, byte: u8) -> u32 {
        let known = self.places[at as usize].next[usize::from(byte)];
        if known != UNKNOWN {
            return known;
        }
        let nodes = self.network.follow(&self.places[at as usize].nodes, byte);
        let next = self.place(nodes);
        self.places[at as usize].next[usize::from(byte)] = next;
        next
    }

    fn place(&mut self, nodes: Vec<Node>) -> u32 {
        if let Some(number) = self.numbers.get(&nodes) {
            return *number;
        }
        let way = nodes.iter().filter_map(|node| self.ways[*node as usize]).min();
        let number = u32::try_from(self.places.len()).unwrap_or(UNKNOWN);
        self.places.push(Place { nodes: nodes.clone(), next: Box::new([UNKNOWN; 256]), way });
        self.numbers.insert(nodes, number);
        number
    }
}

/// The shortest way to the end from each node. A node leads to earlier ones only, so one pass does.
fn ways(network: &Network, vocabulary: &Vocabulary) -> Vec<Option<usize>> {
    let mut ways: Vec<Option<usize>> = Vec::with_capacity(network.steps().len());
    for step in network.steps() {
        let way = match step {
            Step::Accept => Some(0),
            Step::Byte { low, high, next } => {
                let written = (*low..=*high).any(|byte| vocabulary.single(byte).is_some());
                ways[*next as usize].filter(|_| written).map(|way| way + 1)
            }
            Step::Split(nodes) => nodes.iter().filter_map(|node| ways[*node as usize]).min(),
        };
        ways.push(way);
    }
    ways
}
