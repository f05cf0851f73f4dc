//! Those who are connected, in a process of their own: they stand for machines elsewhere.

use std::net::SocketAddr;
use std::process::Stdio;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::net::TcpStream;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

pub const ROLE: &str = "clients";

/// What a message begins with that says when it was sent.
pub const SENT: &str = "sent at ";

/// How long nothing has to arrive before everything has.
const QUIET: Duration = Duration::from_secs(1);

pub type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// What they received.
#[derive(Default, serde::Serialize, serde::Deserialize)]
pub struct Received {
    /// How late each message was, the earliest first.
    pub late: Vec<Duration>,
    /// How many pieces of answers there were.
    pub chunks: usize,
}

/// Clients in a process of their own.
pub struct Clients {
    _child: Child,
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Clients {
    /// Connects so many, each with a subscription to one of the conversations if there are any.
    pub async fn start(
        address: SocketAddr,
        count: usize,
        names: &[String],
    ) -> anyhow::Result<Self> {
        let mut child = Command::new("nice")
            .args(["-n", "5"])
            .arg(std::env::current_exe()?)
            .args([ROLE, &address.to_string(), &count.to_string()])
            .args(names)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let stdin = child.stdin.take().ok_or_else(|| anyhow::anyhow!("no input"))?;
        let stdout = child.stdout.take().ok_or_else(|| anyhow::anyhow!("no output"))?;
        let mut clients = Self { _child: child, stdin, lines: BufReader::new(stdout).lines() };
        let line = clients.lines.next_line().await?;
        anyhow::ensure!(line.as_deref() == Some("ready"), "the clients failed: {line:?}");
        Ok(clients)
    }

    /// Waits until nothing more arrives.
    pub async fn end(mut self) -> anyhow::Result<Received> {
        self.stdin.write_all(b"end\n").await?;
        let line = self.lines.next_line().await?;
        Ok(serde_json::from_str(&line.unwrap_or_default())?)
    }
}

/// The other process.
pub async fn run(args: &[String]) -> anyhow::Result<()> {
    let [address, count, names @ ..] = args else { anyhow::bail!("too few arguments") };
    let (end, ended) = watch::channel(false);
    let mut clients = JoinSet::new();
    for number in 0..count.parse::<usize>()? {
        let mut socket = connect(address).await?;
        if !names.is_empty() {
            subscribe(&mut socket, &names[number % names.len()]).await?;
        }
        clients.spawn(read(socket, ended.clone()));
    }
    println!("ready");
    let mut line = String::new();
    BufReader::new(tokio::io::stdin()).read_line(&mut line).await?;
    end.send(true)?;
    let mut all = Received::default();
    while let Some(received) = clients.join_next().await {
        let received = received??;
        all.late.extend(received.late);
        all.chunks += received.chunks;
    }
    all.late.sort();
    println!("{}", serde_json::to_string(&all)?);
    Ok(())
}

/// Connects, and reads the greeting.
pub async fn connect(address: &str) -> anyhow::Result<Socket> {
    let (mut socket, _) = tokio_tungstenite::connect_async(format!("ws://{address}/ws")).await?;
    let greeting = next(&mut socket).await?;
    anyhow::ensure!(greeting["type"] == "connected", "{greeting}");
    Ok(socket)
}

async fn subscribe(socket: &mut Socket, name: &str) -> anyhow::Result<()> {
    let frame = json!({ "type": "subscribe", "id": 1, "conversationId": name });
    socket.send(Message::text(frame.to_string())).await?;
    let answer = next(socket).await?;
    anyhow::ensure!(answer["type"] == "subscribed", "{answer}");
    Ok(())
}

/// The next frame.
pub async fn next(socket: &mut Socket) -> anyhow::Result<Value> {
    loop {
        let frame = socket.next().await.ok_or_else(|| anyhow::anyhow!("the server hung up"))?;
        if let Message::Text(text) = frame? {
            return Ok(serde_json::from_str(&text)?);
        }
    }
}

/// Reads until it is told to end and nothing more comes.
async fn read(mut socket: Socket, mut ended: watch::Receiver<bool>) -> anyhow::Result<Received> {
    let mut received = Received::default();
    loop {
        let quiet = async {
            ended.wait_for(|ended| *ended).await.ok();
            tokio::time::sleep(QUIET).await;
        };
        let frame = tokio::select! {
            frame = socket.next() => frame.ok_or_else(|| anyhow::anyhow!("the server hung up"))??,
            () = quiet => return Ok(received),
        };
        let Message::Text(text) = frame else { continue };
        received.chunks += usize::from(text.contains(r#""stream_chunk""#));
        if let Some(sent) = text.split(SENT).nth(1) {
            let digits: String = sent.chars().take_while(char::is_ascii_digit).collect();
            let sent = Duration::from_nanos(digits.parse()?);
            received.late.push(SystemTime::now().duration_since(UNIX_EPOCH)?.saturating_sub(sent));
        }
    }
}
