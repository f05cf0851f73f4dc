//! What the benchmarks share. Each benchmark is a binary in `src/bin/`, run by `cargo xtask bench NAME`.
