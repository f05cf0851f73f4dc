//! MCP over standard input and output: what an editor starts. Standard output is protocol only.

use std::future::Future;
use std::sync::Arc;

use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use rmcp::transport::io::stdio_pipes;
use roundtable::Engine;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::Mcp;
use crate::app::{App, Shared};
use crate::auth::{Principal, Tokens};
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
    let stopping = CancellationToken::new();
    let app = App::new(Shared {
        sessions: Sessions::new(engine),
        tokens: Tokens::default(),
        host: settings.host,
        seats: Arc::new(Semaphore::new(settings.limits.streams)),
        limits: settings.limits,
        stopping: stopping.clone(),
    });
    let serving = async {
        let running = match Mcp::new(app, Some(Principal::local())).serve(stdio_pipes()).await {
            Ok(running) => running,
            // Nobody said anything: an editor that only looked whether the program starts.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => {
                return Err(format!(
                    "the client and this server do not understand each other: {error}"
                ));
            }
        };
        running.waiting().await.map(|_| ()).map_err(|error| error.to_string())
    };
    tokio::select! {
        served = serving => served,
        () = shutdown => {
            stopping.cancel();
            Ok(())
        }
    }
}
