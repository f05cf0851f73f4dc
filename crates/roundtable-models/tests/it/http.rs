//! A real connection: what is sent, and what comes of everything that a provider can do wrong.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use roundtable_core::budget::Price;
use roundtable_core::message::Message;
use roundtable_models::{Caps, Catalog, Endpoint, Fallback, Retry, RetryPolicy, Secret, Timeouts};
use roundtable_ports::{Chunk, Facts, Model, ModelError};
use roundtable_testing::provider::{Answer, CANARY, Received, Server};
use serde_json::json;

use crate::asked::{offering, request};

const TEXT: &str = include_str!("../golden/openai_chat/text.sse");

/// One event of a chat.
fn says(delta: &serde_json::Value) -> String {
    format!("data: {}\n\n", json!({"choices": [{"delta": delta}]}))
}

/// What comes of one answer of a chat provider.
async fn outcome_with(
    answer: Answer,
    timeouts: Timeouts,
    caps: Caps,
) -> (Vec<Chunk>, Option<ModelError>) {
    let server = Server::start(vec![answer]).await;
    let model = server.model("groq/model-1", timeouts, caps);
    let mut chunks = Vec::new();
    let mut stream = match model.stream(&request("ann", 1, 1)).await {
        Ok(stream) => stream,
        Err(error) => return (chunks, Some(error)),
    };
    while let Some(chunk) = stream.next().await {
        match chunk {
            Ok(chunk) => chunks.push(chunk),
            Err(error) => return (chunks, Some(error)),
        }
    }
    (chunks, None)
}

async fn outcome(answer: Answer) -> (Vec<Chunk>, Option<ModelError>) {
    outcome_with(answer, Timeouts::default(), Caps::default()).await
}

fn is_broken(error: Option<&ModelError>) -> bool {
    matches!(error, Some(ModelError::Broken(_)))
}

#[tokio::test]
async fn an_answer_streams_and_the_request_is_what_the_vendor_wants() {
    let server = Server::start(vec![Answer::events(TEXT)]).await;
    let model = server.model("groq/model-1", Timeouts::default(), Caps::default());
    let stream = model.stream(&request("ann", 1, 1)).await.unwrap();
    let chunks: Vec<Chunk> = stream.map(Result::unwrap).collect().await;
    let text: String = chunks
        .iter()
        .filter_map(|chunk| match chunk {
            Chunk::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(text, "Grüß dich, “friend” 🙂");
    assert!(matches!(chunks.last(), Some(Chunk::Done(_))));
    let received = server.received();
    assert_eq!(received.len(), 1);
    assert_eq!(received[0].line, "POST /chat/completions HTTP/1.1");
    assert_eq!(received[0].headers["authorization"], format!("Bearer {CANARY}"));
    assert_eq!(received[0].headers["idempotency-key"], request("ann", 1, 1).key.as_str());
    assert_eq!(
        received[0].body,
        json!({
            "model": "model-1",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "How are you today?"},
            ],
            "stream": true,
            "stream_options": {"include_usage": true},
            "max_completion_tokens": 100,
        })
    );
}

#[tokio::test]
async fn f28_a_request_is_made_again_with_the_same_key_until_an_answer_begins() {
    let slow = Answer::refusal(429, &[("retry-after", "0")], "{}");
    let failing = Answer::refusal(500, &[("retry-after-ms", "1")], "oops");
    let script = vec![slow, failing, Answer::Reset(String::new()), Answer::events(TEXT)];
    let server = Server::start(script).await;
    let model = server.model("groq/model-1", Timeouts::default(), Caps::default());
    let first_wait = Duration::from_millis(1);
    let policy = RetryPolicy { first_wait, ..RetryPolicy::default() };
    let retry = Retry::new(Arc::new(model), policy);
    let stream = retry.stream(&request("ann", 1, 1)).await.unwrap();
    assert!(stream.map(Result::unwrap).count().await > 1);
    let received = server.received();
    assert_eq!(received.len(), 4);
    let first = &received[0];
    let same = |one: &Received| {
        one.body == first.body && one.headers["idempotency-key"] == first.headers["idempotency-key"]
    };
    assert!(received.iter().all(same));
}

#[tokio::test]
async fn f28_an_answer_that_breaks_off_is_not_made_again_once_something_was_said() {
    let begun = says(&json!({"content": "I think"}));
    let server = Server::start(vec![Answer::Reset(begun)]).await;
    let model = server.model("groq/model-1", Timeouts::default(), Caps::default());
    let retry = Retry::new(Arc::new(model), RetryPolicy::default());
    let stream = retry.stream(&request("ann", 1, 1)).await.unwrap();
    let chunks: Vec<_> = stream.collect().await;
    assert_eq!(chunks.len(), 2);
    assert_eq!(chunks[0], Ok(Chunk::Text("I think".to_owned())));
    assert!(is_broken(chunks[1].as_ref().err()));
    assert_eq!(server.received().len(), 1);
}

#[tokio::test]
async fn f28_silence_a_stall_and_an_answer_without_end_run_out_of_time() {
    let short = Duration::from_millis(30);
    let first = Timeouts { first_byte: short, ..Timeouts::default() };
    assert_eq!(
        outcome_with(Answer::Silence, first, Caps::default()).await,
        (vec![], Some(ModelError::Timeout))
    );
    let headers_only = Answer::Stall(String::new());
    assert_eq!(
        outcome_with(headers_only, first, Caps::default()).await,
        (vec![], Some(ModelError::Timeout))
    );
    let begun = says(&json!({"content": "I think"}));
    let idle = Timeouts { idle: short, ..Timeouts::default() };
    let thought = Chunk::Text("I think".to_owned());
    assert_eq!(
        outcome_with(Answer::Stall(begun), idle, Caps::default()).await,
        (vec![thought], Some(ModelError::Timeout))
    );
    let total = Timeouts { total: short, ..Timeouts::default() };
    let chatter = Answer::Endless(": still here\n\n".to_owned());
    let roomy = Caps { total_bytes: usize::MAX, event_bytes: usize::MAX, ..Caps::default() };
    assert_eq!(outcome_with(chatter, total, roomy).await, (vec![], Some(ModelError::Timeout)));
}

#[tokio::test]
async fn f28_a_provider_out_of_reach_is_an_outage() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let free = listener.local_addr().unwrap();
    drop(listener);
    let mut server = Server::start(vec![Answer::Silence]).await;
    server.address = format!("http://{free}");
    let model = server.model("groq/model-1", Timeouts::default(), Caps::default());
    let error = model.stream(&request("ann", 1, 1)).await.err().unwrap();
    assert!(matches!(error, ModelError::Overloaded(_)), "{error:?}");
}

#[tokio::test]
async fn f29_an_answer_that_is_none_is_a_typed_failure() {
    for body in ["", "\n\n", "data: [DONE]\n\n", ": only a comment\n\n"] {
        assert!(is_broken(outcome(Answer::events(body)).await.1.as_ref()), "{body:?}");
    }
    let says_nothing = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
    assert!(is_broken(outcome(Answer::events(says_nothing)).await.1.as_ref()));
    assert!(is_broken(outcome(Answer::json(200, "{\"choices\":[]}")).await.1.as_ref()));
    let page = Answer::refusal(200, &[("content-type", "text/html")], "<html>");
    assert!(is_broken(outcome(page).await.1.as_ref()));
    let hidden = Answer::json(200, "{\"error\":{\"code\":\"context_length_exceeded\"}}");
    assert!(matches!(outcome(hidden).await.1, Some(ModelError::TooLong(_))));
}

#[tokio::test]
async fn dropping_the_stream_ends_the_request() {
    let begun = says(&json!({"content": "I think"}));
    let server = Server::start(vec![Answer::Stall(begun)]).await;
    let model = server.model("groq/model-1", Timeouts::default(), Caps::default());
    let mut stream = model.stream(&request("ann", 1, 1)).await.unwrap();
    assert_eq!(stream.next().await, Some(Ok(Chunk::Text("I think".to_owned()))));
    drop(stream);
    server.client_gone().await;
}

#[tokio::test]
async fn a_prompt_over_the_window_is_refused_before_the_call() {
    let server = Server::start(vec![Answer::events(TEXT)]).await;
    let model = server.model("perplexity/sonar", Timeouts::default(), Caps::default());
    let mut long = request("ann", 1, 1);
    Arc::make_mut(&mut long.messages).push(Message::user("word ".repeat(200_000)));
    let error = model.stream(&long).await.err().unwrap();
    assert!(matches!(error, ModelError::TooLong(_)), "{error:?}");
    assert_eq!(server.received().len(), 0);
}

#[tokio::test]
async fn a_chain_asks_the_next_model_when_one_cannot_answer() {
    let down = Server::start(vec![Answer::refusal(503, &[], "down")]).await;
    let up = Server::start(vec![Answer::events(TEXT)]).await;
    let model = |server: &Server| -> Arc<dyn Model> {
        Arc::new(server.model("groq/model-1", Timeouts::default(), Caps::default()))
    };
    let chain = Fallback::new([model(&down), model(&up)]);
    assert!(chain.stream(&request("ann", 1, 1)).await.is_ok());
    assert_eq!((down.received().len(), up.received().len()), (1, 1));
    let declines = Server::start(vec![Answer::json(
        400,
        "{\"error\":{\"code\":\"content_filter\",\"message\":\"no\"}}",
    )])
    .await;
    let chain = Fallback::new([model(&declines), model(&up)]);
    let error = chain.stream(&request("ann", 1, 1)).await.err().unwrap();
    assert_eq!(error, ModelError::Refused("no".to_owned()));
    assert_eq!(up.received().len(), 1);
    let hopeless = Fallback::new([model(&down), model(&down)]);
    let error = hopeless.stream(&request("ann", 1, 1)).await.err().unwrap();
    assert_eq!(error, ModelError::Overloaded("status 503 down".to_owned()));
}

#[tokio::test]
async fn what_is_known_of_a_chain_holds_for_each_of_its_models() {
    let server = Server::start(vec![Answer::Silence]).await;
    let model = |name: &str| -> Arc<dyn Model> {
        let model = server.model(name, Timeouts::default(), Caps::default());
        Arc::new(Retry::new(Arc::new(model), RetryPolicy::default()))
    };
    let chain = [model("openai/gpt-5-mini"), model("anthropic/claude-sonnet-4-5")];
    let price = Price { input: 3_750_000, output: 15_000_000 };
    let facts = Facts { window: Some(200_000), price: Some(price) };
    assert_eq!(Fallback::new(chain).facts(), facts);
    let unpriced = [model("openai/gpt-5-mini"), model("groq/x")];
    let facts = Facts { window: Some(400_000), price: None };
    assert_eq!(Fallback::new(unpriced).facts(), facts);
}

#[tokio::test]
async fn headers_that_its_user_wants_are_sent_and_count_before_ours() {
    let echo = "{\"error\":{\"message\":\"no team-canary-1 here\"}}";
    let server = Server::start(vec![Answer::json(400, echo)]).await;
    let said =
        [("OpenAI-Project", "proj_1"), ("X-Team", "team-canary-1"), ("Authorization", "Other")];
    let endpoint = Endpoint {
        key: Some(Secret::new(CANARY)),
        base_url: Some(server.address.clone()),
        headers: said.map(|(name, value)| (name.to_owned(), Secret::new(value))).into(),
        ..Endpoint::default()
    };
    let model = Catalog::builtin().unwrap().model("openai/gpt-5", endpoint).unwrap();
    let error = model.stream(&request("ann", 1, 1)).await.err().unwrap();
    assert_eq!(error, ModelError::BadRequest("no *** here".to_owned()));
    let headers = &server.received()[0].headers;
    assert_eq!(headers["openai-project"], "proj_1");
    assert_eq!(headers["x-team"], "team-canary-1");
    assert_eq!(headers["authorization"], "Other");
    assert!(!format!("{model:?}").contains("team-canary-1"));
}

#[tokio::test]
async fn s28_the_key_is_in_its_header_and_nowhere_else() {
    let echo = format!("{{\"error\":{{\"message\":\"bad key {CANARY}\"}}}}");
    let in_stream = format!("data: {echo}\n\n");
    let script = vec![
        Answer::json(401, &echo),
        Answer::json(400, &echo),
        Answer::json(500, &echo),
        Answer::json(200, &echo),
        Answer::refusal(200, &[("content-type", "text/html")], &echo),
        Answer::refusal(302, &[("location", "http://127.0.0.1:1/")], &echo),
        Answer::events(&in_stream),
        Answer::events(&format!("data: {CANARY}\n\n")),
        Answer::Reset(String::new()),
    ];
    for vendor in ["groq/m", "openai/m", "anthropic/m", "gemini/m"] {
        let server = Server::start(script.clone()).await;
        let model = server.model(vendor, Timeouts::default(), Caps::default());
        let mut written = format!("{model:?}{:#?}{:?}", model, model.profile());
        for _ in &script {
            let asked = offering(request("ann", 1, 1), &["search"]);
            written.push_str(&format!("{asked:?}"));
            let error = match model.stream(&asked).await {
                Err(error) => error,
                Ok(stream) => {
                    let chunks: Vec<_> = stream.collect().await;
                    chunks.into_iter().find_map(Result::err).unwrap()
                }
            };
            written.push_str(&format!("{error:?} {error}"));
        }
        let received = server.received();
        assert_eq!(received.len(), script.len(), "{vendor}: no redirect is followed");
        for one in received {
            written.push_str(&format!("{} {}", one.line, one.body));
            let holders = one.headers.values().filter(|value| value.contains(CANARY));
            assert_eq!(holders.count(), 1, "{vendor}");
        }
        assert!(!written.contains(CANARY), "{vendor}: {written}");
        assert!(written.contains("***"));
    }
}
