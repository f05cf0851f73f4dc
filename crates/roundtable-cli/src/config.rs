//! What the command was told: flags before the environment before defaults. The one place that
//! reads the environment.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use roundtable::Archive;
use roundtable::backend::OpenError;

/// What every command takes.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Where sessions are kept; also ROUNDTABLE_DATA_DIR [default: the platform's data directory]
    #[arg(long, global = true, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

/// What a command runs with.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Config {
    /// Where sessions are kept.
    pub data_dir: PathBuf,
    /// Whether that was said on the command line, and so has to be said again.
    said: bool,
}

/// Where a system keeps the data of programs.
#[derive(Clone, Copy)]
enum Platform {
    MacOs,
    Other,
}

impl Config {
    pub fn read(options: &Options) -> anyhow::Result<Self> {
        let platform = if cfg!(target_os = "macos") { Platform::MacOs } else { Platform::Other };
        let found = data_dir(options.data_dir.clone(), platform, variable);
        let Some(data_dir) = found else {
            anyhow::bail!(
                "there is no home directory to keep sessions in; \
                 name a directory with --data-dir DIR or ROUNDTABLE_DATA_DIR"
            );
        };
        Ok(Self { data_dir, said: options.data_dir.is_some() })
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
        if !self.said {
            return format!("roundtable {words}");
        }
        format!("roundtable {words} --data-dir {}", quoted(&self.data_dir))
    }
}

/// A path as a shell takes it.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/._-+:@%".contains(c);
    if text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

#[expect(clippy::disallowed_methods, reason = "this is where the environment is read")]
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

fn data_dir(
    flag: Option<PathBuf>,
    platform: Platform,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Option<PathBuf> {
    // A variable that is set to nothing is as good as none.
    let variable = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = |below: &str| Some(variable("HOME")?.join(below).join("roundtable"));
    flag.or_else(|| variable("ROUNDTABLE_DATA_DIR")).or_else(|| match platform {
        Platform::MacOs => home("Library/Application Support"),
        Platform::Other => {
            // The specification has programs ignore a relative path here.
            let shared = variable("XDG_DATA_HOME").filter(|path| path.is_absolute());
            shared.map(|path| path.join("roundtable")).or_else(|| home(".local/share"))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(platform: Platform, flag: Option<&str>, variables: &[(&str, &str)]) -> Option<String> {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| OsString::from(value))
        };
        let found = data_dir(flag.map(PathBuf::from), platform, variable);
        found.map(|path| path.display().to_string())
    }

    #[test]
    fn a_flag_counts_before_the_environment_and_that_before_the_platform() {
        let all = [("ROUNDTABLE_DATA_DIR", "/env"), ("XDG_DATA_HOME", "/xdg"), ("HOME", "/me")];
        let from = |flag, skip: usize| found(Platform::Other, flag, &all[skip..]).unwrap();
        assert_eq!(from(Some("flag"), 0), "flag");
        assert_eq!(from(None, 0), "/env");
        assert_eq!(from(None, 1), "/xdg/roundtable");
        assert_eq!(from(None, 2), "/me/.local/share/roundtable");
        assert_eq!(found(Platform::Other, None, &[]), None);
    }

    #[test]
    fn empty_variables_and_relative_shared_directories_do_not_count() {
        let variables = [("ROUNDTABLE_DATA_DIR", ""), ("XDG_DATA_HOME", "here"), ("HOME", "/me")];
        let found = found(Platform::Other, None, &variables).unwrap();
        assert_eq!(found, "/me/.local/share/roundtable");
    }

    #[test]
    fn macos_has_its_own_place() {
        let found = found(Platform::MacOs, None, &[("HOME", "/me")]).unwrap();
        assert_eq!(found, "/me/Library/Application Support/roundtable");
    }

    #[test]
    fn a_command_to_type_again_names_the_directory_if_the_first_one_did() {
        let config = |said, dir: &str| Config { data_dir: dir.into(), said };
        assert_eq!(config(false, "/d").command("verify"), "roundtable verify");
        assert_eq!(config(true, "/d").command("verify"), "roundtable verify --data-dir /d");
        let spaced = config(true, "it's here").command("verify");
        assert_eq!(spaced, r"roundtable verify --data-dir 'it'\''s here'");
    }
}
