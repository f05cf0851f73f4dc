//! Models that need no vendor and no key: they run in this process, on weights in a directory.
//!
//! [`LocalModel`] speaks: a demonstration of a few fluent sentences, in the persona's voice. What a
//! conversation needs beyond that is decided by rules, not by it. [`LocalEmbedder`] makes vectors
//! of texts; [`HashedEmbedder`] does so without weights, and less well.

#[cfg(feature = "local")]
mod ask;
#[cfg(feature = "local")]
mod cut;
#[cfg(feature = "local")]
mod data;
#[cfg(feature = "local")]
mod embedder;
mod hashed;
#[cfg(feature = "local")]
mod lazy;
#[cfg(feature = "local")]
mod model;
#[cfg(feature = "local")]
pub mod weights;

#[cfg(feature = "local")]
pub use embedder::{EmbedderLoadError, LocalEmbedder};
pub use hashed::HashedEmbedder;
#[cfg(feature = "local")]
pub use lazy::LazyEmbedder;
#[cfg(feature = "local")]
pub use model::{LocalModel, NOTICE};
#[cfg(feature = "local")]
pub use roundtable_local::{LoadError, Trust};

/// The name under which the local model is known.
pub const NAME: &str = "local/smollm2-135m";
