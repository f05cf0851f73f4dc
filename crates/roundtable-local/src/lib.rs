//! A small language model and a sentence embedder that run in the process: no key, no network, no
//! graphics card. Knows nothing of Roundtable; `roundtable-models` puts it behind the ports.
//!
//! This is the one crate of the workspace with unsafe code, and it has it for one reason: vector
//! instructions of the processor ([`kernel`]), which are three times faster than what the compiler
//! makes of plain loops. Each of them has a plain twin that is tested to give the same result, and
//! takes over on processors without them. Files are read, not mapped: a file that shrinks under a
//! mapping kills the process, and the copy is needed anyway.

pub mod embed;
mod kernel;
pub mod search;
