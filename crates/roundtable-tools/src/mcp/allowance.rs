//! A limit on how much a server may say: every call gives it a new allowance, and a server that
//! spends it is treated as one that ended.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

/// How many bytes a server may say for one call, on standard output or in one HTTP response.
pub(super) const ALLOWANCE: usize = 16 * 1024 * 1024;

/// What a message costs besides its bytes: very many short ones are as bad as a long one.
const PER_MESSAGE: usize = 1024;

/// How many bytes may still come.
#[derive(Debug, Clone)]
pub(super) struct Allowance(Arc<AtomicUsize>);

impl Default for Allowance {
    fn default() -> Self {
        Self(Arc::new(AtomicUsize::new(ALLOWANCE)))
    }
}

impl Allowance {
    /// Gives all of it again.
    pub fn renew(&self) {
        self.0.store(ALLOWANCE, Ordering::Relaxed);
    }

    /// Takes so many bytes off, if there are so many.
    fn spend(&self, bytes: usize) -> bool {
        let rest = |left: usize| left.checked_sub(bytes);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, rest).is_ok()
    }
}

/// A reader within an allowance. When it is spent, reading fails.
pub(super) struct LimitedReader<R> {
    reader: R,
    allowance: Allowance,
}

impl<R> LimitedReader<R> {
    pub fn new(reader: R, allowance: Allowance) -> Self {
        Self { reader, allowance }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for LimitedReader<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.reader).poll_read(context, buffer))?;
        let read = &buffer.filled()[before..];
        let messages = read.iter().filter(|byte| **byte == b'\n').count();
        if self.allowance.spend(read.len() + messages * PER_MESSAGE) {
            Poll::Ready(Ok(()))
        } else {
            buffer.set_filled(before);
            Poll::Ready(Err(io::Error::other("the server sent too much data")))
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::*;

    async fn reads(bytes: &[u8], calls: usize) -> bool {
        let allowance = Allowance::default();
        let mut rest = Vec::new();
        for _ in 0..calls {
            allowance.renew();
            let mut reader = LimitedReader::new(bytes, allowance.clone());
            if reader.read_to_end(&mut rest).await.is_err() {
                return false;
            }
        }
        true
    }

    #[tokio::test]
    async fn f30_every_call_gives_an_allowance_of_bytes_and_messages() {
        assert!(reads(&vec![b'x'; ALLOWANCE], 2).await);
        assert!(!reads(&vec![b'x'; ALLOWANCE + 1], 1).await);
        assert!(reads(&[b'\n'; 16_000], 2).await);
        assert!(!reads(&[b'\n'; 17_000], 1).await);
    }
}
