//! Crashes and faults, and the oracle that says what must hold after them.

mod exhaustive;
mod random;
