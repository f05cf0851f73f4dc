//! Those who read, in a process of their own that takes no processor from the server that it wants.

use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::net::{TcpSocket, TcpStream};
use tokio::process::{Child, ChildStdout, Command};

use crate::table::{BEHIND, Table};

pub const ROLE: &str = "readers";

/// What a reader prints when it has what it came for.
const DONE: &str = "done";

/// How they read.
#[derive(Clone, Copy)]
pub enum How {
    /// A byte a second, and little room for more.
    Slowly,
    /// As fast as they can, from the first event to the last.
    Quickly,
}

/// Readers in a process of their own.
pub struct Crowd {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    begun: Instant,
    took: Duration,
}

impl Crowd {
    /// Starts them; slow ones are connected then.
    pub async fn start(how: How, count: usize, table: &Table) -> anyhow::Result<Self> {
        let (how_word, sessions) = match how {
            How::Slowly => ("slowly", table.written.as_slice()),
            How::Quickly => ("quickly", std::slice::from_ref(&table.read)),
        };
        let ids = sessions.iter().map(|session| session.id().to_string());
        // Readers are elsewhere: what they need is not taken from the server.
        let mut child = Command::new("nice")
            .args(["-n", "19"])
            .arg(std::env::current_exe()?)
            .args([ROLE, how_word, &count.to_string(), &table.address.to_string()])
            .args(ids)
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let stdout = child.stdout.take().ok_or_else(|| anyhow::anyhow!("no output"))?;
        let mut crowd = Self {
            child,
            lines: BufReader::new(stdout).lines(),
            begun: Instant::now(),
            took: Duration::ZERO,
        };
        if matches!(how, How::Slowly) {
            crowd.is_done().await?;
        }
        Ok(crowd)
    }

    /// Waits until they have what they came for.
    pub async fn is_done(&mut self) -> anyhow::Result<()> {
        let line = self.lines.next_line().await?;
        anyhow::ensure!(line.as_deref() == Some(DONE), "the readers failed: {line:?}");
        self.took = self.begun.elapsed();
        Ok(())
    }

    /// How long that was.
    pub fn took(&self) -> Duration {
        self.took
    }

    pub async fn end(mut self) -> anyhow::Result<()> {
        self.child.kill().await?;
        Ok(())
    }
}

/// The other process.
pub async fn run(args: &[String]) -> anyhow::Result<()> {
    let [how, count, address, sessions @ ..] = args else { anyhow::bail!("too few arguments") };
    let count: usize = count.parse()?;
    let mut readers = tokio::task::JoinSet::new();
    for (_, session) in (0..count).zip(sessions.iter().cycle()) {
        let (address, session) = (address.clone(), session.clone());
        match how.as_str() {
            "slowly" => readers.spawn(async move { connected(&address, &session, 2048).await }),
            _ => readers.spawn(async move { all(&address, &session).await }),
        };
    }
    let mut open = Vec::new();
    while let Some(reader) = readers.join_next().await {
        open.push(reader??);
    }
    println!("{DONE}");
    // A byte a second from each. One that was sent away comes no more: a server has more patience
    // than the run is long. Those who read quickly stay, as readers do.
    loop {
        tokio::time::sleep(Duration::from_secs(1)).await;
        if how == "slowly" {
            for stream in &mut open {
                let _ = stream.read_u8().await;
            }
        }
    }
}

async fn connected(address: &str, session: &str, room: u32) -> anyhow::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.set_recv_buffer_size(room)?;
    let mut stream = socket.connect(address.parse()?).await?;
    let head = format!(
        "GET /api/sessions/{session}/events HTTP/1.1\r\nhost: {address}\r\nlast-event-id: 1\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await?;
    Ok(stream)
}

/// Reads until all is there, however often it has to come back.
async fn all(address: &str, session: &str) -> anyhow::Result<TcpStream> {
    let last = format!("\nid: {session}:{}", BEHIND + 1);
    loop {
        let mut stream = connected(address, session, 64 * 1024).await?;
        let (mut text, mut buffer) = (Vec::new(), vec![0; 16 * 1024]);
        loop {
            let count = stream.read(&mut buffer).await?;
            text.extend_from_slice(&buffer[..count]);
            if text.windows(last.len()).rev().any(|part| part == last.as_bytes()) {
                return Ok(stream);
            }
            if count == 0 {
                break;
            }
            // What was looked at need not be looked at again.
            text.drain(..text.len().saturating_sub(last.len()));
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}
