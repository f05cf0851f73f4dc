//! The smallest and the largest set of features of the library. An embedder who leaves a feature out
//! builds none of what it needs.

use std::collections::BTreeSet;

use anyhow::{Result, bail};

use crate::shell;

/// What the library without features does without.
const ABSENT: &[&str] = &[
    "hyper",
    "libsqlite3-sys",
    "reqwest",
    "rmcp",
    "rusqlite",
    "rustls",
    "sse-stream",
    "toml",
    "unicode-normalization",
];

pub fn features() -> Result<()> {
    for set in [&["--no-default-features"][..], &["--all-features"]] {
        let words = ["clippy", "--package", "roundtable", "--lib"];
        shell::run(&mut shell::cargo(words.iter().chain(set).chain(&["--", "-D", "warnings"])))?;
    }
    let words = "tree --package roundtable --no-default-features --edges normal --prefix none";
    let output = shell::cargo(words.split(' ')).output()?;
    if !output.status.success() {
        bail!("cargo {words}: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let tree = String::from_utf8_lossy(&output.stdout);
    let unwanted = unwanted(&tree);
    if !unwanted.is_empty() {
        bail!("`roundtable` without features brings in {}", unwanted.join(", "));
    }
    Ok(())
}

/// The packages of a tree that should not be in it.
fn unwanted(tree: &str) -> Vec<&str> {
    let packages: BTreeSet<&str> =
        tree.lines().filter_map(|line| line.split_whitespace().next()).collect();
    packages.into_iter().filter(|package| ABSENT.contains(package)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_that_a_feature_brings_in_are_found_by_name() {
        let tree = "roundtable v0.1.0 (/here)\nserde v1.0.0\nrustls v0.23.0\nrustls v0.23.0 (*)\n";
        assert_eq!(unwanted(tree), ["rustls"]);
        assert_eq!(unwanted("rustls-native-certs v0.8.0"), [""; 0]);
    }
}
