//! Bells that do what a bell may do at its worst.

use async_trait::async_trait;
use futures_util::StreamExt as _;
use futures_util::stream;
use roundtable_core::id::SessionId;
use roundtable_ports::{Bell, Rings};

/// How a bell misbehaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadBell {
    /// It never rings.
    Silent,
    /// It rings without end, whether or not anything happened.
    Restless,
    /// It rings once and hangs up.
    HangsUp,
}

#[async_trait]
impl Bell for BadBell {
    async fn ring(&self, _session: &SessionId) {}

    async fn listen(&self, _session: &SessionId) -> Rings {
        match self {
            Self::Silent => stream::pending().boxed(),
            // A pause between rings: a bell has to let others have the line.
            Self::Restless => stream::repeat(())
                .then(|()| tokio::time::sleep(std::time::Duration::from_millis(1)))
                .boxed(),
            Self::HangsUp => {
                stream::unfold(true, |first| async move { first.then_some(((), false)) }).boxed()
            }
        }
    }
}
