//! How far it is: a bar for people at a terminal, lines for everyone else, nothing for programs.

use std::io::IsTerminal as _;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::out;

/// Who is told.
pub(super) enum Progress {
    Bar(ProgressBar),
    Lines,
    Silent,
}

impl Progress {
    pub fn new(json: bool) -> Self {
        if json {
            Self::Silent
        } else if std::io::stderr().is_terminal() {
            Self::Bar(ProgressBar::no_length())
        } else {
            Self::Lines
        }
    }

    /// A package is being fetched, of so many bytes.
    pub fn begin(&self, title: &str, bytes: u64) {
        match self {
            Self::Bar(bar) => {
                let form = "{spinner} {msg} [{bar:30}] {bytes}/{total_bytes} {bytes_per_sec}";
                let style = ProgressStyle::with_template(form);
                bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
                bar.reset();
                bar.set_length(bytes);
                bar.set_message(title.to_owned());
                bar.enable_steady_tick(Duration::from_millis(100));
            }
            Self::Lines => eprintln!("Fetching {title} ({}).", megabytes(bytes)),
            Self::Silent => {}
        }
    }

    /// So many bytes are there.
    pub fn at(&self, bytes: u64) {
        if let Self::Bar(bar) = self {
            bar.set_position(bytes);
        }
    }

    /// Something that people should know.
    pub fn note(&self, text: &str) {
        match self {
            Self::Bar(bar) => bar.println(out::plain(text)),
            Self::Lines => eprintln!("{}", out::plain(text)),
            Self::Silent => {}
        }
    }

    pub fn end(&self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

/// A size for people.
pub(super) fn megabytes(bytes: u64) -> String {
    let tenths = (bytes + 50_000) / 100_000;
    format!("{}.{} MB", tenths / 10, tenths % 10)
}
