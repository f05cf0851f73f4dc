//! Vectors of texts, to be searched by meaning. Each lies in a scope, and a search names the scopes
//! that it may look into: what lies elsewhere is not ranked and then left out, it is never looked
//! at.

use std::fmt;

use async_trait::async_trait;
use roundtable_core::id::SessionId;
use roundtable_core::json;
use serde_json::Value;

use crate::embedder::Space;

/// How long a key may be, in bytes.
const LONGEST_KEY: usize = 512;
/// How long the parts of a scope may be together, in bytes.
const LONGEST_SCOPE: usize = 1024;
/// How long a payload may be as JSON, in bytes: it is an id of what was embedded, not a copy.
const LONGEST_PAYLOAD: usize = 4096;

/// Whose vectors they are: a tenant's, an agent's, a session's. Names that people choose stand in
/// it as they are, and no choice of them makes one scope out of another's.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VectorScope(String);

impl VectorScope {
    /// The scope with these parts, from the outermost on: a tenant, an agent of it.
    ///
    /// # Errors
    /// [`VectorsError::Refused`] when there are none, or they are too long.
    pub fn of<'a>(parts: impl IntoIterator<Item = &'a str>) -> Result<Self, VectorsError> {
        let parts: Vec<&str> = parts.into_iter().collect();
        let length: usize = parts.iter().map(|part| part.len()).sum();
        if parts.is_empty() || length > LONGEST_SCOPE {
            let what = format!("a scope needs at least one part and at most {LONGEST_SCOPE} bytes");
            return Err(VectorsError::Refused(what));
        }
        // Quoted, so that no part can pretend to be two.
        Ok(Self(Value::from(parts).to_string()))
    }

    /// The scope as it is stored.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A scope as it was stored.
    pub fn stored(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Display for VectorScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A vector to be kept.
#[derive(Debug, Clone, PartialEq)]
pub struct NewVector {
    /// What it is found by. One with the same key is replaced.
    pub key: String,
    /// The vector.
    pub vector: Vec<f32>,
    /// What it stands for: a small piece of JSON, handed back by a search.
    pub payload: Value,
    /// The session whose words it was made of. When they are erased, so is the vector.
    pub session: Option<SessionId>,
}

impl NewVector {
    /// Whether it can be kept in a space.
    ///
    /// # Errors
    /// [`VectorsError::Refused`] says why not.
    pub fn check(&self, space: &Space) -> Result<(), VectorsError> {
        let refused = |what: String| Err(VectorsError::Refused(what));
        if self.key.is_empty() || self.key.len() > LONGEST_KEY {
            return refused(format!("a key must have 1 to {LONGEST_KEY} bytes"));
        }
        json::check(&self.payload)
            .map_err(|error| VectorsError::Refused(format!("a payload is {error}")))?;
        if self.payload.to_string().len() > LONGEST_PAYLOAD {
            return refused(format!("a payload can have at most {LONGEST_PAYLOAD} bytes"));
        }
        check_vector(space, &self.vector)
    }
}

/// What is looked for.
#[derive(Debug, Clone, PartialEq)]
pub struct VectorSearch {
    /// The space of the vector.
    pub space: Space,
    /// Where to look, and nowhere else.
    pub scopes: Vec<VectorScope>,
    /// The vector.
    pub query: Vec<f32>,
    /// How many are wanted.
    pub limit: usize,
}

impl VectorSearch {
    /// Whether it can be looked for.
    ///
    /// # Errors
    /// [`VectorsError::Refused`] says why not.
    pub fn check(&self) -> Result<(), VectorsError> {
        check_vector(&self.space, &self.query)
    }
}

/// How long a vector may be, so that products of two stay numbers.
const LONGEST: f32 = 1e9;

fn check_vector(space: &Space, vector: &[f32]) -> Result<(), VectorsError> {
    let (found, wanted) = (vector.len(), space.dimension());
    if found != wanted {
        let what =
            format!("vectors of {} must have {wanted} dimensions, not {found}", space.name());
        return Err(VectorsError::Refused(what));
    }
    // Anything that is no number makes the sum none, and no comparison with it is true.
    let length: f32 = vector.iter().map(|number| number.abs()).sum();
    if length < LONGEST {
        return Ok(());
    }
    Err(VectorsError::Refused("a vector must contain finite numbers".to_owned()))
}

/// A vector that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundVector {
    /// Where it lies.
    pub scope: VectorScope,
    /// Its key.
    pub key: String,
    /// Its product with what was looked for: the cosine of their angle, for vectors of length one.
    pub score: f32,
    /// What it stands for.
    pub payload: Value,
}

/// Why vectors cannot be kept or found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VectorsError {
    /// It makes no sense.
    #[error("refused: {0}")]
    Refused(String),
    /// The store did not answer, and it is not known whether it did what it was asked.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
}

impl VectorsError {
    /// Whether the same may go through when it is tried again.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unavailable(_) => true,
            Self::Refused(_) => false,
        }
    }
}

/// Vectors under keys, in scopes. What is stored is the truth: whatever a process holds to search
/// quickly is made of it, and what another process stored is found by the next search.
#[async_trait]
pub trait Vectors: Send + Sync {
    /// Puts vectors into a scope: all of them, or none.
    async fn put_vectors(
        &self,
        space: &Space,
        scope: &VectorScope,
        vectors: Vec<NewVector>,
    ) -> Result<(), VectorsError>;

    /// Removes vectors by their keys; how many there were.
    async fn remove_vectors(
        &self,
        space: &Space,
        scope: &VectorScope,
        keys: &[String],
    ) -> Result<usize, VectorsError>;

    /// Removes everything in a scope, of every space, for good; how many vectors there were.
    async fn erase_scope(&self, scope: &VectorScope) -> Result<usize, VectorsError>;

    /// Removes every vector that was made of a session's words, wherever it lies, for good; how
    /// many there were.
    async fn erase_vectors_of(&self, session: &SessionId) -> Result<usize, VectorsError>;

    /// The vectors nearest to one, the best first; of equals, the one whose scope and then whose
    /// key comes first.
    async fn search_vectors(&self, search: &VectorSearch)
    -> Result<Vec<FoundVector>, VectorsError>;
}
