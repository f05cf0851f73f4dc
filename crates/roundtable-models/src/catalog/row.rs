//! A vendor's row, as the catalog spells it.

use std::collections::BTreeMap;

use reqwest::Url;
use serde::Deserialize;

use super::{CatalogError, Profile, Quirks, Tuning};
use crate::price::PriceTable;
use crate::wire::Wire;

/// A vendor.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vendor {
    /// Its name, as people read it.
    pub title: String,
    /// Its protocol.
    pub wire: Wire,
    /// Its address; none for a server that people run themselves, without a usual place.
    #[serde(default)]
    pub base_url: Option<String>,
    /// The variables that its own tools read the address from.
    #[serde(default)]
    pub base_url_env: Vec<String>,
    /// What an address from such a variable lacks.
    #[serde(default)]
    pub base_url_suffix: String,
    /// The port of an address from such a variable that names a host alone.
    #[serde(default)]
    pub base_url_port: Option<u16>,
    /// The variables that its own tools read the key from.
    #[serde(default)]
    pub key_env: Vec<String>,
    /// The variables that its own tools read a token from that is sent as `Authorization: Bearer`,
    /// whatever [`Vendor::auth`] says of keys.
    #[serde(default)]
    pub bearer_env: Vec<String>,
    /// The variables that its own tools read headers from, by the header.
    #[serde(default)]
    pub header_env: BTreeMap<String, String>,
    /// The variables that its own tools read any headers from, a `Name: value` on each line.
    #[serde(default)]
    pub header_lines_env: Vec<String>,
    /// The variables that people name its model in.
    #[serde(default)]
    pub model_env: Vec<String>,
    /// Whether it works without a key.
    #[serde(default)]
    pub key_optional: bool,
    /// How the key is sent.
    #[serde(default)]
    pub auth: Auth,
    /// The model to use when only the vendor is named.
    #[serde(default)]
    pub default_model: Option<String>,
    /// Its quirks: see [`Quirks`].
    #[serde(default)]
    quirks: toml::Table,
    /// What is known of its models.
    #[serde(default)]
    pub models: BTreeMap<String, ModelRow>,
}

/// How a key is sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Auth {
    /// `Authorization: Bearer …`.
    #[default]
    Bearer,
    /// `x-api-key: …`.
    XApiKey,
    /// `x-goog-api-key: …`.
    XGoogApiKey,
}

/// What is known of a model.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelRow {
    /// How many tokens fit its window.
    pub window: Option<u64>,
    /// How many tokens a reply has at most.
    pub max_output: Option<u32>,
    /// What it costs.
    pub price: Option<PriceTable>,
    /// The vendor's page that says so, and when it was read.
    pub price_source: Option<String>,
    /// Where it departs from its vendor's ways.
    quirks: toml::Table,
}

/// The rows of a catalog. Every row is read to the end, so that a mistake is found here and not
/// when a model is asked.
pub(super) fn parse(text: &str) -> Result<BTreeMap<String, Vendor>, CatalogError> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        vendor: BTreeMap<String, Vendor>,
    }
    let malformed = |error: toml::de::Error| CatalogError::Malformed(error.to_string());
    let file: File = toml::from_str(text).map_err(malformed)?;
    for (name, vendor) in &file.vendor {
        vendor.profile(name, "any")?;
        for model in vendor.models.keys() {
            vendor.profile(name, model)?;
        }
    }
    Ok(file.vendor)
}

impl Vendor {
    /// What is known of one of its models.
    pub(super) fn profile(&self, vendor: &str, model: &str) -> Result<Profile, CatalogError> {
        let row = self.row(model);
        let mut quirks = self.quirks.clone();
        quirks.extend(row.iter().flat_map(|row| row.quirks.clone()));
        let quirks: Quirks = quirks.try_into().map_err(|error: toml::de::Error| {
            CatalogError::Malformed(format!("quirks of {vendor}/{model}: {}", error.message()))
        })?;
        Ok(Profile {
            vendor: vendor.to_owned(),
            model: model.to_owned(),
            wire: self.wire,
            quirks,
            window: row.and_then(|row| row.window),
            max_output: row.and_then(|row| row.max_output),
            price: row.and_then(|row| row.price),
            tuning: Tuning::default(),
        })
    }

    /// The row of a model: its own, or that of the model that it is a dated version of.
    fn row(&self, model: &str) -> Option<&ModelRow> {
        let dated = |row: &String| model.strip_prefix(row.as_str()).is_some_and(is_version);
        self.models.get(model).or_else(|| {
            let found = self.models.iter().filter(|(row, _)| dated(row));
            found.max_by_key(|(row, _)| row.len()).map(|(_, row)| row)
        })
    }

    /// An address with its scheme. A host alone is one of this network, as Ollama has it, and a
    /// port alone one of this machine; where it says to listen everywhere, it is reached here.
    fn hosted(&self, own: &str) -> String {
        let (scheme, rest) = own.split_once("://").unwrap_or(("", own));
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        // The colons of an address in brackets are no ports.
        let colon = host.rfind(':').filter(|at| *at > host.rfind(']').unwrap_or(0) || *at == 0);
        let (host, port) = host.split_at(colon.unwrap_or(host.len()));
        let host = match (host, self.base_url_port) {
            ("" | "0.0.0.0" | "[::]", Some(_)) => "127.0.0.1",
            _ => host,
        };
        let usual = self.base_url_port.filter(|_| scheme.is_empty() && port.is_empty());
        let usual = usual.map(|port| format!(":{port}")).unwrap_or_default();
        let scheme = if scheme.is_empty() { "http" } else { scheme };
        format!("{scheme}://{host}{port}{usual}{path}")
    }

    /// Where requests go.
    pub(crate) fn address(&self, name: &str, own: Option<&str>) -> Result<String, CatalogError> {
        let own = own.map(str::trim).filter(|own| !own.is_empty());
        let address = match (own, &self.base_url) {
            (Some(own), _) => {
                let own = own.trim_end_matches('/');
                let own = &self.hosted(own);
                let suffix =
                    if own.ends_with(&self.base_url_suffix) { "" } else { &self.base_url_suffix };
                format!("{own}{suffix}")
            }
            (None, Some(usual)) => usual.trim_end_matches('/').to_owned(),
            (None, None) => {
                return Err(CatalogError::NoAddress {
                    vendor: name.to_owned(),
                    variables: self.base_url_env.clone(),
                });
            }
        };
        let bad = |reason: &str| CatalogError::BadAddress {
            vendor: name.to_owned(),
            reason: reason.to_owned(),
        };
        let url = Url::parse(&address).map_err(|error| bad(&error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(bad("it begins with neither http:// nor https://"));
        }
        // They would show up wherever the address does.
        if !url.username().is_empty() || url.password().is_some() {
            return Err(bad("it contains a user name or a password; set the key separately"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(bad("it contains \"?\" or \"#\""));
        }
        Ok(address)
    }
}

/// `-20250929`, `-2025-04-14`, `-latest`, `-preview`, `:8b` and the like: another version of the
/// same model, not another model.
fn is_version(rest: &str) -> bool {
    let date = |text: &str| text.len() >= 3 && text.chars().all(|c| c.is_ascii_digit() || c == '-');
    match rest.split_at_checked(1) {
        Some((":", tag)) => !tag.is_empty(),
        Some(("-", rest)) => rest == "latest" || rest == "preview" || date(rest),
        _ => false,
    }
}
