//! A provider on this machine: an answer per connection, the last one for all that follow.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// What a request gets.
pub enum Answer {
    /// A whole response.
    Whole { status: u16, headers: &'static str, body: String },
    /// The first words, and the rest when the gate is opened.
    Gated { first: String, rest: String, gate: Receiver<()> },
}

/// A request that was received.
#[derive(Debug, Clone)]
pub struct Received {
    pub line: String,
    pub authorization: Option<String>,
    pub body: Value,
}

pub struct Provider {
    pub address: String,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Provider {
    pub fn start(answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let received = Arc::new(Mutex::new(Vec::new()));
        let noted = received.clone();
        std::thread::spawn(move || {
            for answer in answers {
                let Ok((socket, _)) = listener.accept() else { return };
                serve(socket, answer, &noted);
            }
        });
        Self { address, received }
    }

    pub fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }
}

/// Words as chat completions stream them, from their beginning.
pub fn words(texts: &[&str]) -> String {
    let chunk = |text: &&str| {
        let delta = json!({ "index": 0, "delta": { "content": text }, "finish_reason": null });
        event(&json!({ "model": "model-1", "choices": [delta] }))
    };
    texts.iter().map(chunk).collect()
}

/// The end of an answer.
pub fn end() -> String {
    let stop = json!({ "index": 0, "delta": {}, "finish_reason": "stop" });
    let usage = json!({ "prompt_tokens": 20, "completion_tokens": 7 });
    let last = event(&json!({ "model": "model-1", "choices": [stop] }));
    let counted = event(&json!({ "model": "model-1", "choices": [], "usage": usage }));
    format!("{last}{counted}data: [DONE]\n\n")
}

/// A whole answer in words.
pub fn says(text: &str) -> Answer {
    streamed(format!("{}{}", words(&[text]), end()))
}

/// A whole answer that asks for a tool.
pub fn calls(tool: &str, arguments: &str) -> Answer {
    let call = json!({
        "index": 0, "id": "call_1", "type": "function",
        "function": { "name": tool, "arguments": arguments },
    });
    let delta = json!({ "index": 0, "delta": { "tool_calls": [call] }, "finish_reason": null });
    let stop = json!({ "index": 0, "delta": {}, "finish_reason": "tool_calls" });
    let first = event(&json!({ "model": "model-1", "choices": [delta] }));
    let last = event(&json!({ "model": "model-1", "choices": [stop] }));
    streamed(format!("{first}{last}data: [DONE]\n\n"))
}

pub fn refuses(status: u16, headers: &'static str, message: &str) -> Answer {
    let body = json!({ "error": { "message": message } }).to_string();
    Answer::Whole { status, headers, body }
}

/// An answer whose rest waits for the gate.
pub fn gated(first: &str, rest: &str) -> (Answer, Sender<()>) {
    let (open, gate) = channel();
    let rest = format!("{}{}", words(&[rest]), end());
    (Answer::Gated { first: words(&[first]), rest, gate }, open)
}

fn streamed(body: String) -> Answer {
    Answer::Whole { status: 200, headers: "content-type: text/event-stream\r\n", body }
}

fn event(json: &Value) -> String {
    format!("data: {json}\n\n")
}

fn serve(mut socket: TcpStream, answer: Answer, received: &Mutex<Vec<Received>>) {
    received.lock().unwrap().push(read(&socket));
    match answer {
        Answer::Whole { status, headers, body } => {
            let length = body.len();
            let head = format!(
                "HTTP/1.1 {status} X\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n"
            );
            let _ = socket.write_all(format!("{head}{body}").as_bytes());
        }
        Answer::Gated { first, rest, gate } => {
            let head =
                "HTTP/1.1 200 X\r\nconnection: close\r\ncontent-type: text/event-stream\r\n\r\n";
            let _ = socket.write_all(format!("{head}{first}").as_bytes());
            let _ = gate.recv();
            let _ = socket.write_all(rest.as_bytes());
        }
    }
}

fn read(socket: &TcpStream) -> Received {
    let mut reader = BufReader::new(socket);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        lines.push(line.trim().to_owned());
    }
    let header = |name: &str| {
        lines.iter().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
        })
    };
    let length = header("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    Received {
        line: lines.first().cloned().unwrap_or_default(),
        authorization: header("authorization"),
        body: serde_json::from_slice(&body).unwrap(),
    }
}
