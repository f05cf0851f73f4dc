//! Models for Roundtable agents.
//!
//! [`Catalog`] knows vendors as rows of data and makes [`HttpModel`]s of them; [`wire`] has the
//! protocols they speak, [`Retry`] and [`Fallback`] ask again and elsewhere. [`local`] models run in
//! this process and need no key. [`scripted`] answers from a script: deterministic, for tests,
//! demonstrations and benchmarks.
//!
//! Nothing here reads the environment: keys and addresses come in as values.

pub mod catalog;
mod fallback;
mod http;
pub mod local;
pub mod output;
pub mod price;
mod retry;
pub mod scripted;
mod secret;
mod vendor_model;
pub mod window;
pub mod wire;

pub use catalog::{Catalog, CatalogError, Endpoint, Environment, Profile, Tuning};
pub use fallback::Fallback;
pub use http::{Caps, ClientError, HttpModel, Timeouts};
pub use retry::{Retry, RetryPolicy};
pub use secret::Secret;
pub use vendor_model::VendorModel;
