//! A small workspace as `cargo metadata` describes it, for the tests of the rules that read it.

use cargo_metadata::{Metadata, MetadataCommand};

pub const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// A package; without a source it lies on a path.
pub struct Fixture {
    pub name: &'static str,
    pub source: Option<&'static str>,
    pub licence: &'static str,
    /// Name, version asked for, and kind (`normal`, `dev`, `build`).
    pub dependencies: &'static [(&'static str, &'static str, &'static str)],
}

impl Default for Fixture {
    fn default() -> Self {
        Self { name: "", source: None, licence: "MIT", dependencies: &[] }
    }
}

/// The packages as a workspace with these members.
pub fn metadata(members: &[&str], packages: &[Fixture]) -> Metadata {
    let members: Vec<_> = members.iter().map(|name| format!("{name:?}")).collect();
    let described: Vec<_> = packages.iter().map(|package| described(package, packages)).collect();
    let resolved: Vec<_> = packages.iter().map(resolved).collect();
    let json = format!(
        r#"{{"packages": [{}], "workspace_members": [{}], "resolve": {{"nodes": [{}], "root": null}},
        "workspace_root": "", "target_directory": "", "version": 1}}"#,
        described.join(","),
        members.join(","),
        resolved.join(",")
    );
    MetadataCommand::parse(json).expect("the fixture is what cargo writes")
}

fn described(package: &Fixture, all: &[Fixture]) -> String {
    let source =
        |source: Option<&str>| source.map_or("null".into(), |source| format!("{source:?}"));
    let dependency = |(name, version, kind): &(&str, &str, &str)| {
        let from =
            source(all.iter().find(|other| other.name == *name).and_then(|other| other.source));
        let kind = kind_of(kind);
        format!(
            r#"{{"name": "{name}", "source": {from}, "req": "{version}", "kind": {kind}, "optional": false,
            "uses_default_features": true, "features": [], "target": null}}"#
        )
    };
    let dependencies: Vec<_> = package.dependencies.iter().map(dependency).collect();
    format!(
        r#"{{"name": "{0}", "version": "1.0.0", "id": "{0}", "source": {1}, "license": "{2}", "dependencies": [{3}],
        "targets": [], "features": {{}}, "manifest_path": "{0}/Cargo.toml"}}"#,
        package.name,
        source(package.source),
        package.licence,
        dependencies.join(",")
    )
}

fn resolved(package: &Fixture) -> String {
    let edge = |(name, _, kind): &(&str, &str, &str)| {
        format!(
            r#"{{"name": "{name}", "pkg": "{name}", "dep_kinds": [{{"kind": {}, "target": null}}]}}"#,
            kind_of(kind)
        )
    };
    let edges: Vec<_> = package.dependencies.iter().map(edge).collect();
    format!(
        r#"{{"id": "{}", "dependencies": [], "deps": [{}], "features": []}}"#,
        package.name,
        edges.join(",")
    )
}

fn kind_of(kind: &str) -> String {
    if kind == "normal" { "null".into() } else { format!("{kind:?}") }
}
