//! A provider on this machine that does what a script says, and counts what it is asked. It lives
//! in the test's own process, so it outlives the processes that ask it.

use std::collections::BTreeMap;
use std::sync::Arc;

use roundtable_models::{Caps, Catalog, Endpoint, HttpModel, Secret, Timeouts};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};

/// The key that all tests use: it must be found nowhere.
pub const CANARY: &str = "sk-canary-0123456789abcdef";

/// What a request gets.
#[derive(Debug, Clone)]
pub enum Answer {
    /// A whole response.
    Whole {
        /// The status.
        status: u16,
        /// The headers.
        headers: Vec<(&'static str, String)>,
        /// The body.
        body: String,
    },
    /// Events, and then the end of the connection without the end of the response.
    Reset(String),
    /// Events, and then nothing more, until the client goes.
    Stall(String),
    /// The same bytes, again and again.
    Endless(String),
    /// Nothing at all, until the client goes.
    Silence,
}

impl Answer {
    /// A whole stream of events.
    pub fn events(body: &str) -> Self {
        let headers = vec![("content-type", "text/event-stream".to_owned())];
        Self::Whole { status: 200, headers, body: body.to_owned() }
    }

    /// JSON with a status.
    pub fn json(status: u16, body: &str) -> Self {
        let headers = vec![("content-type", "application/json".to_owned())];
        Self::Whole { status, headers, body: body.to_owned() }
    }

    /// A status with headers.
    pub fn refusal(status: u16, headers: &[(&'static str, &str)], body: &str) -> Self {
        let headers = headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        Self::Whole { status, headers, body: body.to_owned() }
    }
}

/// How far the answer to a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// The request was read.
    Arrived,
    /// Something of the answer was sent.
    Begun,
    /// All of the answer was sent.
    Answered,
}

/// A request that was received.
#[derive(Debug, Clone)]
pub struct Received {
    /// Its first line.
    pub line: String,
    /// Its headers, by names in lower case.
    pub headers: BTreeMap<String, String>,
    /// Its body.
    pub body: Value,
    /// How far its answer is.
    pub stage: Stage,
}

impl Received {
    /// What makes two requests the same call.
    pub fn key(&self) -> &str {
        self.headers.get("idempotency-key").map_or("", String::as_str)
    }
}

type Script = dyn Fn(usize, &Received) -> Answer + Send + Sync;

/// A provider that follows a script.
pub struct Server {
    /// Where it is.
    pub address: String,
    desk: Desk,
}

/// What all connections share.
#[derive(Clone)]
struct Desk {
    script: Arc<Script>,
    received: watch::Sender<Vec<Received>>,
    gone: Arc<Notify>,
}

impl Server {
    /// A provider with an answer per request, the last one for all that follow.
    pub async fn start(script: Vec<Answer>) -> Self {
        Self::following(move |number, _| script[number.min(script.len() - 1)].clone()).await
    }

    /// A provider whose answers depend on the request, and on how many there were before it.
    #[expect(
        clippy::disallowed_methods,
        reason = "it is not part of an engine, and ends with the test"
    )]
    pub async fn following<F>(script: F) -> Self
    where
        F: Fn(usize, &Received) -> Answer + Send + Sync + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let desk = Desk {
            script: Arc::new(script),
            received: watch::Sender::default(),
            gone: Arc::default(),
        };
        let server = Self { address, desk: desk.clone() };
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(desk.clone().serve(socket));
            }
        });
        server
    }

    /// Every request so far, in the order in which they came.
    pub fn received(&self) -> Vec<Received> {
        self.desk.received.borrow().clone()
    }

    /// Waits until the answer to a request is so far; requests count from 0.
    pub async fn reaches(&self, number: usize, stage: Stage) {
        let mut received = self.desk.received.subscribe();
        let there = |all: &Vec<Received>| all.get(number).is_some_and(|one| one.stage >= stage);
        received.wait_for(there).await.expect("a provider that lives");
    }

    /// Waits until a client has left before it had everything.
    pub async fn client_gone(&self) {
        self.desk.gone.notified().await;
    }

    /// A model of this server.
    pub fn model(&self, name: &str, timeouts: Timeouts, caps: Caps) -> HttpModel {
        model(&self.address, name, timeouts, caps)
    }
}

/// A model of the server at this address.
pub fn model(address: &str, name: &str, timeouts: Timeouts, caps: Caps) -> HttpModel {
    let endpoint = Endpoint {
        key: Some(Secret::new(CANARY)),
        base_url: Some(address.to_owned()),
        timeouts,
        caps,
        ..Endpoint::default()
    };
    let catalog = Catalog::builtin().expect("a catalog");
    catalog.model(name, endpoint).expect("a model")
}

impl Desk {
    /// Serves one request; a connection serves no second one.
    async fn serve(self, mut socket: TcpStream) {
        let Some(request) = read_request(&mut socket).await else { return };
        let mut number = 0;
        self.received.send_modify(|all| {
            number = all.len();
            all.push(request.clone());
        });
        let answer = (self.script)(number, &request);
        self.answer(&mut socket, number, answer).await;
    }

    async fn answer(&self, socket: &mut TcpStream, number: usize, answer: Answer) {
        match answer {
            Answer::Whole { status, headers, body } => {
                let mut head = format!("HTTP/1.1 {status} Scripted\r\nconnection: close\r\n");
                for (name, value) in headers {
                    head.push_str(&format!("{name}: {value}\r\n"));
                }
                head.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
                let _ = socket.write_all(head.as_bytes()).await;
                let _ = socket.write_all(body.as_bytes()).await;
                self.note(number, Stage::Answered);
            }
            Answer::Reset(events) => {
                begin(socket, &events).await;
                self.note(number, Stage::Begun);
            }
            Answer::Stall(events) => {
                begin(socket, &events).await;
                self.note(number, Stage::Begun);
                self.wait_until_gone(socket).await;
            }
            Answer::Endless(events) => {
                begin(socket, &events).await;
                self.note(number, Stage::Begun);
                let piece = format!("{:x}\r\n{events}\r\n", events.len());
                while socket.write_all(piece.as_bytes()).await.is_ok() {}
                self.gone.notify_one();
            }
            Answer::Silence => self.wait_until_gone(socket).await,
        }
    }

    fn note(&self, number: usize, stage: Stage) {
        self.received.send_modify(|all| all[number].stage = stage);
    }

    async fn wait_until_gone(&self, socket: &mut TcpStream) {
        let mut rest = [0; 64];
        while socket.read(&mut rest).await.is_ok_and(|read| read > 0) {}
        self.gone.notify_one();
    }
}

async fn begin(socket: &mut TcpStream, events: &str) {
    let head =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let _ = socket.write_all(head.as_bytes()).await;
    if !events.is_empty() {
        let piece = format!("{:x}\r\n{events}\r\n", events.len());
        let _ = socket.write_all(piece.as_bytes()).await;
    }
}

/// A request; nothing when the client leaves before it is whole.
async fn read_request(socket: &mut TcpStream) -> Option<Received> {
    let mut bytes = Vec::new();
    let head = loop {
        read_on(socket, &mut bytes).await?;
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break bytes.drain(..end + 4).collect::<Vec<_>>();
        }
    };
    let head = String::from_utf8(head).expect("a head in words");
    let mut lines = head.lines();
    let line = lines.next()?.to_owned();
    let headers: BTreeMap<String, String> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        .collect();
    let length = headers.get("content-length").map(|length| length.parse().expect("a length"));
    while bytes.len() < length.unwrap_or(0) {
        read_on(socket, &mut bytes).await?;
    }
    // A request without a body is a question about the server itself.
    let body = match length {
        Some(_) => serde_json::from_slice(&bytes).expect("JSON"),
        None => Value::Null,
    };
    Some(Received { line, headers, body, stage: Stage::Arrived })
}

async fn read_on(socket: &mut TcpStream, bytes: &mut Vec<u8>) -> Option<()> {
    let mut piece = [0; 8192];
    let read = socket.read(&mut piece).await.ok().filter(|read| *read > 0)?;
    bytes.extend_from_slice(&piece[..read]);
    Some(())
}
