//! `/chat/completions`: what OpenAI began and most vendors speak, each a little differently.

mod common_event;
mod decode;
mod request;

pub use decode::ChatDecoder;
pub(super) use request::address;
pub use request::request;
