//! Search of messages, as an embedder uses it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use proptest::prelude::{ProptestConfig, any, prop_assert, prop_oneof};
use proptest::test_runner::TestRunner;
use roundtable::Error;
use roundtable::ports::{Embedder, EmbedderError, Space};
use roundtable::search::{Search, SearchError, SearchMode, SearchNotice, SearchPage};

use roundtable::prelude::*;

/// An embedder that knows three things: animals, weather and numbers.
#[derive(Clone)]
struct Topics {
    space: Space,
    texts: Arc<AtomicUsize>,
    fails: bool,
}

impl Topics {
    fn new() -> Self {
        Self { space: Space::new("topics", 3), texts: Arc::default(), fails: false }
    }
}

const TOPICS: [&[&str]; 3] =
    [&["dog", "cat", "puppy", "hound"], &["rain", "storm", "sunny"], &["one", "two", "three"]];

#[async_trait]
impl Embedder for Topics {
    fn space(&self) -> &Space {
        &self.space
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedderError> {
        if self.fails {
            return Err(EmbedderError::Unavailable("away".to_owned()));
        }
        self.texts.fetch_add(texts.len(), Ordering::Relaxed);
        let vector = |text: &String| {
            let has = |words: &&[&str]| words.iter().any(|word| text.to_lowercase().contains(word));
            let raw = TOPICS.map(|words| f32::from(u8::from(has(&words))));
            let length = raw.iter().map(|number| number * number).sum::<f32>().sqrt().max(1.0);
            raw.iter().map(|number| number / length).collect()
        };
        Ok(texts.iter().map(vector).collect())
    }
}

fn builder() -> roundtable::Builder {
    let script = Script::default().voice("supervisor", [Reply::text("Noted.")]);
    Engine::builder().custom_model("scripted", ScriptedModel::new(script))
}

/// A chat in which this was said and answered.
async fn talk(engine: &Engine, texts: &[&str]) -> Session {
    let chat = engine.chat("Notes").agent("Supervisor").open().await.unwrap();
    for text in texts {
        chat.ask(text).await.unwrap();
    }
    chat
}

fn snippets(page: &SearchPage) -> Vec<&str> {
    page.messages.iter().map(|message| message.snippet.text.as_str()).collect()
}

#[tokio::test]
async fn messages_are_found_by_their_words() {
    let engine = builder().build().await.unwrap();
    let chat = talk(&engine, &["The puppy barks", "It rains"]).await;
    let page = engine.search(&Search::new("barking")).await.unwrap();
    assert_eq!(snippets(&page), ["The puppy barks"]);
    assert_eq!((page.mode, page.next), (SearchMode::Text, None));
    assert_eq!(page.messages[0].key.session, *chat.id());
    engine.shutdown().await;
}

#[tokio::test]
async fn without_an_embedder_meaning_is_refused_and_hybrid_says_that_it_used_words() {
    let engine = builder().build().await.unwrap();
    talk(&engine, &["The puppy barks"]).await;
    let search = Search::new("puppy");
    let refused = engine.search(&search.clone().mode(SearchMode::Semantic)).await;
    assert_eq!(refused, Err(Error::Search(SearchError::NoEmbedder)));
    let page = engine.search(&search.mode(SearchMode::Hybrid)).await.unwrap();
    assert_eq!(
        (page.mode, page.notices.as_slice()),
        (SearchMode::Text, &[SearchNotice::OnlyWords][..])
    );
    assert_eq!(snippets(&page), ["The puppy barks"]);
    engine.shutdown().await;
}

#[tokio::test]
async fn an_embedder_of_hashed_words_does_not_count_as_one_that_knows_meaning() {
    let hashed = roundtable::models::local::HashedEmbedder::default();
    let engine = builder().embedder(hashed).build().await.unwrap();
    let refused = engine.search(&Search::new("x").mode(SearchMode::Semantic)).await;
    assert_eq!(refused, Err(Error::Search(SearchError::NoEmbedder)));
    engine.shutdown().await;
}

#[tokio::test]
async fn messages_are_found_by_their_meaning_and_each_is_embedded_once() {
    let topics = Topics::new();
    let engine = builder().embedder(topics.clone()).build().await.unwrap();
    talk(&engine, &["The puppy barks", "A storm is coming"]).await;
    let search = Search::new("hound").mode(SearchMode::Semantic);
    let page = engine.search(&search).await.unwrap();
    assert_eq!(snippets(&page), ["The puppy barks"]);
    assert!((page.messages[0].score - 1.0).abs() < 1e-6 && page.notices.is_empty());
    assert_eq!(topics.texts.load(Ordering::Relaxed), 5, "four messages and the query");
    engine.search(&search).await.unwrap();
    assert_eq!(topics.texts.load(Ordering::Relaxed), 6, "the query alone");
    engine.shutdown().await;
}

#[tokio::test]
async fn hybrid_puts_first_what_both_find() {
    let engine = builder().embedder(Topics::new()).build().await.unwrap();
    talk(&engine, &["My hound sleeps", "The puppy barks", "Zebra barks", "It rains"]).await;
    let search = Search::new("hound barks").mode(SearchMode::Hybrid);
    let page = engine.search(&search).await.unwrap();
    assert_eq!(page.mode, SearchMode::Hybrid);
    let found = snippets(&page);
    assert_eq!(found.len(), 3, "{found:?}");
    assert_eq!(found[2], "Zebra barks", "found by one word alone: {found:?}");
    engine.shutdown().await;
}

#[tokio::test]
async fn many_messages_are_indexed_a_part_at_a_time() {
    let topics = Topics::new();
    let engine = builder().embedder(topics.clone()).build().await.unwrap();
    let texts: Vec<String> = (0..40).map(|number| format!("cat {number}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    talk(&engine, &texts).await;
    let search = Search::new("dog").mode(SearchMode::Semantic).limit(100);
    let page = engine.search(&search).await.unwrap();
    assert_eq!(page.notices, [SearchNotice::Unindexed]);
    assert_eq!(page.messages.len(), 32, "half of the first 64 messages are questions");
    let page = engine.search(&search).await.unwrap();
    assert_eq!((page.notices.len(), page.messages.len()), (0, 40));
    engine.shutdown().await;
}

#[tokio::test]
async fn an_embedder_that_fails_is_named_and_text_still_works() {
    let engine = builder().embedder(Topics { fails: true, ..Topics::new() }).build().await.unwrap();
    talk(&engine, &["The puppy barks"]).await;
    let failed = engine.search(&Search::new("puppy").mode(SearchMode::Semantic)).await;
    assert!(matches!(failed, Err(Error::Search(SearchError::Unavailable(_)))), "{failed:?}");
    assert_eq!(engine.search(&Search::new("puppy")).await.unwrap().messages.len(), 1);
    engine.shutdown().await;
}

#[tokio::test]
async fn the_pages_of_a_search_are_about_the_messages_of_its_first_page() {
    for mode in [SearchMode::Text, SearchMode::Semantic, SearchMode::Hybrid] {
        let engine = builder().embedder(Topics::new()).build().await.unwrap();
        let chat = talk(&engine, &["dog a", "dog b", "dog c", "dog d", "dog e"]).await;
        let search = Search::new("dog").mode(mode).limit(2);
        let first = engine.search(&search).await.unwrap();
        chat.ask("dog dog dog").await.unwrap();
        let (mut seen, mut next) = (first.messages, first.next);
        while let Some(cursor) = next {
            let page = engine.search(&search.clone().after(cursor)).await.unwrap();
            seen.extend(page.messages);
            next = page.next;
        }
        let mut found: Vec<String> = seen.into_iter().map(|it| it.snippet.text).collect();
        found.sort();
        assert_eq!(found, ["dog a", "dog b", "dog c", "dog d", "dog e"], "{mode:?}");
        let other = engine.search(&Search::new("cat").after("made.1.2")).await;
        assert_eq!(other, Err(Error::Search(SearchError::Cursor)));
        engine.shutdown().await;
    }
}

#[tokio::test]
async fn f37_a_deleted_session_leaves_no_words_and_no_vectors_in_the_file() {
    const CANARY: &str = "zanzibarquokka";
    let directory = tempfile::tempdir().unwrap();
    let engine = builder().sqlite(directory.path()).embedder(Topics::new()).build().await.unwrap();
    let chat = talk(&engine, &["dog zanzibarquokka", "rain"]).await;
    let search = Search::new(CANARY).mode(SearchMode::Hybrid);
    assert_eq!(engine.search(&search).await.unwrap().messages.len(), 1);
    engine.delete(chat.id()).await.unwrap();
    assert!(engine.search(&search).await.unwrap().messages.is_empty());
    engine.shutdown().await;
    drop((engine, chat));
    let file = rusqlite::Connection::open(directory.path().join("roundtable.db")).unwrap();
    for table in ["vector", "message", "message_text_docsize", "event"] {
        let sql = format!("SELECT count(*) FROM {table}");
        let left: u64 = file.query_row(&sql, [], |row| row.get(0)).unwrap();
        assert_eq!(left, 0, "{table}");
    }
    for entry in std::fs::read_dir(directory.path()).unwrap() {
        let path = entry.unwrap().path();
        let bytes = if path.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
        let found = bytes.windows(CANARY.len()).any(|window| window == CANARY.as_bytes());
        assert!(!found, "{}", path.display());
    }
}

#[test]
fn s19_any_text_is_searched_for_or_refused_and_never_read_as_syntax() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let engine = runtime.block_on(async {
        let engine = builder().sqlite(directory.path()).build().await.unwrap();
        talk(&engine, &["canary text"]).await;
        engine
    });
    let texts = prop_oneof![
        any::<String>(),
        "[\"*():^{}+-]{0,20}",
        "(AND|OR|NOT|NEAR|text|canary|noted|\"| |\\*|:|\\(){0,20}",
    ];
    let mut runner = TestRunner::new(ProptestConfig::with_cases(512));
    let checked = runner.run(&texts, |text| {
        match runtime.block_on(engine.search(&Search::new(&text))) {
            Ok(page) => {
                for message in page.messages {
                    let (typed, found) = (text.to_lowercase(), message.snippet);
                    let known = ["canar", "text", "note"].iter().any(|word| typed.contains(word));
                    prop_assert!(known, "{:?} found {:?}", text, found);
                }
            }
            Err(Error::Search(SearchError::Query(_))) => {}
            Err(error) => prop_assert!(false, "{:?}: {}", text, error),
        }
        Ok(())
    });
    checked.unwrap();
    runtime.block_on(engine.shutdown());
}
