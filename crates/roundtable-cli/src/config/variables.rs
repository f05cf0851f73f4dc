//! What the environment says, as values of the configuration. Which variables a vendor has is in
//! its row of the catalog.

use roundtable::models::Catalog;
use roundtable::models::catalog::Vendor;

use super::layers::Layers;
use super::origin::{Key, Origin};

/// Our own variables.
const OWN: &[(&str, &[&str])] = &[
    ("ROUNDTABLE_DATA_DIR", &["data_dir"]),
    ("ROUNDTABLE_MODEL", &["defaults", "model"]),
    ("ROUNDTABLE_MODELS_DIR", &["local", "directory"]),
    ("ROUNDTABLE_AGENT", &["defaults", "agent"]),
    ("ROUNDTABLE_LISTEN", &["server", "listen"]),
];

/// Reads a variable; one that is set to nothing is as good as none.
pub(super) type Variable<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Lays the environment over what the file says.
pub(super) fn overlay(layers: &mut Layers, catalog: &Catalog, variable: Variable<'_>) {
    for (name, path) in OWN {
        let key = Key(path.iter().map(|part| (*part).to_owned()).collect());
        set(layers, key, variable, name);
    }
    for (name, vendor) in catalog.vendors() {
        overlay_vendor(layers, name, vendor, variable);
    }
    for server in layers.parts(&Key::of(["mcp"])) {
        overlay_server(layers, &Key::of(["mcp", &server]), variable);
    }
    for index in layers.parts(&Key::of(["token"])) {
        let token = Key::of(["token", &index]);
        if let Some(name) = layers.text(&token.join("value_env")).map(str::to_owned) {
            set(layers, token.join("value"), variable, &name);
        }
    }
}

fn overlay_vendor(layers: &mut Layers, name: &str, vendor: &Vendor, variable: Variable<'_>) {
    let provider = Key::of(["providers", name]);
    // A variable that the file names is meant to be used instead of the usual ones.
    let keys = match layers.text(&provider.join("key_env")) {
        Some(named) => vec![named.to_owned()],
        None => vendor.key_env.clone(),
    };
    // A token counts where there is no key, and is sent in its own way.
    let has_key = keys.iter().any(|name| variable(name).is_some());
    if let Some(token) = vendor.bearer_env.iter().find(|name| variable(name).is_some())
        && !has_key
    {
        set(layers, provider.join("key"), variable, token);
        layers.say(provider.join("auth"), "bearer", Origin::Variable(token.clone()));
    }
    for (part, names) in
        [("key", &keys), ("base_url", &vendor.base_url_env), ("model", &vendor.model_env)]
    {
        if let Some(found) = names.iter().find(|name| variable(name).is_some()) {
            set(layers, provider.join(part), variable, found);
        }
    }
    overlay_headers(layers, &provider.join("headers"), vendor, variable);
}

/// Headers that the vendor's own tools send: each from its variable, and any from a variable that
/// holds a `Name: value` on each line; a line without a colon says nothing.
fn overlay_headers(layers: &mut Layers, headers: &Key, vendor: &Vendor, variable: Variable<'_>) {
    for (header, name) in &vendor.header_env {
        set(layers, headers.join(header), variable, name);
    }
    for name in &vendor.header_lines_env {
        let said = variable(name).unwrap_or_default();
        for (header, value) in said.lines().filter_map(|line| line.split_once(':')) {
            let origin = Origin::Variable(name.clone());
            layers.say(headers.join(header.trim()), value.trim(), origin);
        }
    }
}

/// What a server is given of our environment: what the file says, and nothing else.
fn overlay_server(layers: &mut Layers, server: &Key, variable: Variable<'_>) {
    let list = layers.find(&server.join("env_from")).and_then(toml::Value::as_array);
    let names = list.into_iter().flatten().filter_map(toml::Value::as_str);
    let names: Vec<String> = names.map(str::to_owned).collect();
    for name in names {
        set(layers, server.join("env").join(&name), variable, &name);
    }
    let Some(name) = layers.text(&server.join("bearer_env")).map(str::to_owned) else { return };
    if let Some(value) = variable(&name) {
        let header = server.join("headers").join("authorization");
        layers.say(header, format!("Bearer {}", value.trim()), Origin::Variable(name));
    }
}

fn set(layers: &mut Layers, key: Key, variable: Variable<'_>, name: &str) {
    if let Some(value) = variable(name) {
        layers.say(key, value, Origin::Variable(name.to_owned()));
    }
}

/// Proxies, for the vendors that are set up. What the file says of a vendor is more exact, and
/// counts; this machine is reached without one.
pub(super) fn overlay_proxies(layers: &mut Layers, variable: Variable<'_>) {
    for name in layers.parts(&Key::of(["providers"])) {
        let provider = Key::of(["providers", &name]);
        let Some(address) = layers.text(&provider.join("base_url")) else { continue };
        let Some((scheme, rest)) = address.split_once("://") else { continue };
        let host = rest.split(['/', '?']).next().unwrap_or_default();
        let host = host.rsplit_once(':').map_or(host, |(host, _)| host).to_owned();
        let names: &[&str] = match scheme {
            "https" => &["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"],
            _ => &["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"],
        };
        let except = ["NO_PROXY", "no_proxy"].iter().find_map(|name| variable(name));
        let found = names.iter().find_map(|name| Some((*name, variable(name)?)));
        if let Some((name, proxy)) = found
            && !is_near(&host, except.as_deref().unwrap_or_default())
        {
            layers.fill(provider.join("proxy"), proxy, Origin::Variable(name.to_owned()));
        }
    }
}

/// Whether a host is reached without a proxy.
fn is_near(host: &str, except: &str) -> bool {
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
        assert!(is_near("localhost", "") && is_near("any.example", "*"));
        assert!(is_near("llm.corp.example", "x, .corp.example"));
        assert!(
            !is_near("corp.example.org", "corp.example")
                && !is_near("notcorp.example", "corp.example")
        );
    }
}
