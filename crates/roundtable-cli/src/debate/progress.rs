//! Who is speaking, on a line of its own that is gone when there is something to read.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// The line. Only people at a terminal see it.
#[derive(Default)]
pub(super) struct Progress {
    line: Option<ProgressBar>,
}

impl Progress {
    /// Says what is going on.
    pub fn say(&mut self, what: &str) {
        let line = self.line.get_or_insert_with(|| {
            let line = ProgressBar::new_spinner();
            let style = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}");
            line.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            line.enable_steady_tick(Duration::from_millis(100));
            line
        });
        if line.message() != what {
            line.set_message(what.to_owned());
        }
    }

    /// Makes room for words.
    pub fn clear(&mut self) {
        if let Some(line) = self.line.take() {
            line.finish_and_clear();
        }
    }
}
