//! An embedder that needs no vendor and no weights.

use async_trait::async_trait;
use roundtable_ports::{Embedder, EmbedderError, Space};

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

    fn is_semantic(&self) -> bool {
        false
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedderError> {
        Ok(texts.iter().map(|text| Self::vector(text)).collect())
    }
}
