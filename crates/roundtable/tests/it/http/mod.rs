//! Real requests and real deaths: the engine runs in a process of its own (this test's own
//! executable, run again) and is killed when the provider, which lives here, says so.

mod account;
mod budget;
mod failure;
mod hand;
mod kill;
mod voice;

use std::process::Stdio;
use std::time::Duration;

use roundtable::Archive;
use roundtable::core::event::Opening;
use roundtable::core::settings::Settings;
use roundtable::prelude::*;
use roundtable_testing::opening;
use roundtable_testing::provider::{Answer, Received, Server, Stage};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command as Process};
use tokio::task::JoinHandle;

use account::Account;

/// How long anything may take before a test gives up.
const PATIENCE: Duration = Duration::from_secs(120);

/// What the lines of a child begin with, among those that the test runner writes.
const MARK: &str = "@@";

/// What a child is given.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Role {
    directory: String,
    address: String,
    opening: Opening,
    messages: Vec<String>,
}

fn session_id() -> SessionId {
    SessionId::new("story").unwrap()
}

/// An agent with the tools of all stories, whose replies are short.
fn agent(name: &str, model: &str) -> Agent {
    let tools = ["look", "ponder"].map(|tool| ToolDecl::handler(tool, Effect::Pure)).into();
    Agent { tools, max_tokens: 50, ..Agent::new(name, model).unwrap() }
}

/// A story that one agent tells, in answer to these messages.
struct Story {
    opening: Opening,
    messages: &'static [&'static str],
    directory: TempDir,
    /// The tool calls whose handlers ran, in all processes.
    runs: Vec<String>,
}

impl Story {
    fn new(agent: Agent, settings: Settings, messages: &'static [&'static str]) -> Self {
        let opening = opening(vec![agent], settings);
        Self { opening, messages, directory: tempfile::tempdir().unwrap(), runs: Vec::new() }
    }

    fn begin(&self, address: &str) -> Teller {
        Teller::start(&Role {
            directory: self.directory.path().display().to_string(),
            address: address.to_owned(),
            opening: self.opening.clone(),
            messages: self.messages.iter().map(|&text| text.to_owned()).collect(),
        })
    }

    /// Lets a process tell the story to its end.
    async fn finish(&mut self, server: &Server) -> Account {
        let teller = self.begin(&server.address);
        self.runs.extend(teller.end().await);
        self.account(server).await
    }

    /// Lets a process tell the story until the answer to a request is so far, and kills it.
    async fn cut(&mut self, server: &Server, request: usize, stage: Stage) {
        let teller = self.begin(&server.address);
        patient("a request", server.reaches(request, stage)).await;
        self.runs.extend(teller.kill().await);
        self.verify().await;
    }

    /// Nothing that is stored is damaged.
    async fn verify(&self) {
        let found = Archive::open(self.directory.path()).unwrap().verify().await;
        assert!(found.is_sound(), "{found:?}");
    }

    /// What was spent and done, as both sides have it.
    async fn account(&self, server: &Server) -> Account {
        self.verify().await;
        account::check_from_outside(self.directory.path());
        let log = Archive::open(self.directory.path()).unwrap().log(&session_id()).await.unwrap();
        Account::new(log, server.received(), self.runs.clone())
    }
}

/// A process that tells a story.
struct Teller {
    child: Child,
    said: JoinHandle<String>,
}

impl Teller {
    fn start(role: &Role) -> Self {
        let executable = std::env::current_exe().expect("the test's own executable");
        let mut child = Process::new(executable)
            .args(["--ignored", "--exact", "http::hand::obeys", "--nocapture"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("a process");
        let line = serde_json::to_string(role).unwrap() + "\n";
        let mut stdin = child.stdin.take().expect("a way in");
        let mut stdout = child.stdout.take().expect("a way out");
        let said = tokio::spawn(async move {
            stdin.write_all(line.as_bytes()).await.expect("a child that listens");
            let mut said = Vec::new();
            let _ = stdout.read_to_end(&mut said).await;
            // Until now the way in was open: when it closes, the child ends itself.
            drop(stdin);
            String::from_utf8_lossy(&said).into_owned()
        });
        Self { child, said }
    }

    /// `kill -9`; the tool calls whose handlers ran.
    async fn kill(mut self) -> Vec<String> {
        self.child.kill().await.expect("a child that can be killed");
        self.runs().await
    }

    /// Waits for the end of the story; the tool calls whose handlers ran.
    async fn end(mut self) -> Vec<String> {
        let status = patient("the end", self.child.wait()).await.unwrap();
        assert!(status.success(), "{status}");
        self.runs().await
    }

    async fn runs(self) -> Vec<String> {
        let said = self.said.await.unwrap();
        let runs = said.lines().filter_map(|line| Some(line.split_once(MARK)?.1.to_owned()));
        runs.collect()
    }
}

async fn patient<T>(what: &str, work: impl Future<Output = T>) -> T {
    match tokio::time::timeout(PATIENCE, work).await {
        Ok(done) => done,
        Err(_) => panic!("this never happened: {what}"),
    }
}

/// A provider that answers every request, but the one with this number in its own way.
async fn but_one(
    number: usize,
    way: impl Fn(&Received) -> Answer + Send + Sync + 'static,
) -> Server {
    let answer = move |at: usize, request: &Received| {
        if at == number { way(request) } else { voice::answer(request) }
    };
    Server::following(answer).await
}
