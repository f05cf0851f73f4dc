//! The core and the products decide and do nothing else: no async, no clock, no I/O, in their sources
//! and in what they depend on.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{DepKindInfo, DependencyKind, Metadata, Node, NodeDep, PackageId};

use super::text::{lines_with, lines_with_std};
use super::{Finding, SourceFile};

/// The crates that only decide: the core, and the products that run on it.
pub const PURE: &[&str] = &[CORE, "roundtable-chat", "roundtable-debate", "roundtable-scene"];

const CORE: &str = "roundtable-core";

/// Crates that the core does without; a trailing star stands for anything.
const REFUSED: &[&str] = &["async-trait", "futures*", "reqwest", "rusqlite", "tokio*"];
const WORDS: &[&str] = &["async fn", "async move", "async {", ".await"];
const MODULES: &[&str] = &["time", "fs", "net", "env"];

type Graph<'a> = BTreeMap<&'a PackageId, Vec<&'a PackageId>>;

/// The packages that a pure crate brings into a program: its normal dependencies, and theirs.
pub fn check_dependencies(metadata: &Metadata) -> Vec<Finding> {
    let nodes = metadata.resolve.as_ref().map_or(&[][..], |resolve| &resolve.nodes);
    let graph = nodes.iter().map(|node| (&node.id, normal_dependencies(node))).collect();
    let members = metadata.workspace_packages();
    let pure = || members.iter().filter(|package| PURE.contains(&package.name.as_str()));
    if !pure().any(|package| package.name == CORE) {
        let message = "is not in the workspace; name the core in xtask/src/tidy/purity.rs";
        return vec![Finding::new(CORE, message)];
    }
    let findings = |package: &&cargo_metadata::Package| -> Vec<Finding> {
        let all = reached(&graph, &package.id).into_iter();
        all.filter_map(|id| refused(&package.name, &metadata[id].name)).collect()
    };
    pure().copied().flat_map(|package| findings(&package)).collect()
}

/// A source file of a pure crate, comments blanked.
pub fn check_code(file: &SourceFile, code: &str) -> Vec<Finding> {
    let finding = |line, what: String| {
        Finding::at(
            file,
            line,
            format!("`{what}` in a pure crate; it only decides, let a driver or a port do this"),
        )
    };
    let mut findings = Vec::new();
    for word in WORDS {
        findings
            .extend(lines_with(code, word).into_iter().map(|line| finding(line, word.to_string())));
    }
    for module in MODULES {
        let lines = lines_with_std(code, module);
        findings.extend(lines.into_iter().map(|line| finding(line, format!("std::{module}"))));
    }
    findings
}

fn refused(krate: &str, name: &str) -> Option<Finding> {
    let matches = |entry: &str| {
        entry.strip_suffix('*').map_or(entry == name, |start| name.starts_with(start))
    };
    let message = format!("brings in {name}; this crate is pure, move what needs it behind a port");
    REFUSED.iter().any(|entry| matches(entry)).then(|| Finding::new(krate, message))
}

fn normal_dependencies(node: &Node) -> Vec<&PackageId> {
    // Nothing is built for a browser, and what clocks need there brings in half of a runtime.
    let is_native = |info: &&DepKindInfo| {
        info.target.as_ref().is_none_or(|target| !target.to_string().contains("wasm"))
    };
    let is_normal = |dependency: &&NodeDep| {
        let mut kinds = dependency.dep_kinds.iter().filter(is_native);
        kinds.any(|info| info.kind == DependencyKind::Normal)
    };
    node.deps.iter().filter(is_normal).map(|dependency| &dependency.pkg).collect()
}

fn reached<'a>(graph: &Graph<'a>, start: &'a PackageId) -> BTreeSet<&'a PackageId> {
    let mut reached = BTreeSet::new();
    let mut open = vec![start];
    while let Some(id) = open.pop() {
        let new = graph.get(id).into_iter().flatten().copied().filter(|next| reached.insert(*next));
        open.extend(new);
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::super::file;
    use super::super::fixture::{CRATES_IO, Fixture, metadata};
    use super::super::text::code_only;
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let file = file("crates/roundtable-core/src/turn.rs", text);
        let findings = check_code(&file, &code_only(text));
        findings
            .into_iter()
            .map(|finding| finding.to_string().split(" in a pure crate").next().unwrap().into())
            .collect()
    }

    #[test]
    fn the_core_is_not_async() {
        let at = "crates/roundtable-core/src/turn.rs";
        assert_eq!(
            found("pub async fn a() {}\n\nb.await"),
            [format!("{at}:1: `async fn`"), format!("{at}:3: `.await`")]
        );
    }

    #[test]
    fn the_core_has_no_clock_and_no_io() {
        for module in MODULES {
            assert_eq!(found(&format!("use std::{module};")).len(), 1, "{module}");
            assert_eq!(
                found(&format!("use std::{{collections::BTreeMap, {module}::X}};")).len(),
                1,
                "{module}"
            );
        }
        assert_eq!(
            found(
                "//! No `std::time`, never `.await`.\nuse std::fmt; // not std::fs\nlet awaiting = 1;"
            ),
            [""; 0]
        );
    }

    #[test]
    fn the_core_brings_in_no_runtime_and_no_store() {
        for name in
            ["tokio", "tokio-util", "async-trait", "futures", "futures-util", "reqwest", "rusqlite"]
        {
            let message =
                format!("brings in {name}; this crate is pure, move what needs it behind a port");
            assert_eq!(refused(CORE, name), Some(Finding::new(CORE, message)));
        }
        assert_eq!(
            ["serde", "async-traits", "my-tokio"].map(|name| refused(CORE, name)),
            [None, None, None]
        );
    }

    #[test]
    fn dependencies_of_dependencies_count() {
        let id = |repr: &str| PackageId { repr: repr.into() };
        let (core, a, b, other) = (id("core"), id("a"), id("b"), id("other"));
        let graph =
            Graph::from([(&core, vec![&a]), (&a, vec![&b]), (&b, vec![&a]), (&other, vec![&core])]);
        assert_eq!(reached(&graph, &core), BTreeSet::from([&a, &b]));
    }

    #[test]
    fn only_what_the_core_ships_counts() {
        let core = |dependencies| Fixture { name: CORE, dependencies, ..Fixture::default() };
        let other = |name, dependencies| Fixture {
            name,
            source: Some(CRATES_IO),
            dependencies,
            ..Fixture::default()
        };
        let tokio = || other("tokio", &[]);
        let check = |core| {
            let between = other("between", &[("tokio", "=1.0.0", "normal")]);
            check_dependencies(&metadata(&[CORE], &[core, between, tokio()]))
        };
        assert_eq!(
            check(core(&[("between", "=1.0.0", "normal")])),
            [refused(CORE, "tokio").unwrap()]
        );
        assert_eq!(check(core(&[("between", "=1.0.0", "dev")])), []);
        assert_eq!(
            check_dependencies(&metadata(&[], &[tokio()])).len(),
            1,
            "a core that is missing is noticed"
        );
    }
}
