//! A vendor's settings as its own tools read them from environment variables. The variables come in
//! as a value: nothing here reads the environment of the process.

use std::collections::BTreeMap;
use std::ffi::OsString;

use super::{Auth, Vendor};
use crate::secret::Secret;

/// Looks a variable up. A variable that is set to nothing counts as not set.
pub type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Environment variables as a value, for example those of the process. Their values may be keys, so
/// they are never printed.
///
/// ```
/// use roundtable_models::Environment;
/// let environment = Environment::of([("OPENAI_API_KEY", "sk-…"), ("EMPTY", "")]);
/// assert_eq!(environment.get("OPENAI_API_KEY"), Some("sk-…"));
/// assert_eq!(environment.get("EMPTY"), None);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Environment(BTreeMap<String, Secret>);

impl Environment {
    /// These variables, for example `std::env::vars_os()`. Those that are not Unicode are left out.
    pub fn of<K: Into<OsString>, V: Into<OsString>>(
        variables: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        let text = |(name, value): (K, V)| {
            let name = name.into().into_string().ok()?;
            Some((name, Secret::new(value.into().into_string().ok()?)))
        };
        let set = variables.into_iter().filter_map(text).filter(|(_, value)| !value.is_empty());
        Self(set.collect())
    }

    /// The value of a variable that is set.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(Secret::reveal)
    }
}

/// A value, and the variable that it was read from.
#[derive(Clone, PartialEq, Eq)]
pub struct Setting {
    /// The variable.
    pub variable: String,
    /// The value; it may be a key.
    pub value: String,
}

/// What environment variables set for a vendor.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct VendorSettings {
    /// The key or token.
    pub key: Option<Setting>,
    /// How it is sent, when it is not the vendor's usual way.
    pub auth: Option<Auth>,
    /// The URL.
    pub base_url: Option<Setting>,
    /// The model.
    pub model: Option<Setting>,
    /// Headers by name; a later one overrides an earlier one.
    pub headers: Vec<(String, Setting)>,
}

impl Vendor {
    /// What the variables set for this vendor. `key_env` names the variable of the key, when it is
    /// not one that the vendor's own tools read.
    pub fn settings(&self, key_env: Option<&str>, lookup: Lookup<'_>) -> VendorSettings {
        let named = key_env.map(|name| vec![name.to_owned()]);
        let key = first(named.as_ref().unwrap_or(&self.key_env), lookup);
        // A token is used only without a key, and is sent in a way of its own.
        let token = if key.is_none() { first(&self.bearer_env, lookup) } else { None };
        VendorSettings {
            auth: token.as_ref().map(|_| Auth::Bearer),
            key: key.or(token),
            base_url: first(&self.base_url_env, lookup),
            model: first(&self.model_env, lookup),
            headers: self.header_settings(lookup),
        }
    }

    /// Headers that the vendor's own tools send: each from its variable, and any from a variable
    /// that holds a `Name: value` on each line. Lines without a colon are skipped.
    fn header_settings(&self, lookup: Lookup<'_>) -> Vec<(String, Setting)> {
        let single = self.header_env.iter().filter_map(|(header, variable)| {
            let value = lookup(variable)?;
            Some((header.clone(), Setting { variable: variable.clone(), value }))
        });
        let mut headers: Vec<_> = single.collect();
        for variable in &self.header_lines_env {
            let lines = lookup(variable).unwrap_or_default();
            headers.extend(lines.lines().filter_map(|line| {
                let (header, value) = line.split_once(':')?;
                let value = value.trim().to_owned();
                Some((header.trim().to_owned(), Setting { variable: variable.clone(), value }))
            }));
        }
        headers
    }
}

fn first(names: &[String], lookup: Lookup<'_>) -> Option<Setting> {
    names.iter().find_map(|name| Some(Setting { variable: name.clone(), value: lookup(name)? }))
}

/// The proxy through which the variables say that a URL is reached. This machine, and hosts that
/// `NO_PROXY` names, are reached directly.
pub fn proxy_for(base_url: &str, lookup: Lookup<'_>) -> Option<Setting> {
    let (scheme, rest) = base_url.split_once("://")?;
    let host = rest.split(['/', '?']).next().unwrap_or_default();
    let host = host.rsplit_once(':').map_or(host, |(host, _)| host);
    let names: &[&str] = match scheme {
        "https" => &["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"],
        _ => &["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"],
    };
    let except = ["NO_PROXY", "no_proxy"].iter().find_map(|name| lookup(name));
    if is_direct(host, except.as_deref().unwrap_or_default()) {
        return None;
    }
    let set = |name: &&str| Some(Setting { variable: (*name).to_owned(), value: lookup(name)? });
    names.iter().find_map(set)
}

/// Whether a host is reached without a proxy.
fn is_direct(host: &str, except: &str) -> bool {
    let local = ["localhost", "127.0.0.1", "[::1]"].contains(&host);
    let excepted = |entry: &str| {
        let entry = entry.trim().trim_start_matches('.');
        entry == "*" || host == entry || (!entry.is_empty() && host.ends_with(&format!(".{entry}")))
    };
    local || except.split(',').any(excepted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_proxy_names_hosts_and_what_is_below_them() {
        assert!(is_direct("localhost", "") && is_direct("any.example", "*"));
        assert!(is_direct("llm.corp.example", "x, .corp.example"));
        assert!(!is_direct("corp.example.org", "corp.example"));
        assert!(!is_direct("notcorp.example", "corp.example"));
    }

    #[test]
    fn s28_an_environment_prints_no_values() {
        let shown = format!("{:?}", Environment::of([("ACME_API_KEY", "sk-canary")]));
        assert!(shown.contains("ACME_API_KEY") && !shown.contains("canary"), "{shown}");
    }
}
