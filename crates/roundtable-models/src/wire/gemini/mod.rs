//! `:streamGenerateContent`: Google's protocol.

mod decode;
mod request;

pub use decode::GeminiDecoder;
pub use request::request;
