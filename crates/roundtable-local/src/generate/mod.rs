//! Generation: a chat goes in, text comes out piece by piece, several at once on a bounded pool.

mod cache;
mod chat;
mod error;
mod generation;
mod generator;
mod job;
mod llama;
pub mod mask;
mod pool;
mod request;
mod sampler;
mod stops;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

pub use error::{GenerateError, StartError};
pub use generation::{Generation, Listener};
pub use generator::{Generator, Options, Trust};
pub use mask::{Mask, MaskError, Shape};
pub use request::{Finish, FinishReason, Message, Request, Role, Sampling};
