//! A server that is a program: started in a group of its own, with nothing of ours in its
//! environment, and gone with all its children when we are.
//!
//! The group is led by a guard, a shell that waits for the end of its input and then kills the
//! group. Its input is ours to hold: it ends when it is dropped, and also when this process dies in
//! whatever way. A parent-death signal would need unsafe code, and would not reach grandchildren.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// What a server gets when the operator names no other.
const PLAIN_PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// So much of what a server says on standard error is kept for the operator.
const KEPT: usize = 2000;
/// How long a server may take to leave by itself once its input has ended.
const GRACE: Duration = Duration::from_secs(1);
/// Signals that a server may send to its own group do not end the guard.
const GUARD: &str = "trap '' HUP INT TERM; read -r end; kill -KILL 0";

/// What to start.
pub(super) struct Program<'a> {
    pub command: &'a PathBuf,
    pub args: &'a [String],
    pub env: &'a BTreeMap<String, String>,
    pub directory: Option<&'a PathBuf>,
}

/// A program that was started. It runs until `stop` is cancelled.
pub(super) struct Process {
    pub stdin: ChildStdin,
    pub stdout: ChildStdout,
    pub last_words: LastWords,
}

impl Program<'_> {
    /// Starts the program, and a task that ends it when `stop` is cancelled; the other way round,
    /// `stop` is cancelled when the program ends.
    pub fn start(&self, stop: CancellationToken, tracker: &TaskTracker) -> io::Result<Process> {
        let mut guard = guard()?;
        let mut server = self.command(&guard).spawn()?;
        let missing = || io::Error::other("the program has no standard streams");
        let stdin = server.stdin.take().ok_or_else(missing)?;
        let stdout = server.stdout.take().ok_or_else(missing)?;
        let stderr = server.stderr.take().ok_or_else(missing)?;
        let last_words = LastWords::default();
        let secrets: Vec<String> = self.env.values().cloned().collect();
        tracker.spawn(listen(stderr, secrets, last_words.clone()));
        tracker.spawn(async move {
            // Cancelled or ended, the group goes: what the program started may still be there.
            tokio::select! {
                biased;
                () = stop.cancelled() => {
                    let _ = tokio::time::timeout(GRACE, server.wait()).await;
                }
                _ = server.wait() => stop.cancel(),
            }
            drop(guard.stdin.take());
            let _ = server.wait().await;
            let _ = guard.wait().await;
        });
        Ok(Process { stdin, stdout, last_words })
    }

    fn command(&self, guard: &Child) -> Command {
        let mut command = Command::new(self.command);
        command
            .args(self.args)
            .env_clear()
            .env("PATH", PLAIN_PATH)
            .envs(self.env)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        if let Some(directory) = self.directory {
            command.current_dir(directory);
        }
        join(&mut command, guard);
        command
    }
}

fn guard() -> io::Result<Child> {
    let mut guard = Command::new("/bin/sh");
    guard.args(["-c", GUARD]).env_clear();
    guard.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    lead(&mut guard);
    guard.spawn()
}

#[cfg(unix)]
fn lead(guard: &mut Command) {
    guard.process_group(0);
}

#[cfg(unix)]
fn join(command: &mut Command, guard: &Child) {
    if let Some(group) = guard.id().and_then(|id| i32::try_from(id).ok()) {
        command.process_group(group);
    }
}

#[cfg(not(unix))]
fn lead(_: &mut Command) {}

#[cfg(not(unix))]
fn join(_: &mut Command, _: &Child) {}

/// The end of what a program said on standard error. It is for the operator alone: models and
/// sessions never see it.
#[derive(Debug, Clone, Default)]
pub(super) struct LastWords(Arc<Mutex<Vec<u8>>>);

impl LastWords {
    /// What was said so far.
    pub fn text(&self) -> String {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&kept).trim().to_owned()
    }

    fn add(&self, bytes: &[u8], secrets: &[String]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(bytes);
        let mut text = String::from_utf8_lossy(&kept).into_owned();
        for secret in secrets.iter().filter(|secret| secret.len() >= 4) {
            text = text.replace(secret.as_str(), "***");
        }
        let mut start = text.len().saturating_sub(KEPT);
        while !text.is_char_boundary(start) {
            start += 1;
        }
        *kept = text.split_off(start).into_bytes();
    }
}

/// Reads standard error to its end, however much it is, so that the program never waits for a reader.
async fn listen(mut stderr: impl AsyncRead + Unpin, secrets: Vec<String>, last_words: LastWords) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = stderr.read(&mut buffer).await {
        last_words.add(&buffer[..count], &secrets);
    }
}
