//! Signals: the first one drains, the second one stops at once.

use std::process::ExitCode;

use roundtable::Engine;
use roundtable::driver::CutCall;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::out;

/// The exit code of a drain that ran out of time: what was cut off can be gone on with later, as
/// sysexits' EX_TEMPFAIL says.
const CUT: u8 = 75;

/// How many calls are listed that were cut off.
const LISTED: usize = 20;

/// The signals that end the program. They are listened to from here on, so it is made before
/// anything starts that a signal has to let finish.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    pub fn listen() -> std::io::Result<Self> {
        let interrupt = signal(SignalKind::interrupt())?;
        Ok(Self { interrupt, terminate: signal(SignalKind::terminate())? })
    }

    /// Resolves when a signal arrives, with the exit code that it asks for.
    pub async fn next(&mut self) -> ExitCode {
        tokio::select! {
            _ = self.interrupt.recv() => ExitCode::from(130),
            _ = self.terminate.recv() => ExitCode::from(143),
        }
    }

    /// Drains the engine; another signal stops it at once. Says which calls were cut off.
    pub async fn drain(&mut self, engine: &Engine) -> DrainOutcome {
        let hurried = tokio::select! {
            () = engine.shutdown() => false,
            _ = self.next() => {
                engine.stop().await;
                true
            }
        };
        let cut = engine.cut_calls();
        if cut.is_empty() {
            return DrainOutcome::Whole;
        }
        let why = if hurried { "stopped at once" } else { "the shutdown timed out" };
        eprintln!("{}", out::plain(&told(why, &cut)));
        if hurried { DrainOutcome::Hurried } else { DrainOutcome::OutOfTime }
    }
}

/// How a drain ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum DrainOutcome {
    /// Everything that ran was finished and recorded.
    Whole,
    /// A second signal cut calls off.
    Hurried,
    /// The time ran out, and calls were cut off.
    OutOfTime,
}

impl DrainOutcome {
    /// The exit code, where it is another one in an orderly stop.
    pub fn code(self, orderly: ExitCode) -> ExitCode {
        match self {
            Self::Whole | Self::Hurried => orderly,
            Self::OutOfTime => ExitCode::from(CUT),
        }
    }
}

/// What to tell about calls that were cut off.
fn told(why: &str, cut: &[CutCall]) -> String {
    let mut lines = vec![format!("{why}; interrupted:")];
    lines.extend(cut.iter().take(LISTED).map(|call| format!("  {call}")));
    if let Some(more) = cut.len().checked_sub(LISTED).filter(|more| *more > 0) {
        lines.push(format!("  … and {more} more"));
    }
    lines.push("Their sessions continue in the next process that opens them.".to_owned());
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use roundtable::core::id::SessionId;
    use roundtable::driver::CutTarget;

    use super::*;

    #[test]
    fn calls_that_were_cut_off_are_listed_up_to_a_limit() {
        let session = SessionId::new("1").unwrap();
        let target = CutTarget::Tool("slow".to_owned());
        let call = CutCall { session, agent: Some("Ann".to_owned()), target };
        assert_eq!(
            told("stopped at once", std::slice::from_ref(&call)),
            "stopped at once; interrupted:\n  ses_1: call of tool slow for Ann\n\
             Their sessions continue in the next process that opens them."
        );
        let many = told("stopped at once", &vec![call; LISTED + 2]);
        assert!(many.contains("\n  … and 2 more\n") && many.lines().count() == LISTED + 3);
    }

    #[test]
    fn only_a_drain_that_ran_out_of_time_has_an_exit_code_of_its_own() {
        let orderly = ExitCode::from(143);
        assert_eq!(DrainOutcome::Whole.code(orderly), orderly);
        assert_eq!(DrainOutcome::Hurried.code(orderly), orderly);
        assert_eq!(DrainOutcome::OutOfTime.code(orderly), ExitCode::from(75));
    }
}
