//! A provider on this machine that does what a script says, and counts what it is asked.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use roundtable_models::{Caps, Catalog, Endpoint, HttpModel, Secret, Timeouts};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// The key that all tests use: it must be found nowhere.
pub const CANARY: &str = "sk-canary-0123456789abcdef";

/// What a connection gets.
#[derive(Debug, Clone)]
pub enum Answer {
    /// A whole response.
    Whole { status: u16, headers: Vec<(&'static str, String)>, body: String },
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
    pub fn events(body: &str) -> Self {
        let headers = vec![("content-type", "text/event-stream".to_owned())];
        Self::Whole { status: 200, headers, body: body.to_owned() }
    }

    pub fn json(status: u16, body: &str) -> Self {
        let headers = vec![("content-type", "application/json".to_owned())];
        Self::Whole { status, headers, body: body.to_owned() }
    }

    pub fn refusal(status: u16, headers: &[(&'static str, &str)], body: &str) -> Self {
        let headers = headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        Self::Whole { status, headers, body: body.to_owned() }
    }
}

/// A request that was received.
#[derive(Debug, Clone)]
pub struct Received {
    pub line: String,
    pub headers: BTreeMap<String, String>,
    pub body: Value,
}

/// A provider that follows a script: an answer per request, the last one for all that follow.
pub struct Server {
    pub address: String,
    received: Arc<Mutex<Vec<Received>>>,
    gone: Arc<Notify>,
}

impl Server {
    pub async fn start(script: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let (received, gone) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Notify::new()));
        let server = Self { address, received: received.clone(), gone: gone.clone() };
        tokio::spawn(async move {
            let mut served = 0;
            while let Ok((socket, _)) = listener.accept().await {
                let answer = script[served.min(script.len() - 1)].clone();
                served += 1;
                tokio::spawn(serve(socket, answer, received.clone(), gone.clone()));
            }
        });
        server
    }

    pub fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    /// Waits until a client has left before it had everything.
    pub async fn client_gone(&self) {
        self.gone.notified().await;
    }

    /// A model of this server.
    pub fn model(&self, name: &str, timeouts: Timeouts, caps: Caps) -> HttpModel {
        let endpoint = Endpoint {
            key: Some(Secret::new(CANARY)),
            base_url: Some(self.address.clone()),
            timeouts,
            caps,
            ..Endpoint::default()
        };
        Catalog::builtin().unwrap().model(name, endpoint).unwrap()
    }
}

async fn serve(
    mut socket: TcpStream,
    answer: Answer,
    received: Arc<Mutex<Vec<Received>>>,
    gone: Arc<Notify>,
) {
    let request = read_request(&mut socket).await;
    received.lock().unwrap().push(request);
    match answer {
        Answer::Whole { status, headers, body } => {
            let mut head = format!("HTTP/1.1 {status} Scripted\r\nconnection: close\r\n");
            for (name, value) in headers {
                head.push_str(&format!("{name}: {value}\r\n"));
            }
            head.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
            let _ = socket.write_all(head.as_bytes()).await;
            let _ = socket.write_all(body.as_bytes()).await;
        }
        Answer::Reset(events) => begin(&mut socket, &events).await,
        Answer::Stall(events) => {
            begin(&mut socket, &events).await;
            wait_until_gone(&mut socket, &gone).await;
        }
        Answer::Endless(events) => {
            begin(&mut socket, &events).await;
            let piece = format!("{:x}\r\n{events}\r\n", events.len());
            while socket.write_all(piece.as_bytes()).await.is_ok() {}
            gone.notify_one();
        }
        Answer::Silence => wait_until_gone(&mut socket, &gone).await,
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

async fn wait_until_gone(socket: &mut TcpStream, gone: &Notify) {
    let mut rest = [0; 64];
    while socket.read(&mut rest).await.is_ok_and(|read| read > 0) {}
    gone.notify_one();
}

async fn read_request(socket: &mut TcpStream) -> Received {
    let mut bytes = Vec::new();
    let head = loop {
        let mut piece = [0; 8192];
        let read = socket.read(&mut piece).await.unwrap();
        bytes.extend_from_slice(&piece[..read]);
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break bytes.drain(..end + 4).collect::<Vec<_>>();
        }
        assert!(read > 0, "a request has a head");
    };
    let head = String::from_utf8(head).unwrap();
    let mut lines = head.lines();
    let line = lines.next().unwrap().to_owned();
    let headers: BTreeMap<String, String> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        .collect();
    let length: usize = headers["content-length"].parse().unwrap();
    while bytes.len() < length {
        let mut piece = [0; 8192];
        let read = socket.read(&mut piece).await.unwrap();
        bytes.extend_from_slice(&piece[..read]);
    }
    Received { line, headers, body: serde_json::from_slice(&bytes).unwrap() }
}
