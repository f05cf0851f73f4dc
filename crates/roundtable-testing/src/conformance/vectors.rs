//! Vectors: found by meaning, in the scopes that a search names and nowhere else.

use roundtable_core::id::SessionId;
use roundtable_ports::{
    FoundVector, NewVector, Space, Store, VectorScope, VectorSearch, VectorsError,
};
use serde_json::json;

use super::fixture::session;

fn space() -> Space {
    Space::new("plane", 2)
}

fn scope(parts: &[&str]) -> VectorScope {
    VectorScope::of(parts.iter().copied()).expect("a scope")
}

fn vector(key: &str, numbers: [f32; 2]) -> NewVector {
    NewVector {
        key: key.to_owned(),
        vector: numbers.to_vec(),
        payload: json!({ "of": key }),
        session: None,
    }
}

fn of_session(key: &str, numbers: [f32; 2], of: &SessionId) -> NewVector {
    NewVector { session: Some(of.clone()), ..vector(key, numbers) }
}

async fn put(store: &Store, scope: &VectorScope, vectors: Vec<NewVector>) {
    store.vectors.put_vectors(&space(), scope, vectors).await.expect("vectors that fit");
}

/// The best in these scopes for the direction of the first axis.
async fn search(store: &Store, scopes: &[&VectorScope], most: usize) -> Vec<FoundVector> {
    let search = VectorSearch {
        space: space(),
        scopes: scopes.iter().map(|scope| (*scope).clone()).collect(),
        query: vec![1.0, 0.0],
        limit: most,
    };
    store.vectors.search_vectors(&search).await.expect("a search")
}

async fn remove(store: &Store, scope: &VectorScope, keys: &[&str]) -> usize {
    let keys: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
    store.vectors.remove_vectors(&space(), scope, &keys).await.expect("a removal")
}

async fn keys(store: &Store, scopes: &[&VectorScope], most: usize) -> Vec<String> {
    search(store, scopes, most).await.into_iter().map(|found| found.key).collect()
}

pub async fn the_nearest_are_found_the_best_first(store: &Store) {
    let ada = scope(&["acme", "ada"]);
    let vectors = vec![
        vector("far", [-1.0, 0.0]),
        vector("near", [0.9, 0.1]),
        vector("tie-b", [0.5, 0.5]),
        vector("tie-a", [0.5, -0.5]),
        vector("best", [1.0, 0.0]),
    ];
    put(store, &ada, vectors).await;
    let found = search(store, &[&ada], 4).await;
    let seen: Vec<(&str, f32)> = found.iter().map(|it| (it.key.as_str(), it.score)).collect();
    assert_eq!(seen, [("best", 1.0), ("near", 0.9), ("tie-a", 0.5), ("tie-b", 0.5)]);
    assert_eq!(found[0].payload, json!({ "of": "best" }));
    assert_eq!(found[0].scope, ada);
    assert_eq!(keys(store, &[&ada], 100).await.len(), 5, "all there are");
    assert!(keys(store, &[&ada], 0).await.is_empty());
    assert!(keys(store, &[], 10).await.is_empty(), "nowhere to look, nothing to find");
    assert!(keys(store, &[&scope(&["nobody"])], 10).await.is_empty());
}

pub async fn a_vector_is_replaced_and_removed_by_its_key(store: &Store) {
    let ada = scope(&["acme", "ada"]);
    put(store, &ada, vec![vector("a", [1.0, 0.0]), vector("b", [0.5, 0.0])]).await;
    assert_eq!(keys(store, &[&ada], 10).await, ["a", "b"]);
    let mut changed = vector("a", [0.1, 0.0]);
    changed.payload = json!("another");
    put(store, &ada, vec![vector("c", [0.2, 0.0]), changed]).await;
    let found = search(store, &[&ada], 10).await;
    let seen: Vec<&str> = found.iter().map(|it| it.key.as_str()).collect();
    assert_eq!(seen, ["b", "c", "a"]);
    assert_eq!(found[2].payload, json!("another"));
    assert_eq!(remove(store, &ada, &["b", "nothing"]).await, 1);
    assert_eq!(remove(store, &ada, &["b"]).await, 0, "removing again does nothing");
    assert_eq!(keys(store, &[&ada], 10).await, ["c", "a"]);
    put(store, &ada, vec![vector("b", [1.0, 0.0])]).await;
    assert_eq!(keys(store, &[&ada], 10).await, ["b", "c", "a"], "and it can come back");
}

pub async fn a_batch_goes_in_whole_or_not_at_all(store: &Store) {
    let ada = scope(&["acme", "ada"]);
    let refused = |vectors: Vec<NewVector>| async {
        let put = store.vectors.put_vectors(&space(), &scope(&["acme", "ada"]), vectors).await;
        assert!(matches!(put, Err(VectorsError::Refused(_))), "{put:?}");
    };
    let good = || vector("good", [1.0, 0.0]);
    refused(vec![good(), vector("wild", [f32::NAN, 0.0])]).await;
    refused(vec![good(), vector("wild", [f32::INFINITY, 0.0])]).await;
    refused(vec![good(), NewVector { vector: vec![1.0], ..good() }]).await;
    refused(vec![good(), vector("", [1.0, 0.0])]).await;
    refused(vec![good(), vector(&"k".repeat(513), [1.0, 0.0])]).await;
    refused(vec![good(), NewVector { payload: json!("p".repeat(5000)), ..good() }]).await;
    assert!(keys(store, &[&ada], 10).await.is_empty());
    let narrow = VectorSearch { space: space(), scopes: vec![ada], query: vec![1.0], limit: 1 };
    let narrow = store.vectors.search_vectors(&narrow).await;
    assert!(matches!(narrow, Err(VectorsError::Refused(_))), "{narrow:?}");
}

pub async fn s26_nothing_is_found_outside_of_the_scopes_that_were_named(store: &Store) {
    let (ada, ben) = (scope(&["acme", "ada"]), scope(&["acme", "ben"]));
    // Names that people choose, made to look like another's.
    let crafted = [
        scope(&["acme\",\"ada"]),
        scope(&["acme", "ada", ""]),
        scope(&["acme,ada"]),
        scope(&["acme", "ada%"]),
        scope(&["acme", "\u{0}ada"]),
        scope(&["ACME", "Ada"]),
        scope(&["", "acme", "ada"]),
    ];
    for (index, other) in crafted.iter().chain([&ben]).enumerate() {
        let canary = vector(&format!("canary-{index}"), [1.0, 0.0]);
        put(store, other, vec![canary.clone(), NewVector { key: "shared".to_owned(), ..canary }])
            .await;
    }
    put(store, &ada, vec![vector("own", [0.01, 0.0]), vector("shared", [0.02, 0.0])]).await;
    // All canaries are nearer: a search that ranked first and filtered then would find nothing.
    assert_eq!(keys(store, &[&ada], 2).await, ["shared", "own"]);
    let both = search(store, &[&ada, &ben, &ada], 10).await;
    let both: Vec<(&VectorScope, &str)> =
        both.iter().map(|found| (&found.scope, found.key.as_str())).collect();
    assert_eq!(
        both,
        [(&ben, "canary-7"), (&ben, "shared"), (&ada, "shared"), (&ada, "own")],
        "of equals the key decides, and a scope that is named twice counts once"
    );
    assert_eq!(remove(store, &ada, &["shared"]).await, 1);
    assert_eq!(
        keys(store, &[&ben], 10).await,
        ["canary-7", "shared"],
        "a key names one vector of one scope"
    );
}

pub async fn spaces_are_worlds_of_their_own(store: &Store) {
    let ada = scope(&["acme", "ada"]);
    put(store, &ada, vec![vector("a", [1.0, 0.0])]).await;
    for other in [Space::new("plane-2", 2), Space::new("plane", 3)] {
        let query = vec![1.0; other.dimension()];
        let search = VectorSearch {
            space: other.clone(),
            scopes: vec![ada.clone()],
            query: query.clone(),
            limit: 9,
        };
        assert_eq!(store.vectors.search_vectors(&search).await, Ok(Vec::new()), "{other}");
        let new = NewVector { vector: query, ..vector("b", [0.0, 0.0]) };
        store.vectors.put_vectors(&other, &ada, vec![new]).await.expect("a vector that fits");
        let found = store.vectors.search_vectors(&search).await.expect("a search");
        assert_eq!(found.len(), 1, "{other}");
    }
    assert_eq!(keys(store, &[&ada], 10).await, ["a"]);
}

pub async fn f37_what_is_erased_is_gone_from_the_search_too(store: &Store) {
    let (ada, ben) = (scope(&["acme", "ada"]), scope(&["acme", "ben"]));
    let (lake, hill) = (session("lake"), session("hill"));
    for scope in [&ada, &ben] {
        let vectors = vec![
            of_session("lake", [1.0, 0.0], &lake),
            of_session("hill", [0.5, 0.0], &hill),
            vector("nobody", [0.1, 0.0]),
        ];
        put(store, scope, vectors).await;
    }
    let other = Space::new("plane-2", 2);
    store.vectors.put_vectors(&other, &ada, vec![vector("x", [1.0, 0.0])]).await.expect("it fits");
    assert_eq!(keys(store, &[&ada, &ben], 10).await.len(), 6);
    assert_eq!(store.vectors.erase_vectors_of(&lake).await, Ok(2));
    assert_eq!(keys(store, &[&ada, &ben], 10).await, ["hill", "hill", "nobody", "nobody"]);
    assert_eq!(store.vectors.erase_scope(&ada).await, Ok(3), "of every space");
    assert_eq!(keys(store, &[&ada, &ben], 10).await, ["hill", "nobody"]);
    assert_eq!(store.vectors.erase_scope(&ada).await, Ok(0));
    put(store, &ada, vec![vector("new", [1.0, 0.0])]).await;
    assert_eq!(keys(store, &[&ada], 10).await, ["new"], "what is made anew begins empty");
}

pub async fn many_put_and_search_at_once(store: &Store) {
    let ada = scope(&["acme", "ada"]);
    let work = (0..16u8).map(|number| {
        let ada = &ada;
        async move {
            let key = format!("k{number:02}");
            put(store, ada, vec![vector(&key, [f32::from(number) / 16.0, 0.0])]).await;
            assert!(keys(store, &[ada], 16).await.contains(&key), "what was put is found");
            if number % 4 == 0 {
                assert_eq!(remove(store, ada, &[&key]).await, 1);
                assert!(!keys(store, &[ada], 16).await.contains(&key));
            }
        }
    });
    futures_util::future::join_all(work).await;
    let left: Vec<String> = (0..16)
        .rev()
        .filter(|number| number % 4 != 0)
        .map(|number| format!("k{number:02}"))
        .collect();
    assert_eq!(keys(store, &[&ada], 16).await, left);
}
