//! An embedder that needs no vendor: MiniLM on weights in a directory.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use roundtable_local::Trust;
use roundtable_local::embed::{self, EmbedError};
use roundtable_ports::{Embedder, EmbedderError, Space};
use tokio::sync::Semaphore;

use super::weights::{EMBEDDER, EMBEDDER_FILES, WeightError, digest};

/// Why an embedder cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum EmbedderLoadError {
    /// A file is not the one that was pinned.
    #[error(transparent)]
    Weights(#[from] WeightError),
    /// A file makes no sense.
    #[error(transparent)]
    Model(#[from] EmbedError),
}

/// MiniLM. Clones share weights; texts are worked on by so many threads as the machine has, and
/// never by those that drive sessions.
#[derive(Clone)]
pub struct LocalEmbedder {
    embedder: Arc<embed::Embedder>,
    space: Space,
    room: Arc<Semaphore>,
    threads: usize,
}

impl LocalEmbedder {
    /// Reads the weights in a folder. This takes a moment; it blocks.
    ///
    /// # Errors
    /// [`EmbedderLoadError`] when a file is missing, damaged, or, for [`Trust::Known`], not the one
    /// that was pinned.
    pub fn open(folder: &Path, trust: Trust) -> Result<Self, EmbedderLoadError> {
        let name = match trust {
            Trust::Known => {
                for file in EMBEDDER_FILES {
                    let name = Path::new(file.name).file_name().unwrap_or_default();
                    file.check(&folder.join(name))?;
                }
                EMBEDDER.to_owned()
            }
            // Another file's vectors are not to be mixed with those of the known one.
            Trust::Any => {
                let digest = digest(&folder.join(embed::WEIGHTS))?;
                format!("own-{}", digest.get(..16).unwrap_or(&digest))
            }
        };
        let embedder = embed::Embedder::load(folder)?;
        let space = Space::new(name, embedder.dimension());
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let room = Arc::new(Semaphore::new(threads));
        Ok(Self { embedder: Arc::new(embedder), space, room, threads })
    }

    async fn embed_one(&self, text: String) -> Result<Vec<f32>, EmbedderError> {
        let gone = |what: String| EmbedderError::Unavailable(what);
        let room = self.room.clone().acquire_owned().await;
        let room = room.map_err(|error| gone(error.to_string()))?;
        let embedder = self.embedder.clone();
        let work = move || {
            let vector = embedder.embed(&text);
            drop(room);
            vector
        };
        tokio::task::spawn_blocking(work).await.map_err(|error| gone(error.to_string()))
    }
}

#[async_trait]
impl Embedder for LocalEmbedder {
    fn space(&self) -> &Space {
        &self.space
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedderError> {
        let one = |text: &String| self.embed_one(text.clone());
        let work: Vec<_> = texts.iter().map(one).collect();
        stream::iter(work).buffered(self.threads).try_collect().await
    }
}
