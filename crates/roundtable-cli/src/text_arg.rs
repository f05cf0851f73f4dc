//! A topic or question: an argument, or standard input.

use std::io::{IsTerminal as _, Read as _};

use crate::usage;

/// The longest topic, in characters: the limit of debates.
const LONGEST: usize = 10_000;

/// The most bytes that are read from standard input: a character has up to four.
const MOST_BYTES: u64 = 4 * LONGEST as u64 + 1;

/// Rejects a blank or overlong text before anything is started.
pub(crate) fn checked(text: &str) -> Result<String, String> {
    let length = text.chars().count();
    if text.trim().is_empty() {
        return Err("must not be blank".to_owned());
    }
    match length > LONGEST {
        true => Err(format!("has {length} characters; the limit is {LONGEST}")),
        false => Ok(text.to_owned()),
    }
}

/// The text; without an argument, or with `-`, what standard input has.
pub(crate) fn or_stdin(argument: Option<&str>, what: &str) -> anyhow::Result<String> {
    if let Some(text) = argument.filter(|text| *text != "-") {
        return Ok(text.to_owned());
    }
    let mut input = std::io::stdin().lock();
    if argument.is_none() && std::io::stdin().is_terminal() {
        return Err(usage::error(format!("missing {what}: pass it as an argument or pipe it in")));
    }
    let mut text = String::new();
    let read = input.by_ref().take(MOST_BYTES).read_to_string(&mut text);
    read.map_err(|error| usage::error(format!("cannot read {what} from standard input: {error}")))?;
    checked(text.trim_end()).map_err(|error| usage::error(format!("{what} {error}")))
}
