//! Which model speaks when nobody has said so, and why.

use roundtable::models::Catalog;
use roundtable::models::catalog::Vendor;
use roundtable::models::local::weights::GENERATOR;
use roundtable::models::local::{self, Trust};

use super::layers::Layers;
use super::local::generator_file;
use super::origin::{Key, Origin};

/// The name under which the scripted voices are known.
pub(crate) const SCRIPTED: &str = "scripted";

/// A model, and why it is this one.
pub(super) struct Choice {
    pub model: String,
    pub why: String,
}

/// The first of these that is there: the only model that has a name, a vendor that is set up, the
/// local model, scripted voices.
pub(super) fn choose(layers: &Layers, catalog: &Catalog) -> Choice {
    only_named(layers)
        .or_else(|| vendor_set_up(layers, catalog))
        .or_else(|| local(layers))
        .unwrap_or_else(|| scripted(layers, catalog))
}

fn only_named(layers: &Layers) -> Option<Choice> {
    let [model] = <[String; 1]>::try_from(layers.parts(&Key::of(["models"]))).ok()?;
    Some(Choice { model, why: "the only model in the configuration".to_owned() })
}

/// A vendor that people have said the most of: its model counts before its key alone.
fn vendor_set_up(layers: &Layers, catalog: &Catalog) -> Option<Choice> {
    let said_model = |name: &str| layers.find(&Key::of(["providers", name, "model"])).is_some();
    let ready = || catalog.vendors().iter().filter(|(name, vendor)| is_ready(layers, name, vendor));
    let found = ready().find(|(name, _)| said_model(name));
    let (name, vendor) = found.or_else(|| ready().find(|(_, v)| v.default_model.is_some()))?;
    let model = model_of(layers, catalog, name)?;
    let parts = ["key", "base_url", "model"].map(|part| Key::of(["providers", name, part]));
    let said: Vec<Origin> = parts
        .iter()
        .filter(|key| layers.find(key).is_some())
        .map(|key| layers.origin(key))
        .collect();
    let variables: Vec<&str> = said
        .iter()
        .filter_map(|origin| match origin {
            Origin::Variable(name) => Some(name.as_str()),
            Origin::Default(_) | Origin::File(..) | Origin::Flag(_) => None,
        })
        .collect();
    let why = match (variables.as_slice(), said.first()) {
        ([], Some(origin)) => format!("{} is configured in {origin}", vendor.title),
        ([one], _) => format!("{one} is set"),
        (several, _) => format!("{} are set", several.join(" and ")),
    };
    Some(Choice { model, why })
}

/// Whether a vendor could be asked: it has its key, or needs none and someone spoke of it.
pub(super) fn is_ready(layers: &Layers, name: &str, vendor: &Vendor) -> bool {
    let said = |part: &str| layers.find(&Key::of(["providers", name, part])).is_some();
    said("key") || (vendor.key_optional && (said("base_url") || said("model")))
}

/// The model that runs in this process, when its weights are there.
fn local(layers: &Layers) -> Option<Choice> {
    let (path, trust) = generator_file(layers)?;
    let why = match trust {
        Trust::Any if path.is_file() => "no API key found; local.model is set",
        Trust::Known if GENERATOR.check_size(&path).is_ok() => {
            "no API key found; the local model is installed"
        }
        Trust::Any | Trust::Known => return None,
    };
    Some(Choice { model: local::NAME.to_owned(), why: why.to_owned() })
}

fn scripted(layers: &Layers, catalog: &Catalog) -> Choice {
    let ready = catalog.vendors().iter().find(|(name, vendor)| is_ready(layers, name, vendor));
    let why = match ready {
        Some((name, vendor)) => match vendor.model_env.first() {
            Some(variable) => {
                format!("{} is configured without a model: set {variable}", vendor.title)
            }
            None => format!("{} is configured without a model: use {name}/MODEL", vendor.title),
        },
        None => {
            "no API key found, and the local model is not installed: run `roundtable models fetch`"
                .to_owned()
        }
    };
    Choice { model: SCRIPTED.to_owned(), why }
}

/// The model of a vendor that was named alone.
pub(super) fn model_of(layers: &Layers, catalog: &Catalog, vendor: &str) -> Option<String> {
    let part = |part: &str| layers.text(&Key::of(["providers", vendor, part]));
    catalog.usual_model(vendor, part("model"), part("base_url"))
}
