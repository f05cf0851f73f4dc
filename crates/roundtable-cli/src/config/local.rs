//! Where the weights of the local models are.

use std::path::PathBuf;

use super::Config;
use super::origin::Key;

impl Config {
    /// The directory into which weights are fetched.
    pub fn weights_dir(&self) -> PathBuf {
        self.file.local.directory.clone().unwrap_or_else(|| self.data_dir.join("models"))
    }

    /// Weights that were brought by hand: the keys that name them, and their places.
    pub fn brought_weights(&self) -> Vec<(String, PathBuf)> {
        let local = &self.file.local;
        let said = [("model", &local.model), ("embedder", &local.embedder)].into_iter();
        let said = said.filter_map(|(part, path)| Some((part, path.clone()?)));
        said.map(|(part, path)| (Key::of(["local", part]).to_string(), path)).collect()
    }

    /// The variables that hold keys and tokens, whether they are set or not.
    pub fn secret_variables(&self) -> Vec<String> {
        let vendors = self.catalog.vendors().values();
        let vendors = vendors.flat_map(|vendor| vendor.key_env.iter().chain(&vendor.bearer_env));
        let providers = self.file.providers.values().filter_map(|it| it.key_env.as_ref());
        let servers = self.file.mcp.values().filter_map(|it| it.bearer_env.as_ref());
        let passed_on = self.file.mcp.values().flat_map(|it| &it.env_from);
        let tokens = self.file.token.iter().filter_map(|it| it.value_env.as_ref());
        vendors.chain(providers).chain(servers).chain(passed_on).chain(tokens).cloned().collect()
    }
}
