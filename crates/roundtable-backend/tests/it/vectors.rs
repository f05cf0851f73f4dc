//! Vectors in a file: several processes, crashes, damage, a full disk, and what erasing leaves.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use roundtable_backend::{SqliteStore, Words};
use roundtable_core::id::NodeId;
use roundtable_ports::{
    Leases as _, NewVector, Space, Store, VectorScope, VectorSearch, Vectors as _, VectorsError,
};
use serde_json::json;

use crate::process::{Node, Role};
use crate::table::{Table, lines, session, shell};

const WIDTH: usize = 4;

fn space() -> Space {
    Space::new("test", WIDTH)
}

fn scope(name: &str) -> VectorScope {
    VectorScope::of(["acme", name]).unwrap()
}

fn vector(key: &str, numbers: [f32; WIDTH]) -> NewVector {
    NewVector {
        key: key.to_owned(),
        vector: numbers.to_vec(),
        payload: json!({ "key": key }),
        session: None,
    }
}

async fn put(store: &SqliteStore, name: &str, vectors: Vec<NewVector>) {
    store.put_vectors(&space(), &scope(name), vectors).await.unwrap();
}

async fn search(store: &SqliteStore, name: &str) -> Result<Vec<String>, VectorsError> {
    let search = VectorSearch {
        space: space(),
        scopes: vec![scope(name)],
        query: vec![1.0, 0.0, 0.0, 0.0],
        limit: 1000,
    };
    Ok(store.search_vectors(&search).await?.into_iter().map(|found| found.key).collect())
}

/// Three vectors that belong together.
fn batch(number: u32) -> Vec<NewVector> {
    (0..3).map(|part| vector(&format!("{number}-{part}"), [1.0, 0.0, 0.0, 0.0])).collect()
}

/// What a child process does: puts so many batches, begins one more, and dies.
pub async fn die_while_putting(directory: &Path, batches: u32) {
    let store = Arc::new(SqliteStore::open(directory).unwrap());
    for number in 0..batches {
        put(&store, "ada", batch(number)).await;
        search(&store, "ada").await.unwrap();
    }
    let (space, scope) = (space(), scope("ada"));
    let last = store.put_vectors(&space, &scope, batch(batches));
    // It is on its way to the writer's thread, or it is not.
    let _ = futures_util::future::poll_immediate(last).await;
    std::process::abort();
}

#[test]
fn f37_a_process_that_dies_while_it_puts_vectors_leaves_whole_batches() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for batches in 0..4 {
        let directory = tempfile::tempdir().unwrap();
        let name = directory.path().display().to_string();
        assert!(!Node::start(&Role::Embed { directory: name, batches }).wait_for_end());
        let store = SqliteStore::open(directory.path()).unwrap();
        let found = runtime.block_on(search(&store, "ada")).unwrap();
        assert_eq!(found.len() % 3, 0, "{found:?}");
        assert!(found.len() >= 3 * batches as usize, "what was acknowledged is there: {found:?}");
        let rows = lines(&shell(directory.path()), "SELECT count(*) FROM vector");
        assert_eq!(rows, [found.len().to_string()], "the search finds what is stored");
    }
}

#[tokio::test]
async fn what_another_process_did_is_seen_by_the_next_search() {
    let directory = tempfile::tempdir().unwrap();
    let [one, two] = [0, 1].map(|_| SqliteStore::open(directory.path()).unwrap());
    put(&one, "ada", vec![vector("a", [1.0, 0.0, 0.0, 0.0]), vector("b", [0.5, 0.0, 0.0, 0.0])])
        .await;
    assert_eq!(search(&two, "ada").await.unwrap(), ["a", "b"]);
    put(&one, "ada", vec![vector("c", [0.7, 0.0, 0.0, 0.0]), vector("a", [0.1, 0.0, 0.0, 0.0])])
        .await;
    assert_eq!(search(&two, "ada").await.unwrap(), ["c", "b", "a"]);
    two.remove_vectors(&space(), &scope("ada"), &["c".to_owned()]).await.unwrap();
    assert_eq!(search(&one, "ada").await.unwrap(), ["b", "a"]);
    // Made anew with as many changes as before: it must not be taken for the old one.
    one.erase_scope(&scope("ada")).await.unwrap();
    for key in ["x", "y", "z"] {
        put(&one, "ada", vec![vector(key, [1.0, 0.0, 0.0, 0.0])]).await;
    }
    assert_eq!(search(&two, "ada").await.unwrap(), ["x", "y", "z"]);
    one.erase_scope(&scope("ada")).await.unwrap();
    assert_eq!(search(&two, "ada").await.unwrap(), [""; 0]);
}

/// What is done to vectors, by one of two processes.
#[derive(Debug, Clone)]
enum Act {
    Put(Vec<(u8, [f32; WIDTH])>),
    Remove(Vec<u8>),
    Erase,
    Forget,
    Search([f32; WIDTH], usize),
}

fn act() -> impl Strategy<Value = (usize, Act)> {
    let numbers = || prop::array::uniform4((-4i8..5).prop_map(|number| f32::from(number) / 4.0));
    let act = prop_oneof![
        4 => vec((0u8..12, numbers()), 1..4).prop_map(Act::Put),
        2 => vec(0u8..12, 1..3).prop_map(Act::Remove),
        1 => Just(Act::Erase),
        1 => Just(Act::Forget),
        5 => (numbers(), 0usize..8).prop_map(|(query, most)| Act::Search(query, most)),
    ];
    (0usize..2, act)
}

/// Even keys are made of a session's words.
fn of(key: u8) -> Option<roundtable_core::id::SessionId> {
    key.is_multiple_of(2).then(|| session("lake"))
}

async fn agrees(acts: Vec<(usize, Act)>) -> Result<(), TestCaseError> {
    let directory = tempfile::tempdir().unwrap();
    let stores = [0, 1].map(|_| SqliteStore::open(directory.path()).unwrap());
    let (space, scope) = (space(), scope("ada"));
    let mut model: BTreeMap<String, [f32; WIDTH]> = BTreeMap::new();
    let name = |key: u8| format!("{key:02}");
    for (who, act) in acts {
        let store = &stores[who];
        match act {
            Act::Put(vectors) => {
                let new = |(key, numbers): &(u8, [f32; WIDTH])| NewVector {
                    session: of(*key),
                    ..vector(&name(*key), *numbers)
                };
                store.put_vectors(&space, &scope, vectors.iter().map(new).collect()).await.unwrap();
                model.extend(vectors.into_iter().map(|(key, numbers)| (name(key), numbers)));
            }
            Act::Remove(keys) => {
                let keys: Vec<String> = keys.into_iter().map(name).collect();
                let removed = store.remove_vectors(&space, &scope, &keys).await.unwrap();
                let known = keys.iter().filter(|key| model.remove(*key).is_some()).count();
                prop_assert_eq!(removed, known);
            }
            Act::Erase => {
                prop_assert_eq!(store.erase_scope(&scope).await.unwrap(), model.len());
                model.clear();
            }
            Act::Forget => {
                let before = model.len();
                model.retain(|key, _| of(key.parse().unwrap()).is_none());
                let gone = store.erase_vectors_of(&session("lake")).await.unwrap();
                prop_assert_eq!(gone, before - model.len());
            }
            Act::Search(query, most) => {
                let wanted = VectorSearch {
                    space: space.clone(),
                    scopes: vec![scope.clone()],
                    query: query.to_vec(),
                    limit: most,
                };
                let found = store.search_vectors(&wanted).await.unwrap();
                let found: Vec<(f32, String)> =
                    found.into_iter().map(|found| (found.score, found.key)).collect();
                // Quarters and their products are exact, whatever the order of the sum.
                let score = |row: &[f32; WIDTH]| -> f32 {
                    row.iter().zip(query).map(|(a, b)| a * b).sum::<f32>() + 0.0
                };
                let mut expected: Vec<(f32, String)> =
                    model.iter().map(|(key, row)| (score(row), key.clone())).collect();
                expected.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
                expected.truncate(most);
                prop_assert_eq!(found, expected);
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn two_processes_always_find_what_is_stored(acts in vec(act(), 1..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(agrees(acts))?;
    }
}

/// How often some bytes are in the file and in its log.
fn occurrences(directory: &Path, bytes: &[u8]) -> usize {
    let files = ["roundtable.db", "roundtable.db-wal"];
    let found = files.iter().filter_map(|name| std::fs::read(directory.join(name)).ok());
    found.map(|file| file.windows(bytes.len()).filter(|window| *window == bytes).count()).sum()
}

const CANARY: [f32; WIDTH] = [0.123_456_7, -0.765_432_1, 0.314_159_2, -0.271_828_1];

fn canary_bytes() -> Vec<u8> {
    CANARY.iter().flat_map(|number| number.to_le_bytes()).collect()
}

#[tokio::test]
async fn f37_erased_vectors_are_not_in_the_file_either() {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(directory.path()).unwrap();
    let canary = NewVector { session: Some(session("lake")), ..vector("zanzibarquokka", CANARY) };
    let erased = |what: &str| {
        assert_eq!(occurrences(directory.path(), &canary_bytes()), 0, "{what}");
        assert_eq!(occurrences(directory.path(), b"zanzibarquokka"), 0, "{what}");
    };
    put(&store, "ada", vec![canary.clone(), vector("b", [1.0; WIDTH])]).await;
    assert!(occurrences(directory.path(), &canary_bytes()) > 0);
    store.erase_vectors_of(&session("lake")).await.unwrap();
    erased("by session");
    put(&store, "zanzibarquokka", vec![canary]).await;
    store.erase_scope(&scope("zanzibarquokka")).await.unwrap();
    erased("by scope, its name included");
    assert_eq!(search(&store, "ada").await.unwrap(), ["b"]);
}

#[tokio::test]
async fn vectors_go_with_the_words_that_they_were_made_of() {
    let directory = tempfile::tempdir().unwrap();
    let table = Table::at(directory.path()).await;
    table.play("lake", 1).await;
    table.play("hill", 1).await;
    table.engine.shutdown().await;
    let made = |name: &str| NewVector { session: Some(session(name)), ..vector(name, CANARY) };
    put(&table.store, "ada", vec![made("lake"), made("hill")]).await;
    assert_eq!(search(&table.store, "ada").await.unwrap(), ["hill", "lake"]);
    let node = NodeId::new("eraser").unwrap();
    table.store.renew(&node).await.unwrap();
    let own =
        Store::of(table.store.clone()).leases.claim_one(&session("lake"), &node).await.unwrap();
    table.store.erase(&own, &Words::By("User".to_owned())).await.unwrap();
    assert_eq!(search(&table.store, "ada").await.unwrap(), ["hill"]);
    assert_eq!(occurrences(directory.path(), &canary_bytes()), 1);
}

#[tokio::test]
async fn f16_vectors_that_do_not_fit_on_the_disk_are_refused_whole() {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::open_within(directory.path(), 400_000).unwrap();
    let wide = Space::new("wide", 1000);
    let many = |from: u32| -> Vec<NewVector> {
        let new = |number: u32| NewVector {
            vector: vec![1.0; 1000],
            ..vector(&format!("{number:03}"), CANARY)
        };
        (from..from + 10).map(new).collect()
    };
    let mut batches = 0;
    let refused = loop {
        match store.put_vectors(&wide, &scope("ada"), many(batches * 10)).await {
            Ok(()) => batches += 1,
            Err(refused) => break refused,
        }
        assert!(batches < 100, "it has to be full at some time");
    };
    assert!(
        matches!(&refused, VectorsError::Unavailable(why) if why.contains("full")),
        "{refused}"
    );
    let all = VectorSearch {
        space: wide,
        scopes: vec![scope("ada")],
        query: vec![1.0; 1000],
        limit: 999,
    };
    let found = store.search_vectors(&all).await.unwrap();
    assert_eq!(found.len(), batches as usize * 10);
}

#[tokio::test]
async fn f18_a_damaged_vector_is_named_and_other_scopes_are_searched_as_before() {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(directory.path()).unwrap();
    put(&store, "ada", vec![vector("good", CANARY), vector("bad", CANARY)]).await;
    put(&store, "ben", vec![vector("fine", CANARY)]).await;
    for damage in ["x'00'", "x'0000c07f000000000000000000000000'", "'text'", "zeroblob(64)"] {
        let sql = format!("UPDATE vector SET numbers = {damage} WHERE key = 'bad'");
        shell(directory.path()).execute_batch(&sql).unwrap();
        let fresh = SqliteStore::open(directory.path()).unwrap();
        let told = search(&fresh, "ada").await.unwrap_err().to_string();
        let words = "the vector \"bad\" is damaged; remove it, or embed it again";
        assert!(told.ends_with(words), "{told}");
        assert_eq!(search(&fresh, "ben").await.unwrap(), ["fine"]);
    }
    store.remove_vectors(&space(), &scope("ada"), &["bad".to_owned()]).await.unwrap();
    let fresh = SqliteStore::open(directory.path()).unwrap();
    assert_eq!(search(&fresh, "ada").await.unwrap(), ["good"]);
}

#[test]
fn f36_vectors_are_found_by_their_indexes() {
    let directory = tempfile::tempdir().unwrap();
    drop(SqliteStore::open(directory.path()).unwrap());
    let shell = shell(directory.path());
    for (sql, index) in [
        (
            "SELECT number FROM vector_scope WHERE scope = '' AND space = ''",
            "COVERING INDEX sqlite_autoindex_vector_scope_1",
        ),
        ("SELECT key, numbers FROM vector WHERE scope = 1 AND version > 2", "INDEX vector_later"),
        (
            "SELECT payload FROM vector WHERE scope = 1 AND key = ''",
            "INDEX sqlite_autoindex_vector_1",
        ),
        ("SELECT key FROM vector WHERE scope = 1", "COVERING INDEX sqlite_autoindex_vector_1"),
        ("SELECT DISTINCT scope FROM vector WHERE session = ''", "INDEX vector_session"),
    ] {
        let plan = lines(&shell, &format!("EXPLAIN QUERY PLAN {sql}")).join("; ");
        assert!(plan.contains(index), "{sql}: {plan}");
    }
}

#[tokio::test]
async fn f33_vectors_of_a_file_of_version_2_are_found() {
    let directory = tempfile::tempdir().unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/v2/data.sql");
    let dump = std::fs::read_to_string(path).unwrap();
    shell(directory.path()).execute_batch(&dump).unwrap();
    let store = SqliteStore::open(directory.path()).unwrap();
    let found = search(&store, "ada").await.unwrap();
    assert_eq!(found, ["naïve “好”", "plain"]);
    let all = VectorSearch {
        space: space(),
        scopes: vec![scope("ada"), scope("ben")],
        query: CANARY.to_vec(),
        limit: 9,
    };
    let found = store.search_vectors(&all).await.unwrap();
    let payloads: Vec<_> = found.iter().map(|found| found.payload["key"].clone()).collect();
    assert_eq!(payloads, ["plain", "plain", "naïve “好”"]);
    assert_eq!(found[0].scope, scope("ben"));
}

/// Writes the golden file, unless it is there: what was published is not changed.
#[tokio::test]
#[ignore = "makes the golden file of a new version"]
async fn writes_the_golden_file_of_version_2() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/v2");
    assert!(!folder.join("data.sql").exists(), "what was published is not changed");
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(directory.path()).unwrap();
    let odd = NewVector {
        session: Some(session("lake")),
        ..vector("naïve “好”", [1.0, 0.5, 0.0, 0.0])
    };
    put(&store, "ada", vec![odd, vector("plain", [0.25, 0.0, 0.0, 0.0]), vector("gone", CANARY)])
        .await;
    store.remove_vectors(&space(), &scope("ada"), &["gone".to_owned()]).await.unwrap();
    put(&store, "ben", vec![vector("plain", CANARY)]).await;
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("data.sql"), crate::golden::dump(directory.path())).unwrap();
}
