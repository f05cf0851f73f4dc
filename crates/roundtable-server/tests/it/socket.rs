//! A WebSocket client that sends exactly what a test says, and reads what comes.

use std::net::SocketAddr;

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::http::Request;
use tokio_tungstenite::tungstenite::{self, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

/// A connection.
pub struct Socket {
    stream: WebSocketStream<MaybeTlsStream<TcpStream>>,
    /// How many requests were sent with an id.
    requests: u64,
}

/// A handshake with these headers.
pub fn handshake(address: SocketAddr, headers: &[(&str, &str)]) -> Request<()> {
    let mut request = format!("ws://{address}/ws").into_client_request().expect("a URL");
    for (name, value) in headers {
        let name: tungstenite::http::HeaderName = name.parse().expect("a name");
        request.headers_mut().insert(name, value.parse().expect("a value"));
    }
    request
}

/// Tries a handshake: a connection, or the status of the refusal.
pub async fn try_connect(address: SocketAddr, headers: &[(&str, &str)]) -> Result<Socket, u16> {
    match tokio_tungstenite::connect_async(handshake(address, headers)).await {
        Ok((stream, _)) => Ok(Socket { stream, requests: 0 }),
        Err(tungstenite::Error::Http(refused)) => Err(refused.status().as_u16()),
        Err(error) => panic!("{error}"),
    }
}

/// Connects, and reads the greeting.
pub async fn connect(address: SocketAddr) -> Socket {
    connect_as(address, None).await
}

/// The same with a token.
pub async fn connect_as(address: SocketAddr, token: Option<&str>) -> Socket {
    let token = token.map(|token| format!("Bearer {token}"));
    let headers: Vec<_> = token.iter().map(|token| ("authorization", token.as_str())).collect();
    let mut socket = try_connect(address, &headers).await.expect("a WebSocket");
    assert_eq!(socket.next().await["type"], "connected");
    socket
}

impl Socket {
    pub async fn send(&mut self, frame: Value) {
        self.send_raw(Message::text(frame.to_string())).await;
    }

    pub async fn send_raw(&mut self, message: Message) {
        self.stream.send(message).await.expect("a connection");
    }

    /// The next frame; nothing when the connection has ended.
    pub async fn try_next(&mut self) -> Option<Value> {
        loop {
            match self.stream.next().await? {
                Ok(Message::Text(text)) => return Some(serde_json::from_str(&text).expect("JSON")),
                Ok(Message::Close(_)) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }

    pub async fn next(&mut self) -> Value {
        self.try_next().await.expect("a frame")
    }

    /// The close code, after everything that comes before it.
    pub async fn close_code(&mut self) -> Option<u16> {
        loop {
            match self.stream.next().await? {
                Ok(Message::Close(frame)) => return frame.map(|frame| frame.code.into()),
                Ok(_) => {}
                Err(_) => return None,
            }
        }
    }

    /// Frames up to and including the first that fits.
    pub async fn until(&mut self, fits: impl Fn(&Value) -> bool) -> Vec<Value> {
        let mut frames = Vec::new();
        loop {
            let frame = self.next().await;
            let done = fits(&frame);
            frames.push(frame);
            if done {
                return frames;
            }
        }
    }

    /// Sends a request and reads its answer; frames that come before it are dropped.
    pub async fn ask(&mut self, frame: Value) -> Value {
        self.ask_collecting(frame).await.pop().expect("an answer")
    }

    /// The same with all frames up to the answer.
    pub async fn ask_collecting(&mut self, mut frame: Value) -> Vec<Value> {
        self.requests += 1;
        let id = self.requests;
        frame["id"] = json!(id);
        self.send(frame).await;
        self.until(|answer| answer["id"] == id).await
    }
}

/// Whether a frame is the end of the round that a message began.
pub fn ends(frame: &Value, message: &str) -> bool {
    frame["type"] == "round_ended" && frame["messageId"] == message
}
