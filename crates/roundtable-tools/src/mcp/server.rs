//! An MCP server, as the operator configures it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use roundtable_core::tool::Effect;

/// An MCP server, as the operator configures it.
#[derive(Debug, Clone)]
pub struct McpServer {
    /// Its name here: lower-case letters, digits, `-` and single `_`. Its tools are called `name__tool`.
    pub name: String,
    /// How it is reached.
    pub transport: Transport,
    /// Which calls a person has to agree to.
    pub approval: Approval,
    /// How long a call may take.
    pub timeout: Duration,
    /// How long it may take to start and to say which tools it has.
    pub start_timeout: Duration,
    /// How many bytes of a result the model is told.
    pub max_output: usize,
}

impl McpServer {
    /// A server with this name, with the usual limits.
    pub fn new(name: &str, transport: Transport) -> Self {
        Self {
            name: name.to_owned(),
            transport,
            approval: Approval::Effectful,
            timeout: Duration::from_secs(60),
            start_timeout: Duration::from_secs(30),
            max_output: 50_000,
        }
    }

    /// What is wrong with the configuration, if something is.
    pub fn mistake(&self) -> Option<String> {
        let name = &self.name;
        let fits =
            |char: char| char.is_ascii_lowercase() || char.is_ascii_digit() || "-_".contains(char);
        // With these rules the first `__` of a tool's name is where the server's name ends, so no
        // two servers can share a name of a tool.
        let is_name = !name.is_empty()
            && name.len() <= 32
            && name.chars().all(fits)
            && !name.contains("__")
            && !name.starts_with('_')
            && !name.ends_with('_');
        let mistake =
            "a server name must have 1 to 32 lowercase letters, digits, `-` and single `_`";
        (!is_name).then(|| mistake.to_owned())
    }
}

/// How a server is reached.
#[derive(Clone)]
pub enum Transport {
    /// It is a program that is started here and speaks on standard input and output.
    Stdio {
        /// The program.
        command: PathBuf,
        /// Its arguments.
        args: Vec<String>,
        /// Its whole environment. Nothing is inherited; without a `PATH` it gets a plain one.
        env: BTreeMap<String, String>,
        /// Where it runs; where this process runs, without one.
        directory: Option<PathBuf>,
    },
    /// It listens somewhere and speaks Streamable HTTP.
    Http {
        /// Its endpoint.
        url: String,
        /// Headers for every request, such as `authorization`.
        headers: BTreeMap<String, String>,
    },
}

impl Transport {
    /// A program with these arguments and an empty environment.
    pub fn stdio<A: Into<String>>(
        command: impl Into<PathBuf>,
        args: impl IntoIterator<Item = A>,
    ) -> Self {
        Self::Stdio {
            command: command.into(),
            args: args.into_iter().map(Into::into).collect(),
            env: BTreeMap::new(),
            directory: None,
        }
    }

    /// An endpoint, with no headers.
    pub fn http(url: &str) -> Self {
        Self::Http { url: url.to_owned(), headers: BTreeMap::new() }
    }
}

/// Without the values of variables and headers: they are where the secrets are.
impl std::fmt::Debug for Transport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Stdio { command, args, env, directory } => f
                .debug_struct("Stdio")
                .field("command", command)
                .field("args", args)
                .field("env", &env.keys())
                .field("directory", directory)
                .finish(),
            Self::Http { headers, .. } => {
                f.debug_struct("Http").field("headers", &headers.keys()).finish_non_exhaustive()
            }
        }
    }
}

/// Which calls of a server's tools a person has to agree to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Approval {
    /// Those that must not be repeated: everything that is not said to be read-only or idempotent.
    #[default]
    Effectful,
    /// All of them.
    Always,
    /// None: the operator trusts the server with whatever a model asks of it.
    Never,
}

impl Approval {
    pub(super) fn is_needed(self, effect: Effect) -> bool {
        match self {
            Self::Effectful => effect == Effect::Effectful,
            Self::Always => true,
            Self::Never => false,
        }
    }
}
