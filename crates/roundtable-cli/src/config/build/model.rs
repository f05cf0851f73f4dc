//! Models: a chain of vendors' models, each asked again for a while before the next one is.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use roundtable::core::event::CallRecord;
use roundtable::models::catalog::Auth;
use roundtable::models::scripted::{Reply, Script, ScriptedModel};
use roundtable::models::{
    CatalogError, Endpoint, Fallback, HttpModel, Retry, RetryPolicy, Timeouts,
};
use roundtable::ports::{Chunk, Facts, Model, ModelError, ModelRequest, ModelStream};
use roundtable::prelude::StreamExt as _;

use super::super::file;
use super::super::mistake::Mistakes;
use super::super::origin::Key;
use super::super::reference::{Link, ModelOptions};
use super::{Config, Needs};

/// Hears of every attempt that failed: of which model, and why.
pub(crate) type Watch = Arc<dyn Fn(&str, &ModelError) + Send + Sync>;

impl Config {
    /// The chain that a name stands for.
    pub(super) fn chain(
        &self,
        name: &str,
        needs: &Needs,
        watch: &Watch,
    ) -> Result<Fallback, Mistakes> {
        let links = self.links(name).map_err(|what| self.about_model(name, what))?;
        let model = |link: &Link| -> Result<Arc<dyn Model>, Mistakes> {
            match link {
                Link::Host => {
                    let what = "the model `host` works only in `roundtable mcp` and `roundtable serve`, and without fallbacks";
                    Err(self.about_model(name, what.to_owned()))
                }
                Link::Scripted => Ok(Arc::new(Voices)),
                Link::Local => {
                    let model =
                        needs.local.model(self).map_err(|what| self.about_model(name, what))?;
                    Ok(Arc::new(model))
                }
                Link::Vendor(full, options) => {
                    let model = self.http(full, *options);
                    let inner = model.map_err(|what| self.about_model(name, what))?;
                    let watched = ObservedModel { name: full.clone(), inner, watch: watch.clone() };
                    Ok(Arc::new(Retry::new(Arc::new(watched), self.retry())))
                }
            }
        };
        Ok(Fallback::new(links.iter().map(model).collect::<Result<Vec<_>, _>>()?))
    }

    /// A model of a vendor.
    pub(in super::super) fn http(
        &self,
        full: &str,
        options: ModelOptions,
    ) -> Result<HttpModel, String> {
        let vendor = full.split('/').next().unwrap_or_default();
        let said = self.file.providers.get(vendor);
        let endpoint = Endpoint {
            key: said.and_then(|said| said.key.clone()),
            auth: said.and_then(|said| said.auth).map(|auth| match auth {
                file::Auth::Bearer => Auth::Bearer,
                file::Auth::XApiKey => Auth::XApiKey,
                file::Auth::XGoogApiKey => Auth::XGoogApiKey,
            }),
            base_url: said.and_then(|said| said.base_url.clone()),
            headers: said.map(|said| said.headers.clone()).unwrap_or_default(),
            proxy: said.and_then(|said| said.proxy.clone()),
            tuning: options.tuning,
            price: options.price,
            timeouts: self.timeouts(),
            ..Endpoint::default()
        };
        self.catalog.model(full, endpoint).map_err(|error| match error {
            CatalogError::NoKey { vendor, variables } => self.no_key(&vendor, variables),
            error => error.to_string(),
        })
    }

    fn no_key(&self, vendor: &str, variables: Vec<String>) -> String {
        let named = self.file.providers.get(vendor).and_then(|said| said.key_env.clone());
        let variables = named.map_or(variables, |named| vec![named]);
        match variables.as_slice() {
            [] => format!(
                "{vendor} needs an API key; set key_env = \"VARIABLE\" under [providers.{vendor}]"
            ),
            names => format!("{vendor} needs an API key; set {}", names.join(" or ")),
        }
    }

    /// What is wrong with a model, where it was said.
    pub(in super::super) fn about_model(&self, name: &str, what: String) -> Mistakes {
        let named = Key::of(["models", name]);
        let agents = self.layers.parts(&Key::of(["agents"]));
        let agents = agents.iter().map(|agent| Key::of(["agents", agent, "model"]));
        let mut places = agents.chain([Key::of(["defaults", "model"])]);
        let key = if self.layers.find(&named).is_some() {
            named
        } else {
            places.find(|key| self.layers.text(key) == Some(name)).unwrap_or_default()
        };
        self.mistake(key, what)
    }

    fn retry(&self) -> RetryPolicy {
        let (said, usual) = (&self.file.defaults.retry, RetryPolicy::default());
        RetryPolicy {
            attempts: said.attempts.unwrap_or(usual.attempts),
            first_wait: millis(said.first_wait_ms, usual.first_wait),
            longest_wait: millis(said.longest_wait_ms, usual.longest_wait),
            within: millis(said.within_ms, usual.within),
        }
    }

    fn timeouts(&self) -> Timeouts {
        let (said, usual) = (&self.file.defaults.timeouts, Timeouts::default());
        Timeouts {
            connect: millis(said.connect_ms, usual.connect),
            first_byte: millis(said.first_byte_ms, usual.first_byte),
            idle: millis(said.idle_ms, usual.idle),
            total: millis(said.total_ms, usual.total),
        }
    }
}

fn millis(said: Option<u64>, usual: Duration) -> Duration {
    said.map_or(usual, Duration::from_millis)
}

/// Voices that say what they are, so that nobody takes them for a model.
struct Voices;

/// What people should know of what they say.
pub(super) const VOICE: &str = "Scripted answer: no model was called.";

#[async_trait]
impl Model for Voices {
    async fn stream(&self, request: &ModelRequest) -> Result<ModelStream, ModelError> {
        let name = &request.agent_name;
        let reply = Reply::text(match request.output {
            None => "Scripted answer: no model was called. Your message: {input}".to_owned(),
            Some(_) => {
                format!("Scripted answer of {name}: no model was called.")
            }
        });
        let script = Script::default().voice(request.scope.agent.suffix(), [reply]);
        let chunks = ScriptedModel::forgetful(script).stream(request).await?;
        let labeled = chunks.map(|chunk| match chunk {
            Ok(Chunk::Done(record)) => {
                Ok(Chunk::Done(CallRecord { notice: Some(VOICE.to_owned()), ..record }))
            }
            other => other,
        });
        Ok(labeled.boxed())
    }
}

/// A model whose failures are told to whoever watches.
struct ObservedModel {
    name: String,
    inner: HttpModel,
    watch: Watch,
}

#[async_trait]
impl Model for ObservedModel {
    fn facts(&self) -> Facts {
        self.inner.facts()
    }

    async fn stream(&self, request: &ModelRequest) -> Result<ModelStream, ModelError> {
        let (name, watch) = (self.name.clone(), self.watch.clone());
        let note = move |error: &ModelError| watch(&name, error);
        let chunks = self.inner.stream(request).await.inspect_err(&note)?;
        let noted = chunks.inspect(move |chunk| {
            if let Err(error) = chunk {
                note(error);
            }
        });
        Ok(noted.boxed())
    }
}
