//! A provider in a process of its own, so that its work is not counted: chat completions over
//! kept connections, as plain as can be.

use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, ChildStdin, Command};

/// What this binary is told to be one.
pub const ROLE: &str = "provider";

/// The time between two tokens of a stream.
const PACE: Duration = Duration::from_millis(10);

/// A provider that runs.
pub struct Provider {
    /// Where it is.
    pub address: String,
    _child: Child,
    /// It ends when this is closed.
    _stdin: ChildStdin,
}

impl Provider {
    pub async fn start() -> anyhow::Result<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg(ROLE)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            anyhow::bail!("a child has both");
        };
        let mut address = String::new();
        BufReader::new(stdout).read_line(&mut address).await?;
        Ok(Self { address: address.trim().to_owned(), _child: child, _stdin: stdin })
    }
}

/// Is the provider, until nobody needs it.
pub async fn run() -> anyhow::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}", listener.local_addr()?);
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            tokio::spawn(serve(socket));
        }
    });
    let mut rest = Vec::new();
    tokio::io::stdin().read_to_end(&mut rest).await?;
    Ok(())
}

/// Serves a connection, request after request.
async fn serve(mut socket: TcpStream) -> std::io::Result<()> {
    socket.set_nodelay(true)?;
    let mut bytes = Vec::new();
    while let Some(length) = read_request(&mut socket, &mut bytes).await? {
        answer(&mut socket, &bytes[..length]).await?;
        bytes.drain(..length);
    }
    Ok(())
}

/// Reads until a whole request is there, and says how long it is; nothing at the end.
async fn read_request(
    socket: &mut TcpStream,
    bytes: &mut Vec<u8>,
) -> std::io::Result<Option<usize>> {
    loop {
        if let Some(length) = whole(bytes) {
            return Ok(Some(length));
        }
        if socket.read_buf(bytes).await? == 0 {
            return Ok(None);
        }
    }
}

fn whole(bytes: &[u8]) -> Option<usize> {
    let head = find(bytes, b"\r\n\r\n")? + 4;
    let text = std::str::from_utf8(&bytes[..head]).ok()?;
    let mut headers = text.lines().filter_map(|line| line.split_once(": "));
    let length = headers.find(|(name, _)| name.eq_ignore_ascii_case("content-length"))?;
    let length = head + length.1.parse::<usize>().ok()?;
    (bytes.len() >= length).then_some(length)
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

const HEAD: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

/// Answers as the first part of the path says.
async fn answer(socket: &mut TcpStream, request: &[u8]) -> std::io::Result<()> {
    let is = |path: &[u8]| request.starts_with(path);
    if is(b"POST /stream/") {
        socket.write_all(HEAD.as_bytes()).await?;
        for _ in 0..super::TOKENS {
            tokio::time::sleep(PACE).await;
            socket.write_all(word().as_bytes()).await?;
        }
        return socket.write_all(end("stop").as_bytes()).await;
    }
    if is(b"POST /slow/") {
        tokio::time::sleep(super::LATENCY).await;
    }
    let body = match is(b"POST /loop/") && results(request) < super::CALLS {
        true => call(results(request)) + &end("tool_calls"),
        false if is(b"POST /long/") => word().repeat(super::TOKENS) + &end("stop"),
        false => word().repeat(super::WORDS) + &end("stop"),
    };
    socket.write_all((HEAD.to_owned() + &body).as_bytes()).await
}

/// How many tool results a request has.
fn results(request: &[u8]) -> u32 {
    String::from_utf8_lossy(request).matches("\"tool_call_id\"").count() as u32
}

/// An event, as a piece of a chunked body.
fn event(data: &str) -> String {
    let event = format!("data: {data}\n\n");
    format!("{:x}\r\n{event}\r\n", event.len())
}

fn choice(choice: &str) -> String {
    event(&format!(
        r#"{{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1760000000,"model":"mock-1","system_fingerprint":"fp_1","choices":[{{"index":0,{choice}}}]}}"#
    ))
}

fn word() -> String {
    choice(r#""delta":{"content":" word"},"logprobs":null,"finish_reason":null"#)
}

fn call(number: u32) -> String {
    choice(&format!(
        r#""delta":{{"tool_calls":[{{"index":0,"id":"call_{number}","type":"function","function":{{"name":"count","arguments":"{{\"to\":3}}"}}}}]}},"logprobs":null,"finish_reason":null"#
    ))
}

fn end(reason: &str) -> String {
    let last = choice(&format!(r#""delta":{{}},"logprobs":null,"finish_reason":"{reason}""#));
    let usage = r#"{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1760000000,"model":"mock-1","choices":[],"usage":{"prompt_tokens":30,"completion_tokens":20,"total_tokens":50}}"#;
    last + &event(usage) + &event("[DONE]") + "0\r\n\r\n"
}
