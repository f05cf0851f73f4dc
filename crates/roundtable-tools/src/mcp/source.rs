//! A server as a source of tools: a task that keeps one connection, and handles that call through
//! it. A connection that ended is made again by the next call, not by the clock.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use roundtable_core::digest::Digest;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::catalog::Catalog;
use super::connection::Connection;
use super::pins::Pin as Approved;
use super::report::{Finding, Report};
use super::server::McpServer;

const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// What handles ask of the task.
enum Letter {
    /// A connection for a call of a tool whose definition has this digest.
    Lease { tool: String, digest: Digest, reply: oneshot::Sender<Result<Arc<Connection>, String>> },
    /// A call over this connection was given up.
    Suspect(Arc<Connection>),
}

/// The side of a source that tools hold.
#[derive(Clone)]
pub(super) struct SourceHandle {
    letters: mpsc::Sender<Letter>,
}

impl SourceHandle {
    /// A connection over which this tool may be called; the reason for the model, if there is none.
    pub async fn lease(&self, tool: &str, digest: &Digest) -> Result<Arc<Connection>, String> {
        let (reply, answer) = oneshot::channel();
        let letter = Letter::Lease { tool: tool.to_owned(), digest: digest.clone(), reply };
        let ended = || "the connection to this server was shut down".to_owned();
        self.letters.send(letter).await.map_err(|_| ended())?;
        answer.await.map_err(|_| ended())?
    }

    /// Says that a call was given up: the server may hang.
    pub fn suspect(&self, connection: Arc<Connection>) {
        // With a full mailbox someone else asks for the connection anyway, and finds out.
        let _ = self.letters.try_send(Letter::Suspect(connection));
    }
}

/// The connection, or how often it has been lost in a row.
enum Link {
    Up { connection: Arc<Connection>, admitted: BTreeMap<String, Digest>, lost: u32 },
    Down { lost: u32, pause: Option<Pin<Box<Sleep>>> },
}

/// The running side of a source.
pub(super) struct SourceTask {
    server: Arc<McpServer>,
    pins: BTreeMap<String, Approved>,
    link: Link,
    letters: mpsc::Receiver<Letter>,
    reports: watch::Sender<Vec<Report>>,
    stop: CancellationToken,
    tracker: TaskTracker,
}

/// Makes a source: the task, a handle, and what there is to report.
pub(super) fn source(
    server: Arc<McpServer>,
    pins: BTreeMap<String, Approved>,
    stop: CancellationToken,
    tracker: TaskTracker,
) -> (SourceTask, SourceHandle, watch::Receiver<Vec<Report>>) {
    let (sender, letters) = mpsc::channel(64);
    let (reports, reported) = watch::channel(Vec::new());
    let link = Link::Down { lost: 0, pause: None };
    let task = SourceTask { server, pins, link, letters, reports, stop, tracker };
    (task, SourceHandle { letters: sender }, reported)
}

/// What a source has to deal with.
enum Happening {
    /// The link itself wants attention: tools are others now, or a pause is over.
    Stirred,
    Letter(Letter),
}

impl Link {
    async fn stirs(&mut self) {
        match self {
            Self::Up { connection, .. } => connection.changed().await,
            Self::Down { pause: Some(pause), .. } => pause.as_mut().await,
            Self::Down { pause: None, .. } => std::future::pending().await,
        }
    }
}

impl SourceTask {
    /// Serves handles until it is stopped or they are gone. The connection ends with it.
    pub async fn run(mut self) {
        let stop = self.stop.clone();
        while let Some(Some(happening)) = stop.run_until_cancelled(self.next()).await {
            if stop.run_until_cancelled(self.handle(happening)).await.is_none() {
                break;
            }
        }
        if let Link::Up { connection, .. } = &self.link {
            connection.close();
        }
    }

    async fn next(&mut self) -> Option<Happening> {
        tokio::select! {
            biased;
            () = self.link.stirs() => Some(Happening::Stirred),
            letter = self.letters.recv() => letter.map(Happening::Letter),
        }
    }

    async fn handle(&mut self, happening: Happening) {
        match happening {
            Happening::Stirred => match &mut self.link {
                Link::Up { connection, .. } => {
                    let connection = connection.clone();
                    self.list(connection).await;
                }
                Link::Down { pause, .. } => *pause = None,
            },
            Happening::Letter(Letter::Lease { tool, digest, reply }) => {
                let lease = self.lease(&tool, &digest).await;
                // Nobody waits for a call that was cancelled meanwhile.
                let _ = reply.send(lease);
            }
            Happening::Letter(Letter::Suspect(connection)) => {
                if !connection.is_closed() && !connection.answers().await {
                    connection.close();
                }
            }
        }
    }

    async fn lease(&mut self, tool: &str, digest: &Digest) -> Result<Arc<Connection>, String> {
        self.connect().await;
        let name = &self.server.name;
        match &self.link {
            Link::Down { .. } => Err(format!("the MCP server \"{name}\" is not available now")),
            Link::Up { connection, admitted, .. } => match admitted.get(tool) {
                Some(offered) if offered == digest => Ok(connection.clone()),
                Some(_) | None => Err(format!(
                    "\"{tool}\" of the MCP server \"{name}\" changed since it was approved; it is \
                     disabled until an operator approves it"
                )),
            },
        }
    }

    /// Connects, unless there is a connection, or it is too early for another attempt.
    pub async fn connect(&mut self) {
        if let Link::Up { connection, lost, .. } = &self.link
            && connection.is_closed()
        {
            // A server that was of use is started again at once.
            let lost = if connection.has_served() { 0 } else { *lost };
            self.lose(lost);
        }
        if !matches!(self.link, Link::Down { pause: None, .. }) {
            return;
        }
        let opening = Connection::open(&self.server, &self.tracker);
        match tokio::time::timeout(self.server.start_timeout, opening).await {
            Ok(Ok(connection)) => self.list(Arc::new(connection)).await,
            Ok(Err(why)) => self.miss(why),
            Err(_) => self.miss(self.too_slow()),
        }
    }

    /// Asks which tools there are, and holds them against what was approved.
    async fn list(&mut self, connection: Arc<Connection>) {
        let lost = match &self.link {
            Link::Up { lost, .. } | Link::Down { lost, .. } => *lost,
        };
        match tokio::time::timeout(self.server.start_timeout, connection.list()).await {
            Ok(Ok(offered)) => {
                let catalog = Catalog::of(&self.server.name, offered, &self.pins);
                self.reports.send_replace(catalog.reports);
                self.link = Link::Up { connection, admitted: catalog.admitted, lost };
            }
            Ok(Err(why)) => {
                connection.close();
                self.miss(why);
            }
            Err(_) => {
                connection.close();
                self.miss(self.too_slow());
            }
        }
    }

    fn too_slow(&self) -> String {
        format!("it took longer than {} s to start", self.server.start_timeout.as_secs())
    }

    fn miss(&mut self, why: String) {
        let report =
            Report { server: self.server.name.clone(), finding: Finding::Unreachable { why } };
        self.reports.send_replace(vec![report]);
        let (Link::Up { lost, .. } | Link::Down { lost, .. }) = &self.link;
        self.lose(*lost);
    }

    /// Notes a loss. The first one is made good at once, the next ones after longer and longer pauses.
    fn lose(&mut self, lost: u32) {
        let pause = lost.checked_sub(1).map(|earlier| {
            let pause = FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(earlier));
            Box::pin(tokio::time::sleep(pause.min(LONGEST_PAUSE)))
        });
        self.link = Link::Down { lost: lost.saturating_add(1), pause };
    }
}
