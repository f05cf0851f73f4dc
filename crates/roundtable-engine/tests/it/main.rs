//! The engine, driven through its public interface on a scripted model and paused time.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod round;
