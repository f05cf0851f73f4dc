//! From `stop` to the end of a round whose provider never reacts.

use std::time::{Duration, Instant};

use futures_util::{SinkExt as _, StreamExt as _, stream};
use roundtable::Engine;
use roundtable::ports::{Chunk, Model, ModelError, ModelRequest, ModelStream};
use roundtable_bench::{Report, Row};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use crate::clients::{self, Socket};
use crate::table;

const TIMES: usize = 100;
const AIM: Duration = Duration::from_millis(200);

/// A provider that sends a piece, then nothing, and ignores that nobody waits any more.
struct Silent;

#[async_trait::async_trait]
impl Model for Silent {
    async fn stream(&self, _: &ModelRequest) -> Result<ModelStream, ModelError> {
        let first = stream::iter([Ok(Chunk::Text("a".to_owned()))]);
        Ok(first.chain(stream::pending()).boxed())
    }
}

pub async fn measure(report: &mut Report) -> anyhow::Result<()> {
    let directory = tempfile::tempdir()?;
    let engine = Engine::builder().sqlite(directory.path()).custom_model("scripted", Silent);
    let engine = engine.build().await?;
    let address = table::serve(&engine).await?;
    let mut socket = clients::connect(&address.to_string()).await?;
    let mut took = Vec::new();
    for number in 0..TIMES {
        let name = format!("c{number}");
        send(&mut socket, json!({ "type": "message", "conversationId": name, "content": "Go" }))
            .await?;
        until(&mut socket, &name, "stream_chunk").await?;
        let begun = Instant::now();
        send(&mut socket, json!({ "type": "stop", "conversationId": name })).await?;
        until(&mut socket, &name, "round_ended").await?;
        took.push(begun.elapsed());
    }
    took.sort();
    let slowest = took[TIMES - 1];
    report.add(Row {
        name: format!("stop to the end of the round, the slowest of {TIMES}, on disk"),
        figure: format!("{slowest:.1?} (median {:.1?})", took[TIMES / 2]),
        against: format!("{AIM:?}"),
        ratio: slowest.as_secs_f64() / AIM.as_secs_f64(),
        aim: Some(1.0),
    });
    engine.shutdown().await;
    Ok(())
}

async fn send(socket: &mut Socket, frame: Value) -> anyhow::Result<()> {
    Ok(socket.send(Message::text(frame.to_string())).await?)
}

/// Reads on to a frame of a conversation.
async fn until(socket: &mut Socket, name: &str, kind: &str) -> anyhow::Result<()> {
    loop {
        let frame = clients::next(socket).await?;
        anyhow::ensure!(frame["type"] != "error", "{frame}");
        if frame["conversationId"] == name && frame["type"] == kind {
            return Ok(());
        }
    }
}
