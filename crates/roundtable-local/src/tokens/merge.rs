//! Joining the pieces of a word, the best pair first, in time that grows with the word's length
//! and little more: a text without blanks must not keep a processor busy.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::Token;

/// Which pairs of tokens are joined.
#[derive(Debug, Default)]
pub(super) struct Merges {
    rules: HashMap<(Token, Token), Rule>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rule {
    /// The lower, the sooner.
    pub(super) rank: u32,
    pub(super) joined: Token,
}

/// A piece of the word, in a list linked both ways.
#[derive(Clone, Copy)]
struct Piece {
    /// None once it was joined to the one before it.
    token: Option<Token>,
    before: Option<usize>,
    after: Option<usize>,
}

/// A pair that can be joined, as it was when it was found. In this order: rank, then place.
type Candidate = (Rule, usize, (Token, Token));

impl Merges {
    /// Adds a rule; of two for the same pair the first counts.
    pub(super) fn add(&mut self, pair: (Token, Token), rule: Rule) {
        self.rules.entry(pair).or_insert(rule);
    }

    /// Joins the pieces of one word until no rule applies, and appends what is left.
    pub(super) fn apply(&self, word: impl Iterator<Item = Token>, out: &mut Vec<Token>) {
        let mut pieces: Vec<Piece> = word
            .enumerate()
            .map(|(place, token)| Piece {
                token: Some(token),
                before: place.checked_sub(1),
                after: Some(place + 1),
            })
            .collect();
        if let Some(last) = pieces.last_mut() {
            last.after = None;
        }
        let found = (0..pieces.len()).filter_map(|place| self.candidate(&pieces, place));
        let mut candidates: BinaryHeap<_> = found.map(Reverse).collect();
        while let Some(Reverse((rule, place, pair))) = candidates.pop() {
            if pair_at(&pieces, place) != Some(pair) {
                continue;
            }
            join(&mut pieces, place, rule.joined);
            let around = [pieces[place].before, Some(place)].into_iter().flatten();
            candidates.extend(around.filter_map(|at| self.candidate(&pieces, at)).map(Reverse));
        }
        out.extend(pieces.iter().filter_map(|piece| piece.token));
    }

    /// The rule for a pair.
    pub(super) fn find(&self, pair: (Token, Token)) -> Option<Rule> {
        self.rules.get(&pair).copied()
    }

    fn candidate(&self, pieces: &[Piece], place: usize) -> Option<Candidate> {
        let pair = pair_at(pieces, place)?;
        self.find(pair).map(|rule| (rule, place, pair))
    }
}

fn pair_at(pieces: &[Piece], place: usize) -> Option<(Token, Token)> {
    let piece = pieces[place];
    Some((piece.token?, pieces[piece.after?].token?))
}

fn join(pieces: &mut [Piece], place: usize, joined: Token) {
    let Some(gone) = pieces[place].after else { return };
    pieces[place].token = Some(joined);
    pieces[gone].token = None;
    pieces[place].after = pieces[gone].after;
    if let Some(next) = pieces[gone].after {
        pieces[next].before = Some(place);
    }
}
