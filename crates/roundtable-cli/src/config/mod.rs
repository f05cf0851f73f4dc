//! What the command was told: defaults < file < environment < flags. The one place that reads the
//! environment.

mod build;
mod choice;
mod command;
mod defaults;
mod file;
mod layers;
mod local;
mod mistake;
mod origin;
mod place;
mod reference;
mod schema;
mod sensitive;
mod server;
mod show;
mod source;
mod stamp;
mod trust;
mod trust_command;
mod validate;
mod variables;

use std::path::PathBuf;

use roundtable::Archive;
use roundtable::backend::OpenError;
use roundtable::models::Catalog;
use serde::Deserialize as _;

pub(crate) use build::{Needs, Running, Toolbox, Watch, built};
pub(crate) use choice::SCRIPTED;
pub(crate) use command::{Command, run};
use file::File;
use layers::Layers;
use mistake::{Mistake, Mistakes};
use origin::{Key, Origin};
use place::Platform;
pub(crate) use source::Scope;
use source::{Content, Source, Standing};
pub(crate) use stamp::Stamp;
use trust::{Trust, UntrustedFile};

/// What every command takes.
#[derive(clap::Args, Clone)]
pub(crate) struct Options {
    /// Where sessions are kept; also ROUNDTABLE_DATA_DIR [default: the platform's data directory]
    #[arg(long, global = true, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// The configuration; also ROUNDTABLE_CONFIG [default: ./roundtable.toml except for `mcp` and
    /// `serve`, then the platform's configuration directory]
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// What commands take that ask agents.
#[derive(clap::Args, Clone, Default)]
pub(crate) struct Overrides {
    /// The model: vendor/model, a vendor, or a name in the configuration; also ROUNDTABLE_MODEL
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// The agent: a name in the configuration; also ROUNDTABLE_AGENT
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Where `serve` listens; it has a flag of its own.
    #[arg(skip)]
    pub listen: Option<String>,
}

impl Overrides {
    /// Overrides the model, if one is given.
    pub fn for_model(model: Option<String>) -> Self {
        Self { model, ..Self::default() }
    }
}

/// What a command runs with.
pub(crate) struct Config {
    /// Where sessions are kept.
    pub data_dir: PathBuf,
    /// The flags that have to be said again for the same configuration.
    again: String,
    /// The same, as a program takes them.
    again_arguments: Vec<String>,
    layers: Layers,
    file: File,
    catalog: Catalog,
    /// The file that was read.
    source: Option<Source>,
    /// The file in the current directory that a server does not read.
    ignored: Option<PathBuf>,
    /// The file as it was then.
    stamp: Stamp,
    /// How it was asked for.
    options: Options,
    overrides: Overrides,
}

impl Config {
    /// Reads what a command is to run with. A project file that names programs, URLs, keys or
    /// directories is refused unless the user trusts it.
    pub fn read(options: &Options, overrides: &Overrides, scope: Scope) -> anyhow::Result<Self> {
        let source =
            place::config_file(options.config.as_deref(), scope, Platform::here(), &variable);
        let is_unread = scope == Scope::Own
            && source.as_ref().is_none_or(|source| source.standing == Standing::Own);
        let ignored = is_unread.then(|| place::ignored_file(Platform::here(), &variable)).flatten();
        Ok(Self { ignored, ..Self::read_source(source, options, overrides)? })
    }

    fn read_source(
        source: Option<Source>,
        options: &Options,
        overrides: &Overrides,
    ) -> anyhow::Result<Self> {
        // Before it is read: what changes meanwhile is noticed later.
        let stamp = Stamp::take(source.as_ref());
        let mut layers = match &source {
            Some(source) => trusted_layers(source)?,
            None => Layers::default(),
        };
        let catalog = reference::catalog(&layers)?;
        variables::overlay(&mut layers, &catalog, &variable);
        for (part, flag, said) in
            [("model", "--model", &overrides.model), ("agent", "--agent", &overrides.agent)]
        {
            if let Some(said) = said {
                layers.say(Key::of(["defaults", part]), said.as_str(), Origin::Flag(flag));
            }
        }
        if let Some(listen) = &overrides.listen {
            layers.say(Key::of(["server", "listen"]), listen.as_str(), Origin::Flag("--listen"));
        }
        if let Some(directory) = &options.data_dir {
            let directory = directory.display().to_string();
            layers.say(Key::of(["data_dir"]), directory, Origin::Flag("--data-dir"));
        }
        if let Some(usual) = Platform::here().data_dir(&variable) {
            let usual = usual.display().to_string();
            layers.fill(Key::of(["data_dir"]), usual, Origin::usual());
        }
        place::fill_weights(&mut layers, Platform::here(), &variable);
        defaults::fill(&mut layers, &catalog);
        variables::overlay_proxies(&mut layers, &variable);
        let file = File::deserialize(layers.table().clone()).map_err(|error| {
            let what = error.message().to_owned();
            Mistakes::from(Mistake { origin: Origin::usual(), key: Key::default(), what })
        })?;
        let Some(data_dir) = options.data_dir.clone().or_else(|| file.data_dir.clone()) else {
            anyhow::bail!(
                "no home directory found for the data directory; pass --data-dir DIR, or set \
                 ROUNDTABLE_DATA_DIR"
            );
        };
        let (again, again_arguments) = (again(options), again_arguments(options));
        let (options, overrides) = (options.clone(), overrides.clone());
        Ok(Self {
            data_dir,
            again,
            again_arguments,
            layers,
            file,
            catalog,
            source,
            ignored: None,
            stamp,
            options,
            overrides,
        })
    }

    /// The same, as the file is now: the file that was read at the start, never another one.
    pub fn read_again(&self) -> anyhow::Result<Self> {
        Self::read_source(self.source.clone(), &self.options, &self.overrides)
    }

    /// A notice for a server that was started beside a project file, which servers do not read.
    pub fn ignored_notice(&self) -> Option<String> {
        let path = place::quoted(&std::path::absolute(self.ignored.as_ref()?).ok()?);
        Some(format!(
            "{} in this directory is ignored: servers read only your own configuration. \
             Pass `--config {path}` to use it.",
            place::NAME
        ))
    }

    /// The sessions, to be looked at.
    pub fn archive(&self) -> anyhow::Result<Archive> {
        Archive::open(&self.data_dir).map_err(|error| match error {
            missing @ roundtable::Error::Open(OpenError::Missing { .. }) => anyhow::anyhow!(
                "{missing}; run `roundtable demo` to create one, or pass --data-dir DIR"
            ),
            error => error.into(),
        })
    }

    /// A command of this program on the same data, as it has to be typed.
    pub fn command(&self, words: &str) -> String {
        format!("roundtable {words}{}", self.again)
    }
}

/// The flags that have to be said again.
fn again(options: &Options) -> String {
    let flags = [("--data-dir", &options.data_dir), ("--config", &options.config)];
    let said = flags.into_iter().filter_map(|(flag, path)| Some((flag, path.as_ref()?)));
    said.map(|(flag, path)| format!(" {flag} {}", place::quoted(path))).collect()
}

/// The same for a program, wherever it is started.
fn again_arguments(options: &Options) -> Vec<String> {
    let flags = [("--data-dir", &options.data_dir), ("--config", &options.config)];
    let said = flags.into_iter().filter_map(|(flag, path)| Some((flag, path.as_ref()?)));
    let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
    said.flat_map(|(flag, path)| [flag.to_owned(), absolute(path).display().to_string()]).collect()
}

/// What a file sets, if it may.
fn trusted_layers(source: &Source) -> anyhow::Result<Layers> {
    let content = source.read()?;
    let layers = parse(source, &content)?;
    if source.standing == Standing::Project {
        let entries = sensitive::entries(&layers);
        let trust = Trust::of_user(Platform::here(), &variable);
        let is_trusted = || trust.as_ref().is_some_and(|trust| trust.has(source, &content));
        if !entries.is_empty() && !is_trusted() {
            let changed = trust.is_some_and(|trust| trust.knows(source));
            return Err(UntrustedFile::new(source, entries, changed).into());
        }
    }
    Ok(layers)
}

fn parse(source: &Source, content: &Content) -> Result<Layers, Mistakes> {
    let layers = Layers::of_file(source.path.clone(), &content.text)?;
    Mistakes::of(mistake::misfits(&layers)).map_or(Ok(layers), Err)
}

/// A variable; one that is set to nothing is as good as none.
#[expect(clippy::disallowed_methods, reason = "this is where the environment is read")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

/// Whether an error is a matter of configuration, and so of how the command was used.
pub(crate) fn is_mistake(error: &anyhow::Error) -> bool {
    error.is::<Mistakes>() || error.is::<UntrustedFile>()
}
