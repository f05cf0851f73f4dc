//! Many clients with many conversations each: no payload goes astray.

use std::net::SocketAddr;
use std::time::Instant;

use futures_util::SinkExt as _;
use roundtable::Engine;
use roundtable::models::scripted::{Reply, Script, ScriptedModel};
use roundtable_bench::{Report, Row};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio_tungstenite::tungstenite::Message;

use crate::{clients, table};

const CLIENTS: usize = 200;
const CONVERSATIONS: usize = 50;
/// How many payloads have to be looked at.
const PAYLOADS: usize = 100_000;

/// What a client saw.
#[derive(Default)]
struct Seen {
    payloads: usize,
    astray: usize,
}

pub async fn measure(report: &mut Report) -> anyhow::Result<()> {
    let script =
        Script::default().voice("supervisor", [Reply::text("Answer to {input}").in_pieces(9, 0)]);
    let model = ScriptedModel::forgetful(script);
    let engine = Engine::builder().custom_model("scripted", model).build().await?;
    let address = table::serve(&engine).await?;
    let begun = Instant::now();
    let mut running = JoinSet::new();
    for number in 0..CLIENTS {
        running.spawn(client(address, number));
    }
    let mut all = Seen::default();
    while let Some(seen) = running.join_next().await {
        let seen = seen??;
        all.payloads += seen.payloads;
        all.astray += seen.astray;
    }
    anyhow::ensure!(all.payloads >= PAYLOADS, "only {} payloads", all.payloads);
    report.add(Row {
        name: format!("payloads astray, {CLIENTS} clients × {CONVERSATIONS} conversations (S35)"),
        figure: format!("{} of {} in {:.1?}", all.astray, all.payloads, begun.elapsed()),
        against: "none".to_owned(),
        ratio: all.astray as f64,
        aim: Some(0.0),
    });
    engine.shutdown().await;
    Ok(())
}

/// Sends a message to each of its conversations and reads until all rounds have ended.
async fn client(address: SocketAddr, number: usize) -> anyhow::Result<Seen> {
    let mut socket = clients::connect(&address.to_string()).await?;
    let mut seen = Seen::default();
    let mut open = 0;
    for conversation in 0..CONVERSATIONS {
        let name = format!("c{number}-{conversation}");
        let message = json!({
            "type": "message", "id": conversation, "conversationId": name,
            "messageId": format!("m-{name}"), "content": format!("canary-{name}-x"),
        });
        socket.send(Message::text(message.to_string())).await?;
        open += 1;
        // As many at once as a person's tabs.
        while open > 10 {
            open -= look(&clients::next(&mut socket).await?, number, &mut seen)?;
        }
    }
    while open > 0 {
        open -= look(&clients::next(&mut socket).await?, number, &mut seen)?;
    }
    Ok(seen)
}

/// Counts a payload, and whether it belongs where it says; how many rounds it ends.
fn look(frame: &Value, client: usize, seen: &mut Seen) -> anyhow::Result<usize> {
    anyhow::ensure!(frame["type"] != "error", "{frame}");
    seen.payloads += 1;
    let name = frame["conversationId"].as_str().unwrap_or_default();
    let own = format!("{name}-x");
    let text = frame.to_string();
    let mut canaries = text.split("canary-").skip(1).map(|after| after.split('"').next());
    // A chunk may end inside a canary.
    let fits = |said: &str| said.starts_with(&own) || own.starts_with(said);
    let is_own = name.starts_with(&format!("c{client}-"))
        && canaries.all(|said| said.is_none_or(fits))
        && frame["messageId"].as_str().is_none_or(|id| id == format!("m-{name}"));
    seen.astray += usize::from(!is_own);
    Ok(usize::from(frame["type"] == "round_ended"))
}
