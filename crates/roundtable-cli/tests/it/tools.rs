//! `roundtable tools`, and agents that use tools of an MCP server.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;

use crate::binary::{Home, Ran, finish, read_until};
use crate::provider::{Provider, calls, says};

/// A server that is a shell script: two tools, and a description that the test can change.
const SERVER: &str = r#"#!/bin/sh
say() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
while read -r line; do
  id=${line#*\"id\":}; id=${id%%[,\}]*}
  case "$line" in
    *'"initialize"'*) say '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"notes","version":"1"}}' ;;
    *'"tools/list"'*) say '{"tools":[{"name":"read","description":"DESCRIPTION","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},{"name":"write","description":"Writes a note.","inputSchema":{"type":"object"}}]}' ;;
    *'"tools/call"'*) echo "called" >> "$NOTES"; say '{"content":[{"type":"text","text":"It says TOKEN='"$TOKEN"', KEY='"$OPENAI_API_KEY"'."}]}' ;;
    *'"id":'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}\n' "$id" ;;
  esac
done
"#;

fn serve(home: &Home, description: &str) -> String {
    let path = home.write("server.sh", &SERVER.replace("DESCRIPTION", description));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let notes = path.with_file_name("notes").display().to_string();
    format!(
        "[mcp.notes]\ncommand = \"{}\"\nenv = {{ NOTES = \"{notes}\" }}\nenv_from = [\"TOKEN\"]\n",
        path.display()
    )
}

/// Runs `tools approve`, with this typed at its question.
fn approve(home: &Home, answer: &str) -> Ran {
    let mut child = home.command(&VARIABLES, &["tools", "approve", "notes"]).spawn().unwrap();
    child.stdin.take().unwrap().write_all(answer.as_bytes()).unwrap();
    finish(child)
}

/// Approves what is waiting.
fn approve_all(home: &Home) {
    let ran = approve(home, "y\n");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
}

#[test]
fn built_in_tools_are_listed_with_source_effect_and_approval() {
    let home = Home::new();
    home.write("roundtable.toml", "tools.fetch_url.enabled = true\n");
    insta::assert_snapshot!(home.run_with(&[], &["tools"]).ok(), @r#"
    ask                           built in        idempotent  no approval needed
    delegate                      built in        idempotent  no approval needed
    fact_check                    built in        pure        no approval needed
    fetch_url                     built in        idempotent  no approval needed
    now                           built in        pure        no approval needed
    request_context               built in        idempotent  no approval needed
    "#);
}

#[test]
fn tools_of_a_server_wait_for_approval_and_again_when_they_change() {
    let home = Home::new();
    let file = serve(&home, "Reads notes.");
    home.write("roundtable.toml", &file);
    let variables = [("TOKEN", "t")];
    let tools = |arguments: &[&str]| home.run_with(&variables, arguments).ok();
    let served = |out: String| {
        let lines = out.lines().filter(|line| !line.contains("built in"));
        lines.map(|line| format!("{line}\n")).collect::<String>()
    };
    insta::assert_snapshot!(served(tools(&["tools"])), @r#"
    "read" of MCP server "notes" is new and needs approval
      says: Reads notes. (pure) {"type":"object"}
      review and approve: roundtable tools approve notes
    "write" of MCP server "notes" is new and needs approval
      says: Writes a note. (effectful) {"type":"object"}
      review and approve: roundtable tools approve notes
    "#);
    insta::assert_snapshot!(approve(&home, "y\n").out, @r#"
    notes__read
      effect, by the server's annotations: pure
      description:
        | Reads notes.
      parameters:
        | {
        |   "type": "object"
        | }
      SHA-256: 45a11af183a741ceed50f54520e766d52770873b74095a2b4bfd06a4b5b6002c

    notes__write
      effect, by the server's annotations: effectful
      description:
        | Writes a note.
      parameters:
        | {
        |   "type": "object"
        | }
      SHA-256: f2bf4c8407f542502700908312817b9a4f0a61974dcff311bb4d5eb6dee27f1c

    SHA-256 of all 2: 681e6f9b20802fad76d72da755f1b5b77c3bf2c069ae3d4c7ae87ab5ec7d6fe3
    Approved notes__read (SHA-256 45a11af183a741ceed50f54520e766d52770873b74095a2b4bfd06a4b5b6002c).
    Approved notes__write (SHA-256 f2bf4c8407f542502700908312817b9a4f0a61974dcff311bb4d5eb6dee27f1c).
    "#);
    insta::assert_snapshot!(served(tools(&["tools"])), @r#"
    notes__read                   MCP notes       pure        no approval needed
    notes__write                  MCP notes       effectful   asks before each call
    "#);
    assert_eq!(tools(&["tools", "approve", "notes"]), "No tools of \"notes\" need approval.\n");
    serve(&home, "Reads notes and mails them.");
    insta::assert_snapshot!(served(tools(&["tools"])), @r#"
    notes__write                  MCP notes       effectful   asks before each call
    "read" of MCP server "notes" changed since it was approved (description) and needs approval
      was: Reads notes. (pure) {"type":"object"}
      now: Reads notes and mails them. (pure) {"type":"object"}
      review and approve: roundtable tools approve notes
    "#);
    insta::assert_snapshot!(approve(&home, "n\n").out, @r#"
    notes__read
      approved effect, by the server's annotations: pure
      approved description:
        | Reads notes.
      approved parameters:
        | {
        |   "type": "object"
        | }
      new effect, by the server's annotations: pure
      new description:
        | Reads notes and mails them.
      new parameters:
        | {
        |   "type": "object"
        | }
      SHA-256: 45fc9aa82960dc8f0d4dad7af5bf5d51332f2d78b815723e7c59def24948d397

    SHA-256 of all 1: 398009a352f4f5c9b7a270f427832918e8eae582460495e51d56c726f010d04d
    "#);
    let err = home.run_with(&variables, &["tools", "approve", "note"]).failed();
    assert_eq!(err, "error: unknown MCP server \"note\"; configured servers: notes\n");
}

fn agent(home: &Home, address: &str) {
    let server = serve(home, "Reads notes.");
    home.write(
        "roundtable.toml",
        &format!(
            "{server}[providers.vllm]\nbase_url = \"{address}\"\n\
             [agents.ada]\nmodel = \"vllm/m\"\ntools = [\"notes__read\", \"notes__write\"]\n"
        ),
    );
}

const VARIABLES: [(&str, &str); 2] = [("TOKEN", "t"), ("OPENAI_API_KEY", "sk-canary")];

#[test]
fn s28_a_server_is_given_what_the_file_says_and_no_key() {
    let provider = Provider::start(vec![calls("notes__read", "{}"), says("Done.")]);
    let home = Home::new();
    agent(&home, &provider.address);
    let unapproved = home.run_with(&VARIABLES, &["ask", "Read them."]).refused();
    assert_eq!(
        unapproved,
        "error: roundtable.toml:9: agents.ada.tools.0: \"read\" of MCP server \"notes\" is new \
         and needs approval; review it with `roundtable tools`, approve it with `roundtable tools approve notes`\n"
    );
    approve_all(&home);
    let ran = home.run_with(&VARIABLES, &["ask", "Read them."]);
    assert_eq!((ran.out.as_str(), ran.code), ("Done.\n", Some(0)), "{}", ran.err);
    assert!(ran.err.contains("  = It says TOKEN=t, KEY=.\n"), "{}", ran.err);
}

#[test]
fn a_call_that_may_do_harm_is_made_only_after_a_yes() {
    for (answer, called, told) in [
        ("y\n", true, "  = It says"),
        ("n\n", false, "a person refused"),
        ("maybe\n\nyes\n", true, "Please answer yes or no:"),
    ] {
        let provider = Provider::start(vec![calls("notes__write", "{}"), says("Done.")]);
        let home = Home::new();
        agent(&home, &provider.address);
        approve_all(&home);
        let mut child = home.command(&VARIABLES, &["ask", "Write it."]).spawn().unwrap();
        child.stdin.take().unwrap().write_all(answer.as_bytes()).unwrap();
        let ran = finish(child);
        assert_eq!((ran.out.as_str(), ran.code), ("Done.\n", Some(0)), "{}", ran.err);
        assert!(
            ran.err.contains("Ada wants to call notes__write.\n  tool:      notes__write\n"),
            "{}",
            ran.err
        );
        assert!(ran.err.contains(told), "{}", ran.err);
        assert_eq!(home.path().with_file_name("notes").exists(), called);
    }
}

/// The tools that may be used, of the server of these tests.
fn usable(home: &Home) -> Vec<String> {
    let out = home.run_with(&VARIABLES, &["tools"]).ok();
    let lines = out.lines().filter(|line| line.starts_with("notes__"));
    lines.map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
}

/// The digest that is shown after a word.
fn digest_after(text: &str, word: &str) -> String {
    text.split_once(word).unwrap().1.split_whitespace().next().unwrap().to_owned()
}

#[test]
fn s11_only_a_yes_or_the_digest_that_was_shown_approves() {
    let home = Home::new();
    home.write("roundtable.toml", &serve(&home, "Reads notes."));
    for answer in ["", "n\n", "no\n", "approve\n"] {
        let ran = approve(&home, answer);
        assert_eq!(ran.code, Some(1), "{}", ran.err);
        assert!(ran.err.contains(
            "nothing was approved; approve with `roundtable tools approve notes --digest "
        ));
        assert_eq!(usable(&home), [""; 0]);
    }
    let shown = approve(&home, "n\n").out;
    let with = |digest: &str| {
        home.run_with(&VARIABLES, &["tools", "approve", "notes", "--digest", digest])
    };
    // The server says something else now than what was shown.
    serve(&home, "Reads notes and mails them.");
    let changed = with(&digest_after(&shown, "SHA-256 of all 2: ")).failed();
    assert!(changed.contains("has no tool with the digest"), "{changed}");
    assert_eq!(usable(&home), [""; 0]);
    // A digest of one tool approves that tool.
    let write = shown.split_once("notes__write\n").unwrap().1;
    with(&digest_after(write, "SHA-256: ")).ok();
    assert_eq!(usable(&home), ["notes__write"]);
    let shown = approve(&home, "n\n").out;
    with(&digest_after(&shown, "SHA-256 of all 1: ")).ok();
    assert_eq!(usable(&home), ["notes__read", "notes__write"]);
}

#[test]
fn s11_a_server_that_changes_while_it_is_read_is_refused() {
    let home = Home::new();
    let file = serve(&home, "Reads notes.");
    home.write("roundtable.toml", &file);
    let mut child = home.command(&VARIABLES, &["tools", "approve", "notes"]).spawn().unwrap();
    let (mut err, mut told) = (child.stderr.take().unwrap(), String::new());
    assert!(read_until(&mut err, &mut told, |told| told.contains("[y/N]")), "{told}");
    serve(&home, "Reads notes and mails them.");
    child.stdin.take().unwrap().write_all(b"y\n").unwrap();
    assert!(!read_until(&mut err, &mut told, |_| false));
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert!(told.contains("changed in the meantime"), "{told}");
    assert_eq!(usable(&home), [""; 0]);
}

#[test]
fn a_call_that_nobody_decides_on_is_not_made_and_can_be_decided_later() {
    let provider = Provider::start(vec![calls("notes__write", "{}"), says("Done.")]);
    let home = Home::new();
    agent(&home, &provider.address);
    approve_all(&home);
    let mut child = home.command(&VARIABLES, &["ask", "Write it."]).spawn().unwrap();
    drop(child.stdin.take());
    let ran = finish(child);
    assert_eq!((ran.out.as_str(), ran.code), ("", Some(3)), "{}", ran.err);
    assert!(!home.path().with_file_name("notes").exists());
    let named = ran.err.lines().last().unwrap().to_owned();
    assert!(named.starts_with("Decide: roundtable continue ses_"), "{named}");
    let session = named.split(' ').find(|word| word.starts_with("ses_")).unwrap().to_owned();
    let mut child = home.command(&VARIABLES, &["continue", &session]).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"yes\n").unwrap();
    let ran = finish(child);
    assert_eq!((ran.out.as_str(), ran.code), ("Done.\n", Some(0)), "{}", ran.err);
    assert!(home.path().with_file_name("notes").exists());
}
