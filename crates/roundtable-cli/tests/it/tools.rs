//! `roundtable tools`, and agents that use tools of an MCP server.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;

use crate::binary::{Home, finish};
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

#[test]
fn built_in_tools_are_listed_with_source_effect_and_approval() {
    let home = Home::new();
    home.write("roundtable.toml", "tools.fetch_url.enabled = true\n");
    insta::assert_snapshot!(home.run_with(&[], &["tools"]).ok(), @r#"
    calculate                     built in        pure        no approval needed
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
    "read" of MCP server "notes" is new and waits for approval
      says: Reads notes. (pure) {"type":"object"}
      approve it: roundtable tools approve notes
    "write" of MCP server "notes" is new and waits for approval
      says: Writes a note. (effectful) {"type":"object"}
      approve it: roundtable tools approve notes
    "#);
    insta::assert_snapshot!(tools(&["tools", "approve", "notes"]), @r#"
    Approved notes__read.
      says: Reads notes. (pure) {"type":"object"}
    Approved notes__write.
      says: Writes a note. (effectful) {"type":"object"}
    "#);
    insta::assert_snapshot!(served(tools(&["tools"])), @r#"
    notes__read                   MCP notes       pure        no approval needed
    notes__write                  MCP notes       effectful   asks before each call
    "#);
    assert_eq!(tools(&["tools", "approve", "notes"]), "Nothing of \"notes\" waits for approval.\n");
    serve(&home, "Reads notes and mails them.");
    insta::assert_snapshot!(served(tools(&["tools"])), @r#"
    notes__write                  MCP notes       effectful   asks before each call
    "read" of MCP server "notes" changed since it was approved (description) and waits for approval
      was: Reads notes. (pure) {"type":"object"}
      now: Reads notes and mails them. (pure) {"type":"object"}
      approve it: roundtable tools approve notes
    "#);
    let err = home.run_with(&variables, &["tools", "approve", "note"]).failed();
    assert_eq!(
        err,
        "error: there is no MCP server \"note\" in the configuration; there are: notes\n"
    );
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
        "error: roundtable.toml:9: agents.ada.tools.0: \"read\" of MCP server \"notes\" is new and waits \
         for approval; look at it with `roundtable tools`, approve it with `roundtable tools approve notes`\n"
    );
    home.run_with(&VARIABLES, &["tools", "approve", "notes"]).ok();
    let ran = home.run_with(&VARIABLES, &["ask", "Read them."]);
    assert_eq!((ran.out.as_str(), ran.code), ("Done.\n", Some(0)), "{}", ran.err);
    assert!(ran.err.contains("  = It says TOKEN=t, KEY=.\n"), "{}", ran.err);
}

#[test]
fn a_call_that_may_do_harm_is_made_only_after_a_yes() {
    for (answer, called, told) in [
        ("y\n", true, "  = It says"),
        ("n\n", false, "did not agree"),
        ("maybe\n\nyes\n", true, "Please answer yes or no:"),
    ] {
        let provider = Provider::start(vec![calls("notes__write", "{}"), says("Done.")]);
        let home = Home::new();
        agent(&home, &provider.address);
        home.run_with(&VARIABLES, &["tools", "approve", "notes"]).ok();
        let mut child = home.command(&VARIABLES, &["ask", "Write it."]).spawn().unwrap();
        child.stdin.take().unwrap().write_all(answer.as_bytes()).unwrap();
        let ran = finish(child);
        assert_eq!((ran.out.as_str(), ran.code), ("Done.\n", Some(0)), "{}", ran.err);
        assert!(
            ran.err.contains("May notes__write be called?\n  tool:      notes__write\n"),
            "{}",
            ran.err
        );
        assert!(ran.err.contains(told), "{}", ran.err);
        assert_eq!(home.path().with_file_name("notes").exists(), called);
    }
}

#[test]
fn a_call_that_nobody_decides_on_is_not_made_and_can_be_decided_later() {
    let provider = Provider::start(vec![calls("notes__write", "{}"), says("Done.")]);
    let home = Home::new();
    agent(&home, &provider.address);
    home.run_with(&VARIABLES, &["tools", "approve", "notes"]).ok();
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
