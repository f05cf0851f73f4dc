//! Embeddings: the time of a text of 40 words, and the memory of the model.

use std::path::Path;
use std::time::Duration;

use roundtable_bench::{Report, Row, cpu, resident};
use roundtable_local::embed::Embedder;

use crate::plain::Plain;

/// The weights of the layers of MiniLM, each used once for a token; looking up words takes none.
const WEIGHTS: f64 = 10.6e6;
/// The tokens of the text.
const TOKENS: f64 = 50.0;
const REPEATS: usize = 9;
/// Texts of one run.
const TEXTS: u32 = 8;

const TEXT: &str = "The committee met in the old town hall to talk about the budget of next year, \
    and after two hours of careful argument it agreed to repair the bridge first, then the school, \
    and to leave the harbour for later.";

pub fn measure(report: &mut Report, models: &Path, plain: &Plain) -> anyhow::Result<()> {
    let folder = models.join("all-MiniLM-L6-v2");
    let file = folder.join("model.safetensors");
    anyhow::ensure!(
        file.is_file(),
        "no weights at {}; `cargo xtask run` fetches them",
        file.display()
    );
    let bytes = file.metadata()?.len() as f64;
    let before = resident();
    let embedder = Embedder::load(&folder)?;
    let memory = resident().saturating_sub(before) as f64;
    let mut runs: Vec<(Duration, Duration)> = (0..REPEATS)
        .map(|_| {
            let plain = plain.time(WEIGHTS * TOKENS);
            let before = cpu();
            for _ in 0..TEXTS {
                std::hint::black_box(embedder.embed(TEXT));
            }
            ((cpu() - before) / TEXTS, plain)
        })
        .collect();
    let ratio = |(time, plain): &(Duration, Duration)| time.as_secs_f64() / plain.as_secs_f64();
    runs.sort_by(|a, b| ratio(a).total_cmp(&ratio(b)));
    let middle = runs[runs.len() / 2];
    report.add(Row {
        name: "a text of 40 words".to_owned(),
        figure: format!("{:.0} per second of one processor", 1.0 / middle.0.as_secs_f64()),
        against: format!("the plain loop over as many weights, {:.1?}", middle.1),
        ratio: ratio(&middle),
        aim: Some(0.1),
    });
    report.add(Row {
        name: "memory of the embedder".to_owned(),
        figure: format!("{:.0} MB", memory / 1e6),
        against: format!("its file, {:.0} MB", bytes / 1e6),
        ratio: memory / bytes,
        aim: Some(1.2),
    });
    Ok(())
}
