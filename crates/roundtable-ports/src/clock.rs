//! Time and chance, injected: a test decides what they are.

use jiff::Timestamp;

/// The time.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Timestamp;
}

/// A source of names that nobody has used before and nobody can guess.
pub trait Ids: Send + Sync {
    /// A fresh suffix of letters and digits, for an id of any kind.
    fn fresh(&self) -> String;
}
