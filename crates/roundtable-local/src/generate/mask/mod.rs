//! Masks: which answers are possible. A mask is a pattern over bytes, without loops, so that every
//! answer ends; tokens that lead out of the pattern are never drawn, and neither are tokens after
//! which the rest would not fit.

mod pattern;
mod shape;
#[cfg(test)]
mod tests;
mod walk;

use std::sync::Arc;

use thiserror::Error;

pub use shape::Shape;
pub(super) use walk::Walk;

use pattern::{Network, Pattern};

/// Which answers are possible. Cloning it is cheap.
///
/// ```
/// use roundtable_local::{Mask, Shape};
///
/// let verdict = Mask::choice(["agree", "disagree"])?;
/// assert!(verdict.accepts("agree") && !verdict.accepts("agreed"));
///
/// let move_ = Mask::json(&Shape::Object(vec![
///     ("say".into(), Shape::Text { max_chars: 80 }),
///     ("mood".into(), Shape::OneOf(vec!["calm".into(), "angry".into()])),
/// ]))?;
/// assert!(move_.accepts(r#"{"say": "Who goes there?", "mood": "calm"}"#));
/// # Ok::<(), roundtable_local::MaskError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mask {
    network: Arc<Network>,
}

/// Why there is no such mask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum MaskError {
    /// There is nothing to choose from.
    #[error("a mask needs at least one answer, and no answer may be empty")]
    Empty,
    /// The pattern is too large.
    #[error("the mask is too large; allow shorter texts, or fewer of them")]
    TooLarge,
    /// The pattern is nested too deeply.
    #[error("the mask is nested more than {most} levels deep; use fewer levels")]
    TooDeep {
        /// How deep it may be.
        most: usize,
    },
}

impl Mask {
    /// The answer is one of these texts, to the letter.
    ///
    /// # Errors
    /// When there is none, or one is empty, or they are too long together.
    pub fn choice<T: AsRef<str>>(answers: impl IntoIterator<Item = T>) -> Result<Self, MaskError> {
        let answers: Vec<_> =
            answers.into_iter().map(|text| Pattern::text(text.as_ref())).collect();
        if answers.is_empty() || answers.contains(&Pattern::text("")) {
            return Err(MaskError::Empty);
        }
        Self::new(&Pattern::OneOf(answers))
    }

    /// The answer is JSON of this shape, with members in this order.
    ///
    /// # Errors
    /// When the shape is too large, too deep, or offers no choice where it has to.
    pub fn json(shape: &Shape) -> Result<Self, MaskError> {
        Self::new(&shape.pattern(0)?)
    }

    /// Whether this is a whole answer that the mask allows.
    pub fn accepts(&self, answer: &str) -> bool {
        self.network.accepts(answer.as_bytes())
    }

    fn new(pattern: &Pattern) -> Result<Self, MaskError> {
        Ok(Self { network: Arc::new(Network::of(pattern)?) })
    }
}
