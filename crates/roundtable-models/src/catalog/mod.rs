//! Vendors as data: a row is a protocol, an address and its quirks. A vendor needs no code.

mod environment;
mod profile;
mod row;

use std::collections::BTreeMap;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use roundtable_core::budget::Price;

pub use environment::{Environment, Lookup, Setting, VendorSettings, proxy_for};
pub use profile::{Effort, EffortStyle, LateSystem, OutputMode, Profile, Quirks, ToolIds, Tuning};
pub use row::{Auth, ModelRow, Vendor};

use crate::http::{Caps, ClientError, HttpModel, Target, Timeouts};
use crate::price::PriceTable;
use crate::secret::Secret;

/// The vendors that come with the program.
const BUILTIN: &str = include_str!("vendors.toml");

/// Why there is no model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CatalogError {
    /// No vendor has this name.
    #[error("unknown vendor \"{name}\"{}", hint(.nearest))]
    UnknownVendor {
        /// The name.
        name: String,
        /// The name that was probably meant.
        nearest: Option<String>,
    },
    /// A model is `vendor/name`.
    #[error("invalid model \"{0}\"; use vendor/model, like anthropic/claude-sonnet-4-5")]
    NotAModel(String),
    /// The vendor wants a key.
    #[error("{vendor} needs an API key; set {}", .variables.join(" or "))]
    NoKey {
        /// The vendor.
        vendor: String,
        /// Where its key is looked for.
        variables: Vec<String>,
    },
    /// A vendor was named without a model, and it has no usual one.
    #[error("\"{vendor}\" has no default model; use {vendor}/MODEL{}", or_variables(.variables))]
    NoModel {
        /// The vendor.
        vendor: String,
        /// Where its model is looked for.
        variables: Vec<String>,
    },
    /// The variables set up no vendor.
    #[error("no API key found; set {}, or register a model", .variables.join(", "))]
    NothingSetUp {
        /// The variables of the vendors that have a default model.
        variables: Vec<String>,
    },
    /// The vendor is wherever its user runs it.
    #[error("{vendor} needs a URL{}", or_variables(.variables))]
    NoAddress {
        /// The vendor.
        vendor: String,
        /// Where its address is looked for.
        variables: Vec<String>,
    },
    /// The address cannot be used.
    #[error("invalid URL of {vendor}: {reason}")]
    BadAddress {
        /// The vendor.
        vendor: String,
        /// Why.
        reason: String,
    },
    /// A header cannot be sent.
    #[error("invalid header \"{header}\" for {vendor}: {reason}")]
    BadHeader {
        /// The vendor.
        vendor: String,
        /// The header's name.
        header: String,
        /// Why.
        reason: &'static str,
    },
    /// The catalog's text makes no sense.
    #[error("invalid catalog: {0}")]
    Malformed(String),
    /// No connections can be made.
    #[error(transparent)]
    Client(#[from] ClientError),
}

fn hint(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or_else(String::new, |nearest| format!("; did you mean \"{nearest}\"?"))
}

fn or_variables(variables: &[String]) -> String {
    if variables.is_empty() { String::new() } else { format!("; set {}", variables.join(" or ")) }
}

/// Where a model is reached, by whom, and with which wishes. Nothing is required here; the vendor
/// may require a key or an address.
#[derive(Debug, Clone, Default)]
pub struct Endpoint {
    /// The key.
    pub key: Option<Secret>,
    /// How the key is sent, when it is not the vendor's usual way.
    pub auth: Option<Auth>,
    /// The address, when it is not the vendor's own.
    pub base_url: Option<String>,
    /// Headers for every request, which count before those that are sent anyway. They may hold a
    /// password, so they are kept like keys.
    pub headers: BTreeMap<String, Secret>,
    /// The address of a proxy; it may hold a password, so it is kept like a key.
    pub proxy: Option<Secret>,
    /// What is wanted of the model.
    pub tuning: Tuning,
    /// What the model costs, when it is not what the catalog says.
    pub price: Option<PriceTable>,
    /// How long it may take.
    pub timeouts: Timeouts,
    /// How much it may say.
    pub caps: Caps,
}

/// All vendors that are known.
///
/// ```
/// use roundtable_models::{Catalog, CatalogError, Endpoint, Secret};
/// let catalog = Catalog::builtin()?;
/// let endpoint = Endpoint { key: Some(Secret::new("sk-…")), ..Endpoint::default() };
/// let model = catalog.model("anthropic/claude-sonnet-4-5", endpoint)?;
/// assert_eq!(model.profile().window, Some(200_000));
/// # Ok::<(), CatalogError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Catalog {
    vendors: BTreeMap<String, Vendor>,
}

impl Catalog {
    /// The vendors that come with the program.
    ///
    /// # Errors
    /// [`CatalogError::Malformed`]; a test makes sure that it is not.
    pub fn builtin() -> Result<Self, CatalogError> {
        Ok(Self { vendors: row::parse(BUILTIN)? })
    }

    /// The same vendors and some more; a row replaces the one of its name.
    ///
    /// # Errors
    /// [`CatalogError::Malformed`] with the place, when the text makes no sense.
    pub fn with(mut self, toml: &str) -> Result<Self, CatalogError> {
        self.vendors.extend(row::parse(toml)?);
        Ok(self)
    }

    /// The vendors by name.
    pub fn vendors(&self) -> &BTreeMap<String, Vendor> {
        &self.vendors
    }

    /// A vendor.
    ///
    /// # Errors
    /// [`CatalogError::UnknownVendor`] with the nearest name.
    pub fn vendor(&self, name: &str) -> Result<&Vendor, CatalogError> {
        self.vendors.get(name).ok_or_else(|| CatalogError::UnknownVendor {
            name: name.to_owned(),
            nearest: self.nearest(name),
        })
    }

    fn nearest(&self, name: &str) -> Option<String> {
        const ALIKE: f64 = 0.75;
        let name = name.to_lowercase();
        let scored =
            self.vendors.keys().map(|vendor| (strsim::jaro_winkler(vendor, &name), vendor));
        let best = scored.max_by(|a, b| a.0.total_cmp(&b.0));
        best.filter(|(score, _)| *score > ALIKE).map(|(_, vendor)| vendor.clone())
    }

    /// What is known of a model, `vendor/model`. A vendor's unknown models have the vendor's ways,
    /// and neither a window nor a price.
    ///
    /// # Errors
    /// When there is no such vendor, or no model is named.
    pub fn profile(&self, name: &str) -> Result<Profile, CatalogError> {
        let (vendor_name, model) =
            name.split_once('/').ok_or_else(|| CatalogError::NotAModel(name.to_owned()))?;
        let vendor = self.vendor(vendor_name)?;
        if !is_model(model) {
            return Err(CatalogError::NotAModel(name.to_owned()));
        }
        vendor.profile(vendor_name, model)
    }

    /// The model that is meant by a vendor alone, as `vendor/model`: the one that is named, or else
    /// the vendor's default.
    pub fn usual_model(
        &self,
        vendor: &str,
        named: Option<&str>,
        base_url: Option<&str>,
    ) -> Option<String> {
        let default = self.vendors.get(vendor)?.default_model.as_deref();
        let model = named.or(default)?;
        // Some people write the vendor into the variable of the model.
        let model = model.strip_prefix(&format!("{vendor}/")).unwrap_or(model);
        // Nearly all servers behind another URL than OpenAI's own know only the older protocol.
        let elsewhere = base_url.is_some_and(|url| !url.contains("api.openai.com"));
        let vendor = if vendor == "openai" && elsewhere { "openai-chat" } else { vendor };
        Some(format!("{vendor}/{model}"))
    }

    /// A model that these variables give access to, as `vendor/model`: one that they name, or else the
    /// default model of the first vendor, by name, whose key they hold.
    ///
    /// # Errors
    /// [`CatalogError::NothingSetUp`] with the variables that would set one up.
    pub fn available_model(&self, environment: &Environment) -> Result<String, CatalogError> {
        let lookup = |name: &str| environment.get(name).map(str::to_owned);
        let found = |vendor: &Vendor| vendor.settings(None, &lookup);
        let is_ready = |vendor: &Vendor| {
            let found = found(vendor);
            let named = found.base_url.is_some() || found.model.is_some();
            found.key.is_some() || (vendor.key_optional && named)
        };
        let ready = || self.vendors.iter().filter(|(_, vendor)| is_ready(vendor));
        let chosen = ready()
            .find(|(_, vendor)| found(vendor).model.is_some())
            .or_else(|| ready().find(|(_, vendor)| vendor.default_model.is_some()));
        let reference = chosen.and_then(|(name, vendor)| {
            let VendorSettings { model, base_url, .. } = found(vendor);
            let (model, base_url) = (model.map(|set| set.value), base_url.map(|set| set.value));
            self.usual_model(name, model.as_deref(), base_url.as_deref())
        });
        reference.ok_or_else(|| {
            let usual = self.vendors.values().filter(|vendor| vendor.default_model.is_some());
            let variables = usual.filter_map(|vendor| vendor.key_env.first().cloned());
            CatalogError::NothingSetUp { variables: variables.collect() }
        })
    }

    /// The most that a model's tokens can cost, where it is known.
    pub fn price(&self, name: &str) -> Option<Price> {
        Some(self.profile(name).ok()?.price?.ceiling())
    }

    /// A model, ready to be asked.
    ///
    /// # Errors
    /// When the vendor is not known, or wants a key or an address that is not there.
    pub fn model(&self, name: &str, endpoint: Endpoint) -> Result<HttpModel, CatalogError> {
        let mut profile = Profile { tuning: endpoint.tuning, ..self.profile(name)? };
        profile.price = endpoint.price.or(profile.price);
        let vendor = self.vendor(&profile.vendor)?;
        let key = endpoint.key.filter(|key| !key.is_empty());
        if key.is_none() && !vendor.key_optional {
            let variables = vendor.key_env.clone();
            return Err(CatalogError::NoKey { vendor: profile.vendor, variables });
        }
        let base_url = vendor.address(&profile.vendor, endpoint.base_url.as_deref())?;
        // A gateway in the vendor's place may refuse what only the vendor knows.
        profile.quirks.cache_key &= vendor.base_url.as_ref() == Some(&base_url);
        let target = Target {
            base_url,
            auth: endpoint.auth.unwrap_or(vendor.auth),
            headers: headers(&profile.vendor, &endpoint.headers)?,
            secrets: key.iter().chain(endpoint.headers.values()).cloned().collect(),
            key,
            proxy: endpoint.proxy,
        };
        Ok(HttpModel::new(profile, target, endpoint.timeouts, endpoint.caps)?)
    }
}

/// Headers as they are sent, marked so that nothing prints them.
fn headers(vendor: &str, said: &BTreeMap<String, Secret>) -> Result<HeaderMap, CatalogError> {
    let mut headers = HeaderMap::new();
    for (header, value) in said {
        let bad = |reason| CatalogError::BadHeader {
            vendor: vendor.to_owned(),
            header: header.clone(),
            reason,
        };
        let name = HeaderName::from_bytes(header.as_bytes());
        let name = name.map_err(|_| bad("invalid header name"))?;
        let value = HeaderValue::from_str(value.reveal());
        let mut value = value.map_err(|_| bad("invalid characters in the value"))?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

/// Whether a text can name a model: it may become part of an address.
fn is_model(name: &str) -> bool {
    let fine = |c: char| c.is_ascii_alphanumeric() || "-_.:/@+".contains(c);
    !name.is_empty() && name.len() <= 200 && !name.contains("..") && name.chars().all(fine)
}

#[cfg(test)]
mod tests;
