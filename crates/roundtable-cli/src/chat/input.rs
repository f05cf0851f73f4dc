//! What people type: lines with history and arrow keys on a terminal, plain lines elsewhere.
//!
//! One thread reads, and only when it is asked to, so that nothing that is typed for the next prompt
//! is taken for an earlier one.

use std::io::{BufRead as _, IsTerminal as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;
use tokio::sync::mpsc;

/// How long the thread waits for a key before it looks whether a line is still wanted.
#[cfg(unix)]
const LOOK_MS: i64 = 100;

/// What was typed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Words, perhaps several lines.
    Text(String),
    /// Ctrl-C.
    Interrupted,
    /// Nobody is there any longer.
    End,
}

/// What the thread is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineRequest {
    /// A line, with this prompt.
    Edited(&'static str),
    /// A line that is typed while an answer is shown, if one is.
    Meanwhile,
}

pub(super) struct Input {
    wanted: mpsc::Sender<LineRequest>,
    lines: mpsc::Receiver<Option<Line>>,
    /// What the thread is at.
    asked: Option<LineRequest>,
    busy: Arc<AtomicBool>,
    terminal: bool,
}

impl Input {
    pub fn new() -> Self {
        let terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        let (wanted, requests) = mpsc::channel(1);
        let (sender, lines) = mpsc::channel(1);
        let busy = Arc::new(AtomicBool::new(false));
        let watched = busy.clone();
        std::thread::spawn(move || read(requests, &sender, &watched, terminal));
        Self { wanted, lines, asked: None, busy, terminal }
    }

    /// The next line. It can be waited for again after waiting was given up.
    pub async fn line(&mut self, prompt: &'static str) -> Line {
        if self.asked == Some(LineRequest::Meanwhile)
            && let Some(line) = self.end_meanwhile().await
        {
            return line;
        }
        loop {
            if let Some(line) = self.next(LineRequest::Edited(prompt)).await {
                return line;
            }
        }
    }

    /// A line that is typed while an answer is shown. Never comes where nobody sits at a terminal.
    pub async fn meanwhile(&mut self) -> Line {
        if !self.terminal {
            return std::future::pending().await;
        }
        loop {
            self.busy.store(true, Ordering::SeqCst);
            if let Some(line) = self.next(LineRequest::Meanwhile).await {
                return line;
            }
        }
    }

    async fn end_meanwhile(&mut self) -> Option<Line> {
        self.busy.store(false, Ordering::SeqCst);
        self.next(LineRequest::Meanwhile).await
    }

    async fn next(&mut self, wanted: LineRequest) -> Option<Line> {
        if self.asked.is_none() {
            self.asked = Some(wanted);
            if self.wanted.send(wanted).await.is_err() {
                return Some(Line::End);
            }
        }
        let line = self.lines.recv().await.unwrap_or(Some(Line::End));
        self.asked = None;
        line
    }
}

fn read(
    mut requests: mpsc::Receiver<LineRequest>,
    lines: &mpsc::Sender<Option<Line>>,
    busy: &AtomicBool,
    terminal: bool,
) {
    let mut editor = if terminal { DefaultEditor::new().ok() } else { None };
    while let Some(wanted) = requests.blocking_recv() {
        let line = match (wanted, &mut editor) {
            (LineRequest::Meanwhile, _) => meanwhile(busy),
            (LineRequest::Edited(prompt), Some(editor)) => Some(edited(editor, prompt)),
            (LineRequest::Edited(_), None) => Some(plain(next_line)),
        };
        if lines.blocking_send(line).is_err() {
            return;
        }
    }
}

/// A line with history and arrow keys. Pasted lines stay together.
fn edited(editor: &mut DefaultEditor, prompt: &str) -> Line {
    let mut interrupted = false;
    let mut first = true;
    let line = plain(|| {
        let shown = if std::mem::take(&mut first) { prompt } else { "… " };
        match editor.readline(shown) {
            Ok(line) => Some(line),
            Err(ReadlineError::Interrupted) => {
                interrupted = true;
                None
            }
            Err(_) => None,
        }
    });
    if interrupted {
        return Line::Interrupted;
    }
    if let Line::Text(text) = &line {
        // A line that cannot be remembered was typed all the same.
        let _ = editor.add_history_entry(text);
    }
    line
}

/// A message: one line, and those that follow a backslash at its end.
fn plain(mut next: impl FnMut() -> Option<String>) -> Line {
    let Some(mut text) = next() else { return Line::End };
    while text.ends_with('\\') {
        text.pop();
        let Some(more) = next() else { break };
        text.push('\n');
        text.push_str(&more);
    }
    Line::Text(text.trim().to_owned())
}

fn next_line() -> Option<String> {
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line).ok()?;
    (read > 0).then(|| line.trim_end_matches(['\n', '\r']).to_owned())
}

/// Reads a line only when one is there, and gives up when nobody wants it any longer.
#[cfg(unix)]
fn meanwhile(busy: &AtomicBool) -> Option<Line> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let wait = Timespec { tv_sec: 0, tv_nsec: LOOK_MS * 1_000_000 };
    while busy.load(Ordering::SeqCst) {
        let stdin = std::io::stdin();
        let mut ready = [PollFd::new(&stdin, PollFlags::IN)];
        match poll(&mut ready, Some(&wait)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) => return Some(plain(next_line)),
            Err(_) => return None,
        }
    }
    None
}

/// Elsewhere a line cannot be waited for with a limit: what is typed waits for the prompt.
#[cfg(not(unix))]
fn meanwhile(busy: &AtomicBool) -> Option<Line> {
    while busy.load(Ordering::SeqCst) {
        std::thread::park_timeout(std::time::Duration::from_millis(100));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(lines: &[&str]) -> Line {
        let mut lines = lines.iter().map(|line| (*line).to_owned());
        plain(move || lines.next())
    }

    #[test]
    fn a_backslash_at_the_end_continues_the_message_on_the_next_line() {
        assert_eq!(
            typed(&["one\\", "two\\", " three ", "four"]),
            Line::Text("one\ntwo\n three".to_owned())
        );
        assert_eq!(typed(&["one\\"]), Line::Text("one".to_owned()));
        assert_eq!(typed(&[]), Line::End);
    }
}
