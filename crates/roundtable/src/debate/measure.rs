//! Measuring how far the panel of a debate agrees: the job that debates have.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::FutureExt as _;
use roundtable_debate::Measuring;
use roundtable_ports::{Embedder, Job, JobError, JobRequest};
use serde_json::Value;

/// What a measure without vectors is made by.
const STANCES: &str = "stances alone";

/// Makes vectors of the positions and measures them. Doing it again gives the same, and it never
/// fails for want of vectors: without them, stances alone count.
pub(crate) struct Measure(pub Arc<dyn Embedder>);

#[async_trait]
impl Job for Measure {
    async fn run(&self, request: JobRequest) -> Result<Value, JobError> {
        let failed = |error: serde_json::Error| JobError(error.to_string());
        let measuring: Measuring = serde_json::from_value(request.input).map_err(failed)?;
        let made = embed(self.0.as_ref(), &measuring.texts).await;
        let (by, vectors) = made.unwrap_or_else(|| (STANCES.to_owned(), Vec::new()));
        serde_json::to_value(measuring.finish(&by, vectors)).map_err(failed)
    }
}

/// The vectors of an embedder, if it can make all of them. A panic in it costs no more than an error.
async fn embed(embedder: &dyn Embedder, texts: &[String]) -> Option<(String, Vec<Vec<f32>>)> {
    let vectors = AssertUnwindSafe(embedder.embed(texts)).catch_unwind().await.ok()?.ok()?;
    let space = embedder.space();
    let fits = |vector: &Vec<f32>| vector.len() == space.dimension();
    let whole = vectors.len() == texts.len() && vectors.iter().all(fits);
    whole.then(|| (space.to_string(), vectors))
}
