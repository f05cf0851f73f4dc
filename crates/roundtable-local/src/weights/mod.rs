//! Files of weights: the GGUF format, read with every length, offset and shape checked. A file
//! comes from outside and may say anything; what it gets is a [`LoadError`], never a panic and
//! never more memory than it has bytes to show for.

mod cursor;
mod error;
mod gguf;
mod pinned;
#[cfg(test)]
pub(crate) mod synthetic;
#[cfg(test)]
mod tests;
mod value;

pub use error::LoadError;
pub(crate) use gguf::Gguf;
pub(crate) use pinned::check_digest;
pub use pinned::{SMOLLM2_FILE, SMOLLM2_SHA256};
pub(crate) use value::Value;
