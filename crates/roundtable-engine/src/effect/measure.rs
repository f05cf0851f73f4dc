//! Measuring how far the panel of a debate agrees.

use roundtable_core::debate::{LETTERS, Measuring, letters};
use roundtable_core::id::RoundId;
use roundtable_core::input::Report;

use crate::engine::Engine;
use crate::permit;

/// Makes vectors of the positions and measures them. Doing it again gives the same.
pub(crate) async fn measure(engine: Engine, round: RoundId, measuring: Measuring) -> Report {
    let _permit = permit::take(engine.permits()).await;
    let vectors = measuring.texts.iter().map(|text| letters(text)).collect();
    Report::Measured { round, measure: measuring.finish(LETTERS, vectors) }
}
