//! A client that sends exactly what a test says, and reads what comes.

use std::net::SocketAddr;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    /// As they came, in lower case, one per line.
    pub headers: String,
    pub body: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The status and the machine-readable reason, also where a route has OpenAI's format.
    pub fn problem(&self) -> (u16, String) {
        let body = self.json();
        let (error, reason) = match &body["error"] {
            Value::Object(error) => (&error["message"], &error["code"]),
            error => (error, &body["reason"]),
        };
        assert!(error.as_str().is_some_and(|error| error.len() > 20), "{body}");
        let reason = match reason.as_str().unwrap_or_default() {
            "invalid_api_key" => "unauthenticated",
            reason => reason,
        };
        (self.status, reason.to_owned())
    }
}

/// A request that is being written.
#[derive(Clone)]
pub struct Request {
    address: SocketAddr,
    method: String,
    path: String,
    host: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

pub fn request(address: SocketAddr, method: &str, path: &str) -> Request {
    Request {
        address,
        method: method.to_owned(),
        path: path.to_owned(),
        host: address.to_string(),
        headers: Vec::new(),
        body: Vec::new(),
    }
}

pub fn get(address: SocketAddr, path: &str) -> Request {
    request(address, "GET", path)
}

pub fn post(address: SocketAddr, path: &str, body: &Value) -> Request {
    request(address, "POST", path).header("content-type", "application/json").body(body.to_string())
}

impl Request {
    pub fn host(mut self, host: &str) -> Self {
        self.host = host.to_owned();
        self
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn token(self, token: &str) -> Self {
        self.header("authorization", &format!("Bearer {token}"))
    }

    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    async fn connect(&self) -> BufReader<TcpStream> {
        let mut stream = TcpStream::connect(self.address).await.expect("a server");
        let mut head = format!(
            "{} {} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n",
            self.method, self.path, self.host
        );
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        let says_length = self.headers.iter().any(|(name, _)| name == "content-length");
        if !says_length && (!self.body.is_empty() || self.method == "POST") {
            head.push_str(&format!("content-length: {}\r\n", self.body.len()));
        }
        head.push_str("\r\n");
        stream.write_all(head.as_bytes()).await.expect("a connection");
        // A server that refuses early may not read the rest.
        let _ = stream.write_all(&self.body).await;
        BufReader::new(stream)
    }

    /// Sends it and reads the whole answer.
    pub async fn send(&self) -> Answer {
        let mut reader = self.connect().await;
        let (status, headers) = head(&mut reader).await;
        let mut rest = Vec::new();
        // A connection that was refused early may be reset after the answer.
        let _ = reader.read_to_end(&mut rest).await;
        if headers.contains("transfer-encoding: chunked") {
            rest = unchunked(&rest);
        }
        Answer { status, headers, body: String::from_utf8_lossy(&rest).into_owned() }
    }

    /// Sends it, reads the status and hangs up.
    pub async fn status(&self) -> u16 {
        let mut reader = self.connect().await;
        head(&mut reader).await.0
    }

    /// Sends it, hangs up when something has happened, and waits until the server has noticed. What it
    /// had said by then.
    pub async fn hang_up_after(&self, happened: impl Future<Output = ()>) -> String {
        let mut reader = self.connect().await;
        happened.await;
        reader.get_mut().shutdown().await.expect("a connection");
        let mut said = String::new();
        reader.read_to_string(&mut said).await.expect("an end");
        said
    }

    /// Sends it and reads the answer as it comes.
    pub async fn stream(&self) -> Events {
        let mut reader = self.connect().await;
        let (status, headers) = head(&mut reader).await;
        assert_eq!(status, 200, "{headers}");
        assert!(headers.contains("content-type: text/event-stream"), "{headers}");
        Events { reader, text: String::new() }
    }
}

async fn head(reader: &mut BufReader<TcpStream>) -> (u16, String) {
    let mut first = String::new();
    reader.read_line(&mut first).await.expect("an answer");
    let status = first.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    let mut headers = String::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).await.expect("a header");
        if line.trim().is_empty() {
            return (status, headers);
        }
        headers.push_str(&line.to_ascii_lowercase());
    }
}

fn unchunked(mut bytes: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(end) = bytes.windows(2).position(|pair| pair == b"\r\n") {
        let size = std::str::from_utf8(&bytes[..end]).expect("a size");
        let size = usize::from_str_radix(size, 16).expect("a size");
        whole.extend_from_slice(&bytes[end + 2..end + 2 + size]);
        bytes = &bytes[end + 2 + size + 2..];
        if size == 0 {
            break;
        }
    }
    whole
}

/// A server-sent event.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    pub id: Option<String>,
    pub name: String,
    pub data: Value,
}

/// Server-sent events as they come.
pub struct Events {
    reader: BufReader<TcpStream>,
    text: String,
}

impl Events {
    /// The next one; nothing when the server has hung up.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            while let Some((block, rest)) = self.text.split_once("\n\n") {
                let event = event(block);
                self.text = rest.to_owned();
                if event.is_some() {
                    return event;
                }
            }
            let mut size = String::new();
            self.reader.read_line(&mut size).await.ok()?;
            let size = usize::from_str_radix(size.trim(), 16).ok().filter(|size| *size > 0)?;
            let mut chunk = vec![0; size + 2];
            self.reader.read_exact(&mut chunk).await.ok()?;
            self.text.push_str(std::str::from_utf8(&chunk[..size]).expect("text"));
        }
    }
}

/// What a block of lines says; comments say nothing.
fn event(block: &str) -> Option<Event> {
    let field =
        |name: &str| block.lines().find_map(|line| Some(line.strip_prefix(name)?.trim_start()));
    Some(Event {
        id: field("id:").map(str::to_owned),
        name: field("event:").unwrap_or("message").to_owned(),
        data: serde_json::from_str(field("data:")?).expect("JSON"),
    })
}
