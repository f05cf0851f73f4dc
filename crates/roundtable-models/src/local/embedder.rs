//! Embedders that need no vendor: MiniLM on weights in a directory, and one without weights.

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

/// Vectors of words and parts of words, by their hashes: no weights, no training. Texts that share
/// words lie close together; what words mean it does not know.
#[derive(Debug, Clone)]
pub struct HashedEmbedder {
    space: Space,
}

/// How many numbers a hashed vector has.
const DIMENSION: usize = 512;
/// How long the parts of words are.
const PART: usize = 3;
/// How much a part of a word counts beside the whole word.
const PART_WEIGHT: f32 = 0.4;
/// How many words of a text count.
const MOST_WORDS: usize = 4096;

impl Default for HashedEmbedder {
    fn default() -> Self {
        Self { space: Space::new("hashed-ngrams-1", DIMENSION) }
    }
}

impl HashedEmbedder {
    /// The vector of a text.
    fn vector(text: &str) -> Vec<f32> {
        let mut vector = vec![0.0; DIMENSION];
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        for word in words.take(MOST_WORDS) {
            let word = format!("^{}$", word.to_lowercase());
            add(&mut vector, &word, 1.0);
            let letters: Vec<char> = word.chars().take(64).collect();
            for part in letters.windows(PART) {
                add(&mut vector, &part.iter().collect::<String>(), PART_WEIGHT);
            }
        }
        // A word that comes ten times does not count ten times.
        vector.iter_mut().for_each(|number| *number = number.signum() * number.abs().sqrt());
        let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
        if length > 0.0 {
            vector.iter_mut().for_each(|number| *number /= length);
        }
        vector
    }
}

/// One place for each feature, and a sign, so that features that fall together do not add up.
fn add(vector: &mut [f32], feature: &str, weight: f32) {
    let hash = feature.bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    // The low bits of this hash are its weakest.
    let hash = hash ^ (hash >> 32);
    let place = usize::try_from(hash % DIMENSION as u64).unwrap_or_default();
    let sign = if (hash >> 20) & 1 == 0 { 1.0 } else { -1.0 };
    if let Some(number) = vector.get_mut(place) {
        *number += sign * weight;
    }
}

#[async_trait]
impl Embedder for HashedEmbedder {
    fn space(&self) -> &Space {
        &self.space
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedderError> {
        Ok(texts.iter().map(|text| Self::vector(text)).collect())
    }
}
