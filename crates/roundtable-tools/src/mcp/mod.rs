//! MCP servers as sources of tools. Only the operator's configuration names servers; nothing that
//! a model or a session says can.
//!
//! A server's tools are called `server__tool`. A tool is offered to models once an operator has
//! approved its definition, and for as long as the server keeps to it ([`Pins`]).

mod allowance;
mod catalog;
mod connection;
mod http;
mod pins;
mod process;
mod report;
mod result;
mod server;
mod source;
mod tool;

use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::future::{join_all, select_all};
use roundtable_ports::DynTool;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use tool::McpTool;

pub use pins::{Definition, Pin, PinFile, Pins, PinsError};
pub use report::{Finding, Report, Withheld};
pub use server::{Approval, McpServer, Transport};

/// Servers that are connected, and their tools.
pub struct Sources {
    tools: Vec<Arc<dyn DynTool>>,
    mistakes: Vec<Report>,
    reports: Vec<watch::Receiver<Vec<Report>>>,
    stop: CancellationToken,
    tracker: TaskTracker,
}

impl Sources {
    /// The tools that may be used.
    pub fn tools(&self) -> Vec<Arc<dyn DynTool>> {
        self.tools.clone()
    }

    /// What the operator should know, as it is now.
    pub fn reports(&self) -> Vec<Report> {
        let current = self.reports.iter().flat_map(|reports| reports.borrow().clone());
        self.mistakes.iter().cloned().chain(current).collect()
    }

    /// Waits until there is something else to report: a server's tools are others now, or a server
    /// was lost.
    pub async fn changed(&mut self) {
        let changes = self.reports.iter_mut().map(|reports| {
            Box::pin(async {
                if reports.changed().await.is_err() {
                    std::future::pending::<()>().await;
                }
            })
        });
        let changes: Vec<_> = changes.collect();
        if changes.is_empty() {
            std::future::pending::<()>().await;
        }
        select_all(changes).await;
    }

    /// Ends every connection, and waits until the servers that were started here are gone.
    /// Servers also end when the process does, in whatever way.
    pub async fn shutdown(&self) {
        self.stop.cancel();
        self.tracker.close();
        self.tracker.wait().await;
    }
}

/// Connects to servers, all at once. One that cannot be reached is reported; its approved tools
/// are there, and a call tries again.
pub async fn connect(servers: impl IntoIterator<Item = McpServer>, pins: &Pins) -> Sources {
    let mut sources = Sources {
        tools: Vec::new(),
        mistakes: Vec::new(),
        reports: Vec::new(),
        stop: CancellationToken::new(),
        tracker: TaskTracker::new(),
    };
    let mut names = BTreeSet::new();
    let mut usable = Vec::new();
    for server in servers {
        let taken = || "duplicate server name; this server is ignored".to_owned();
        match server.mistake().or_else(|| (!names.insert(server.name.clone())).then(taken)) {
            Some(why) => sources
                .mistakes
                .push(Report { server: server.name, finding: Finding::Misconfigured { why } }),
            None => usable.push(Arc::new(server)),
        }
    }
    let started =
        usable.into_iter().map(|server| start(server, pins, &sources.stop, &sources.tracker));
    for (tools, reports) in join_all(started).await {
        sources.tools.extend(tools);
        sources.reports.push(reports);
    }
    sources
}

type Started = (Vec<Arc<dyn DynTool>>, watch::Receiver<Vec<Report>>);

async fn start(
    server: Arc<McpServer>,
    pins: &Pins,
    stop: &CancellationToken,
    tracker: &TaskTracker,
) -> Started {
    let pins = pins.of(&server.name);
    let (mut task, handle, mut reports) =
        source::source(server.clone(), pins.clone(), stop.clone(), tracker.clone());
    task.connect().await;
    let withheld: BTreeSet<String> =
        reports.borrow_and_update().iter().filter_map(Report::tool).collect();
    let tools = pins
        .into_iter()
        .filter(|(name, _)| !withheld.contains(name))
        .map(|(name, pin)| {
            Arc::new(McpTool::new(server.clone(), &name, pin, handle.clone())) as Arc<dyn DynTool>
        })
        .collect();
    tracker.spawn(task.run());
    (tools, reports)
}
