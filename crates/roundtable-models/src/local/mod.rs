//! Models that need no vendor and no key: they run in this process, on weights in a directory.
//!
//! [`LocalModel`] speaks: a demonstration of a few fluent sentences, in the persona's voice. What a
//! conversation needs beyond that is decided by rules, not by it. [`LocalEmbedder`] makes vectors
//! of texts; [`HashedEmbedder`] does so without weights, and less well.

mod ask;
mod cut;
mod data;
mod embedder;
mod lazy;
mod model;
pub mod weights;

pub use embedder::{EmbedderLoadError, HashedEmbedder, LocalEmbedder};
pub use lazy::LazyEmbedder;
pub use model::{LocalModel, NAME, NOTICE};
pub use roundtable_local::{LoadError, Trust};
