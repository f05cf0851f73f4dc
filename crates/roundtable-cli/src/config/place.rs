//! Where the configuration and the data are.

use std::path::{Path, PathBuf};

use super::origin::Origin;
use super::variables::Variable;

/// Where a system keeps the files of programs.
#[derive(Clone, Copy)]
pub(super) enum Platform {
    MacOs,
    Other,
}

impl Platform {
    /// This one.
    pub fn here() -> Self {
        if cfg!(target_os = "macos") { Self::MacOs } else { Self::Other }
    }

    /// Where data is kept.
    pub fn data_dir(self, variable: Variable<'_>) -> Option<PathBuf> {
        self.directory(variable, "XDG_DATA_HOME", ".local/share")
    }

    /// Where configurations are kept.
    fn config_dir(self, variable: Variable<'_>) -> Option<PathBuf> {
        self.directory(variable, "XDG_CONFIG_HOME", ".config")
    }

    fn directory(self, variable: Variable<'_>, shared: &str, usual: &str) -> Option<PathBuf> {
        let home = |below: &str| Some(PathBuf::from(variable("HOME")?).join(below));
        let directory = match self {
            Self::MacOs => home("Library/Application Support"),
            Self::Other => {
                // The specification has programs ignore a relative path here.
                let shared = variable(shared).map(PathBuf::from).filter(|path| path.is_absolute());
                shared.or_else(|| home(usual))
            }
        };
        Some(directory?.join("roundtable"))
    }
}

/// The configuration file, if there is one, and who named it. One that was named has to be there.
pub(super) fn config_file(
    flag: Option<&Path>,
    platform: Platform,
    variable: Variable<'_>,
) -> Option<(PathBuf, Origin)> {
    let named = flag.map(|path| (path.to_owned(), Origin::Flag("--config"))).or_else(|| {
        let name = "ROUNDTABLE_CONFIG";
        Some((PathBuf::from(variable(name)?), Origin::Variable(name.to_owned())))
    });
    named.or_else(|| {
        let name = "roundtable.toml";
        let usual = platform.config_dir(variable).map(|directory| directory.join(name));
        let places = [Some(PathBuf::from(name)), usual];
        let found = places.into_iter().flatten().find(|path| path.is_file());
        found.map(|path| (path, Origin::usual()))
    })
}

/// A path as a shell takes it.
pub(super) fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/._-+:@%".contains(c);
    if text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(platform: Platform, variables: &[(&str, &str)]) -> Option<String> {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        platform.data_dir(&variable).map(|path| path.display().to_string())
    }

    #[test]
    fn the_shared_directory_counts_before_the_home_and_not_when_it_is_relative() {
        let found = |variables: &[(&str, &str)]| found(Platform::Other, variables);
        let shared = found(&[("XDG_DATA_HOME", "/xdg"), ("HOME", "/me")]);
        assert_eq!(shared.unwrap(), "/xdg/roundtable");
        let relative = found(&[("XDG_DATA_HOME", "here"), ("HOME", "/me")]);
        assert_eq!(relative.unwrap(), "/me/.local/share/roundtable");
        assert_eq!(found(&[]), None);
    }

    #[test]
    fn macos_has_its_own_place() {
        let found = found(Platform::MacOs, &[("HOME", "/me")]).unwrap();
        assert_eq!(found, "/me/Library/Application Support/roundtable");
    }

    #[test]
    fn a_path_is_quoted_where_a_shell_needs_it() {
        assert_eq!(quoted(Path::new("/d")), "/d");
        assert_eq!(quoted(Path::new("it's here")), r"'it'\''s here'");
    }
}
