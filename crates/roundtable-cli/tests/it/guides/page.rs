//! One guide that is run: a directory, the ids that it shows, a server and a provider when it needs them.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use super::block::{Block, Step};
use super::compare::{self, Ids};
use super::exchange::{Exchange, send};
use crate::binary::{finish, read_until, roundtable, signal};
use crate::provider::{Provider, says};

/// The provider that guides use; in a run it is one on this machine.
const PROVIDER: &str = "http://localhost:8000";

/// How guides show the directory in which their commands run, and the home directory.
const PROJECT: &str = "/project";

pub struct Page {
    document: String,
    directory: TempDir,
    ids: Ids,
    server: Option<(Child, String)>,
    provider: Provider,
}

impl Page {
    pub fn new(document: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(directory.path().join("project")).unwrap();
        std::fs::create_dir_all(directory.path().join("home")).unwrap();
        Self {
            document: document.to_owned(),
            directory,
            ids: Ids::default(),
            server: None,
            provider: Provider::start(vec![says("Hello!")]),
        }
    }

    pub fn run(&mut self, block: &Block) {
        let place = format!("{}:{}", self.document, block.line);
        match block.language.as_str() {
            "console" => {
                for step in block.steps() {
                    self.command(&place, &step);
                }
            }
            "http" => self.exchange(&place, &Exchange::read(&block.text)),
            _ if !block.info.is_empty() && !block.info.starts_with('(') => {
                let text = block.text.replace(PROVIDER, &self.provider.address);
                std::fs::write(self.project().join(&block.info), text).unwrap();
            }
            _ => {}
        }
    }

    /// Ends the server, which has to stop in order.
    pub fn end(self) {
        if let Some((child, _)) = self.server {
            signal(&child, "-TERM");
            let ran = finish(child);
            assert_eq!(ran.code, Some(0), "{}", ran.err);
        }
    }

    fn project(&self) -> PathBuf {
        self.directory.path().join("project")
    }

    fn command(&mut self, place: &str, step: &Step) {
        let command = self.ids.real(&step.command).replace(PROVIDER, &self.provider.address);
        let mut shell = self.surrounded(Command::new("sh"));
        shell.args(["-c", &format!("{{ {command}\n}} 2>&1")]).stdin(Stdio::null());
        let output = shell.output().unwrap();
        let printed = self.shown(&String::from_utf8(output.stdout).unwrap());
        if let Err(difference) = compare::texts(&step.output, &printed, &mut self.ids) {
            panic!("{place}: $ {}\n{difference}", step.command);
        }
    }

    /// A program with a home directory of its own and none of our variables.
    fn surrounded(&self, mut command: Command) -> Command {
        let binary = roundtable().get_program().to_owned();
        let binaries = Path::new(&binary).parent().unwrap().display().to_string();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let _ = std::os::unix::fs::symlink(root.join("tests"), self.project().join("tests"));
        command
            .env_clear()
            .env("PATH", format!("{binaries}:/usr/local/bin:/usr/bin:/bin"))
            .env("HOME", self.directory.path().join("home"))
            .current_dir(self.project());
        command
    }

    /// What was printed, with paths and addresses as guides show them.
    fn shown(&self, text: &str) -> String {
        let project = std::fs::canonicalize(self.project()).unwrap();
        let home = self.directory.path().join("home");
        text.replace(&project.display().to_string(), PROJECT)
            .replace(&self.project().display().to_string(), PROJECT)
            .replace(&home.display().to_string(), "~")
            .replace(&self.provider.address, PROVIDER)
            .replace(&roundtable().get_program().display().to_string(), "/usr/local/bin/roundtable")
    }

    fn exchange(&mut self, place: &str, exchange: &Exchange) {
        let url = self.url();
        let path = self.ids.real(&exchange.path);
        let headers: Vec<String> =
            exchange.headers.iter().map(|header| self.ids.real(header)).collect();
        let body = exchange.body.as_ref().map(|body| self.ids.real(body));
        let answer = send(&url, &exchange.method, &path, &headers, body.as_deref());
        let wrong = |what: String| {
            panic!(
                "{place}: {} {path}: {what}\n{}\n{}",
                exchange.method, answer.status, answer.body
            )
        };
        if answer.status != exchange.status {
            wrong(format!("{} is shown", exchange.status));
        }
        let shown: Option<Value> = serde_json::from_str(&exchange.answer).ok();
        let compared = match (shown, serde_json::from_str(&answer.body)) {
            (Some(shown), Ok(sent)) => compare::json(&shown, &sent, &mut self.ids),
            _ => {
                let sent = self.shown(&answer.body);
                compare::texts(exchange.answer.trim_end(), sent.trim_end(), &mut self.ids)
            }
        };
        compared.unwrap_or_else(wrong);
        settle(&url);
    }

    /// The server of this page. It reads the `roundtable.toml` that the page shows, if there is one.
    fn url(&mut self) -> String {
        if self.server.is_none() {
            let mut command = self.surrounded(Command::new(roundtable().get_program()));
            command.args(["serve", "--json", "--listen", "127.0.0.1:0"]);
            if self.project().join("roundtable.toml").is_file() {
                command.args(["--config", "roundtable.toml"]);
            }
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut child = command.spawn().unwrap();
            let mut line = String::new();
            let is_whole = |line: &str| line.ends_with('\n');
            assert!(read_until(child.stdout.as_mut().unwrap(), &mut line, is_whole));
            let announced: Value = serde_json::from_str(&line).unwrap();
            let url = announced["url"].as_str().unwrap().to_owned();
            self.server = Some((child, url));
        }
        self.server.as_ref().unwrap().1.clone()
    }
}

/// Waits until no round runs, so that the next request of a guide finds what the guide shows.
fn settle(url: &str) {
    let get = |path: &str| -> Value {
        serde_json::from_str(&send(url, "GET", path, &[], None).body).unwrap()
    };
    loop {
        let listed = get("/api/sessions");
        let ids = listed["sessions"].as_array().unwrap().iter();
        let runs = |session: &Value| {
            let id = session["sessionId"].as_str().unwrap();
            !get(&format!("/api/sessions/{id}"))["activeRound"].is_null()
        };
        if !ids.into_iter().any(runs) {
            return;
        }
    }
}
