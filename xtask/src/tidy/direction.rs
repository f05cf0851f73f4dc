//! Which crate of the workspace may know which. Dev-dependencies are free: tests may look from anywhere.

use cargo_metadata::{DependencyKind, Metadata};

use super::Finding;

/// A crate and the workspace crates that it may depend on.
const RULES: &[(&str, Knows)] = &[
    ("roundtable-core", Knows::Only(&[])),
    ("roundtable-ports", Knows::Only(&["roundtable-core"])),
    // Products: pure programs. They know the core alone, and not each other.
    ("roundtable-chat", Knows::Only(&["roundtable-core"])),
    ("roundtable-debate", Knows::Only(&["roundtable-core"])),
    ("roundtable-scene", Knows::Only(&["roundtable-core"])),
    (
        "roundtable-backend",
        Knows::Only(&["roundtable-core", "roundtable-local", "roundtable-ports"]),
    ),
    ("roundtable-local", Knows::Only(&[])),
    ("roundtable-memory", Knows::Only(&["roundtable-core", "roundtable-ports"])),
    (
        "roundtable-models",
        Knows::Only(&["roundtable-core", "roundtable-local", "roundtable-ports"]),
    ),
    ("roundtable-tools", Knows::Only(&["roundtable-core", "roundtable-ports"])),
    ("roundtable-engine", Knows::Only(&["roundtable-core", "roundtable-ports"])),
    ("roundtable", Knows::Only(LIBRARIES)),
    ("roundtable-server", Knows::Only(&["roundtable"])),
    ("roundtable-cli", Knows::Only(&["roundtable", "roundtable-server"])),
    (
        "roundtable-testing",
        Knows::AnyBut(&["roundtable-server", "roundtable-cli", "roundtable-bench", "xtask"]),
    ),
    ("roundtable-bench", Knows::AnyBut(&["xtask"])),
    ("xtask", Knows::AnyBut(&["roundtable-bench"])),
];

const LIBRARIES: &[&str] = &[
    "roundtable-backend",
    "roundtable-chat",
    "roundtable-core",
    "roundtable-debate",
    "roundtable-engine",
    "roundtable-local",
    "roundtable-memory",
    "roundtable-models",
    "roundtable-ports",
    "roundtable-scene",
    "roundtable-tools",
];

enum Knows {
    Only(&'static [&'static str]),
    AnyBut(&'static [&'static str]),
}

pub fn check(metadata: &Metadata) -> Vec<Finding> {
    let members = metadata.workspace_packages();
    let edges = members.iter().map(|package| {
        let runtime = package
            .dependencies
            .iter()
            .filter(|dependency| dependency.kind != DependencyKind::Development);
        let internal = runtime
            .filter(|dependency| members.iter().any(|member| member.name == dependency.name));
        (
            package.name.as_str(),
            internal.map(|dependency| dependency.name.as_str()).collect::<Vec<_>>(),
        )
    });
    edges.flat_map(|(name, dependencies)| broken(name, &dependencies)).collect()
}

fn broken(name: &str, dependencies: &[&str]) -> Vec<Finding> {
    let Some((_, knows)) = RULES.iter().find(|(ruled, _)| *ruled == name) else {
        return vec![Finding::new(
            name,
            "a crate without a direction; add it to RULES in xtask/src/tidy/direction.rs",
        )];
    };
    let refused = dependencies.iter().filter(|dependency| !knows.allows(dependency));
    refused.map(|dependency| Finding::new(name, refusal(dependency, knows))).collect()
}

fn refusal(dependency: &str, knows: &Knows) -> String {
    let may = match knows {
        Knows::Only([]) => "it may know no crate of the workspace".into(),
        Knows::Only(allowed) => format!("it may know {}", allowed.join(", ")),
        Knows::AnyBut(refused) => format!("it may know any crate but {}", refused.join(", ")),
    };
    format!("depends on {dependency}, {may}; move what it needs, or make it a dev-dependency")
}

impl Knows {
    fn allows(&self, dependency: &str) -> bool {
        match self {
            Knows::Only(allowed) => allowed.contains(&dependency),
            Knows::AnyBut(refused) => !refused.contains(&dependency),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{CRATES_IO, Fixture, metadata};
    use super::*;

    fn refused(name: &str, dependencies: &[&str]) -> Vec<String> {
        let prefix = |finding: Finding| finding.message.split(',').next().unwrap().to_string();
        broken(name, dependencies).into_iter().map(prefix).collect()
    }

    #[test]
    fn the_core_knows_no_crate_of_the_workspace() {
        let message = "depends on roundtable-ports, it may know no crate of the workspace; \
                       move what it needs, or make it a dev-dependency";
        assert_eq!(broken("roundtable-core", &[]), []);
        assert_eq!(
            broken("roundtable-core", &["roundtable-ports"]),
            [Finding::new("roundtable-core", message)]
        );
    }

    #[test]
    fn adapters_know_neither_engine_nor_each_other() {
        for adapter in
            ["roundtable-backend", "roundtable-models", "roundtable-memory", "roundtable-tools"]
        {
            assert_eq!(refused(adapter, &["roundtable-core", "roundtable-ports"]), [""; 0]);
            assert_eq!(refused(adapter, &["roundtable-engine"]), ["depends on roundtable-engine"]);
        }
        assert_eq!(
            refused("roundtable-backend", &["roundtable-models"]),
            ["depends on roundtable-models"]
        );
        assert_eq!(
            refused("roundtable-memory", &["roundtable-local"]),
            ["depends on roundtable-local"]
        );
        // Numbers and nothing else: whoever needs them may use them, and it knows nobody.
        for user in ["roundtable-models", "roundtable-backend"] {
            assert_eq!(refused(user, &["roundtable-local"]), [""; 0]);
        }
        assert_eq!(
            refused("roundtable-local", &["roundtable-core"]),
            ["depends on roundtable-core"]
        );
    }

    #[test]
    fn no_crate_below_the_library_knows_a_product_and_products_not_each_other() {
        let products = ["roundtable-chat", "roundtable-debate", "roundtable-scene"];
        let above = ["roundtable", "roundtable-testing", "roundtable-bench", "xtask"];
        for (name, knows) in RULES.iter().filter(|(name, _)| !above.contains(name)) {
            for product in products {
                assert!(!knows.allows(product), "{name} knows {product}");
            }
        }
    }

    #[test]
    fn the_engine_knows_no_adapter_and_the_server_only_the_library() {
        assert_eq!(
            refused("roundtable-engine", &["roundtable-backend"]),
            ["depends on roundtable-backend"]
        );
        assert_eq!(refused("roundtable", LIBRARIES), [""; 0]);
        assert_eq!(refused("roundtable", &["roundtable-server"]), ["depends on roundtable-server"]);
        assert_eq!(
            refused("roundtable-server", &["roundtable", "roundtable-core"]),
            ["depends on roundtable-core"]
        );
        assert_eq!(refused("roundtable-cli", &["roundtable", "roundtable-server"]), [""; 0]);
        assert_eq!(
            refused("roundtable-cli", &["roundtable-engine"]),
            ["depends on roundtable-engine"]
        );
    }

    #[test]
    fn only_bench_and_xtask_ship_the_testing_crate() {
        for (name, _) in RULES.iter().filter(|(name, _)| *name != "roundtable-testing") {
            let allowed = refused(name, &["roundtable-testing"]).is_empty();
            assert_eq!(allowed, ["roundtable-bench", "xtask"].contains(name), "{name}");
        }
    }

    #[test]
    fn a_crate_without_a_rule_fails() {
        assert_eq!(broken("roundtable-new", &[]).len(), 1);
    }

    #[test]
    fn dependencies_on_crates_of_the_workspace_count_unless_tests_alone_need_them() {
        let core = Fixture {
            name: "roundtable-core",
            dependencies: &[
                ("serde", "=1.0.0", "normal"),
                ("roundtable-testing", "*", "dev"),
                ("roundtable-models", "*", "build"),
                ("roundtable-ports", "*", "normal"),
            ],
            ..Fixture::default()
        };
        let member = |name| Fixture { name, ..Fixture::default() };
        let serde = Fixture { name: "serde", source: Some(CRATES_IO), ..Fixture::default() };
        let names =
            ["roundtable-core", "roundtable-ports", "roundtable-models", "roundtable-testing"];
        let metadata =
            metadata(&names, &[core, member(names[1]), member(names[2]), member(names[3]), serde]);
        let found: Vec<_> = check(&metadata).into_iter().map(|finding| finding.message).collect();
        let expected =
            ["roundtable-models", "roundtable-ports"].map(|name| refusal(name, &Knows::Only(&[])));
        assert_eq!(found, expected);
    }
}
