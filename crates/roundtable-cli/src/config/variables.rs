//! What the environment says, as values of the configuration. Which variables a vendor has is in
//! its row of the catalog.

use roundtable::models::Catalog;
use roundtable::models::catalog::{Setting, Vendor, proxy_for};

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

pub(super) use roundtable::models::catalog::Lookup as Variable;

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
    let found = vendor.settings(layers.text(&provider.join("key_env")), variable);
    if let Some(key) = found.key.as_ref().filter(|_| found.auth.is_some()) {
        let origin = Origin::Variable(key.variable.clone());
        layers.say(provider.join("auth"), "bearer", origin);
    }
    let parts = [("key", found.key), ("base_url", found.base_url), ("model", found.model)];
    let parts = parts.into_iter().filter_map(|(part, found)| Some((provider.join(part), found?)));
    let headers = provider.join("headers");
    let headers = found.headers.into_iter().map(|(name, found)| (headers.join(&name), found));
    for (key, Setting { variable, value }) in parts.chain(headers) {
        layers.say(key, value, Origin::Variable(variable));
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

/// Proxies, for the vendors that are set up. A proxy that the file sets for a vendor overrides them.
pub(super) fn overlay_proxies(layers: &mut Layers, variable: Variable<'_>) {
    for name in layers.parts(&Key::of(["providers"])) {
        let provider = Key::of(["providers", &name]);
        let Some(base_url) = layers.text(&provider.join("base_url")) else { continue };
        if let Some(Setting { variable, value }) = proxy_for(base_url, variable) {
            layers.fill(provider.join("proxy"), value, Origin::Variable(variable));
        }
    }
}
