//! Dependencies are caret minimums, so that an embedder's tree resolves; the lock file pins what we
//! build and test. An exact version needs a reason, as a comment on its line.

use anyhow::{Context, Result};
use cargo_metadata::Metadata;
use cargo_metadata::semver::{Op, VersionReq};
use toml::{Table, Value};

use super::Finding;

/// Checks the shared list in the root manifest, and what a crate asks for beside it.
pub fn check(metadata: &Metadata, manifest: &str) -> Result<Vec<Finding>> {
    let table: Table = manifest.parse().context("Cargo.toml is not TOML")?;
    let mut findings: Vec<_> = shared(&table)
        .filter_map(|(name, version)| unfit("Cargo.toml", name, version, reason(manifest, name)))
        .collect();
    for package in metadata.workspace_packages() {
        for dependency in
            package.dependencies.iter().filter(|dependency| dependency.source.is_some())
        {
            let is_requested =
                |version| VersionReq::parse(version).is_ok_and(|shared| shared == dependency.req);
            let called = dependency.rename.as_ref().unwrap_or(&dependency.name);
            let inherited = |(name, version)| name == called && is_requested(version);
            if !shared(&table).any(inherited) {
                let message = format!(
                    "{} = \"{}\" is not in [workspace.dependencies]; add it there and inherit it",
                    dependency.name, dependency.req
                );
                findings.push(Finding::new(package.name.as_str(), message));
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

/// The comment on the line of a dependency.
fn reason<'a>(manifest: &'a str, name: &str) -> Option<&'a str> {
    let own = |line: &&str| {
        line.strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with('='))
    };
    manifest.lines().find(own)?.split_once(" # ").map(|(_, reason)| reason)
}

fn unfit(place: &str, name: &str, version: &str, reason: Option<&str>) -> Option<Finding> {
    let message = match VersionReq::parse(version).ok()?.comparators.as_slice() {
        [only] if only.op == Op::Caret && only.patch.is_some() => return None,
        [only] if only.op == Op::Exact && reason.is_some() => return None,
        [only] if only.op == Op::Exact => format!(
            "{name} = \"{version}\" is exact; write \"x.y.z\", or give the reason in a comment on the line"
        ),
        _ => format!("{name} = \"{version}\" is not a minimum; write \"x.y.z\""),
    };
    Some(Finding::new(place, message))
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{CRATES_IO, Fixture, metadata};
    use super::*;

    fn found(manifest: &str) -> Vec<String> {
        let findings = check(&metadata(&[], &[]), manifest).unwrap();
        findings.into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn a_full_version_is_a_minimum() {
        assert_eq!(
            found("[workspace.dependencies]\na = '1.2.3'\nb = { version = '0.2.1' }"),
            [""; 0]
        );
        for loose in ["1", "1.2", "~1.2.3", "*", ">=1.2.3", "1.2.3, <2"] {
            let manifest = format!("[workspace.dependencies]\na = '{loose}'");
            let message = format!("a = \"{loose}\" is not a minimum; write \"x.y.z\"");
            assert_eq!(found(&manifest), [message]);
        }
    }

    #[test]
    fn an_exact_version_needs_a_reason_on_its_line() {
        let exact =
            "a = \"=1.0.0\" is exact; write \"x.y.z\", or give the reason in a comment on the line";
        assert_eq!(found("[workspace.dependencies]\na = '=1.0.0'\nab = '1.0.0' # why"), [exact]);
        assert_eq!(found("[workspace.dependencies]\na = '=1.0.0' # its types are ours"), [""; 0]);
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
    fn a_version_beside_the_shared_list_is_found_where_it_is_written() {
        let member = Fixture {
            name: "member",
            dependencies: &[
                ("shared", "^2.0.0", "normal"),
                ("own", "^1", "dev"),
                ("beside", "*", "normal"),
            ],
            ..Fixture::default()
        };
        let package = |name| Fixture { name, source: Some(CRATES_IO), ..Fixture::default() };
        let beside = Fixture { name: "beside", ..Fixture::default() };
        let packages = [member, package("shared"), package("own"), beside];
        let metadata = metadata(&["member", "beside"], &packages);
        let found = check(&metadata, "[workspace.dependencies]\nshared = '2.0.0'").unwrap();
        let message =
            "own = \"^1\" is not in [workspace.dependencies]; add it there and inherit it";
        assert_eq!(found, [Finding::new("member", message)]);
    }
}
