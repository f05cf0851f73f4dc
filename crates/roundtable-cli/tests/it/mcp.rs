//! `roundtable mcp`, as an editor starts it, and several at once on one data directory.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use roundtable_testing::provider::Answer;

use crate::binary::{Home, finish, signal};
use crate::provider::{Provider, says};
use crate::serve;

/// The eras of the protocol.
const ERAS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// An editor that started the server.
struct Editor {
    era: &'static str,
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    next: u64,
}

impl Editor {
    fn open(home: &Home) -> Self {
        Self::open_with(home, &[])
    }

    fn open_with(home: &Home, flags: &[&str]) -> Self {
        Self::open_in(ERAS[0], home, flags)
    }

    fn open_in(era: &'static str, home: &Home, flags: &[&str]) -> Self {
        let mut command = home.command(&[], &[&["mcp"], flags].concat());
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let mut editor = Self { era, child, stdin, stdout, next: 0 };
        if era == ERAS[0] {
            let client = json!({ "name": "test", "version": "1" });
            let hello = json!({ "protocolVersion": era, "capabilities": {}, "clientInfo": client });
            let welcome = editor.ask("initialize", &hello);
            assert_eq!(welcome["result"]["serverInfo"]["name"], "roundtable");
            editor.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        }
        editor
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    fn post(&mut self, method: &str, params: &Value) -> u64 {
        self.next += 1;
        let mut params = params.clone();
        if self.era == ERAS[1] {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": self.era,
                "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
        self.send(
            &json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params }),
        );
        self.next
    }

    /// The next message of the server; it says nothing else.
    fn hear(&mut self) -> Value {
        let mut line = String::new();
        assert!(self.stdout.read_line(&mut line).unwrap() > 0, "the server has gone");
        let message: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(message["jsonrpc"], "2.0");
        message
    }

    /// The answer is the message with the id.
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.post(method, params);
        loop {
            let message = self.hear();
            if message["id"] == id {
                return message;
            }
        }
    }

    /// What a tool answers.
    fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value, String> {
        let answer = self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
        let result = &answer["result"];
        if result["isError"] == true {
            return Err(result["content"][0]["text"].as_str().unwrap().to_owned());
        }
        Ok(result["structuredContent"].clone())
    }

    /// Closes the connection, as an editor does that is closed.
    fn close(mut self) {
        drop(self.stdin.take());
        let mut rest = String::new();
        while self.stdout.read_line(&mut rest).unwrap() > 0 {}
        let ran = finish(self.child);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        finish(self.child);
    }
}

fn topic() -> Value {
    json!({ "topic": "Shall we?", "agentCount": 2, "rounds": 3, "idempotencyKey": "once" })
}

#[test]
fn an_editor_holds_a_debate_and_hears_nothing_but_the_protocol() {
    let home = Home::new();
    let mut editor = Editor::open(&home);
    let tools = editor.ask("tools/list", &json!({}));
    assert_eq!(tools["result"]["tools"].as_array().unwrap().len(), 12);
    let first = editor.call("start_roundtable", &topic()).unwrap();
    assert_eq!((&first["status"], &first["roundNumber"]), (&json!("in_progress"), &json!(1)));
    let position = first["agentResponses"][0]["position"].as_str().unwrap();
    assert!(
        position.contains("No model is configured") && position.contains("--model host"),
        "{position}"
    );
    let refused = editor.call("continue_roundtable", &json!({ "sessionId": "ses_nobody" }));
    assert!(refused.unwrap_err().contains("was not found"));
    editor.close();
}

#[test]
fn an_editor_that_is_closed_in_the_middle_goes_on_in_the_next_one() {
    let home = Home::new();
    let mut editor = Editor::open(&home);
    editor.post("tools/call", &json!({ "name": "start_roundtable", "arguments": topic() }));
    editor.close();
    let mut editor = Editor::open(&home);
    let first = editor.call("start_roundtable", &topic()).unwrap();
    assert_eq!(first["status"], "in_progress");
    let listed = editor.call("list_sessions", &json!({})).unwrap();
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 1, "the same key is the same debate");
    editor.close();
}

#[test]
fn f01_f02_a_server_killed_during_a_call_did_it_once_or_not_at_all() {
    let home = Home::new();
    for _ in 0..4 {
        let mut editor = Editor::open(&home);
        editor.post("tools/call", &json!({ "name": "start_roundtable", "arguments": topic() }));
        editor.kill();
    }
    let mut editor = Editor::open(&home);
    let first = editor.call("start_roundtable", &topic()).unwrap();
    assert_eq!((&first["status"], &first["roundNumber"]), (&json!("in_progress"), &json!(1)));
    let listed = editor.call("list_sessions", &json!({})).unwrap();
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 1);
    editor.close();
    home.run(&["verify"]).ok();
}

#[test]
fn two_editors_and_a_server_share_a_directory_and_survive_each_other() {
    let home = Home::new();
    let (server, url) = serve::serve(&home, &[]);
    let (mut one, mut two) = (Editor::open(&home), Editor::open(&home));
    let first = one.call("start_roundtable", &topic()).unwrap();
    let session = &first["sessionId"];
    let second =
        two.call("continue_roundtable", &json!({ "sessionId": session, "afterRound": 1 })).unwrap();
    assert_eq!(second["roundNumber"], 2);
    one.kill();
    let shown = serve::get(&url, &format!("/api/sessions/{}", session.as_str().unwrap()));
    assert!(shown.contains(r#""roundsCompleted":2"#), "{shown}");
    let third =
        two.call("continue_roundtable", &json!({ "sessionId": session, "afterRound": 2 })).unwrap();
    assert_eq!(third["status"], "completed");
    two.close();
    signal(&server, "-TERM");
    assert_eq!(finish(server).code, Some(0));
    home.run(&["verify"]).ok();
}

#[test]
fn install_adds_the_server_to_a_client_and_leaves_the_rest() {
    let home = Home::new();
    let file = home.write(".mcp.json", r#"{"mcpServers": {"other": {"command": "x"}}}"#);
    let before = std::fs::read_to_string(&file).unwrap();
    let dry = home.run_with(&[], &["mcp", "install", "--client", "claude-code", "--dry-run"]);
    let shown: Value = serde_json::from_str(&dry.out).unwrap();
    assert_eq!(shown["mcpServers"]["roundtable"]["args"][0], "mcp");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before, "a dry run writes nothing");
    let ran = home.run_with(&[], &["mcp", "install", "--client", "claude-code"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let written: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(written, shown);
    assert_eq!(written["mcpServers"]["other"]["command"], "x");
    let again = home.run_with(&[], &["mcp", "install", "--client", "claude-code"]);
    assert!(again.err.contains("already has it"), "{}", again.err);
    let ran = home.run_with(&[], &["mcp", "install", "--client", "vscode"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let code = std::fs::read_to_string(file.with_file_name(".vscode").join("mcp.json")).unwrap();
    let code: Value = serde_json::from_str(&code).unwrap();
    assert_eq!(code["servers"]["roundtable"], written["mcpServers"]["roundtable"]);
    let person = file.with_file_name("person");
    let variables = [("HOME", person.to_str().unwrap())];
    let ran = home.run_with(&variables, &["mcp", "install", "--client", "cursor"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(person.join(".cursor/mcp.json").exists());
    std::fs::write(&file, "// mine\n{}").unwrap();
    let refused = home.run_with(&[], &["mcp", "install", "--client", "claude-code"]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.err.contains("by hand"), "{}", refused.err);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "// mine\n{}");
}

#[test]
fn f04_a_call_that_is_cancelled_and_then_killed_still_brings_its_round() {
    for era in ERAS {
        let answer = || says(&json!({ "position": "Yes.", "confidence": 0.9 }).to_string());
        // The first two hear nothing until they give up; whoever asks after them is answered.
        let provider = Provider::start(vec![Answer::Silence, Answer::Silence, answer()]);
        let home = Home::new();
        let config = format!(
            "[defaults]\nmodel = \"vllm/m\"\n[providers.vllm]\nbase_url = \"{}\"\n",
            provider.address
        );
        home.write("roundtable.toml", &config);
        let mut editor = Editor::open_in(era, &home, &[]);
        let call = json!({ "name": "start_roundtable", "arguments": topic() });
        let id = editor.post("tools/call", &call);
        while provider.received().len() < 2 {
            std::thread::yield_now();
        }
        let params = json!({ "requestId": id, "reason": "the person changed their mind" });
        let cancelled =
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
        editor.send(&cancelled);
        let listed =
            editor.post("tools/call", &json!({ "name": "list_sessions", "arguments": {} }));
        let heard = editor.hear();
        assert_eq!(heard["id"], listed, "{era}: a cancelled call is not answered: {heard}");
        let session = &heard["result"]["structuredContent"]["sessions"][0]["sessionId"];
        editor.kill();
        let mut editor = Editor::open_in(era, &home, &[]);
        let round = editor.call("continue_roundtable", &json!({ "sessionId": session })).unwrap();
        assert_eq!((&round["status"], &round["roundNumber"]), (&json!("in_progress"), &json!(1)));
        assert_eq!(round["agentResponses"][1]["position"], "Yes.");
        editor.close();
        home.run(&["verify"]).ok();
    }
}

/// What an assistant brings in for the turn of an answer.
fn turn(answer: &Value, position: &str) -> Value {
    assert_eq!(answer["status"], "needs_turn", "{answer}");
    let said = json!({ "position": position, "confidence": 0.9 }).to_string();
    json!({
        "sessionId": answer["sessionId"],
        "turnToken": answer["turn"]["turnToken"],
        "contribution": said,
    })
}

#[test]
fn f24_a_server_killed_between_a_turn_and_its_answer_takes_the_answer_and_asks_nothing_twice() {
    for era in ERAS {
        let home = Home::new();
        let host = ["--model", "host"];
        let mut editor = Editor::open_in(era, &home, &host);
        let first = editor.call("start_roundtable", &topic()).unwrap();
        editor.kill();
        let mut editor = Editor::open_in(era, &home, &host);
        let second = editor.call("continue_roundtable", &turn(&first, "Yes.")).unwrap();
        assert_ne!(second["turn"], first["turn"]);
        editor.kill();
        let mut editor = Editor::open_in(era, &home, &host);
        let again = json!({ "sessionId": first["sessionId"] });
        let offered = editor.call("continue_roundtable", &again).unwrap();
        assert_eq!(offered["turn"], second["turn"], "{era}: the same turn is offered again");
        let over = editor.call("continue_roundtable", &turn(&second, "No.")).unwrap();
        assert_eq!((&over["status"], &over["roundNumber"]), (&json!("in_progress"), &json!(1)));
        editor.close();
        let events = home.json(&["show", &home.session()]);
        let count = |kind: &str| events.iter().filter(|event| event["kind"] == kind).count();
        let calls = ["model_call_started", "model_call_finished", "model_call_interrupted"];
        assert_eq!(calls.map(count), [2, 2, 0], "{era}");
        home.assert_sound();
    }
}

#[test]
fn an_assistant_may_bring_a_turn_in_through_any_process_that_is_there() {
    let home = Home::new();
    let config = home.write("roundtable.toml", "[defaults]\nmodel = \"host\"\n");
    let (server, url) = serve::serve(&home, &["--config", config.to_str().unwrap()]);
    let (mut one, mut two) = (Editor::open(&home), Editor::open(&home));
    let first = one.call("start_roundtable", &topic()).unwrap();
    let second = two.call("continue_roundtable", &turn(&first, "Yes.")).unwrap();
    let mut brought = turn(&second, "No.");
    let session = brought["sessionId"].take();
    brought.as_object_mut().unwrap().remove("sessionId");
    let path = format!("/api/debates/{}/continue", session.as_str().unwrap());
    let over = post(&url, &path, &brought);
    assert_eq!((&over["status"], &over["roundNumber"]), (&json!("in_progress"), &json!(1)));
    assert_eq!(over["agentResponses"][1]["position"], "No.");
    one.close();
    two.close();
    signal(&server, "-TERM");
    assert_eq!(finish(server).code, Some(0));
    home.assert_sound();
}

pub fn post(url: &str, path: &str, body: &Value) -> Value {
    let (address, body) = (url.strip_prefix("http://").unwrap(), body.to_string());
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"))
}

#[test]
fn an_assistant_speaks_for_the_agents_and_a_restart_goes_unnoticed() {
    let home = Home::new();
    let mut editor = Editor::open_with(&home, &["--model", "host"]);
    let first = editor.call("start_roundtable", &topic()).unwrap();
    assert_eq!(first["status"], "needs_turn");
    assert!(first["turn"]["prompt"].as_str().unwrap().contains("Shall we?"));
    let session = &first["sessionId"];
    editor.close();
    let mut editor = Editor::open_with(&home, &["--model", "host"]);
    let mut answer = first.clone();
    for _ in 0..2 {
        assert_eq!(answer["status"], "needs_turn", "{answer}");
        let said = json!({ "position": "Yes.", "confidence": 0.9 }).to_string();
        let turn = json!({ "sessionId": session, "turnToken": answer["turn"]["turnToken"], "contribution": said });
        answer = editor.call("continue_roundtable", &turn).unwrap();
    }
    assert_eq!((&answer["status"], &answer["roundNumber"]), (&json!("in_progress"), &json!(1)));
    assert_eq!(answer["agentResponses"][0]["position"], "Yes.");
    editor.close();
    home.run(&["verify"]).ok();
}
