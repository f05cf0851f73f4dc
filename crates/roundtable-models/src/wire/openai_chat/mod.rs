//! `/chat/completions`: what OpenAI began and most vendors speak, each a little differently.

mod decode;
mod lean;
mod request;

pub use decode::ChatDecoder;
pub(super) use request::address;
pub use request::request;
