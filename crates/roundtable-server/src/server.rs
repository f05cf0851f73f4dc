//! The server: an engine, those who may call it, and a listener.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;

use http::Method;
use rmcp::ServerHandler;
use roundtable::Engine;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::access::Access;
use crate::app::{App, Approvals, Limits, Shared};
use crate::connections;
use crate::gate::Gate;
use crate::mcp::{self, Mcp, McpService, Memory};
use crate::operation::OperationInfo;
use crate::operations;
use crate::quota::{Admissions, Quotas};
use crate::routes::{self, Door};
use crate::schema::Schemas;
use crate::sessions::Sessions;

/// How a server runs.
#[derive(Clone, Default)]
pub struct Settings {
    /// Those who may call; keep a clone to replace the tokens while the server runs. Without any, it
    /// listens on loopback only.
    pub access: Access,
    /// Names that the server answers to, besides `localhost` and addresses.
    pub hosts: Vec<String>,
    /// Origins of pages that may call it, besides its own: `https://app.example`.
    pub origins: Vec<String>,
    /// How much is allowed.
    pub limits: Limits,
    /// Who decides on tool calls when an MCP client asks for rounds.
    pub approvals: Approvals,
    /// What callers may spend and hold. The engine needs the same: see `EngineBuilder::allowances`.
    pub quotas: Quotas,
}

/// Why a server does not run.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Anyone could use it.
    #[error(
        "{address} is reachable from other machines, but no tokens are configured. Add a \
         [[token]] to the configuration, or listen on 127.0.0.1"
    )]
    Unprotected {
        /// Where it was to listen.
        address: SocketAddr,
    },
    /// The listener fails.
    #[error("the server cannot listen: {0}")]
    Listen(#[from] std::io::Error),
}

/// A server.
pub struct Server {
    app: App,
    settings: Settings,
    other_mcp: Option<MakeMcp>,
}

type MakeMcp = Box<dyn Fn(&App, SocketAddr, &Settings) -> McpService + Send + Sync>;

impl Server {
    /// A server of this engine's sessions.
    pub fn new(engine: Engine, settings: Settings) -> Self {
        let app = App::new(Shared {
            sessions: Sessions::new(engine),
            access: settings.access.clone(),
            limits: settings.limits.clone(),
            approvals: settings.approvals,
            quotas: settings.quotas.clone(),
            admissions: Admissions::default(),
            schemas: Schemas::default(),
            seats: Arc::new(Semaphore::new(settings.limits.streams)),
            turns: Semaphore::new(settings.limits.catching_up),
            exports: Arc::new(Semaphore::new(settings.limits.exports)),
            open_sockets: TaskTracker::new(),
            stopping: CancellationToken::new(),
        });
        Self { app, settings, other_mcp: None }
    }

    /// Puts an MCP server of one's own at `/mcp`, behind the same gate, in place of the debates'.
    #[must_use]
    pub fn mcp<H: ServerHandler + Clone>(self, handler: H) -> Self {
        self.other(handler, Memory::Nothing)
    }

    /// The same for one that asks its clients something while they wait. In the older era of the
    /// protocol that needs sessions of the transport, which are kept in memory.
    #[must_use]
    pub fn mcp_with_sessions<H: ServerHandler + Clone>(self, handler: H) -> Self {
        self.other(handler, Memory::Sessions)
    }

    fn other<H: ServerHandler + Clone>(mut self, handler: H, memory: Memory) -> Self {
        self.other_mcp = Some(Box::new(move |app, address, settings| {
            let handler = handler.clone();
            mcp::service(app, address, settings, memory, move || handler.clone())
        }));
        self
    }

    /// Every route: method, path, and who may use it.
    pub fn routes() -> Vec<(Method, &'static str, Door)> {
        routes::all().into_iter().map(|route| (route.method, route.path, route.door)).collect()
    }

    /// Every operation, and what it is called on each transport.
    pub fn operations() -> Vec<OperationInfo> {
        operations::all().iter().map(OperationInfo::of).collect()
    }

    /// Serves until `shutdown` is there; then it takes nothing new and lets what waits end.
    ///
    /// # Errors
    /// [`ServeError`] when the listener can be reached from other machines and there are no
    /// tokens, or when it fails.
    pub async fn run(
        self,
        listener: TcpListener,
        shutdown: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), ServeError> {
        let address = listener.local_addr()?;
        check(address, &self.settings.access)?;
        let gate = Gate::new(address, &self.settings.hosts, &self.settings.origins);
        let app = self.app.clone();
        let mcp = match &self.other_mcp {
            Some(make) => make(&self.app, address, &self.settings),
            None => {
                mcp::service(&app.clone(), address, &self.settings, Memory::Nothing, move || {
                    Mcp::new(app.clone(), None)
                })
            }
        };
        let router = routes::router(&self.app, gate, mcp);
        let stopping = &self.app.stopping;
        let stops = async {
            shutdown.await;
            stopping.cancel();
        };
        let limits = &self.settings.limits;
        let served = connections::serve(listener, router, limits, stopping.clone());
        tokio::join!(served, stops);
        self.app.open_sockets.close();
        self.app.open_sockets.wait().await;
        Ok(())
    }
}

/// Refuses to let everyone in.
///
/// # Errors
/// [`ServeError::Unprotected`] when the address can be reached from other machines and there are
/// no tokens.
pub fn check(address: SocketAddr, access: &Access) -> Result<(), ServeError> {
    if access.is_open() && !address.ip().is_loopback() {
        return Err(ServeError::Unprotected { address });
    }
    Ok(())
}
