//! `/responses`: OpenAI's newer protocol. Nothing is kept at the vendor: the whole prompt goes
//! there each time, thoughts included, in a form that only the vendor can read.

mod decode;
mod request;

pub use decode::ResponsesDecoder;
pub use request::request;
