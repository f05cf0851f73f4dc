//! Measuring how far the panel of a debate agrees.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;
use roundtable_core::debate::Measuring;
use roundtable_core::id::RoundId;
use roundtable_core::input::Report;
use roundtable_ports::Embedder;

use crate::engine::Engine;
use crate::permit;

/// What a measure without vectors is made by.
const STANCES: &str = "stances alone";

/// Makes vectors of the positions and measures them. Doing it again gives the same, and it never
/// fails: without vectors, stances alone count.
pub(crate) async fn measure(engine: Engine, round: RoundId, measuring: Measuring) -> Report {
    let _permit = permit::take(engine.permits()).await;
    let made = match &engine.parts().embedder {
        Some(embedder) => embed(embedder.as_ref(), &measuring.texts).await,
        None => None,
    };
    let (by, vectors) = made.unwrap_or_else(|| (STANCES.to_owned(), Vec::new()));
    Report::Measured { round, measure: measuring.finish(&by, vectors) }
}

/// The vectors of an embedder, if it can make all of them. A panic in it costs no more than an error.
async fn embed(embedder: &dyn Embedder, texts: &[String]) -> Option<(String, Vec<Vec<f32>>)> {
    let vectors = AssertUnwindSafe(embedder.embed(texts)).catch_unwind().await.ok()?.ok()?;
    let space = embedder.space();
    let fits = |vector: &Vec<f32>| vector.len() == space.dimension();
    let whole = vectors.len() == texts.len() && vectors.iter().all(fits);
    whole.then(|| (space.to_string(), vectors))
}
