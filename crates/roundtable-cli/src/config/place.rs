//! Where the configuration and the data are.

use std::path::{Path, PathBuf};

use super::layers::Layers;
use super::origin::{Key, Origin};
use super::source::{self, Scope, Source, Standing};
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
    pub fn config_dir(self, variable: Variable<'_>) -> Option<PathBuf> {
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

/// Where the weights of the local models are: one place for all data directories, unless a data
/// directory has weights of its own.
pub(super) fn fill_weights(layers: &mut Layers, platform: Platform, variable: Variable<'_>) {
    let models = |directory: &Path| directory.join("models");
    let data = layers.text(&Key::of(["data_dir"])).map(|data| models(Path::new(data)));
    let own = data.filter(|own| own.is_dir());
    let shared = || platform.data_dir(variable).map(|shared| models(&shared));
    if let Some(directory) = own.or_else(shared) {
        let directory = directory.display().to_string();
        layers.fill(Key::of(["local", "directory"]), directory, Origin::usual());
    }
}

/// The name of a configuration file.
pub(super) const NAME: &str = "roundtable.toml";

/// The configuration file, if there is one. One that was named has to exist.
pub(super) fn config_file(
    flag: Option<&Path>,
    scope: Scope,
    platform: Platform,
    variable: Variable<'_>,
) -> Option<Source> {
    let named = flag.map(|path| (path.to_owned(), Origin::Flag("--config"))).or_else(|| {
        let name = "ROUNDTABLE_CONFIG";
        Some((PathBuf::from(variable(name)?), Origin::Variable(name.to_owned())))
    });
    if let Some((path, origin)) = named {
        return Some(Source::new(path, Standing::Named, origin));
    }
    let own = own_file(platform, variable);
    match (scope, project_file(own.as_deref())) {
        (Scope::Project, Some(path)) => Some(Source::new(path, Standing::Project, Origin::usual())),
        (Scope::Project, None) | (Scope::Own, _) => {
            Some(Source::new(own?, Standing::Own, Origin::usual()))
        }
    }
}

/// The user's own file, if it exists.
fn own_file(platform: Platform, variable: Variable<'_>) -> Option<PathBuf> {
    let path = platform.config_dir(variable)?.join(NAME);
    path.is_file().then_some(path)
}

/// The file in the current directory, unless it is the user's own.
fn project_file(own: Option<&Path>) -> Option<PathBuf> {
    let path = PathBuf::from(NAME);
    let is_own = own.is_some_and(|own| source::is_same(own, &path));
    (path.is_file() && !is_own).then_some(path)
}

/// The file in the current directory that a server does not read.
pub(super) fn ignored_file(platform: Platform, variable: Variable<'_>) -> Option<PathBuf> {
    project_file(own_file(platform, variable).as_deref())
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
