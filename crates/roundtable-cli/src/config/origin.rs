//! Where a value comes from, so that people know where to change it.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Nobody said it. The reason, where there is more to say than that.
    Default(String),
    /// A line of the file, from 1.
    File(Arc<PathBuf>, usize),
    /// A variable of the environment.
    Variable(String),
    /// A flag of the command line.
    Flag(&'static str),
}

impl Origin {
    /// Nobody said it.
    pub fn usual() -> Self {
        Self::Default(String::new())
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default(why) if why.is_empty() => f.write_str("default"),
            Self::Default(why) => write!(f, "default: {why}"),
            Self::File(path, line) => write!(f, "{}:{line}", path.display()),
            Self::Variable(name) => f.write_str(name),
            Self::Flag(flag) => f.write_str(flag),
        }
    }
}

/// The path to a value: `agents.ada.model`.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key(pub Vec<String>);

impl Key {
    /// The key with these parts.
    pub fn of<const N: usize>(parts: [&str; N]) -> Self {
        Self(parts.map(str::to_owned).to_vec())
    }

    /// What is inside.
    pub fn join(&self, part: &str) -> Self {
        Self(self.0.iter().cloned().chain([part.to_owned()]).collect())
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, part) in self.0.iter().enumerate() {
            let dot = if index == 0 { "" } else { "." };
            let is_bare = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
            if part.chars().all(is_bare) {
                write!(f, "{dot}{part}")?;
            } else {
                write!(f, "{dot}{part:?}")?;
            }
        }
        Ok(())
    }
}
