//! The models that run in this process: what names them, and where their weights are.

use std::path::PathBuf;
use std::sync::OnceLock;

use roundtable::models::local::weights::GENERATOR;
use roundtable::models::local::{LazyEmbedder, LocalEmbedder, LocalModel, NAME, Trust};

use super::Config;
use super::layers::Layers;
use super::origin::Key;

/// What the local model is called for short.
pub(super) const SHORT: &str = "local";

/// The file that the local model is read from, and whether it has to be the known one.
pub(super) fn generator_file(layers: &Layers) -> Option<(PathBuf, Trust)> {
    let said = |part: &str| layers.text(&Key::of(["local", part])).map(PathBuf::from);
    let own = said("model").map(|path| (path, Trust::Any));
    own.or_else(|| Some((said("directory")?.join(GENERATOR.name), Trust::Known)))
}

/// The local model of an engine: read once, however many names stand for it.
#[derive(Default)]
pub(super) struct Local(OnceLock<LocalModel>);

impl std::fmt::Debug for Local {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.get().is_some() { "Local(read)" } else { "Local" })
    }
}

impl Local {
    pub fn model(&self, config: &Config) -> Result<LocalModel, String> {
        if let Some(model) = self.0.get() {
            return Ok(model.clone());
        }
        config.check_generator()?;
        let (path, trust) = config.generator_file();
        let model = LocalModel::open(&path, trust);
        let model = model.map_err(|error| match trust {
            Trust::Known => format!("{error}; run `{}` again", config.command("models fetch")),
            Trust::Any => error.to_string(),
        })?;
        Ok(self.0.get_or_init(|| model).clone())
    }
}

impl Config {
    /// Whether a name stands for the model that runs in this process. A vendor of the file that is
    /// called like it counts before it.
    pub(super) fn means_local(&self, name: &str) -> Result<bool, String> {
        let vendor = name.split('/').next().unwrap_or_default();
        if vendor != SHORT || self.catalog.vendors().contains_key(SHORT) {
            return Ok(false);
        }
        if [SHORT, NAME].contains(&name) {
            return Ok(true);
        }
        Err(format!("the local model is named {NAME}; set local.model to use your own file"))
    }

    /// The directory into which weights are fetched.
    pub fn weights_dir(&self) -> PathBuf {
        self.file.local.directory.clone().unwrap_or_else(|| self.data_dir.join("models"))
    }

    fn generator_file(&self) -> (PathBuf, Trust) {
        let usual = || (self.weights_dir().join(GENERATOR.name), Trust::Known);
        generator_file(&self.layers).unwrap_or_else(usual)
    }

    /// Whether the local model's weights are there, as far as that can be told without reading
    /// them.
    pub(super) fn check_generator(&self) -> Result<(), String> {
        let (path, trust) = self.generator_file();
        match trust {
            Trust::Any if path.is_file() => Ok(()),
            Trust::Any => {
                Err(format!("{} does not exist; it is set as local.model", path.display()))
            }
            Trust::Known => GENERATOR.check_size(&path).map_err(|_| {
                let fetch = self.command("models fetch");
                format!("the local model is not installed; run `{fetch}`")
            }),
        }
    }

    /// What compares texts by meaning, read when it is first needed; or what is wrong with the
    /// folder that was named for it.
    pub fn embedder(&self) -> anyhow::Result<LazyEmbedder> {
        let Some(folder) = &self.file.local.embedder else {
            return Ok(LazyEmbedder::in_directory(&self.weights_dir()));
        };
        let own = LocalEmbedder::open(folder, Trust::Any);
        let key = Key::of(["local", "embedder"]);
        Ok(own.map_err(|error| self.mistake(key, error.to_string()))?.into())
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
