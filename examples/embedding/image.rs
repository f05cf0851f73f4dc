use roundtable::prelude::*;

async fn show(session: &Session, file: &[u8]) -> roundtable::Result<RoundReport> {
    session.ask_with_images("What is this?", vec![Image::from_bytes(file)?]).await
}

pub async fn run() -> roundtable::Result<()> {
    let engine = crate::engine(crate::says("ann", "A dot.")).await?;
    let session = engine.chat("Images").agent("Ann").open().await?;
    assert!(show(&session, b"not an image").await.is_err());
    let dot = b"GIF89a\x01\x00\x01\x00\x00\x00\x00;";
    assert_eq!(show(&session, dot).await?.answers[0].text, "A dot.");
    engine.shutdown().await;
    Ok(())
}
