//! What people type.

use std::io::{BufRead as _, Result};

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
