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
    rest(&mut asked(url, path, None))
}

/// A connection on which something was asked for.
pub fn asked(url: &str, path: &str, token: Option<&str>) -> TcpStream {
    let address = url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let who = token.map(|token| format!("authorization: Bearer {token}\r\n")).unwrap_or_default();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: {address}\r\n{who}connection: close\r\n\r\n")
        .unwrap();
    stream
}

/// What comes until the server hangs up.
fn rest(stream: &mut TcpStream) -> String {
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
    assert!(ran.err.contains("if another program uses it, pass --listen"), "{}", ran.err);
    signal(&child, "-TERM");
    finish(child);
}

#[test]
fn the_team_of_the_configuration_answers_conversations() {
    let home = Home::new();
    let config = home.write(
        "roundtable.toml",
        "[agents.lead]\n[agents.finder]\n[agents.legal]\n[team]\nsupervisor = \"lead\"\n\
         workers = [\"finder\"]\ncommand_only = [\"legal\"]\n",
    );
    let (child, url) = serve(&home, &["--config", config.to_str().unwrap()]);
    let body = r#"{"content": "Hello"}"#;
    let address = url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "POST /api/conversations/abc/messages HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    assert!(rest(&mut stream).starts_with("HTTP/1.1 200"));
    let shown = get(&url, "/api/sessions/abc");
    for id in ["agt_lead", "agt_finder", "agt_legal"] {
        assert!(shown.contains(id), "{shown}");
    }
    assert!(!shown.contains("agt_supervisor"), "{shown}");
    let models = get(&url, "/v1/models");
    assert!(models.contains(r#""id":"chat:lead""#), "{models}");
    signal(&child, "-TERM");
    finish(child);
}

const ANN: &str = "token-of-ann-0001";
const BOB: &str = "token-of-bob-0002";

/// A configuration in which each of these is the token of someone.
fn tokens(values: &[&str]) -> String {
    values.iter().map(|value| format!("[[token]]\nvalue = \"{value}\"\nactor = \"x\"\n")).collect()
}

/// Whether a token is one.
fn is_let_in(url: &str, token: &str) -> bool {
    let answer = rest(&mut asked(url, "/api/sessions", Some(token)));
    let status = answer.split(' ').nth(1).unwrap();
    assert!(["200", "401"].contains(&status), "{answer}");
    status == "200"
}

/// Reads on until the server has said this to whoever runs it.
fn hear(child: &mut Child, part: &str) -> String {
    let mut said = String::new();
    let stderr = child.stderr.as_mut().unwrap();
    assert!(read_until(stderr, &mut said, |said| said.contains(part)), "{said}");
    said
}

#[test]
fn s04_a_token_that_is_taken_out_of_the_file_ends_its_streams_and_no_others() {
    let home = Home::new();
    home.run(&["ask", "What is up?"]);
    let session = home.session();
    let config = home.write("roundtable.toml", &tokens(&[ANN, BOB]));
    let (mut child, url) = serve(&home, &["--config", config.to_str().unwrap()]);
    let path = format!("/api/sessions/{session}/events");
    let [mut ann, mut bob] = [ANN, BOB].map(|token| {
        let mut stream = asked(&url, &path, Some(token));
        let begun = |seen: &str| seen.contains("round_closed");
        assert!(read_until(&mut stream, &mut String::new(), begun));
        stream
    });
    home.write("roundtable.toml", &tokens(&[BOB]));
    let last = rest(&mut ann);
    assert!(last.contains(r#""reason":"revoked""#), "{last}");
    hear(&mut child, "Access tokens: 0 new, 1 revoked, 1 in total.\n");
    assert!(!is_let_in(&url, ANN) && is_let_in(&url, BOB));
    home.write("roundtable.toml", "[[token]\n");
    let said = hear(&mut child, "The access tokens are unchanged");
    assert!(said.contains("roundtable.toml"), "{said}");
    assert!(!is_let_in(&url, ANN) && is_let_in(&url, BOB));
    signal(&child, "-TERM");
    let last = rest(&mut bob);
    assert!(last.contains(r#""reason":"stopping""#), "it went on until now: {last}");
    assert_eq!(finish(child).code, Some(0));
}

#[test]
fn s04_a_signal_has_the_tokens_read_again_at_once_and_never_lets_everyone_in() {
    let home = Home::new();
    let config = home.write("roundtable.toml", &tokens(&[ANN]));
    let (mut child, url) = serve(&home, &["--config", config.to_str().unwrap()]);
    let mut reload = |text: &str, said: &str| {
        home.write("roundtable.toml", text);
        signal(&child, "-HUP");
        hear(&mut child, said);
    };
    reload(&tokens(&[ANN]), "The access tokens are unchanged: 1.\n");
    reload("[[token]]\nvalue = \"short\"\nactor = \"x\"\n", "are unchanged");
    assert!(is_let_in(&url, ANN));
    reload("", "every call is refused");
    assert!(!is_let_in(&url, ANN) && get(&url, "/api/sessions").starts_with("HTTP/1.1 401"));
    reload(&tokens(&[BOB]), "Access tokens: 1 new, 0 revoked, 1 in total.\n");
    assert!(is_let_in(&url, BOB));
    signal(&child, "-TERM");
    assert_eq!(finish(child).code, Some(0));
}
