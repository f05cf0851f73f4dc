//! Connections that end when the other side reads nothing for too long: what was sent to it would
//! lie in memory for good.

use std::io::{Error, ErrorKind, IoSlice, Result};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// A stream that gives up when nothing can be written for a while.
pub(crate) struct Patient<S> {
    stream: S,
    patience: Duration,
    waiting: Option<Pin<Box<Sleep>>>,
}

impl<S> Patient<S> {
    pub fn new(stream: S, patience: Duration) -> Self {
        Self { stream, patience, waiting: None }
    }

    /// Passes on what came of writing, or gives up.
    fn settle<T>(&mut self, context: &mut Context<'_>, poll: Poll<Result<T>>) -> Poll<Result<T>> {
        if poll.is_ready() {
            self.waiting = None;
            return poll;
        }
        let patience = self.patience;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
        ready!(waiting.as_mut().poll(context));
        Poll::Ready(Err(Error::new(ErrorKind::TimedOut, "the client does not read")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<Result<usize>> {
        let poll = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.settle(context, poll)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        let poll = Pin::new(&mut self.stream).poll_flush(context);
        self.settle(context, poll)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        let poll = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.settle(context, poll)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt as _;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn f21_a_connection_that_nobody_reads_ends_and_one_that_is_read_does_not() {
        let (ours, mut theirs) = tokio::io::duplex(16);
        let patience = Duration::from_secs(20);
        let mut patient = Patient::new(ours, patience);
        patient.write_all(&[0; 16]).await.unwrap();
        let mut read = [0; 8];
        let reads = async {
            tokio::time::sleep(Duration::from_secs(19)).await;
            tokio::io::AsyncReadExt::read_exact(&mut theirs, &mut read).await.map(|_| ())
        };
        let (wrote, read) = tokio::join!(patient.write_all(&[0; 8]), reads);
        assert!(wrote.is_ok() && read.is_ok(), "a slow reader is waited for");
        let gave_up = patient.write_all(&[0; 8]).await.unwrap_err();
        assert_eq!(gave_up.kind(), ErrorKind::TimedOut);
    }
}
