//! `/v1/messages`: Anthropic's protocol.

mod decode;
mod request;

pub use decode::AnthropicDecoder;
pub use request::request;
