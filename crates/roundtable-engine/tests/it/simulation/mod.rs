//! Crashes and faults, and the oracle that says what must hold after them.

mod debate;
mod drain;
mod exhaustive;
mod faults;
mod people;
mod random;
