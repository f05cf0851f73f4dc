//! Measuring how far the panel of a debate agrees.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;
use roundtable_core::debate::{LETTERS, Measuring, letters};
use roundtable_core::id::RoundId;
use roundtable_core::input::Report;
use roundtable_ports::Embedder;

use crate::engine::Engine;
use crate::permit;

/// Makes vectors of the positions and measures them. Doing it again gives the same, and it never
/// fails: where the embedder does, letters are compared.
pub(crate) async fn measure(engine: Engine, round: RoundId, measuring: Measuring) -> Report {
    let _permit = permit::take(engine.permits()).await;
    let made = match &engine.parts().embedder {
        Some(embedder) => embed(embedder.as_ref(), &measuring.texts).await,
        None => None,
    };
    let measure = match made {
        Some((by, vectors)) => measuring.finish(&by, vectors),
        None => {
            let vectors = measuring.texts.iter().map(|text| letters(text)).collect();
            measuring.finish(LETTERS, vectors)
        }
    };
    Report::Measured { round, measure }
}

/// The vectors of an embedder, if it can make all of them. A panic in it costs no more than an error.
async fn embed(embedder: &dyn Embedder, texts: &[String]) -> Option<(String, Vec<Vec<f32>>)> {
    let vectors = AssertUnwindSafe(embedder.embed(texts)).catch_unwind().await.ok()?.ok()?;
    let space = embedder.space();
    let fit = vectors.len() == texts.len()
        && vectors.iter().all(|vector| vector.len() == space.dimension());
    fit.then(|| (space.to_string(), vectors))
}
