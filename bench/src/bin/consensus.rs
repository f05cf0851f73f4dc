//! How far the measure without a model can be trusted: committed panels that agree, are split or are
//! opposed, measured with each embedder in the box. No clock is involved: the figures are the same
//! on every machine.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use roundtable::models::local::{HashedEmbedder, LocalEmbedder, Trust, weights};
use roundtable::ports::Embedder;
use roundtable_testing::positions::{Kind, Question};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let named = std::env::var_os("ROUNDTABLE_MODELS_DIR").map(PathBuf::from);
    let folder = named.unwrap_or_else(|| root.join("target/models")).join(weights::EMBEDDER);
    let minilm = LocalEmbedder::open(&folder, Trust::Known)
        .context("`cargo xtask test` fetches the weights")?;
    let mut text = String::from(
        "# Consensus without a model\n\n`cargo xtask bench consensus` prints this. Questions with a star \
         were written after the thresholds were chosen.\n",
    );
    let hashed = HashedEmbedder::default();
    let embedders: [&dyn Embedder; 2] = [&minilm, &hashed];
    for embedder in embedders {
        text.push_str(&table(embedder).await);
    }
    print!("{text}");
    std::fs::write(root.join("bench/results/consensus.md"), text)?;
    Ok(())
}

/// The figures of one embedder.
async fn table(embedder: &dyn Embedder) -> String {
    let mut text = format!(
        "\n## {}\n\n| question | agreeing | split | opposed | in order | said again | negated | another view |\n\
         |---|---|---|---|---|---|---|---|\n",
        embedder.space()
    );
    let (mut sums, mut ordered, mut grouped, mut count) = ([0.0; 3], 0, 0, 0);
    for question in Question::all() {
        let mut row = [0.0; 3];
        for (place, kind) in Kind::ALL.into_iter().enumerate() {
            let measure = question.agreement(embedder, kind).await;
            row[place] = measure.agreement;
            sums[place] += measure.agreement;
            let sizes: Vec<usize> = measure.clusters.iter().map(Vec::len).collect();
            grouped += usize::from(sizes == kind.groups());
        }
        let in_order = row[0] > row[1] && row[1] > row[2];
        ordered += usize::from(in_order);
        count += 1;
        let [again, negated, other] = [&question.again, &question.negated, &question.views[1][0]]
            .map(|words| question.drift(embedder, words));
        text.push_str(&format!(
            "| {}{} | {:.2} | {:.2} | {:.2} | {} | {:.2} | {:.2} | {:.2} |\n",
            question.topic,
            if question.held_out { " *" } else { "" },
            row[0],
            row[1],
            row[2],
            if in_order { "yes" } else { "no" },
            again.await,
            negated.await,
            other.await,
        ));
    }
    let mean = sums.map(|sum| sum / f64::from(count));
    let [agreeing, split, opposed] = mean;
    text.push_str(&format!(
        "| **mean** | {agreeing:.2} | {split:.2} | {opposed:.2} | {ordered} of {count} | | | |\n\n\
         {grouped} of {} panels fall into the groups that they were made of. The last three columns are drift: \
         how far it is from a position to the same one said a round later, to itself with a \"not\" in it, and to \
         another view.\n",
        3 * count
    ));
    text
}
