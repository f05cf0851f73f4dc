//! A server that may have few files open, and clients that hold many connections open.

use std::io::Read as _;
use std::net::TcpStream;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::binary::{Home, finish, read_until, signal};
use crate::serve::get;

#[test]
fn with_256_files_and_300_idle_connections_health_and_rounds_go_on() {
    let home = Home::new();
    let serve = "ulimit -n 256 && exec \"$0\" serve --json --listen 127.0.0.1:0 --data-dir \"$1\"";
    let mut child = Command::new("/bin/sh")
        .args(["-c", serve, env!("CARGO_BIN_EXE_roundtable")])
        .arg(home.path())
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    assert!(read_until(child.stdout.as_mut().unwrap(), &mut line, |line| line.ends_with('\n')));
    let told: Value = serde_json::from_str(&line).unwrap();
    let url = told["url"].as_str().unwrap().to_owned();
    let address = url.strip_prefix("http://").unwrap();
    let idle: Vec<TcpStream> = (0..300).map(|_| TcpStream::connect(address).unwrap()).collect();
    for _ in 0..20 {
        assert!(get(&url, "/health").starts_with("HTTP/1.1 200"));
    }
    let body = r#"{"topic":"Shall we?","rounds":1}"#;
    let mut stream = TcpStream::connect(address).unwrap();
    std::io::Write::write_all(
        &mut stream,
        format!(
            "POST /api/debates HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
             content-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        )
        .as_bytes(),
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.contains(r#""status":"completed""#), "{answer}");
    drop(idle);
    signal(&child, "-TERM");
    assert_eq!(finish(child).code, Some(0));
}
