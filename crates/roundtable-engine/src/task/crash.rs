//! What happens when a session's task panics: it is counted, whoever waits is told, and a session that
//! panics again and again is parked.

use std::any::Any;

use roundtable_core::id::SessionId;
use roundtable_ports::{Crash, LeaseError};
use tokio::sync::mpsc;

use super::envelope::Envelope;
use super::{SessionTask, look_again, refuse_all};
use crate::engine::Engine;
use crate::error::EngineError;

/// How many characters of a panic's message are kept.
const MESSAGE: usize = 200;

/// How long a word of a panic's message may be.
const WORD: usize = 32;

/// Notes a panic. The session is looked at again soon, unless it is parked now.
pub(super) async fn note(
    engine: &Engine,
    session: &SessionId,
    panic: Box<dyn Any + Send>,
    mailbox: &mut mpsc::Receiver<Envelope>,
) {
    let parts = engine.parts();
    let crash = Crash { at: parts.clock.now(), message: message(panic.as_ref()) };
    drop(panic);
    let noted = tokio::select! {
        biased;
        () = engine.stopped().cancelled() => return,
        noted = parts.store.leases.crashed(session, &parts.node, &crash) => noted,
    };
    match noted {
        Ok(Some(reason)) => {
            engine.note_parked(session, &reason);
            refuse_all(mailbox, &LeaseError::Parked { reason }.into()).await;
        }
        Ok(None) | Err(_) => {
            refuse_all(mailbox, &EngineError::Crashed).await;
            look_again(engine, session).await;
        }
    }
}

/// What a panic says, as callers may read it: one short line without paths, and without words that look
/// like a key.
fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("a panic without a message");
    let words = text.split_whitespace().map(|word| if is_plain(word) { word } else { "…" });
    let line = words.take(MESSAGE).collect::<Vec<_>>().join(" ");
    line.chars().filter(|c| !c.is_control()).take(MESSAGE).collect()
}

fn is_plain(word: &str) -> bool {
    let has = |what: fn(char) -> bool| word.contains(what);
    let mixed = has(char::is_alphabetic) && has(char::is_numeric);
    !mixed && !word.contains(['/', '\\', '=', '@']) && word.chars().count() <= WORD
}

impl SessionTask<'_> {
    /// Says that the session is under way, if owners before this one died. A store that does not take it
    /// is asked again at the next step.
    pub(super) async fn settle(&mut self) {
        if self.own.takeovers > 0
            && self.engine.parts().store.leases.settle(&self.own).await.is_ok()
        {
            self.own.takeovers = 0;
        }
        self.alone = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f35_the_reason_of_a_parked_session_has_no_paths_and_no_keys() {
        let text = "index 6 out of range\n in /srv/canary/x.rs with sk-canary-5f2e and token=abc";
        let shown = message(&text.to_owned());
        assert_eq!(shown, "index 6 out of range in … with … and …");
        assert_eq!(message(&"at once"), "at once");
        assert_eq!(message(&7), "a panic without a message");
        assert_eq!(message(&"word ".repeat(900)).chars().count(), MESSAGE);
    }
}
