//! The measure against a fixed set of positions, with the real embeddings: that is where its
//! thresholds come from. `cargo xtask bench consensus` prints the figures.

use std::path::PathBuf;

use roundtable::debate::{Level, Measure, Stance};
use roundtable::models::local::{HashedEmbedder, LocalEmbedder, Trust, weights};
use roundtable::ports::Embedder;
use roundtable_testing::positions::{Kind, Question};

/// MiniLM, from where `cargo xtask test` puts the weights.
fn minilm() -> LocalEmbedder {
    let named = std::env::var_os("ROUNDTABLE_MODELS_DIR").map(PathBuf::from);
    let usual = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/models"));
    let folder = named.unwrap_or(usual).join(weights::EMBEDDER);
    LocalEmbedder::open(&folder, Trust::Known)
        .unwrap_or_else(|error| panic!("{error}; `cargo xtask test` fetches the weights"))
}

/// Agreeing, split and opposed.
async fn ranked(embedder: &dyn Embedder, question: &Question) -> [Measure; 3] {
    let [agreeing, split, opposed] = Kind::ALL.map(|kind| question.agreement(embedder, kind));
    [agreeing.await, split.await, opposed.await]
}

fn figures(measures: &[Measure; 3]) -> [f64; 3] {
    [measures[0].agreement, measures[1].agreement, measures[2].agreement]
}

/// The mean of each kind.
fn means(rows: &[[f64; 3]]) -> [f64; 3] {
    let count = f64::from(u32::try_from(rows.len()).unwrap());
    [0, 1, 2].map(|kind| rows.iter().map(|row| row[kind]).sum::<f64>() / count)
}

#[tokio::test]
async fn agreeing_split_and_opposed_positions_rank_in_that_order_with_the_real_embeddings() {
    let embedder = minilm();
    let (mut chosen, mut held_out, mut groups) = (Vec::new(), Vec::new(), 0);
    for question in Question::all() {
        let measures = ranked(&embedder, &question).await;
        for (kind, measure) in Kind::ALL.iter().zip(&measures) {
            let sizes: Vec<usize> = measure.clusters.iter().map(Vec::len).collect();
            groups += usize::from(sizes == kind.groups());
        }
        let row = figures(&measures);
        if question.held_out {
            held_out.push(row);
        } else {
            assert!(
                row[0] > row[1] + 0.02 && row[1] > row[2] + 0.02,
                "{}: {row:?}",
                question.topic
            );
            chosen.push(row);
        }
    }
    let [agreeing, split, opposed] = means(&chosen);
    assert!(agreeing > split + 0.3 && split > opposed + 0.15, "{agreeing} {split} {opposed}");
    let levels = [agreeing, split, opposed].map(Level::of);
    assert_eq!(levels, [Level::High, Level::Medium, Level::Low]);
    // What was not looked at when the thresholds were chosen is harder.
    let [agreeing, split, opposed] = means(&held_out);
    assert!(agreeing > split + 0.1 && split > opposed + 0.05, "{agreeing} {split} {opposed}");
    assert!(groups >= 27, "of 36 panels, {groups} fall into the groups that they were made of");
}

#[tokio::test]
async fn a_position_that_is_held_is_told_from_another_one() {
    let embedder = minilm();
    for question in Question::all() {
        let again = question.drift(&embedder, &question.again).await;
        assert!(again <= 0.2, "{}: held, and {again}", question.topic);
        for view in &question.views[1..] {
            let moved = question.drift(&embedder, &view[0]).await;
            assert!(moved > 0.4, "{}: another view, and {moved}", question.topic);
        }
    }
}

#[tokio::test]
async fn negation_is_not_seen_by_any_embedder_and_sides_make_up_for_it() {
    let (minilm, hashed) = (minilm(), HashedEmbedder::default());
    let embedders: [&dyn Embedder; 2] = [&minilm, &hashed];
    for embedder in embedders {
        for question in Question::all() {
            let said = |sides: [Option<Stance>; 2]| {
                [(sides[0], question.views[0][0].as_str()), (sides[1], question.negated.as_str())]
            };
            let without = question.measure(embedder, &said([None; 2]), &[]).await;
            assert!(without.agreement >= 0.9, "{}: {}", question.topic, without.agreement);
            let sides = said([Some(Stance::Yes), Some(Stance::No)]);
            let with = question.measure(embedder, &sides, &[]).await;
            assert!(with.agreement <= 0.2, "{}: {}", question.topic, with.agreement);
        }
    }
}

#[tokio::test]
async fn hashed_words_never_take_opposed_panels_for_agreeing_ones_and_miss_paraphrases() {
    let embedder = HashedEmbedder::default();
    let mut rows = Vec::new();
    for question in Question::all() {
        let row = figures(&ranked(&embedder, &question).await);
        assert_eq!(Level::of(row[2]), Level::Low, "{}: {row:?}", question.topic);
        rows.push(row);
    }
    let [agreeing, split, opposed] = means(&rows);
    assert!(agreeing > split && split > opposed, "{agreeing} {split} {opposed}");
    assert_eq!(Level::of(agreeing), Level::Low, "other words for one view are other words");
}
