//! What the programs of this repository are made of: permissive licences only, from the public registry only.

use cargo_metadata::{Metadata, Package};

use super::Finding;
use super::spdx::satisfied;

const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unicode-DFS-2016",
    "Unlicense",
    "Zlib",
];

/// A package that may be under a licence outside the list, and why.
pub struct Exception {
    package: &'static str,
    licence: &'static str,
    /// For readers; nothing is decided by it.
    #[expect(dead_code, reason = "an exception is not written without its reason")]
    reason: &'static str,
}

pub const EXCEPTIONS: &[Exception] = &[];

pub fn check(metadata: &Metadata, exceptions: &[Exception]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &metadata.packages {
        let place = format!("{} {}", package.name, package.version);
        let licence = package.license.as_deref();
        findings.extend(
            licence_refused(&package.name, licence, exceptions)
                .map(|message| Finding::new(&place, message)),
        );
        findings
            .extend(source_refused(metadata, package).map(|message| Finding::new(&place, message)));
    }
    let unused = exceptions
        .iter()
        .filter(|exception| !metadata.packages.iter().any(|p| p.name == exception.package));
    findings.extend(unused.map(|exception| {
        Finding::new(
            "xtask/src/tidy/licences.rs",
            format!("{} is gone; remove its exception", exception.package),
        )
    }));
    findings
}

fn licence_refused(
    package: &str,
    licence: Option<&str>,
    exceptions: &[Exception],
) -> Option<String> {
    let Some(licence) = licence else { return Some("declares no licence; replace it".into()) };
    let excepted = exceptions
        .iter()
        .filter(|exception| exception.package == package)
        .map(|exception| exception.licence);
    let allowed: Vec<_> = ALLOWED.iter().copied().chain(excepted).collect();
    match satisfied(licence, &allowed) {
        Ok(true) => None,
        Ok(false) => Some(format!(
            "licence `{licence}` is not on the list; replace the package, or except it with a reason in xtask/src/tidy/licences.rs"
        )),
        Err(why) => Some(format!("licence `{licence}` cannot be read: {why}; replace the package")),
    }
}

fn source_refused(metadata: &Metadata, package: &Package) -> Option<String> {
    if metadata.workspace_members.contains(&package.id) {
        return None;
    }
    match &package.source {
        Some(source) if source.is_crates_io() => None,
        Some(source) => Some(format!("comes from {source}; take a version from crates.io")),
        None => {
            Some("comes from a path outside the workspace; take a version from crates.io".into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{CRATES_IO, Fixture, metadata};
    use super::*;

    #[test]
    fn permissive_licences_pass_and_others_do_not() {
        let refused = |licence| licence_refused("a", licence, &[]).is_some();
        for licence in ["MIT OR Apache-2.0", "Unlicense/MIT", "(MIT OR Apache-2.0) AND Unicode-3.0"]
        {
            assert!(!refused(Some(licence)), "{licence}");
        }
        for licence in ["GPL-3.0-only", "MPL-2.0", "MIT AND LGPL-2.1-or-later", "MIT,ISC"] {
            assert!(refused(Some(licence)), "{licence}");
        }
        assert!(refused(None));
    }

    #[test]
    fn an_exception_holds_for_its_package_alone() {
        let exceptions = [Exception { package: "a", licence: "MPL-2.0", reason: "used unchanged" }];
        assert_eq!(licence_refused("a", Some("MPL-2.0 AND MIT"), &exceptions), None);
        assert!(licence_refused("b", Some("MPL-2.0"), &exceptions).is_some());
        assert!(licence_refused("a", Some("GPL-3.0-only"), &exceptions).is_some());
    }

    #[test]
    fn every_package_has_an_allowed_licence_and_source() {
        let package =
            |name, source, licence| Fixture { name, source, licence, ..Fixture::default() };
        let packages = [
            package("member", None, "MIT"),
            package("good", Some(CRATES_IO), "MIT"),
            package("copyleft", Some(CRATES_IO), "GPL-3.0-only"),
            package("forked", Some("git+https://example.org/forked"), "MIT"),
            package("beside", None, "MIT"),
        ];
        let found = check(&metadata(&["member"], &packages), &[]);
        let expected = [
            Finding::new(
                "copyleft 1.0.0",
                licence_refused("copyleft", Some("GPL-3.0-only"), &[]).unwrap(),
            ),
            Finding::new(
                "forked 1.0.0",
                "comes from git+https://example.org/forked; take a version from crates.io",
            ),
            Finding::new(
                "beside 1.0.0",
                "comes from a path outside the workspace; take a version from crates.io",
            ),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn an_exception_for_a_package_that_is_gone_fails() {
        let exception =
            |package| Exception { package, licence: "MPL-2.0", reason: "used unchanged" };
        let metadata = metadata(&["member"], &[Fixture { name: "member", ..Fixture::default() }]);
        let expected =
            [Finding::new("xtask/src/tidy/licences.rs", "gone is gone; remove its exception")];
        assert_eq!(check(&metadata, &[exception("member"), exception("gone")]), expected);
    }
}
