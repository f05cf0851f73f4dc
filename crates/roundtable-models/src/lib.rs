//! Models for Roundtable agents.
//!
//! [`Catalog`] knows vendors as rows of data and makes [`HttpModel`]s of them; [`wire`] has the
//! protocols they speak, [`Retry`] and [`Fallback`] ask again and elsewhere. [`local`] models run in
//! this process and need no key. [`scripted`] answers from a script: deterministic, for tests,
//! demonstrations and benchmarks.
//!
//! Nothing here reads the environment: keys and addresses come in as values.

#[cfg(feature = "vendors")]
pub mod catalog;
#[cfg(feature = "vendors")]
mod fallback;
#[cfg(feature = "vendors")]
mod http;
pub mod local;
#[cfg(feature = "vendors")]
pub mod output;
#[cfg(feature = "vendors")]
pub mod price;
#[cfg(feature = "vendors")]
mod retry;
pub mod scripted;
#[cfg(feature = "vendors")]
mod secret;
#[cfg(feature = "vendors")]
mod vendor_model;
#[cfg(feature = "vendors")]
pub mod window;
#[cfg(feature = "vendors")]
pub mod wire;

#[cfg(feature = "vendors")]
pub use catalog::{Catalog, CatalogError, Endpoint, Environment, Profile, Tuning};
#[cfg(feature = "vendors")]
pub use fallback::Fallback;
#[cfg(feature = "vendors")]
pub use http::{Caps, ClientError, HttpModel, Timeouts};
#[cfg(feature = "vendors")]
pub use retry::{Retry, RetryPolicy};
#[cfg(feature = "vendors")]
pub use secret::Secret;
#[cfg(feature = "vendors")]
pub use vendor_model::VendorModel;
