//! Export and import over a store.

use roundtable::Error;
use roundtable::prelude::*;

use super::{begun, engine, position};

#[tokio::test]
async fn an_export_is_imported_by_another_engine_and_says_the_same() {
    let script = Script::default().voice("ann", [position(Some("YES"), "Begin.", 0.5)]);
    let (here, _) = engine(script).await;
    let (debate, _) = begun(&here, 2).await;
    let json = debate.export_json().await.unwrap();
    let directory = tempfile::tempdir().unwrap();
    let model = ScriptedModel::new(Script::default());
    let there = Engine::builder()
        .sqlite(directory.path())
        .custom_model("other", model.clone())
        .build()
        .await
        .unwrap();
    let copy = there.import_debate(&json).await.unwrap();
    assert_ne!(copy.id(), debate.id());
    let minutes = debate.export_markdown().await.unwrap().replace("not over yet", "over");
    assert_eq!(copy.export_markdown().await.unwrap(), minutes);
    let mut consensus = debate.consensus(None).await.unwrap();
    consensus.session = copy.id().clone();
    assert_eq!(copy.consensus(None).await.unwrap(), consensus);
    assert_eq!(there.debates(&DebateFilter::default()).await.unwrap()[0].topic, "Should we begin?");
    let refused = copy.continue_round(ContinueRequest::default()).await.unwrap_err().to_string();
    assert!(refused.contains("it is completed"), "{refused}");
    assert!(copy.synthesize(None).await.is_err());
    assert_eq!(model.count(), 0, "an import asks nobody");
    assert!(matches!(there.import_debate("{]").await, Err(Error::Import(_))));
    there.shutdown().await;
    here.shutdown().await;
}

#[tokio::test]
async fn sources_are_listed_once_by_address() {
    let cite = |url: &str| {
        Reply::text(format!(
            r#"{{"position": "See there.", "confidence": 0.5, "citations": [{{"url": "{url}", "title": "A page"}}]}}"#
        ))
    };
    let script = Script::default()
        .voice("ann", [cite("https://www.example.org/page/")])
        .voice("bob", [cite("http://example.org/page#part")]);
    let (engine, _) = engine(script).await;
    let (debate, first) = begun(&engine, 2).await;
    assert_eq!(first.sources.len(), 1);
    assert_eq!(first.sources[0].agents.len(), 2);
    let ann = roundtable::core::id::AgentId::new("ann").unwrap();
    let own = debate.citations(Some(1), Some(&ann)).await.unwrap();
    assert_eq!(own[0].citation.url.as_deref(), Some("https://www.example.org/page/"));
    assert_eq!(
        debate.citations(Some(5), None).await.unwrap_err().to_string(),
        "round 5 does not exist; the rounds are 1 to 1"
    );
    engine.shutdown().await;
}
