//! MCP over standard input and output: what an editor starts. Standard output is protocol only.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use rmcp::transport::io::stdio_pipes;
use roundtable::Engine;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::Mcp;
use crate::access::Access;
use crate::app::{App, Shared};
use crate::auth::Principal;
use crate::quota::Admissions;
use crate::schema::Schemas;
use crate::server::Settings;
use crate::sessions::Sessions;

/// Serves whoever started this process, until standard input ends or `shutdown` is there. Rounds that
/// run go on in the engine; what to do with it is the caller's affair.
///
/// # Errors
/// A sentence that says what went wrong with the connection.
pub async fn serve_stdio(
    engine: Engine,
    settings: Settings,
    shutdown: impl Future<Output = ()> + Send,
) -> Result<(), String> {
    serve_pipes(engine, settings, stdio_pipes(), shutdown).await
}

/// Serves one client over a pair of pipes of one's own, as [`serve_stdio`] does over those of the
/// process. Those who wait when the client closes its end, or when `shutdown` comes, are told that their
/// round goes on.
///
/// # Errors
/// A sentence that says what went wrong with the connection.
pub async fn serve_pipes<R, W>(
    engine: Engine,
    settings: Settings,
    pipes: (R, W),
    shutdown: impl Future<Output = ()> + Send,
) -> Result<(), String>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let stopping = CancellationToken::new();
    let app = App::new(Shared {
        sessions: Sessions::new(engine),
        access: Access::default(),
        seats: Arc::new(Semaphore::new(settings.limits.streams)),
        turns: Semaphore::new(settings.limits.catching_up),
        limits: settings.limits,
        approvals: settings.approvals,
        quotas: settings.quotas,
        admissions: Admissions::default(),
        schemas: Schemas::default(),
        exports: Arc::new(Semaphore::new(1)),
        open_sockets: TaskTracker::new(),
        stopping: stopping.clone(),
    });
    let (reader, writer) = pipes;
    let pipes = (Ending { reader, ended: stopping.clone() }, writer);
    tokio::pin!(shutdown);
    let greeted = tokio::select! {
        greeted = Mcp::new(app, Some(Principal::local())).serve(pipes) => greeted,
        () = &mut shutdown => return Ok(()),
    };
    let running = match greeted {
        Ok(running) => running,
        // Nobody said anything: an editor that only looked whether the program starts.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => {
            return Err(format!("MCP connection failed: {error}"));
        }
    };
    let end = running.cancellation_token();
    let ended = running.waiting();
    tokio::pin!(ended);
    let ended = tokio::select! {
        ended = &mut ended => ended,
        () = shutdown => {
            stopping.cancel();
            end.cancel();
            ended.await
        }
    };
    ended.map(|_| ()).map_err(|error| error.to_string())
}

/// A reader that tells when there is nothing more to read: then nobody waits for an answer any more.
struct Ending<R> {
    reader: R,
    ended: CancellationToken,
}

impl<R: AsyncRead + Unpin> AsyncRead for Ending<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let before = buffer.filled().len();
        let read = ready!(Pin::new(&mut self.reader).poll_read(context, buffer));
        let nothing = buffer.filled().len() == before && buffer.remaining() > 0;
        if read.is_err() || nothing {
            self.ended.cancel();
        }
        Poll::Ready(read)
    }
}
