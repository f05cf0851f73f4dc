//! What a request costs that asks for next to nothing, beside a server that does nothing else.

use std::time::{Duration, Instant};

use axum::Router;
use axum::routing::get;
use roundtable_bench::{Report, Row, median};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::table::Table;

/// How many connections ask, and how often each; by turns, so often.
const CONNECTIONS: usize = 16;
const REQUESTS: usize = 500;
const TIMES: usize = 11;

/// What `/health` says.
const SAID: &str = r#"{"status":"ok","version":"0.1.0"}"#;

pub async fn measure(report: &mut Report, table: &Table) -> anyhow::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let bare = listener.local_addr()?.to_string();
    let json = [("content-type", "application/json")];
    let router = Router::new().route("/health", get(async move || (json, SAID)));
    tokio::spawn(async move { axum::serve(listener, router).await });
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..TIMES {
        ours.push(ask(&table.address.to_string()).await?);
        theirs.push(ask(&bare).await?);
    }
    let (ours, theirs) = (median(ours), median(theirs));
    let rate = |took: Duration| (CONNECTIONS * REQUESTS) as f64 / took.as_secs_f64();
    report.add(Row {
        name: format!("GET /health over {CONNECTIONS} connections"),
        figure: format!("{:.0}/s", rate(ours)),
        against: format!("axum alone {:.0}/s", rate(theirs)),
        ratio: ours.as_secs_f64() / theirs.as_secs_f64(),
        aim: Some(1.5),
    });
    Ok(())
}

/// Asks again and again on every connection, one request after the other.
async fn ask(address: &str) -> anyhow::Result<Duration> {
    let mut streams = Vec::new();
    for _ in 0..CONNECTIONS {
        streams.push(TcpStream::connect(address).await?);
    }
    let request = format!("GET /health HTTP/1.1\r\nhost: {address}\r\n\r\n");
    let begun = Instant::now();
    let mut clients = tokio::task::JoinSet::new();
    for mut stream in streams {
        let request = request.clone();
        clients.spawn(async move {
            let mut buffer = [0; 1024];
            for _ in 0..REQUESTS {
                stream.write_all(request.as_bytes()).await?;
                let mut read = 0;
                while !buffer[..read].ends_with(b"}") {
                    let count = stream.read(&mut buffer[read..]).await?;
                    anyhow::ensure!(count > 0, "the server hung up");
                    read += count;
                }
            }
            anyhow::Ok(())
        });
    }
    while let Some(client) = clients.join_next().await {
        client??;
    }
    Ok(begun.elapsed())
}
