//! How an engine is put together.

use std::collections::BTreeMap;
#[cfg(feature = "vendors")]
use std::ffi::OsString;
#[cfg(feature = "sqlite")]
use std::path::PathBuf;
use std::sync::Arc;

use roundtable_backend::MemoryStore;
#[cfg(feature = "sqlite")]
use roundtable_backend::SqliteStore;
use roundtable_chat::{Chat, Team};
use roundtable_core::agent::Agent;
use roundtable_core::id::NodeId;
use roundtable_core::program::{Program, Programs};
use roundtable_core::stage::Name;
use roundtable_debate::{Debate, Measuring};
use roundtable_engine::{Config, Parts, SystemClock, Toolset, UuidIds};
use roundtable_models::local::HashedEmbedder;
#[cfg(feature = "vendors")]
use roundtable_models::{Catalog, Environment, VendorModel};
use roundtable_ports::{Allowances, Clock, DynTool, Embedder, Ids, Job, Model, Store, Tool};

use crate::debate::MeasureJob;
use crate::engine::{Defaults, Engine};
use crate::error::Result;

/// What an engine will be made of.
pub struct Builder {
    store: Option<Store>,
    #[cfg(feature = "sqlite")]
    directory: Option<PathBuf>,
    /// In the order in which they were registered: the first one is the default.
    models: Vec<ModelSource>,
    #[cfg(feature = "vendors")]
    catalog: Option<Catalog>,
    #[cfg(feature = "vendors")]
    environment: Option<Environment>,
    defaults: Defaults,
    embedder: Option<Arc<dyn Embedder>>,
    tools: Vec<Arc<dyn DynTool>>,
    programs: Programs,
    jobs: BTreeMap<Name, Arc<dyn Job>>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    config: Config,
}

/// A model to be registered.
enum ModelSource {
    #[cfg(feature = "vendors")]
    Vendor(Box<VendorModel>),
    Custom(String, Arc<dyn Model>),
}

/// The programs that come with the library.
pub(crate) fn programs() -> Programs {
    Programs::default().with(Debate).with(Chat)
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            store: None,
            #[cfg(feature = "sqlite")]
            directory: None,
            models: Vec::new(),
            #[cfg(feature = "vendors")]
            catalog: None,
            #[cfg(feature = "vendors")]
            environment: None,
            defaults: Defaults::default(),
            embedder: None,
            tools: Vec::new(),
            programs: programs(),
            jobs: BTreeMap::new(),
            clock: Arc::new(SystemClock),
            ids: Arc::new(UuidIds),
            config: Config::default(),
        }
    }
}

impl Builder {
    /// Keeps sessions in this store. Without one they are kept in memory, and gone with the process.
    #[must_use]
    pub fn store(mut self, store: Store) -> Self {
        self.store = Some(store);
        self
    }

    /// Keeps sessions in this directory: durable, and shared with other processes that use it.
    #[cfg(feature = "sqlite")]
    #[must_use]
    pub fn sqlite(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Registers a vendor's model by its reference, like `anthropic/claude-sonnet-4-5`; agents use
    /// the same name. The key comes from the value ([`VendorModel::key`]), or else from the vendor's
    /// own variable among those of [`Builder::env`]. The first model is the default.
    #[cfg(feature = "vendors")]
    #[must_use]
    pub fn model(mut self, model: impl Into<VendorModel>) -> Self {
        self.models.push(ModelSource::Vendor(Box::new(model.into())));
        self
    }

    /// Registers a model that implements [`Model`] under the name that agents use. The first model is
    /// the default.
    #[must_use]
    pub fn custom_model(mut self, name: &str, model: impl Model + 'static) -> Self {
        self.models.push(ModelSource::Custom(name.to_owned(), Arc::new(model)));
        self
    }

    /// Sets up vendors from these variables, usually `std::env::vars_os()`: their keys, URLs, headers
    /// and proxies. Without a registered model, the vendor whose key is set answers with its default
    /// model. The library itself never reads the environment of the process.
    #[cfg(feature = "vendors")]
    #[must_use]
    pub fn env<K: Into<OsString>, V: Into<OsString>>(
        mut self,
        variables: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        self.environment = Some(Environment::of(variables));
        self
    }

    /// Looks vendors up in this catalog instead of the one that is built in.
    #[cfg(feature = "vendors")]
    #[must_use]
    pub fn catalog(mut self, catalog: Catalog) -> Self {
        self.catalog = Some(catalog);
        self
    }

    /// How many tokens an answer may have, for agents of whom nothing is said about that: those that
    /// are only named, and those that are made for a debate. Whoever judges a debate has more room:
    /// data that is cut off is none.
    #[must_use]
    pub fn max_tokens(mut self, max_tokens: u32) -> Self {
        self.defaults.max_tokens = Some(max_tokens);
        self
    }

    /// Has this model judge how far the panels of debates agree, and name points of view where
    /// nobody does. Without one, debates are measured without a model.
    #[must_use]
    pub fn analyst(mut self, model: &str) -> Self {
        self.defaults.analyst = Some(model.to_owned());
        self
    }

    /// Has this embedder find messages by meaning, and compare what the panels of debates hold. Without
    /// one, [`Engine::search`] knows words alone, and positions are compared by hashed words: those know
    /// which words two positions share, and nothing of what they mean.
    #[must_use]
    pub fn embedder(mut self, embedder: impl Embedder + 'static) -> Self {
        self.embedder = Some(Arc::new(embedder));
        self
    }

    /// Agents that debates can name.
    #[must_use]
    pub fn agents(mut self, agents: impl IntoIterator<Item = Agent>) -> Self {
        self.defaults.agents.extend(agents);
        self
    }

    /// The team that answers chats that name no agents, instead of the standard one.
    #[must_use]
    pub fn team(mut self, team: Team) -> Self {
        self.defaults.team = Some(team);
        self
    }

    /// Registers a tool.
    #[must_use]
    pub fn tool(mut self, tool: impl Tool) -> Self {
        self.tools.push(Arc::new(tool));
        self
    }

    /// Registers tools whose parameters are JSON: those of an MCP server, for example.
    #[must_use]
    pub fn tools(mut self, tools: impl IntoIterator<Item = Arc<dyn DynTool>>) -> Self {
        self.tools.extend(tools);
        self
    }

    /// Registers a program of one's own: sessions that were opened with
    /// [`Opening::of`](roundtable_core::event::Opening::of) run it.
    #[must_use]
    pub fn program(mut self, program: impl Program) -> Self {
        self.programs = self.programs.with(program);
        self
    }

    /// Registers a job under the name that programs use.
    #[must_use]
    pub fn job(mut self, name: Name, job: impl Job + 'static) -> Self {
        self.jobs.insert(name, Arc::new(job));
        self
    }

    /// Takes the time from this clock.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Takes fresh ids from this source.
    #[must_use]
    pub fn ids(mut self, ids: impl Ids + 'static) -> Self {
        self.ids = Arc::new(ids);
        self
    }

    /// Spends no more per day than this allows, however many processes share the store.
    #[must_use]
    pub fn allowances(mut self, allowances: impl Allowances + 'static) -> Self {
        self.config.allowances = Some(Arc::new(allowances));
        self
    }

    /// Runs as this configuration says.
    #[must_use]
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// Starts the engine.
    ///
    /// # Errors
    /// [`crate::Error`] when a vendor's model cannot be set up, a tool has no valid schema, or the
    /// store does not take the engine.
    pub async fn build(self) -> Result<Engine> {
        #[cfg(feature = "sqlite")]
        let builder = self.with_directory()?;
        #[cfg(not(feature = "sqlite"))]
        let builder = self;
        builder.start().await
    }

    async fn start(mut self) -> Result<Engine> {
        let models = self.build_models()?;
        let store = self.store.unwrap_or_else(|| Store::of(Arc::new(MemoryStore::new())));
        let mut jobs = self.jobs;
        let hashed = || -> Arc<dyn Embedder> { Arc::new(HashedEmbedder::default()) };
        let embedder = self.embedder;
        let measure =
            || -> Arc<dyn Job> { Arc::new(MeasureJob(embedder.clone().unwrap_or_else(hashed))) };
        jobs.entry(Measuring::JOB).or_insert_with(measure);
        let parts = Parts {
            node: NodeId::new(&self.ids.fresh())?,
            store,
            clock: self.clock,
            ids: self.ids,
            models,
            tools: Toolset::new(self.tools)?,
            programs: self.programs,
            jobs,
            config: self.config,
        };
        let driver = roundtable_engine::Engine::start(parts).await?;
        Ok(Engine::new(driver, self.defaults, embedder))
    }

    /// A store of one's own comes before a directory.
    #[cfg(feature = "sqlite")]
    fn with_directory(mut self) -> Result<Self> {
        if let (None, Some(directory)) = (&self.store, &self.directory) {
            let store = SqliteStore::open(directory)?;
            self.defaults.permissions = store.permission_notices().to_vec();
            self.store = Some(Store::of(Arc::new(store)));
        }
        Ok(self)
    }

    /// The models by name; the first one becomes the default.
    fn build_models(&mut self) -> Result<BTreeMap<String, Arc<dyn Model>>> {
        let registered = std::mem::take(&mut self.models);
        #[cfg(feature = "vendors")]
        let registered = self.with_available(registered)?;
        let mut models: BTreeMap<String, Arc<dyn Model>> = BTreeMap::new();
        for model in registered {
            let (name, model): (String, Arc<dyn Model>) = match model {
                ModelSource::Custom(name, model) => (name, model),
                #[cfg(feature = "vendors")]
                ModelSource::Vendor(model) => self.build_vendor(*model)?,
            };
            if models.is_empty() {
                self.defaults.model.clone_from(&name);
            }
            models.insert(name, model);
        }
        Ok(models)
    }

    /// Without a registered model, the vendor whose key is in the environment answers.
    #[cfg(feature = "vendors")]
    fn with_available(&mut self, mut registered: Vec<ModelSource>) -> Result<Vec<ModelSource>> {
        if let Some(environment) = self.environment.as_ref().filter(|_| registered.is_empty()) {
            let reference = known(&mut self.catalog)?.available_model(environment)?;
            registered.push(ModelSource::Vendor(Box::new(reference.into())));
        }
        Ok(registered)
    }

    #[cfg(feature = "vendors")]
    fn build_vendor(&mut self, model: VendorModel) -> Result<(String, Arc<dyn Model>)> {
        let name = model.name().to_owned();
        let environment = self.environment.get_or_insert_default();
        let model = model.build(known(&mut self.catalog)?, environment)?;
        Ok((name, Arc::new(model)))
    }
}

#[cfg(feature = "vendors")]
/// The catalog that was given, or else the one that is built in, which is read when it is needed.
fn known(catalog: &mut Option<Catalog>) -> Result<&Catalog> {
    match catalog {
        Some(catalog) => Ok(catalog),
        missing => Ok(missing.insert(Catalog::builtin()?)),
    }
}
