//! Vendors' models as an embedder registers them: by reference, with keys from values or variables.

use roundtable::models::{Catalog, CatalogError, VendorModel};
use roundtable::prelude::*;
use roundtable_testing::provider::{Answer, Received, Server};

const CHAT: &str = concat!(
    "data: {\"model\":\"m-1\",\"choices\":[{\"delta\":{\"content\":\"Hello.\"},\"finish_reason\":null}]}\n\n",
    "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
    "data: [DONE]\n\n"
);

async fn ask(engine: Engine) -> String {
    let chat = engine.chat("Greetings").agent("Ann").open().await.unwrap();
    let report = chat.ask("Hello?").await.unwrap();
    engine.shutdown().await;
    report.answers[0].text.clone()
}

fn sent(server: &Server) -> Received {
    let received = server.received();
    assert_eq!(received.len(), 1);
    received.into_iter().next().unwrap()
}

#[tokio::test]
async fn a_model_is_registered_by_reference_with_key_and_url_from_the_vendors_variables() {
    let server = Server::start(vec![Answer::events(CHAT)]).await;
    let variables = [
        ("GROQ_API_KEY", "sk-of-the-variable"),
        ("GROQ_BASE_URL", &server.address),
        ("GROQ_CUSTOM_HEADERS", "X-Team: red"),
    ];
    let engine = Engine::builder().env(variables).model("groq/llama-3.3").build().await.unwrap();
    assert_eq!(ask(engine).await, "Hello.");
    let request = sent(&server);
    assert_eq!(request.headers["authorization"], "Bearer sk-of-the-variable");
    assert_eq!(request.headers["x-team"], "red");
    assert_eq!(request.body["model"], "llama-3.3");
}

#[tokio::test]
async fn values_override_variables_and_a_model_can_have_another_name() {
    let server = Server::start(vec![Answer::events(CHAT)]).await;
    let variables =
        [("GROQ_API_KEY", "sk-of-the-variable"), ("GROQ_BASE_URL", "http://127.0.0.1:9")];
    let model = VendorModel::new("groq/llama-3.3").named("fast");
    let model = model.key("sk-of-the-value").base_url(&server.address);
    let engine = Engine::builder().env(variables).model(model).build().await.unwrap();
    let fast = Agent::new("Ann", "fast").unwrap();
    let chat = engine.chat("Greetings").participant(fast).open().await.unwrap();
    chat.ask("Hello?").await.unwrap();
    assert_eq!(sent(&server).headers["authorization"], "Bearer sk-of-the-value");
    engine.shutdown().await;
}

#[tokio::test]
async fn a_server_of_ones_own_needs_a_url_and_nothing_else() {
    let server = Server::start(vec![Answer::events(CHAT)]).await;
    let model = VendorModel::new("compatible/my-model").base_url(&server.address);
    assert_eq!(ask(Engine::builder().model(model).build().await.unwrap()).await, "Hello.");
    assert_eq!(sent(&server).headers.get("authorization"), None);
}

#[tokio::test]
async fn without_a_model_the_vendor_whose_key_is_set_answers() {
    let server = Server::start(vec![Answer::events(CHAT)]).await;
    let variables = [("OPENAI_API_KEY", "sk-1"), ("OPENAI_BASE_URL", &server.address)];
    assert_eq!(ask(Engine::builder().env(variables).build().await.unwrap()).await, "Hello.");
    let request = sent(&server);
    assert_eq!(
        (&request.body["model"], &*request.line),
        (&"gpt-5-mini".into(), "POST /chat/completions HTTP/1.1")
    );
}

#[test]
fn the_first_vendor_with_a_key_is_chosen_and_a_model_that_is_named_comes_first() {
    use roundtable::models::Environment;
    let catalog = Catalog::builtin().unwrap();
    let chosen = |variables: &[(&str, &str)]| {
        catalog.available_model(&Environment::of(variables.iter().copied()))
    };
    let both = [("OPENAI_API_KEY", "a"), ("ANTHROPIC_API_KEY", "b")];
    assert!(chosen(&both).unwrap().starts_with("anthropic/claude-"));
    assert_eq!(chosen(&both[..1]).unwrap(), "openai/gpt-5-mini");
    let named = [both[0], both[1], ("OPENAI_MODEL", "openai/gpt-5")];
    assert_eq!(chosen(&named).unwrap(), "openai/gpt-5");
    let missing = chosen(&[("OPENAI_API_KEY", " ")]).unwrap_err();
    assert!(missing.to_string().contains("OPENAI_API_KEY"), "{missing}");
}

#[tokio::test]
async fn a_model_that_cannot_be_set_up_is_an_error_that_names_the_variable() {
    let builder = Engine::builder().model("anthropic/claude-sonnet-4-5");
    let error = builder.build().await.err().unwrap();
    assert!(matches!(error, roundtable::Error::Model(CatalogError::NoKey { .. })), "{error}");
    assert!(error.to_string().contains("ANTHROPIC_API_KEY"), "{error}");
    let unknown = Engine::builder().model("antropic/claude").build().await.err().unwrap();
    assert!(unknown.to_string().contains("did you mean \"anthropic\""), "{unknown}");
}

#[tokio::test]
async fn a_vendor_of_ones_own_is_a_row_of_the_catalog() {
    let server = Server::start(vec![Answer::events(CHAT)]).await;
    let row = format!(
        "[vendor.acme]\ntitle = \"Acme\"\nwire = \"openai_chat\"\nbase_url = \"{}\"\nkey_env = [\"ACME_API_KEY\"]",
        server.address
    );
    let catalog = Catalog::builtin().unwrap().with(&row).unwrap();
    let builder = Engine::builder().catalog(catalog).env([("ACME_API_KEY", "sk-acme")]);
    assert_eq!(ask(builder.model("acme/large").build().await.unwrap()).await, "Hello.");
    assert_eq!(sent(&server).headers["authorization"], "Bearer sk-acme");
}
