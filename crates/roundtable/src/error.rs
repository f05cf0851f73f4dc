//! What can go wrong.

#[cfg(feature = "sqlite")]
use roundtable_backend::{DeleteError, OpenError};
use roundtable_core::Reject;
use roundtable_core::context_request::ContextRequest;
use roundtable_core::id::ParseIdError;
use roundtable_debate::ImportError;
use roundtable_engine::EngineError;

/// What went wrong, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The engine did not do what it was asked.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The data directory cannot be used.
    #[cfg(feature = "sqlite")]
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A session cannot be deleted.
    #[cfg(feature = "sqlite")]
    #[error(transparent)]
    Delete(#[from] DeleteError),
    /// Invalid name or id.
    #[error(transparent)]
    Id(#[from] ParseIdError),
    /// A file is no exported debate.
    #[error(transparent)]
    Import(#[from] ImportError),
}

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// The required context requests that stand in the way, if that is what is wrong.
    pub fn missing_context(&self) -> &[ContextRequest] {
        match self {
            Self::Engine(EngineError::Reject(Reject::ContextRequired { missing })) => missing,
            _ => &[],
        }
    }
}

impl From<Reject> for Error {
    fn from(reject: Reject) -> Self {
        Self::Engine(reject.into())
    }
}
