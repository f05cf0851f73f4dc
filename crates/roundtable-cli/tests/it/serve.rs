//! `roundtable serve`, as people and programs start it.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Child;

use serde_json::Value;

use crate::binary::{Home, finish, read_until, signal};

/// A server that runs, and where.
pub fn serve(home: &Home, more: &[&str]) -> (Child, String) {
    let arguments = [&["serve", "--json", "--listen", "127.0.0.1:0"], more].concat();
    let mut child = home.start(&arguments);
    let mut line = String::new();
    assert!(read_until(child.stdout.as_mut().unwrap(), &mut line, |line| line.ends_with('\n')));
    let told: Value = serde_json::from_str(&line).unwrap();
    let url = told["url"].as_str().unwrap().to_owned();
    assert_eq!(told["mcp"], format!("{url}/mcp"));
    (child, url)
}

pub fn get(url: &str, path: &str) -> String {
    let address = url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn it_prints_one_address_answers_there_and_ends_in_order() {
    let home = Home::new();
    home.run(&["ask", "What is up?"]);
    let (child, url) = serve(&home, &[]);
    assert!(get(&url, "/health").contains(r#""status":"ok""#));
    assert!(get(&url, "/api/sessions").contains(r#""topic":"What is up?""#));
    signal(&child, "-TERM");
    let ran = finish(child);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
}

#[test]
fn it_does_not_listen_to_everyone_without_tokens() {
    let home = Home::new();
    for address in ["0.0.0.0:0", "[::]:0"] {
        let ran = home.run(&["serve", "--listen", address]);
        assert_eq!(ran.code, Some(1), "{}", ran.err);
        assert!(ran.err.contains("[[token]]") && ran.out.is_empty(), "{}", ran.err);
    }
    let ran = home.run(&["serve", "--listen", "somewhere"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("--listen") && ran.err.contains("127.0.0.1:7777"), "{}", ran.err);
}

#[test]
fn a_token_that_is_none_keeps_the_server_from_starting() {
    let home = Home::new();
    for token in [
        "value_env = \"NOT_SET\"\nactor = \"ann\"",
        "value = \"short\"\nactor = \"ann\"",
        "value = \"long-enough-0123456789\"",
    ] {
        home.write("roundtable.toml", &format!("[[token]]\n{token}\n"));
        let ran = home.run_with(&[], &["serve", "--listen", "127.0.0.1:0"]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{token}: {}", ran.err);
        assert!(ran.err.contains("token.0"), "{}", ran.err);
    }
}

#[test]
fn with_tokens_nobody_gets_in_without_one() {
    let home = Home::new();
    let token = "[[token]]\nvalue = \"long-enough-0123456789\"\nactor = \"ann\"\n";
    let config = home.write("roundtable.toml", token);
    let (child, url) = serve(&home, &["--config", config.to_str().unwrap()]);
    assert!(get(&url, "/health").starts_with("HTTP/1.1 200"));
    assert!(get(&url, "/api/sessions").starts_with("HTTP/1.1 401"));
    signal(&child, "-TERM");
    finish(child);
}

#[test]
fn it_says_so_when_the_port_is_taken() {
    let home = Home::new();
    let (child, url) = serve(&home, &[]);
    let address = url.strip_prefix("http://").unwrap();
    let ran = home.run(&["serve", "--listen", address]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("another program may use it"), "{}", ran.err);
    signal(&child, "-TERM");
    finish(child);
}
