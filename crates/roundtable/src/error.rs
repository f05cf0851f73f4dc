//! What can go wrong.

#[cfg(feature = "sqlite")]
use roundtable_backend::{DeleteError, OpenError};
use roundtable_core::Reject;
use roundtable_core::context_request::ContextRequest;
use roundtable_core::id::ParseIdError;
use roundtable_core::message::{BadFile, BadImage};
use roundtable_core::stage::InvalidName;
use roundtable_debate::{ImportError, UnknownMode};
use roundtable_engine::EngineError;
#[cfg(feature = "vendors")]
use roundtable_models::CatalogError;
use roundtable_ports::{LeaseError, LogError};

use crate::search::SearchError;

/// What went wrong, and what to do about it. The errors of this library's parts, and those of
/// `serde_json`, become one with `?`.
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
    /// A file is not an exported debate.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// A vendor's model cannot be set up.
    #[cfg(feature = "vendors")]
    #[error(transparent)]
    Model(#[from] CatalogError),
    /// An image cannot be shown to models.
    #[error(transparent)]
    Image(#[from] BadImage),
    /// A file cannot be sent with a message.
    #[error(transparent)]
    File(#[from] BadFile),
    /// A search is refused.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// Invalid JSON, or JSON that does not fit the type that is read.
    #[error("invalid JSON: {0}")]
    Json(String),
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

impl From<LogError> for Error {
    fn from(error: LogError) -> Self {
        Self::Engine(error.into())
    }
}

impl From<LeaseError> for Error {
    fn from(error: LeaseError) -> Self {
        Self::Engine(error.into())
    }
}

impl From<InvalidName> for Error {
    fn from(error: InvalidName) -> Self {
        Reject::Invalid { what: error.to_string() }.into()
    }
}

impl From<UnknownMode> for Error {
    fn from(error: UnknownMode) -> Self {
        Reject::Invalid { what: error.to_string() }.into()
    }
}

// Only the text is kept: the error of `serde_json` can be neither cloned nor compared.
impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::Json(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use roundtable_core::agent::Agent;
    use roundtable_core::id::SessionId;
    use roundtable_core::message::Image;
    use roundtable_core::stage::Name;
    use roundtable_debate::Mode;
    use roundtable_models::Catalog;

    use super::*;

    /// Each line fails with another error of a part, and `?` takes them all.
    fn fail(step: u32) -> Result<()> {
        match step {
            0 => drop(Agent::new("", "model")?),
            1 => drop(SessionId::new("a b")?),
            2 => drop(serde_json::from_str::<u32>("{")?),
            3 => drop(Image::from_bytes(b"text")?),
            4 => drop(Catalog::builtin()?.profile("nobody/any")?),
            5 => drop("quarrel".parse::<Mode>()?),
            6 => drop(Name::try_from("Not A Name".to_owned())?),
            _ => Err(LogError::Unavailable("busy".to_owned()))?,
        }
        Ok(())
    }

    #[test]
    fn errors_of_all_parts_become_one_with_a_question_mark() {
        for step in 0..8 {
            let error = fail(step).unwrap_err();
            assert!(!error.to_string().is_empty(), "{error:?}");
        }
        assert!(matches!(fail(2), Err(Error::Json(_))));
        assert!(matches!(fail(4), Err(Error::Model(CatalogError::UnknownVendor { .. }))));
    }
}
