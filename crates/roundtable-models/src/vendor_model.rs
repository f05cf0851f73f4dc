//! A vendor's model by its reference, set up as the vendor's own tools are: the key and the URL from
//! a value, or else from the vendor's own variables.

use std::sync::Arc;

use crate::catalog::{Catalog, CatalogError, Endpoint, Environment, proxy_for};
use crate::retry::{Retry, RetryPolicy};
use crate::secret::Secret;

/// A vendor's model to be registered: `vendor/model`, or a vendor alone for its usual model. A text
/// is enough where the variables hold the rest.
///
/// ```
/// use roundtable_models::{Catalog, CatalogError, Environment, VendorModel};
/// let catalog = Catalog::builtin()?;
/// let environment = Environment::of([("ANTHROPIC_API_KEY", "sk-…")]);
/// VendorModel::from("anthropic/claude-sonnet-4-5").build(&catalog, &environment)?;
/// VendorModel::new("openai/gpt-5-mini").key("sk-…").build(&catalog, &environment)?;
/// VendorModel::new("compatible/llama-3.3").base_url("http://localhost:8000/v1").build(&catalog, &environment)?;
/// # Ok::<(), CatalogError>(())
/// ```
#[derive(Debug, Clone)]
pub struct VendorModel {
    reference: String,
    name: Option<String>,
    endpoint: Endpoint,
    retry: RetryPolicy,
}

impl VendorModel {
    /// The model with this reference.
    pub fn new(reference: impl Into<String>) -> Self {
        Self {
            reference: reference.into(),
            name: None,
            endpoint: Endpoint::default(),
            retry: RetryPolicy::default(),
        }
    }

    /// Registers it under this name instead of its reference.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sends this key instead of the one in the vendor's variable.
    #[must_use]
    pub fn key(mut self, key: impl AsRef<str>) -> Self {
        self.endpoint.key = Some(Secret::new(key));
        self
    }

    /// Sends requests to this URL: a gateway, or a server of one's own.
    #[must_use]
    pub fn base_url(mut self, base_url: impl Into<String>) -> Self {
        self.endpoint.base_url = Some(base_url.into());
        self
    }

    /// Sets everything about the endpoint: headers, proxy, timeouts and so on. What it leaves out
    /// is still read from the vendor's variables.
    #[must_use]
    pub fn endpoint(mut self, endpoint: Endpoint) -> Self {
        self.endpoint = endpoint;
        self
    }

    /// Retries failed requests by this policy.
    #[must_use]
    pub fn retry(mut self, policy: RetryPolicy) -> Self {
        self.retry = policy;
        self
    }

    /// The name under which agents use it.
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.reference)
    }

    /// The model, ready to be asked.
    ///
    /// # Errors
    /// [`CatalogError`] when the vendor is unknown, or needs a key, a URL or the name of a model.
    pub fn build(
        self,
        catalog: &Catalog,
        environment: &Environment,
    ) -> Result<Retry, CatalogError> {
        let lookup = |name: &str| environment.get(name).map(str::to_owned);
        let vendor_name = self.reference.split('/').next().unwrap_or_default();
        let vendor = catalog.vendor(vendor_name)?;
        let found = vendor.settings(None, &lookup);
        let mut endpoint = self.endpoint;
        // How a token is sent belongs to the token: a key of the caller's is sent in the usual way.
        if let Some(key) = found.key.filter(|_| endpoint.key.is_none()) {
            endpoint.key = Some(Secret::new(key.value));
            endpoint.auth = endpoint.auth.or(found.auth);
        }
        endpoint.base_url = endpoint.base_url.or(found.base_url.map(|setting| setting.value));
        for (header, setting) in found.headers {
            let is_set = |name: &String| name.eq_ignore_ascii_case(&header);
            if !endpoint.headers.keys().any(is_set) {
                endpoint.headers.insert(header, Secret::new(setting.value));
            }
        }
        let url = vendor.address(vendor_name, endpoint.base_url.as_deref())?;
        endpoint.proxy =
            endpoint.proxy.or_else(|| Some(Secret::new(proxy_for(&url, &lookup)?.value)));
        let reference = if self.reference.contains('/') {
            self.reference
        } else {
            let named = found.model.as_ref().map(|setting| setting.value.as_str());
            let base_url = endpoint.base_url.as_deref();
            catalog.usual_model(&self.reference, named, base_url).ok_or_else(|| {
                CatalogError::NoModel {
                    vendor: self.reference.clone(),
                    variables: vendor.model_env.clone(),
                }
            })?
        };
        Ok(Retry::new(Arc::new(catalog.model(&reference, endpoint)?), self.retry))
    }
}

impl From<&str> for VendorModel {
    fn from(reference: &str) -> Self {
        Self::new(reference)
    }
}

impl From<String> for VendorModel {
    fn from(reference: String) -> Self {
        Self::new(reference)
    }
}
