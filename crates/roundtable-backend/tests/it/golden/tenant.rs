//! Sessions of several tenants, as an earlier version wrote them: each tenant finds its own.

use roundtable_backend::SqliteStore;
use roundtable_core::event::Opening;
use roundtable_ports::{Directory as _, Selection};

use super::{folder, restored};
use crate::table::{Table, lines, scene, session, shell};

/// Who owns what, in the order in which it was opened.
const SESSIONS: [(&str, Option<&str>); 5] = [
    ("one", Some("acme")),
    ("two", None),
    ("three", Some("acme")),
    ("four", Some("zenith")),
    ("five", None),
];

/// The sessions of a tenant, newest first.
async fn of(store: &SqliteStore, tenant: Option<&str>) -> Vec<String> {
    let tenant = Some(tenant.map(str::to_owned));
    let found = store.select(&Selection { tenant, ..Selection::default() }, 10).await.unwrap();
    found.iter().map(|listed| listed.session.suffix().to_owned()).collect()
}

#[tokio::test]
async fn f33_each_tenant_finds_its_own_sessions_in_a_file_of_version_4() {
    let directory = restored("v4");
    let store = SqliteStore::open(directory.path()).unwrap();
    assert_eq!(of(&store, Some("acme")).await, ["three", "one"]);
    assert_eq!(of(&store, Some("zenith")).await, ["four"]);
    assert_eq!(of(&store, None).await, ["five", "two"]);
    assert_eq!(of(&store, Some("nobody")).await, Vec::<String>::new());
}

#[tokio::test]
async fn f33_sessions_that_were_there_before_the_index_are_found_in_it() {
    for version in ["v1", "v3"] {
        let directory = restored(version);
        let store = SqliteStore::open(directory.path()).unwrap();
        let shell = shell(directory.path());
        let all = lines(
            &shell,
            "SELECT substr(id, 5) FROM session WHERE tenant IS NULL ORDER BY number DESC LIMIT 10",
        );
        assert_eq!(of(&store, None).await, all, "{version}");
        assert!(!all.is_empty(), "{version}");
        assert_eq!(lines(&shell, "PRAGMA integrity_check"), ["ok"]);
    }
}

/// Writes the golden file, unless it is there: what was published is not changed.
#[tokio::test]
#[ignore = "makes the golden file of a new version"]
async fn writes_the_golden_file_of_version_4() {
    let folder = folder("v4");
    assert!(!folder.join("data.sql").exists(), "what was published is not changed");
    let directory = tempfile::tempdir().unwrap();
    let table = Table::at(directory.path()).await;
    for (name, tenant) in SESSIONS {
        let opening = Opening { tenant: tenant.map(str::to_owned), ..scene() };
        table.engine.open_as(&session(name), opening, None).await.unwrap();
    }
    table.engine.shutdown().await;
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("data.sql"), super::dump(directory.path())).unwrap();
}
