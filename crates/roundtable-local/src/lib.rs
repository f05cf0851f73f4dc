//! A small language model and a sentence embedder that run in the process: no key, no network, no
//! graphics card. Knows nothing of Roundtable; `roundtable-models` puts it behind the ports.
//!
//! [`Generator`] answers chats with SmolLM2-135M-Instruct: a [`Request`] goes in, text comes out
//! piece by piece. It is a demonstration model: fluent, quick, and not to be trusted with a
//! decision.
//!
//! This is the one crate of the workspace with unsafe code, and it has it for one reason: vector
//! instructions of the processor (`kernel`), which are several times faster than what the compiler
//! makes of plain loops. Each of them has a plain twin that is tested to give the same result, and
//! takes over on processors without them. Files are read, not mapped: a file that shrinks under a
//! mapping kills the process, and the copy is needed anyway.

#[cfg(feature = "models")]
pub mod embed;
#[cfg(feature = "models")]
mod generate;
#[cfg_attr(not(feature = "models"), allow(dead_code, reason = "the search needs a few kernels"))]
mod kernel;
pub mod search;
#[cfg(feature = "models")]
mod tokens;
#[cfg(feature = "models")]
mod weights;

#[cfg(feature = "models")]
pub use generate::{
    Finish, FinishReason, GenerateError, Generation, Generator, Listener, Mask, MaskError, Message,
    Options, Request, Role, Sampling, Shape, StartError, Trust,
};
#[cfg(feature = "models")]
pub use weights::{LoadError, SMOLLM2_FILE, SMOLLM2_SHA256};
