//! `cargo xtask bench local`: what the models in the box cost, beside a plain loop of floating-point
//! numbers in the same run. One module per part.

mod embedding;
mod generation;
mod plain;
mod search;

use std::path::PathBuf;

use plain::Plain;
use roundtable_bench::Report;

/// The same as the product's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> anyhow::Result<()> {
    let models = models();
    let mut report = Report::default();
    let plain = Plain::new();
    // Kept until the end: memory that one model gave back would hide what the next one takes.
    let _generator = generation::measure(&mut report, &models, &plain)?;
    embedding::measure(&mut report, &models, &plain)?;
    search::measure(&mut report)?;
    report.finish("local")
}

/// Where the weights are.
fn models() -> PathBuf {
    let named = std::env::var_os("ROUNDTABLE_MODELS_DIR").map(PathBuf::from);
    named.unwrap_or_else(|| PathBuf::from("target/models"))
}
