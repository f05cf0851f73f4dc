//! Dependencies are pinned to one version, so that a new one is a change of its own.

use anyhow::{Context, Result};
use cargo_metadata::Metadata;
use cargo_metadata::semver::{Op, VersionReq};
use toml::{Table, Value};

use super::Finding;

/// Checks the shared list in the root manifest, and what a crate asks for beside it.
pub fn check(metadata: &Metadata, manifest: &str) -> Result<Vec<Finding>> {
    let manifest: Table = manifest.parse().context("Cargo.toml is not TOML")?;
    let mut findings: Vec<_> = shared(&manifest)
        .filter_map(|(name, version)| loose("Cargo.toml", name, version))
        .collect();
    for package in metadata.workspace_packages() {
        for dependency in
            package.dependencies.iter().filter(|dependency| dependency.source.is_some())
        {
            let is_requested =
                |version| VersionReq::parse(version).is_ok_and(|shared| shared == dependency.req);
            let inherited = |(name, version)| name == dependency.name && is_requested(version);
            if !shared(&manifest).any(inherited) {
                findings.extend(loose(
                    &package.name,
                    &dependency.name,
                    &dependency.req.to_string(),
                ));
            }
        }
    }
    Ok(findings)
}

/// Names and versions of `[workspace.dependencies]`; an entry without a version is a path.
fn shared(manifest: &Table) -> impl Iterator<Item = (&str, &str)> {
    let dependencies =
        manifest.get("workspace").and_then(|workspace| workspace.get("dependencies"));
    let entries = dependencies.and_then(Value::as_table).into_iter().flatten();
    entries.filter_map(|(name, entry)| {
        let version = entry.as_str().or_else(|| entry.get("version").and_then(Value::as_str));
        version.map(|version| (name.as_str(), version))
    })
}

fn loose(place: &str, name: &str, version: &str) -> Option<Finding> {
    let message = || {
        format!(
            "{name} = \"{version}\" is not one version; pin it as \"=x.y.z\" in [workspace.dependencies]"
        )
    };
    (!is_exact(version)).then(|| Finding::new(place, message()))
}

fn is_exact(version: &str) -> bool {
    let Ok(requirement) = VersionReq::parse(version) else { return false };
    matches!(&requirement.comparators[..], [only] if only.op == Op::Exact && only.patch.is_some())
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{CRATES_IO, Fixture, metadata};
    use super::*;

    #[test]
    fn only_a_full_version_behind_an_equals_sign_is_exact() {
        for exact in ["=1.2.3", "= 1.2.3", "=1.2.3-rc.1"] {
            assert!(is_exact(exact), "{exact}");
        }
        for loose in
            ["1.2.3", "^1.2.3", "~1.2.3", "=1.2", "=1", "*", "=1.2.3, <2", ">=1.2.3", "", "latest"]
        {
            assert!(!is_exact(loose), "{loose}");
        }
    }

    #[test]
    fn every_entry_with_a_version_is_read() {
        let manifest = "
            [workspace.dependencies]
            a = '=1.0.0'
            b = { version = '2', features = ['x'] }
            inside = { path = 'crates/inside' }
            [workspace.dependencies.c]
            version = '=3.0.0'
            [dependencies]
            elsewhere = '1'
        ";
        let manifest: Table = manifest.parse().unwrap();
        assert_eq!(
            shared(&manifest).collect::<Vec<_>>(),
            [("a", "=1.0.0"), ("b", "2"), ("c", "=3.0.0")]
        );
    }

    #[test]
    fn the_finding_says_what_to_write() {
        let message =
            "b = \"2\" is not one version; pin it as \"=x.y.z\" in [workspace.dependencies]";
        assert_eq!(loose("Cargo.toml", "b", "2"), Some(Finding::new("Cargo.toml", message)));
        assert_eq!(loose("Cargo.toml", "a", "=1.0.0"), None);
    }

    #[test]
    fn a_loose_version_is_found_once_where_it_is_written() {
        let member = Fixture {
            name: "member",
            dependencies: &[
                ("shared", "^2", "normal"),
                ("exact", "=1.0.0", "normal"),
                ("own", "^1", "dev"),
                ("beside", "*", "normal"),
            ],
            ..Fixture::default()
        };
        let bypassing = Fixture {
            name: "bypassing",
            dependencies: &[("exact", "^1", "normal")],
            ..Fixture::default()
        };
        let package = |name| Fixture { name, source: Some(CRATES_IO), ..Fixture::default() };
        let beside = Fixture { name: "beside", ..Fixture::default() };
        let packages =
            [member, bypassing, package("shared"), package("exact"), package("own"), beside];
        let metadata = metadata(&["member", "bypassing", "beside"], &packages);
        let manifest = "[workspace.dependencies]\nshared = '2'\nexact = '=1.0.0'";
        let found = check(&metadata, manifest).unwrap();
        let expected =
            [("Cargo.toml", "shared", "2"), ("member", "own", "^1"), ("bypassing", "exact", "^1")];
        assert_eq!(
            found,
            expected.map(|(place, name, version)| loose(place, name, version).unwrap())
        );
    }
}
