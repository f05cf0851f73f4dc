//! What counts where nobody said anything.

use std::path::Path;

use roundtable::models::{Catalog, RetryPolicy, Timeouts};

use super::choice;
use super::layers::Layers;
use super::origin::{Key, Origin};

/// How many tokens a reply may have.
const MAX_TOKENS: i64 = 4096;
/// Where the server listens.
const LISTEN: &str = "127.0.0.1:7777";
/// How long a call of an MCP client may take: some clients give up after 30 seconds.
const WAIT_BUDGET_MS: i64 = 25_000;
/// How many model calls a turn may make.
const MAX_ITERATIONS: i64 = 10;

/// Fills in what nobody said.
pub(super) fn fill(layers: &mut Layers, catalog: &Catalog) {
    share_openai(layers);
    fill_local(layers);
    let choice = choice::choose(layers, catalog);
    layers.fill(Key::of(["defaults", "model"]), choice.model, Origin::Default(choice.why));
    let defaults = [("max_tokens", MAX_TOKENS), ("max_iterations", MAX_ITERATIONS)];
    for (name, value) in defaults {
        layers.fill(Key::of(["defaults", name]), value, Origin::usual());
    }
    let (retry, timeouts) = (RetryPolicy::default(), Timeouts::default());
    layers.fill(Key::of(["defaults", "retry", "attempts"]), retry.attempts, Origin::usual());
    for (group, name, time) in [
        ("retry", "first_wait_ms", retry.first_wait),
        ("retry", "longest_wait_ms", retry.longest_wait),
        ("retry", "within_ms", retry.within),
        ("timeouts", "connect_ms", timeouts.connect),
        ("timeouts", "first_byte_ms", timeouts.first_byte),
        ("timeouts", "idle_ms", timeouts.idle),
        ("timeouts", "total_ms", timeouts.total),
    ] {
        let millis = i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
        layers.fill(Key::of(["defaults", group, name]), millis, Origin::usual());
    }
    fill_server(layers);
    fill_agents(layers);
    fill_providers(layers, catalog);
    layers.fill(Key::of(["tools", "fetch_url", "enabled"]), false, Origin::usual());
}

fn fill_server(layers: &mut Layers) {
    let listen = Key::of(["server", "listen"]);
    layers.fill(listen, LISTEN, Origin::usual());
    layers.fill(Key::of(["server", "wait_budget_ms"]), WAIT_BUDGET_MS, Origin::usual());
}

/// What is said of OpenAI holds for its older protocol, too.
fn share_openai(layers: &mut Layers) {
    for part in ["key", "base_url", "proxy"] {
        let key = Key::of(["providers", "openai", part]);
        if let Some(value) = layers.find(&key).cloned() {
            let origin = layers.origin(&key);
            layers.fill(Key::of(["providers", "openai-chat", part]), value, origin);
        }
    }
}

/// The weights lie in the data directory.
fn fill_local(layers: &mut Layers) {
    if let Some(data) = layers.text(&Key::of(["data_dir"])) {
        let directory = Path::new(data).join("models").display().to_string();
        layers.fill(Key::of(["local", "directory"]), directory, Origin::usual());
    }
}

fn fill_agents(layers: &mut Layers) {
    for agent in layers.parts(&Key::of(["agents"])) {
        for part in ["model", "max_tokens", "max_iterations"] {
            let default = Key::of(["defaults", part]);
            let Some(value) = layers.find(&default).cloned() else { continue };
            let origin = Origin::Default(default.to_string());
            layers.fill(Key::of(["agents", &agent, part]), value, origin);
        }
    }
}

/// The addresses of vendors that are set up.
fn fill_providers(layers: &mut Layers, catalog: &Catalog) {
    for name in layers.parts(&Key::of(["providers"])) {
        let Some(vendor) = catalog.vendors().get(&name) else { continue };
        for (part, usual) in [("base_url", &vendor.base_url), ("model", &vendor.default_model)] {
            if let Some(usual) = usual {
                let key = Key::of(["providers", &name, part]);
                layers.fill(key, usual.as_str(), Origin::usual());
            }
        }
    }
}
