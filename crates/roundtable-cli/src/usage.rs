//! Errors in how the command was called: exit code 2, and nothing was changed.

/// An error in how the command was called.
#[derive(Debug)]
pub(crate) struct UsageError(String);

impl std::fmt::Display for UsageError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

/// An error in how the command was called.
pub(crate) fn error(text: impl Into<String>) -> anyhow::Error {
    UsageError(text.into()).into()
}

/// Whether an error is one.
pub(crate) fn is_usage(error: &anyhow::Error) -> bool {
    error.is::<UsageError>()
}
