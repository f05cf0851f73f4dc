//! Sentence embeddings: all-MiniLM-L6-v2 from its safetensors file.
//!
//! A text becomes a vector of length one; texts that mean alike have vectors that point alike. The
//! model was trained on single sentences and short paragraphs, in English. It does not see what a
//! negation does: "I agree" and "I do not agree" lie close together.

#[cfg(test)]
mod hostile;
mod minilm;
mod safetensors;
#[cfg(test)]
mod tests;
mod unicode;
mod wordpiece;

use std::fs::File;
use std::io::{self, BufReader, Read as _};
use std::path::{Path, PathBuf};

use crate::kernel::Cpu;
use minilm::MiniLm;
pub use safetensors::TensorError;
use safetensors::Tensors;
use wordpiece::WordPiece;

/// The file of the weights in a model's folder.
pub const WEIGHTS: &str = "model.safetensors";
/// The file of the vocabulary in a model's folder.
pub const VOCABULARY: &str = "vocab.txt";

/// How many tokens of a text count, as the model was published.
const MOST_TOKENS: usize = 256;
/// How long a vocabulary may be. The real one has 0.2 MB.
const LONGEST_VOCABULARY: u64 = 1 << 24;

/// Why an embedder cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    /// A file cannot be read.
    #[error("{} cannot be read: {error}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The vocabulary lacks what every one has.
    #[error("{} is not a vocabulary of this model", .path.display())]
    Vocabulary {
        /// The file.
        path: PathBuf,
    },
    /// The weights are damaged, or another model's.
    #[error("{}: {error}", .path.display())]
    Weights {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        error: TensorError,
    },
}

/// Makes vectors of texts. It is only read, so any number of threads can use it at once, and a
/// text has the same vector whoever asks.
pub struct Embedder {
    vocabulary: WordPiece,
    model: MiniLm,
}

impl Embedder {
    /// Loads the model in a folder.
    ///
    /// # Errors
    /// [`EmbedError`] when a file is missing, damaged, or of another model.
    pub fn load(folder: &Path) -> Result<Self, EmbedError> {
        Self::load_for(folder, Cpu::detect())
    }

    fn load_for(folder: &Path, cpu: Cpu) -> Result<Self, EmbedError> {
        let path = folder.join(VOCABULARY);
        let text =
            read_text(&path).map_err(|error| EmbedError::Io { path: path.clone(), error })?;
        let vocabulary = WordPiece::new(&text);
        let (vocabulary, size) = vocabulary.ok_or(EmbedError::Vocabulary { path })?;
        let path = folder.join(WEIGHTS);
        let file =
            File::open(&path).map_err(|error| EmbedError::Io { path: path.clone(), error })?;
        let model = Tensors::open(BufReader::new(file))
            .and_then(|mut tensors| MiniLm::read(&mut tensors, size, cpu))
            .map_err(|error| EmbedError::Weights { path, error })?;
        Ok(Self { vocabulary, model })
    }

    /// How many numbers a vector has.
    pub fn dimension(&self) -> usize {
        self.model.width()
    }

    /// The vector of a text, of length one. Of a long text, the beginning counts.
    pub fn embed(&self, text: &str) -> Vec<f32> {
        self.model.embed(&self.tokens(text))
    }

    /// The token numbers of a text.
    fn tokens(&self, text: &str) -> Vec<u32> {
        self.vocabulary.encode(text, MOST_TOKENS.min(self.model.positions()))
    }
}

fn read_text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(LONGEST_VOCABULARY).read_to_string(&mut text)?;
    Ok(text)
}
