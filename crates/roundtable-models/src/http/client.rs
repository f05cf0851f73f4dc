//! The HTTP client: one TLS provider, no environment, no redirects that could carry a key away.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use crate::secret::Secret;
use reqwest::Client;
use rustls::ClientConfig;
use rustls::crypto::ring;
use rustls_platform_verifier::BuilderVerifierExt as _;

/// Why there is no client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClientError {
    /// The machine's certificates cannot be used.
    #[error("TLS is not available: {0}")]
    Tls(String),
    /// The model's address is none.
    #[error("invalid URL: {0}")]
    Address(String),
    /// The proxy's address is none.
    #[error("invalid proxy URL: {0}")]
    Proxy(String),
}

pub(super) fn build(connect: Duration, proxy: Option<&Secret>) -> Result<Client, ClientError> {
    let tls = TLS.as_ref().map_err(Clone::clone)?;
    // The environment's proxies are the configuration's to read, not the client's.
    let mut builder = Client::builder()
        .tls_backend_preconfigured(tls.clone())
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .referer(false)
        .connect_timeout(connect)
        .user_agent(concat!("roundtable/", env!("CARGO_PKG_VERSION")));
    if let Some(proxy) = proxy {
        let invalid = |error: reqwest::Error| ClientError::Proxy(error.without_url().to_string());
        builder = builder.proxy(reqwest::Proxy::all(proxy.reveal()).map_err(invalid)?);
    }
    builder.build().map_err(|error| ClientError::Tls(super::chain(&error)))
}

/// Reading the machine's certificates takes a while, and they are the same for every model.
static TLS: LazyLock<Result<ClientConfig, ClientError>> = LazyLock::new(|| {
    let tls = |error: rustls::Error| ClientError::Tls(error.to_string());
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(tls)?;
    Ok(builder.with_platform_verifier().map_err(tls)?.with_no_client_auth())
});
