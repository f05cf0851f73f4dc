//! A chat as the tokens that the model was trained to read: ChatML.

use super::{GenerateError, Request};
use crate::tokens::{Token, Vocabulary};

/// The longest token has fewer bytes than this; so a text of `n` bytes has at least `n` divided by
/// it tokens, and one that cannot fit is refused before it is looked at.
const LONGEST_TOKEN: usize = 128;

/// The prompt of a request, up to where the answer goes on. It has fewer than `limit` tokens.
pub(super) fn prompt(
    vocabulary: &Vocabulary,
    request: &Request,
    limit: usize,
) -> Result<Vec<Token>, GenerateError> {
    let bytes: usize = request.messages.iter().map(|message| message.text.len()).sum();
    let least = (bytes + request.prefill.len()) / LONGEST_TOKEN;
    if least >= limit {
        return Err(GenerateError::TooLong { tokens: least, limit });
    }
    let control = vocabulary.control();
    let mut tokens = Vec::new();
    for message in &request.messages {
        tokens.push(control.start);
        vocabulary.encode(&format!("{}\n{}", message.role.name(), message.text), &mut tokens);
        tokens.push(control.end);
        vocabulary.encode("\n", &mut tokens);
    }
    tokens.push(control.start);
    vocabulary.encode(&format!("assistant\n{}", request.prefill), &mut tokens);
    if tokens.len() >= limit {
        return Err(GenerateError::TooLong { tokens: tokens.len(), limit });
    }
    Ok(tokens)
}
