//! The best embedder that needs no vendor, read when it is first needed: a server that nobody asks
//! to compare texts does without the memory.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use roundtable_local::Trust;
use roundtable_ports::{Embedder, EmbedderError, Space};
use tokio::sync::OnceCell;

use super::weights::{EMBEDDER, EMBEDDER_FILES};
use super::{HashedEmbedder, LocalEmbedder};

/// How many numbers MiniLM's vectors have.
const DIMENSION: usize = 384;

/// MiniLM where its weights are, else an embedder without weights.
pub struct LazyEmbedder {
    space: Space,
    source: Source,
}

enum Source {
    Weights { folder: PathBuf, loaded: OnceCell<LocalEmbedder> },
    Hashed(HashedEmbedder),
}

impl LazyEmbedder {
    /// What there is in a directory of weights, as far as that can be told without reading them.
    pub fn in_directory(directory: &Path) -> Self {
        let there =
            EMBEDDER_FILES.iter().all(|file| file.check_size(&directory.join(file.name)).is_ok());
        if !there {
            let hashed = HashedEmbedder::default();
            return Self { space: hashed.space().clone(), source: Source::Hashed(hashed) };
        }
        let folder = directory.join(EMBEDDER);
        let source = Source::Weights { folder, loaded: OnceCell::new() };
        Self { space: Space::new(EMBEDDER, DIMENSION), source }
    }

    /// Whether it does without weights.
    pub fn is_hashed(&self) -> bool {
        matches!(self.source, Source::Hashed(_))
    }
}

impl From<LocalEmbedder> for LazyEmbedder {
    fn from(embedder: LocalEmbedder) -> Self {
        let space = embedder.space().clone();
        let loaded = OnceCell::new_with(Some(embedder));
        Self { space, source: Source::Weights { folder: PathBuf::new(), loaded } }
    }
}

async fn load(folder: PathBuf) -> Result<LocalEmbedder, EmbedderError> {
    let open = move || LocalEmbedder::open(&folder, Trust::Known);
    let opened = tokio::task::spawn_blocking(open).await;
    let opened = opened.map_err(|error| EmbedderError::Unavailable(error.to_string()))?;
    opened.map_err(|error| EmbedderError::Unavailable(error.to_string()))
}

#[async_trait]
impl Embedder for LazyEmbedder {
    fn space(&self) -> &Space {
        &self.space
    }

    fn is_semantic(&self) -> bool {
        !self.is_hashed()
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedderError> {
        match &self.source {
            Source::Hashed(hashed) => hashed.embed(texts).await,
            Source::Weights { folder, loaded } => {
                loaded.get_or_try_init(|| load(folder.clone())).await?.embed(texts).await
            }
        }
    }
}
