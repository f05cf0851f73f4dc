//! Dependencies by the rules of `deny.toml`: licenses, sources, bans, and advisories where their
//! database is at hand.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::shell;

/// The version that is installed where none is; unoptimized, because it builds in under a minute
/// and runs for seconds.
const INSTALL: &[&str] =
    &["cargo-deny", "--locked", "--version", "=0.20.2", "--no-default-features", "--debug"];

/// Where cargo-deny keeps advisory databases, in cargo's home.
const DATABASES: &str = "advisory-dbs";

pub fn deny() -> Result<()> {
    shell::ensure("deny", INSTALL)?;
    let known = cargo_home().is_some_and(|home| has_database(&home));
    let checks: &[&str] = if known {
        &["licenses", "sources", "bans", "advisories"]
    } else {
        println!("{}", not_checked());
        &["licenses", "sources", "bans"]
    };
    shell::run(shell::cargo(["deny", "--offline", "check"]).args(checks))
}

fn not_checked() -> String {
    "advisories are not checked: no database is at hand; `cargo deny fetch db` downloads it".into()
}

fn cargo_home() -> Option<PathBuf> {
    let home = || env::var_os("HOME").map(|home| Path::new(&home).join(".cargo"));
    env::var_os("CARGO_HOME").map(PathBuf::from).or_else(home)
}

/// Whether a database was downloaded, also an old one: what it knows still holds.
fn has_database(home: &Path) -> bool {
    let found = home.join(DATABASES).read_dir();
    found.is_ok_and(|databases| databases.flatten().any(|it| it.path().join(".git").exists()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s34_advisories_are_checked_where_a_database_was_downloaded() {
        let home = env::temp_dir().join(format!("roundtable-deny-{}", std::process::id()));
        assert!(!has_database(&home));
        std::fs::create_dir_all(home.join("advisory-dbs/advisory-db-1/.git")).unwrap();
        assert!(has_database(&home));
        std::fs::remove_dir_all(&home).unwrap();
    }
}
