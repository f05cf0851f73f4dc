//! Access tokens are read again while the server runs: soon after the configuration was changed, and
//! when SIGHUP asks for it. A configuration that is none changes nothing.

use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use roundtable_server::{Access, Quotas, TokenChanges};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::config::{Config, Stamp};
use crate::out;

/// How often the file is looked at. A change counts when it was seen twice, so a token is dead at most
/// twice as long after it was taken out: streams have to end within 5 seconds (S04).
const LOOK: Duration = Duration::from_secs(1);

/// Keeps the tokens of a server as the configuration has them.
pub(super) struct Keeper<'a> {
    config: &'a Config,
    access: Access,
    quotas: Quotas,
    asked: Signal,
    on_terminal: bool,
    file: FileWatch<Stamp>,
}

impl<'a> Keeper<'a> {
    pub fn new(config: &'a Config, access: Access, quotas: Quotas) -> std::io::Result<Self> {
        Ok(Self {
            config,
            access,
            quotas,
            asked: signal(SignalKind::hangup())?,
            on_terminal: std::io::stderr().is_terminal(),
            file: FileWatch::new(config.stamp().clone()),
        })
    }

    /// Keeps them until the terminal is gone that the server was started in.
    pub async fn keep(mut self) {
        loop {
            let asked = tokio::select! {
                _ = self.asked.recv() => true,
                () = tokio::time::sleep(LOOK) => false,
            };
            if asked && self.on_terminal && !std::io::stderr().is_terminal() {
                return;
            }
            let now = self.config.stamp_now();
            let changed = self.file.look(now.clone());
            if asked {
                self.file = FileWatch::new(now);
            }
            if asked || changed {
                say(&self.read(asked));
            }
        }
    }

    /// Reads the tokens again; what there is to say about it.
    fn read(&self, asked: bool) -> String {
        let tokens = self.config.read_again().and_then(|config| {
            config.check_access()?;
            Ok((config.tokens(), config.limits()))
        });
        match tokens {
            Ok((tokens, limits)) => {
                self.quotas.replace(limits);
                told(self.access.replace(tokens), self.access.is_open(), asked)
            }
            Err(error) => format!(
                "error: {error:#}\nThe access tokens are unchanged. Fix the configuration to reload them.\n"
            ),
        }
    }
}

/// What came of reading the tokens again; nothing when nobody asked and nothing changed.
fn told(replaced: TokenChanges, is_open: bool, asked: bool) -> String {
    let TokenChanges { added, revoked, left } = replaced;
    match (added, revoked) {
        (0, 0) if !asked => String::new(),
        (0, 0) if is_open => "Still no access tokens.\n".to_owned(),
        (0, 0) => format!("The access tokens are unchanged: {left}.\n"),
        _ if left == 0 => "All access tokens are revoked: every call is refused. Add a [[token]], or restart the server to serve without tokens.\n".to_owned(),
        _ => format!("Access tokens: {added} new, {revoked} revoked, {left} in total.\n"),
    }
}

/// Tells whoever runs the server, if anyone listens.
fn say(text: &str) {
    let _ = std::io::stderr().lock().write_all(out::plain(text).as_bytes());
}

/// A file that may be in the middle of being written, by what can be seen of it from outside.
struct FileWatch<S> {
    /// As it was when it was read.
    read: S,
    /// As it was when it was looked at.
    seen: S,
}

impl<S: PartialEq + Clone> FileWatch<S> {
    fn new(read: S) -> Self {
        Self { seen: read.clone(), read }
    }

    /// Whether it has changed, and rests.
    fn look(&mut self, now: S) -> bool {
        let rests = now == self.seen;
        self.seen = now;
        let changed = rests && self.seen != self.read;
        if changed {
            self.read = self.seen.clone();
        }
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s04_a_file_is_read_again_when_it_has_changed_and_rests() {
        let mut file = FileWatch::new("old");
        let looks = ["old", "half", "new", "new", "new", "old", "old", "gone", "old"];
        let read: Vec<bool> = looks.into_iter().map(|now| file.look(now)).collect();
        assert_eq!(read, [false, false, false, true, false, false, true, false, false]);
    }

    #[test]
    fn whoever_runs_the_server_hears_of_every_change_and_of_what_they_asked_for() {
        let same = TokenChanges { added: 0, revoked: 0, left: 2 };
        assert_eq!(told(same, false, false), "");
        assert_eq!(told(same, false, true), "The access tokens are unchanged: 2.\n");
        let other = TokenChanges { added: 1, revoked: 2, left: 1 };
        assert_eq!(told(other, false, false), "Access tokens: 1 new, 2 revoked, 1 in total.\n");
        let none = TokenChanges { added: 0, revoked: 2, left: 0 };
        assert!(told(none, false, false).contains("every call is refused"));
        let never = TokenChanges { added: 0, revoked: 0, left: 0 };
        assert_eq!(told(never, true, true), "Still no access tokens.\n");
    }
}
