//! Whoever makes vectors of texts, so that texts can be compared by what they mean.

use std::fmt;

use async_trait::async_trait;

/// A space of vectors: what one embedder makes. Vectors of different spaces say nothing about each
/// other, whatever their length.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Space {
    name: String,
    dimension: usize,
}

impl Space {
    /// A space with a name that says which embedder and which version of it, and so many numbers
    /// in each vector.
    pub fn new(name: impl Into<String>, dimension: usize) -> Self {
        Self { name: name.into(), dimension }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many numbers a vector has.
    pub fn dimension(&self) -> usize {
        self.dimension
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.name, self.dimension)
    }
}

/// Why texts have no vectors.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedderError {
    /// The embedder has too much to do, or is out of reach.
    #[error("the embedder is unavailable: {0}")]
    Unavailable(String),
    /// It answered, and not with vectors of its space.
    #[error("invalid response from the embedder: {0}")]
    Broken(String),
}

/// Whoever makes vectors of texts. The same text has the same vector, whenever it is asked for and
/// whatever is asked for beside it.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// The space of its vectors.
    fn space(&self) -> &Space;

    /// Whether its vectors say what texts mean, and not only which words they share.
    fn is_semantic(&self) -> bool {
        true
    }

    /// A vector of length one for each text, in their order. The zero vector stands for a text
    /// that has nothing to compare.
    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedderError>;
}
