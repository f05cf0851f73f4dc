//! A server that does nothing but forward prepared frames.

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::extract::ws::{Message, Utf8Bytes, WebSocket, WebSocketUpgrade};
use axum::routing::get;
use tokio::net::TcpListener;
use tokio::sync::broadcast;

use crate::table::{PIECE, PIECE_MS, PIECES};

pub struct Bare {
    pub address: SocketAddr,
    frames: broadcast::Sender<Utf8Bytes>,
}

impl Bare {
    pub async fn start() -> anyhow::Result<Self> {
        let (frames, _) = broadcast::channel(PIECES);
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let sender = frames.clone();
        let handler = async move |upgrade: WebSocketUpgrade| {
            let frames = sender.subscribe();
            upgrade.on_upgrade(move |socket| forward(socket, frames))
        };
        let router = Router::new().route("/ws", get(handler));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(Self { address, frames })
    }

    /// As many frames as an answer has pieces, at the model's pace and as long as the product's.
    pub async fn forward_all(&self) {
        let frame = serde_json::json!({
            "type": "stream_chunk", "conversationId": "ses_0123456789abcdefghjkmnpqrs",
            "messageId": "msg_0123456789abcdefghjkmnpqrs",
            "turnId": "msg_0123456789abcdefghjkmnpqrs",
            "streamId": "str_0123456789abcdefghjkmnpqrs", "offset": 300, "chunk": PIECE,
        });
        let frame = Utf8Bytes::from(frame.to_string());
        for _ in 0..PIECES {
            tokio::time::sleep(Duration::from_millis(PIECE_MS)).await;
            drop(self.frames.send(frame.clone()));
        }
    }
}

async fn forward(mut socket: WebSocket, mut frames: broadcast::Receiver<Utf8Bytes>) {
    let greeting = Utf8Bytes::from_static(r#"{"type":"connected"}"#);
    let mut next = Some(greeting);
    while let Some(frame) = next {
        if socket.send(Message::Text(frame)).await.is_err() {
            return;
        }
        next = frames.recv().await.ok();
    }
}
