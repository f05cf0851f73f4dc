//! What people type.

use std::io::{BufRead as _, Result, Write as _};

use tokio::sync::mpsc;

/// Lines from standard input, read on a thread that nobody waits for: a program that is told to
/// stop does not wait for someone to press Enter.
#[derive(Default)]
pub(crate) struct Prompt {
    /// Nothing before the first question: until then, what is typed is left alone.
    lines: Option<mpsc::Receiver<Result<String>>>,
}

impl Prompt {
    /// The next line; nothing when nobody is there. It can be waited for again after waiting was
    /// given up.
    pub async fn line(&mut self) -> Result<Option<String>> {
        let line = self.lines.get_or_insert_with(read).recv().await.transpose()?;
        Ok(line.map(|line| line.trim().to_owned()))
    }

    /// The same where an empty line is as good as none.
    pub async fn answer(&mut self) -> Result<Option<String>> {
        Ok(self.line().await?.filter(|line| !line.is_empty()))
    }
}

/// Asks a question before anything else runs. Only a yes is a yes; nobody there is a no.
pub(crate) fn agrees(question: &str) -> Result<bool> {
    let mut err = std::io::stderr().lock();
    write!(err, "{question} [y/N] ")?;
    err.flush()?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
}

fn read() -> mpsc::Receiver<Result<String>> {
    let (sender, lines) = mpsc::channel(1);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    lines
}
