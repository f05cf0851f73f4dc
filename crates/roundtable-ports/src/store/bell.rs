//! A doorbell: it says that something happened, not what. It may drop, double and reorder.

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use roundtable_core::id::SessionId;

/// Rings of one session's bell.
pub type Rings = BoxStream<'static, ()>;

/// A lossy doorbell. Exact delivery is built on top, once, by reading the log.
#[async_trait]
pub trait Bell: Send + Sync {
    /// Something happened in this session.
    async fn ring(&self, session: &SessionId);
    /// Rings from now on.
    async fn listen(&self, session: &SessionId) -> Rings;
}
