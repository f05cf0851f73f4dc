//! Several processes on one directory. A process is this test's own executable, run again, with
//! an engine in it that obeys lines on its input.

mod contention;
mod crash;
mod evidence;
mod hand;
mod ledger;
mod node;
mod poison;
mod several;

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command as Process, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use roundtable_core::event::Event;
use roundtable_core::id::{CommandId, SessionId};
use roundtable_core::input::Command;
use roundtable_core::session::Session;
use roundtable_ports::Receipt;
use serde::{Deserialize, Serialize};

/// How long a process may take for anything before the test gives up.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// What the lines of a child begin with, among those that the test runner writes.
const MARK: &str = "@@";

/// What a child is to be.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Role {
    /// A process with an engine.
    Node(NodeRole),
    /// A process that dies in the middle of making the file, after so many statements of a step.
    Migrate { directory: String, statements: usize },
    /// A process that puts so many batches of vectors, and dies while it puts one more.
    Embed { directory: String, batches: u32 },
    /// A process that appends to sessions of its own, as fast as it can, so many times.
    Write { directory: String, name: String, times: u32 },
}

/// A process with an engine.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NodeRole {
    pub directory: String,
    /// Where the provider and the tools count.
    pub ledger: String,
    /// At which append it dies, and whether before or after.
    pub crash: Option<CrashAt>,
}

/// At which append a process dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CrashAt {
    /// Which one, from 0.
    pub append: u64,
    /// Whether it is done first.
    pub after: bool,
}

/// What a node is asked to do.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[expect(clippy::large_enum_variant, reason = "one at a time, on its way to a process")]
pub enum Ask {
    /// Sends a command.
    Send { session: SessionId, id: Option<CommandId>, command: Command },
    /// Says what the state is.
    State { session: SessionId },
    /// Tells every event from the first one on, as it happens.
    Watch { session: SessionId },
    /// Opens a gate of the model.
    Gate { name: String },
    /// Shuts down.
    Quit,
}

/// What a node says.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Tell {
    /// It is there, under this name.
    Ready(String),
    /// The command is committed.
    Done(Receipt),
    /// The command is refused.
    Refused(String),
    /// It is not known what became of the command.
    Unsure(String),
    /// The state.
    State(Box<Session>),
    /// An event.
    Event(Box<Event>),
}

/// A line of a child: which question it belongs to.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Line {
    pub number: u64,
    pub tell: Tell,
}

/// A line to a child.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Question {
    pub number: u64,
    pub ask: Ask,
}

/// A process.
pub struct Node {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Line>,
    /// Lines that came while another was waited for.
    early: Vec<Line>,
    asked: u64,
    /// Its name among those that share the directory.
    pub name: String,
}

impl Node {
    /// Starts a process.
    pub fn start(role: &Role) -> Self {
        let executable = std::env::current_exe().expect("the test's own executable");
        Self::launch(Process::new(executable), role)
    }

    fn launch(mut process: Process, role: &Role) -> Self {
        let mut child = process
            .args(["--ignored", "--exact", "process::hand::obeys", "--nocapture"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a process");
        let mut stdin = child.stdin.take().expect("a way in");
        writeln!(stdin, "{}", serde_json::to_string(role).unwrap()).expect("a child that listens");
        let stdout = BufReader::new(child.stdout.take().expect("a way out"));
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                // The test runner's own words may stand before it on the line.
                let Some((_, line)) = line.split_once(MARK) else { continue };
                let Ok(line) = serde_json::from_str(line) else { continue };
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { child, stdin: Some(stdin), lines, early: Vec::new(), asked: 0, name: String::new() }
    }

    /// Starts a process with an engine whose files may not grow beyond so many blocks.
    pub fn within(directory: &Path, blocks: u32) -> Self {
        let limit = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
        let executable = std::env::current_exe().expect("the test's own executable");
        let mut process = Process::new("sh");
        process.args(["-c", &limit]).arg(executable);
        Self::ready(process, directory, None)
    }

    /// Starts a process with an engine on a directory and waits until it is there.
    pub fn on(directory: &Path, crash: Option<CrashAt>) -> Self {
        let executable = std::env::current_exe().expect("the test's own executable");
        Self::ready(Process::new(executable), directory, crash)
    }

    fn ready(process: Process, directory: &Path, crash: Option<CrashAt>) -> Self {
        let role = Role::Node(NodeRole {
            directory: directory.display().to_string(),
            ledger: ledger::path(directory).display().to_string(),
            crash,
        });
        let mut node = Self::launch(process, &role);
        match node.answer(0) {
            Some(Tell::Ready(name)) => node.name = name,
            other => panic!("a process that does not start: {other:?}"),
        }
        node
    }

    /// Asks for something, and returns the number of the question. A process that is gone is not
    /// asked any more.
    pub fn ask(&mut self, ask: Ask) -> u64 {
        self.asked += 1;
        let line = serde_json::to_string(&Question { number: self.asked, ask }).unwrap();
        if let Some(stdin) = &mut self.stdin {
            let _ = writeln!(stdin, "{line}");
        }
        self.asked
    }

    /// The answer to a question; nothing when the process is gone before.
    pub fn answer(&mut self, number: u64) -> Option<Tell> {
        self.wait(|line| line.number == number)
    }

    /// The next line that fits; nothing when the process is gone before.
    fn wait(&mut self, fits: impl Fn(&Line) -> bool) -> Option<Tell> {
        if let Some(index) = self.early.iter().position(&fits) {
            return Some(self.early.remove(index).tell);
        }
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) if fits(&line) => return Some(line.tell),
                Ok(line) => self.early.push(line),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => panic!("a process that says nothing"),
            }
        }
    }

    /// Sends a command and waits for the answer.
    pub fn send(&mut self, session: &SessionId, id: &str, command: Command) -> Option<Tell> {
        let id = Some(CommandId::new(id).unwrap());
        let number = self.ask(Ask::Send { session: session.clone(), id, command });
        self.answer(number)
    }

    /// Sends a command that has to be committed.
    pub fn done(&mut self, session: &SessionId, id: &str, command: Command) -> Receipt {
        match self.send(session, id, command) {
            Some(Tell::Done(receipt)) => receipt,
            other => panic!("{id}: {other:?}"),
        }
    }

    pub fn state(&mut self, session: &SessionId) -> Session {
        let number = self.ask(Ask::State { session: session.clone() });
        match self.answer(number) {
            Some(Tell::State(state)) => *state,
            other => panic!("{session}: {other:?}"),
        }
    }

    /// Begins to watch a session; the number names the watch.
    pub fn watch(&mut self, session: &SessionId) -> u64 {
        self.ask(Ask::Watch { session: session.clone() })
    }

    /// The next event of a watch; nothing when the process is gone.
    pub fn next_event(&mut self, watch: u64) -> Option<Event> {
        match self.answer(watch)? {
            Tell::Event(event) => Some(*event),
            other => panic!("{other:?}"),
        }
    }

    /// Whether the process is gone.
    pub fn is_gone(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(Some(_)))
    }

    /// `kill -9`.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Shuts down in an orderly way.
    pub fn quit(mut self) {
        self.ask(Ask::Quit);
        let status = self.child.wait().expect("a process that ends");
        assert!(status.success(), "{status}");
    }

    /// Waits until the process is gone, and says whether it ended in an orderly way.
    pub fn wait_for_end(&mut self) -> bool {
        self.child.wait().expect("a process that ends").success()
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.stdin = None;
        self.kill();
    }
}

/// Looks again and again until something is so, in a file that other processes write.
pub fn until(what: &str, holds: impl Fn() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "this never happened: {what}");
        std::thread::yield_now();
    }
}
