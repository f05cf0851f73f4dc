use roundtable::models::VendorModel;
use roundtable::prelude::*;

async fn ask_own_server(base_url: &str) -> roundtable::Result<String> {
    // For example http://localhost:8000/v1. A key, if it needs one, is set with `.key(…)`.
    let model = VendorModel::new("compatible/llama-3.3").base_url(base_url);
    let engine = Engine::builder().model(model).build().await?;
    let chat = engine.chat("Greetings").agent("Ann").open().await?;
    let round = chat.ask("Say hello in one word.").await?;
    engine.shutdown().await;
    Ok(round.answers[0].text.clone())
}

pub async fn run() -> roundtable::Result<()> {
    use roundtable_testing::provider::{Answer, Server};
    let events = concat!(
        "data: {\"choices\":[{\"delta\":{\"content\":\"Hello.\"},\"finish_reason\":null}]}\n\n",
        "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
    );
    let server = Server::start(vec![Answer::events(events)]).await;
    assert_eq!(ask_own_server(&server.address).await?, "Hello.");
    assert_eq!(server.received()[0].body["model"], "llama-3.3");
    Ok(())
}
