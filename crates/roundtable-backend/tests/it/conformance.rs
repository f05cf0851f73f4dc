//! One suite for every store.

use std::sync::Arc;

use roundtable_backend::{MemoryStore, SqliteStore};
use roundtable_ports::Store;
use roundtable_testing::conformance;

#[tokio::test]
async fn the_store_in_memory_does_what_a_store_has_to_do() {
    conformance::all(&|| Store::of(Arc::new(MemoryStore::new()))).await;
}

#[tokio::test]
async fn the_store_in_a_file_does_what_a_store_has_to_do() {
    let directory = tempfile::tempdir().unwrap();
    let count = std::sync::atomic::AtomicUsize::new(0);
    let fresh = || {
        let number = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Store::of(Arc::new(SqliteStore::open(&directory.path().join(number.to_string())).unwrap()))
    };
    conformance::all(&fresh).await;
}
