//! Sentence embeddings: all-MiniLM-L6-v2 from its safetensors file.
