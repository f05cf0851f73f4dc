//! What a configuration means by the name of a model.

use roundtable::models::catalog::Effort as ModelEffort;
use roundtable::models::price::{PriceTable, Rates};
use roundtable::models::{Catalog, Tuning, local};

use roundtable_server::HOST;

use super::choice::{self, SCRIPTED};
use super::file::{Effort, ModelEntry};
use super::layers::Layers;
use super::local::SHORT;
use super::mistake::{Mistake, Mistakes, hint};
use super::origin::Key;
use super::{Config, Origin};

/// A model of a chain.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Link {
    /// Voices that need no model.
    Scripted,
    /// The model of the MCP client that calls.
    Host,
    /// The model that runs in this process.
    Local,
    /// A vendor's model, `vendor/model`, with what is said of it.
    Vendor(String, ModelOptions),
}

/// What the configuration sets for a vendor's model.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct ModelOptions {
    pub tuning: Tuning,
    /// Nothing where the catalog's price is used.
    pub price: Option<PriceTable>,
}

/// The vendors: those that are built in, and those of the file.
pub(super) fn catalog(layers: &Layers) -> Result<Catalog, Mistakes> {
    let wrong = |origin: Origin, key: Key, error: &dyn std::fmt::Display| {
        Mistakes::from(Mistake { origin, key, what: error.to_string() })
    };
    let builtin =
        Catalog::builtin().map_err(|error| wrong(Origin::usual(), Key::default(), &error));
    let mut catalog = builtin?;
    for name in layers.parts(&Key::of(["providers"])) {
        let key = Key::of(["providers", &name]);
        let Some(wire) = layers.find(&key.join("wire")) else { continue };
        if catalog.vendors().contains_key(&name) {
            let what = "this vendor is built in; use another name for your own";
            return Err(wrong(layers.origin(&key), key, &what));
        }
        let mut row = toml::Table::new();
        row.insert("title".to_owned(), name.as_str().into());
        row.insert("wire".to_owned(), wire.clone());
        for part in ["key_optional", "quirks", "base_url"] {
            if let Some(value) = layers.find(&key.join(part)) {
                row.insert(part.to_owned(), value.clone());
            }
        }
        let key_env = layers.find(&key.join("key_env")).cloned();
        row.insert("key_env".to_owned(), toml::Value::Array(key_env.into_iter().collect()));
        let vendors = toml::Table::from_iter([(name.clone(), toml::Value::Table(row))]);
        let text = toml::Table::from_iter([("vendor".to_owned(), toml::Value::Table(vendors))]);
        let extended = catalog.with(&text.to_string());
        catalog = extended.map_err(|error| wrong(layers.origin(&key), key, &error))?;
    }
    Ok(catalog)
}

impl Config {
    /// What is asked when a name is said, in order. A name is looked for among the models of the
    /// file, then among vendors.
    pub fn links(&self, name: &str) -> Result<Vec<Link>, String> {
        let mut links = Vec::new();
        self.add_links(name, &mut Vec::new(), &mut links)?;
        Ok(links)
    }

    fn add_links<'a>(
        &'a self,
        name: &'a str,
        seen: &mut Vec<&'a str>,
        links: &mut Vec<Link>,
    ) -> Result<(), String> {
        let Some(entry) = self.file.models.get(name) else {
            links.push(self.link(name, ModelOptions::default())?);
            return Ok(());
        };
        // A model that is named twice on the way has been asked already.
        if seen.contains(&name) {
            return Ok(());
        }
        seen.push(name);
        let Some(model) = &entry.model else {
            return Err(format!("\"{name}\" has no model; set model = \"vendor/model\""));
        };
        links.push(self.link(model, options(entry))?);
        entry.fallback.iter().try_for_each(|next| self.add_links(next, seen, links))
    }

    fn link(&self, name: &str, options: ModelOptions) -> Result<Link, String> {
        if name == SCRIPTED {
            return Ok(Link::Scripted);
        }
        if name == HOST {
            return Ok(Link::Host);
        }
        if self.means_local(name)? {
            return Ok(Link::Local);
        }
        if name.contains('/') {
            self.catalog.profile(name).map_err(|error| error.to_string())?;
            return Ok(Link::Vendor(name.to_owned(), options));
        }
        if let Some(vendor) = self.catalog.vendors().get(name) {
            let model = choice::model_of(&self.layers, &self.catalog, name);
            let model = model.ok_or_else(|| match vendor.model_env.first() {
                Some(variable) => {
                    format!("which model of {name}? Use {name}/MODEL, or set {variable}")
                }
                None => format!("which model of {name}? Use {name}/MODEL"),
            })?;
            return Ok(Link::Vendor(model, options));
        }
        let known = self.file.models.keys().chain(self.catalog.vendors().keys());
        let hint = hint(name, known.map(String::as_str));
        Err(format!("unknown model \"{name}\"; use vendor/model, or a name from [models]{hint}"))
    }

    /// A name, and what it stands for.
    pub fn spelled_out(&self, name: &str) -> String {
        let links = self.links(name).unwrap_or_default();
        let names: Vec<&str> = links
            .iter()
            .map(|link| match link {
                Link::Scripted => SCRIPTED,
                Link::Host => HOST,
                Link::Local => local::NAME,
                Link::Vendor(full, _) => full,
            })
            .collect();
        match names.as_slice() {
            [only] if *only == name => name.to_owned(),
            // The short name of the local model says no more than its name.
            [local::NAME] if name == SHORT => local::NAME.to_owned(),
            names => format!("{name}: {}", names.join(", else ")),
        }
    }

    /// A name that still means the same when a vendor's default is another one.
    pub(super) fn settled(&self, name: String) -> String {
        match self.link(&name, ModelOptions::default()) {
            Ok(Link::Vendor(full, _)) if !self.file.models.contains_key(&name) => full,
            Ok(Link::Local) if !self.file.models.contains_key(&name) => local::NAME.to_owned(),
            _ => name,
        }
    }

    /// The name under which a model is asked for, and where it was said.
    pub fn default_model(&self) -> (String, Origin) {
        let origin = self.layers.origin(&Key::of(["defaults", "model"]));
        (self.file.defaults.model.clone().unwrap_or_else(|| SCRIPTED.to_owned()), origin)
    }
}

fn options(entry: &ModelEntry) -> ModelOptions {
    let effort = entry.effort.map(|effort| match effort {
        Effort::Low => ModelEffort::Low,
        Effort::Medium => ModelEffort::Medium,
        Effort::High => ModelEffort::High,
    });
    let said = &entry.price;
    let both = said.input.zip(said.output);
    let price = both.and_then(|(input, output)| Rates::dollars(input, output, said.cached));
    ModelOptions {
        tuning: Tuning { effort, temperature: entry.temperature },
        price: price.map(|base| PriceTable { base, long: None }),
    }
}
