//! Models for Roundtable agents.
//!
//! [`scripted`] answers from a script: deterministic, for tests, demonstrations and benchmarks.

pub mod scripted;
