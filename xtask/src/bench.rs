//! `cargo xtask bench NAME`: run one benchmark. A benchmark is a binary of the bench crate, found by its file.

use std::fs;
use std::path::Path;

use anyhow::{Result, bail};

use crate::shell;

#[derive(clap::Args)]
pub struct Args {
    /// The benchmark; none lists them.
    name: Option<String>,
    /// Arguments for the benchmark.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<String>,
}

pub fn bench(args: &Args) -> Result<()> {
    let available = available(&shell::root().join("bench/src/bin"));
    let Some(name) = &args.name else {
        println!("{}", listed(&available));
        return Ok(());
    };
    if !available.contains(name) {
        bail!("there is no benchmark `{name}`\n{}", listed(&available));
    }
    let mut command =
        shell::cargo(["run", "--release", "-p", "roundtable-bench", "--bin", name, "--"]);
    shell::run(command.args(&args.args))
}

/// The binaries of the folder: `NAME.rs` or `NAME/main.rs`. No folder, no benchmarks.
fn available(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let is_binary = |path: &Path| {
        path.extension().is_some_and(|ext| ext == "rs") || path.join("main.rs").is_file()
    };
    let paths = entries.flatten().map(|entry| entry.path()).filter(|path| is_binary(path));
    let mut names: Vec<_> = paths
        .filter_map(|path| path.file_stem().map(|stem| stem.to_string_lossy().into()))
        .collect();
    names.sort();
    names
}

fn listed(available: &[String]) -> String {
    if available.is_empty() {
        return "there are no benchmarks yet; each is a file in bench/src/bin/".into();
    }
    format!("available: {}", available.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_names_the_benchmarks_or_where_they_go() {
        assert_eq!(listed(&["append".into(), "recall".into()]), "available: append, recall");
        assert_eq!(listed(&[]), "there are no benchmarks yet; each is a file in bench/src/bin/");
    }

    #[test]
    fn names_come_from_the_files_of_the_folder() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let names = available(&here);
        assert!(names.contains(&"bench".into()), "a file is one: {names:?}");
        assert_eq!(
            names.iter().filter(|name| *name == "tidy").count(),
            1,
            "a folder without main.rs is none"
        );
        assert_eq!(available(&here.join("nowhere")), Vec::<String>::new());
    }
}
