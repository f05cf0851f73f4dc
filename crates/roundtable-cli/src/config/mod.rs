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
mod server;
mod show;
mod stamp;
mod validate;
mod variables;

use std::path::{Path, PathBuf};

use roundtable::Archive;
use roundtable::backend::OpenError;
use roundtable::models::Catalog;
use serde::Deserialize as _;

pub(crate) use build::{Needs, Running, Toolbox, Watch};
pub(crate) use choice::SCRIPTED;
pub(crate) use command::{Command, run};
use file::File;
use layers::Layers;
use mistake::{Mistake, Mistakes};
use origin::{Key, Origin};
use place::Platform;
pub(crate) use stamp::Stamp;

/// What every command takes.
#[derive(clap::Args, Clone)]
pub(crate) struct Options {
    /// Where sessions are kept; also ROUNDTABLE_DATA_DIR [default: the platform's data directory]
    #[arg(long, global = true, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// The configuration; also ROUNDTABLE_CONFIG [default: ./roundtable.toml, then the platform's
    /// configuration directory]
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// What commands take that ask agents.
#[derive(clap::Args, Clone, Default)]
pub(crate) struct Wishes {
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

impl Wishes {
    /// The wish for a model, if there is one.
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
    path: Option<PathBuf>,
    /// The file as it was then.
    stamp: Stamp,
    /// How it was asked for.
    options: Options,
    wishes: Wishes,
}

impl Config {
    pub fn read(options: &Options, wishes: &Wishes) -> anyhow::Result<Self> {
        // Before it is read: what changes meanwhile is noticed later.
        let stamp = Stamp::take(options);
        let (mut layers, path) = read_file(options.config.as_deref())?;
        if let Some(misfits) = Mistakes::of(mistake::misfits(&layers)) {
            return Err(misfits.into());
        }
        let catalog = reference::catalog(&layers)?;
        variables::overlay(&mut layers, &catalog, &variable);
        for (part, flag, said) in
            [("model", "--model", &wishes.model), ("agent", "--agent", &wishes.agent)]
        {
            if let Some(said) = said {
                layers.say(Key::of(["defaults", part]), said.as_str(), Origin::Flag(flag));
            }
        }
        if let Some(listen) = &wishes.listen {
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
        defaults::fill(&mut layers, &catalog);
        variables::overlay_proxies(&mut layers, &variable);
        let file = File::deserialize(layers.table().clone()).map_err(|error| {
            let what = error.message().to_owned();
            Mistakes::from(Mistake { origin: Origin::usual(), key: Key::default(), what })
        })?;
        let Some(data_dir) = options.data_dir.clone().or_else(|| file.data_dir.clone()) else {
            anyhow::bail!(
                "there is no home directory to keep sessions in; \
                 name a directory with --data-dir DIR or ROUNDTABLE_DATA_DIR"
            );
        };
        let (again, again_arguments) = (again(options), again_arguments(options));
        let (options, wishes) = (options.clone(), wishes.clone());
        Ok(Self {
            data_dir,
            again,
            again_arguments,
            layers,
            file,
            catalog,
            path,
            stamp,
            options,
            wishes,
        })
    }

    /// The same, as the file is now.
    pub fn read_again(&self) -> anyhow::Result<Self> {
        Self::read(&self.options, &self.wishes)
    }

    /// The sessions, to be looked at.
    pub fn archive(&self) -> anyhow::Result<Archive> {
        Archive::open(&self.data_dir).map_err(|error| match error {
            missing @ roundtable::Error::Open(OpenError::Missing { .. }) => anyhow::anyhow!(
                "{missing}; `roundtable demo` starts one, --data-dir DIR looks elsewhere"
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

fn read_file(flag: Option<&Path>) -> anyhow::Result<(Layers, Option<PathBuf>)> {
    let Some((path, named)) = place::config_file(flag, Platform::here(), &variable) else {
        return Ok((Layers::default(), None));
    };
    let text = std::fs::read_to_string(&path).map_err(|error| {
        let what = format!("{} cannot be read: {error}", path.display());
        Mistakes::from(Mistake { origin: named, key: Key::default(), what })
    })?;
    Ok((Layers::of_file(path.clone(), &text).map_err(Mistakes::from)?, Some(path)))
}

/// A variable; one that is set to nothing is as good as none.
#[expect(clippy::disallowed_methods, reason = "this is where the environment is read")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

/// Whether an error is a matter of configuration, and so of how the command was used.
pub(crate) fn is_mistake(error: &anyhow::Error) -> bool {
    error.is::<Mistakes>()
}
