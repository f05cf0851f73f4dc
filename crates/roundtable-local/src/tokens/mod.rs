//! Text to tokens and back: byte-level BPE as SmolLM2 was trained with, out of the model's file.
//!
//! Text never becomes a control token here. Whoever wants one asks for it by name, so what a user
//! writes cannot end its own message and begin another one.

mod alphabet;
mod decoder;
mod letters;
mod merge;
mod split;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::io::{Read, Seek};

pub(crate) use decoder::Decoder;

use crate::weights::{Gguf, LoadError};
use merge::{Merges, Rule};

/// A token's number.
pub(crate) type Token = u32;

const TOKENS: &str = "tokenizer.ggml.tokens";
const TYPES: &str = "tokenizer.ggml.token_type";
const MERGES: &str = "tokenizer.ggml.merges";
/// The type of tokens that stand for text; all others are control tokens.
const NORMAL: i32 = 1;

/// The tokens of a model.
#[derive(Debug)]
pub(crate) struct Vocabulary {
    /// The bytes of all tokens, one after the other. Control tokens have none.
    bytes: Vec<u8>,
    /// Where each token's bytes end.
    ends: Vec<usize>,
    /// The tokens of single bytes. Some bytes have none, among them those that UTF-8 never uses.
    singles: [Option<Token>; 256],
    merges: Merges,
    control: Control,
}

/// The control tokens of a chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Control {
    /// Begins a message.
    pub(crate) start: Token,
    /// Ends a message.
    pub(crate) end: Token,
    /// Ends a document.
    pub(crate) end_of_text: Option<Token>,
}

impl Vocabulary {
    /// Takes the vocabulary out of a model's file.
    pub(crate) fn read<R: Read + Seek>(file: &Gguf<R>) -> Result<Self, LoadError> {
        for (key, known) in [("tokenizer.ggml.model", "gpt2"), ("tokenizer.ggml.pre", "smollm")] {
            let found = file.text(key)?;
            if found != known {
                let why = format!("is {found:?}; only {known:?} is supported");
                return Err(LoadError::malformed(key, why));
            }
        }
        Self::new(file.texts(TOKENS)?, file.integers(TYPES)?, file.texts(MERGES)?)
    }

    /// A vocabulary of these tokens, their types, and the pairs that are joined, best first.
    fn new(tokens: &[String], types: &[i32], merges: &[String]) -> Result<Self, LoadError> {
        if tokens.len() != types.len() || Token::try_from(tokens.len()).is_err() {
            return Err(LoadError::malformed(TYPES, "does not have the length of the tokens"));
        }
        let (mut bytes, mut ends, mut singles) = (Vec::new(), Vec::new(), [None; 256]);
        let (mut ids, mut control) = (HashMap::new(), HashMap::new());
        for ((id, text), kind) in (0..).zip(tokens).zip(types) {
            if *kind == NORMAL {
                let decoded = alphabet::to_bytes(text).filter(|bytes| !bytes.is_empty());
                let why = || LoadError::malformed(TOKENS, format!("has {text:?}"));
                let decoded = decoded.ok_or_else(why)?;
                if let [byte] = decoded[..] {
                    singles[usize::from(byte)].get_or_insert(id);
                }
                bytes.extend_from_slice(&decoded);
                ids.entry(text.as_str()).or_insert(id);
            } else {
                control.insert(text.as_str(), id);
            }
            ends.push(bytes.len());
        }
        let find = |name: &str| control.get(name).copied();
        let need = |name: &str| {
            find(name).ok_or_else(|| LoadError::missing(format!("the control token {name}")))
        };
        let control = Control {
            start: need("<|im_start|>")?,
            end: need("<|im_end|>")?,
            end_of_text: find("<|endoftext|>"),
        };
        Ok(Self { bytes, ends, singles, merges: rules(merges, &ids)?, control })
    }

    /// How many tokens there are.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The control tokens of a chat.
    pub(crate) fn control(&self) -> Control {
        self.control
    }

    /// The bytes that a token stands for; none if it is a control token.
    pub(crate) fn bytes(&self, token: Token) -> &[u8] {
        let index = token as usize;
        let start = index.checked_sub(1).and_then(|index| self.ends.get(index)).copied();
        let end = self.ends.get(index).copied().unwrap_or(0);
        self.bytes.get(start.unwrap_or(0)..end).unwrap_or(&[])
    }

    /// The token that stands for this byte alone.
    pub(crate) fn single(&self, byte: u8) -> Option<Token> {
        self.singles[usize::from(byte)]
    }

    /// Appends the tokens of a text. No text gives a control token.
    pub(crate) fn encode(&self, text: &str, out: &mut Vec<Token>) {
        for word in split::words(text) {
            // Bytes without a token are left out, as the model's own tokeniser does.
            let bytes = word.bytes().filter_map(|byte| self.single(byte));
            self.merges.apply(bytes, out);
        }
    }

    /// The text of these tokens.
    #[cfg(test)]
    pub(crate) fn decode(&self, tokens: &[Token]) -> String {
        let mut decoder = Decoder::default();
        let mut text: String =
            tokens.iter().map(|token| decoder.push(self.bytes(*token))).collect();
        text.push_str(&decoder.finish());
        text
    }
}

/// The pairs that are joined. A pair that names a token which does not exist joins nothing.
fn rules(merges: &[String], ids: &HashMap<&str, Token>) -> Result<Merges, LoadError> {
    let mut rules = Merges::default();
    for (rank, pair) in (0..).zip(merges) {
        let why = || LoadError::malformed(MERGES, format!("has {pair:?}, which is not a pair"));
        let (left, right) = pair.split_once(' ').ok_or_else(why)?;
        let joined = [left, right].concat();
        let found = (ids.get(left), ids.get(right), ids.get(joined.as_str()));
        if let (Some(left), Some(right), Some(joined)) = found {
            rules.add((*left, *right), Rule { rank, joined: *joined });
        }
    }
    Ok(rules)
}
