//! Who may connect (S05), and for how long (S04).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use roundtable::prelude::*;
use roundtable_server::{Access, Settings};
use serde_json::json;

use super::message;
use crate::client::get;
use crate::kit::{self, ANN, BOB};
use crate::socket::{connect_as, try_connect};

#[tokio::test]
async fn s05_pages_of_other_origins_are_refused_before_the_upgrade() {
    let running = kit::local(Script::default()).await;
    let own = format!("http://{}", running.address);
    assert!(try_connect(running.address, &[("origin", &own)]).await.is_ok());
    for headers in [
        [("origin", "https://evil.example")],
        [("origin", "null")],
        [("sec-fetch-site", "cross-site")],
        [("sec-fetch-site", "same-site")],
    ] {
        assert_eq!(try_connect(running.address, &headers).await.err(), Some(403), "{headers:?}");
    }
    running.stop().await;
}

#[tokio::test]
async fn s05_a_browser_authenticates_with_a_subprotocol_and_nobody_with_the_url() {
    let running = kit::tenants(Script::default()).await;
    assert_eq!(try_connect(running.address, &[]).await.err(), Some(401));
    let protocol = |token: &str| format!("roundtable.v1, bearer.{}", URL_SAFE_NO_PAD.encode(token));
    let good = protocol(ANN);
    let mut socket =
        try_connect(running.address, &[("sec-websocket-protocol", &good)]).await.expect("a socket");
    assert_eq!(socket.next().await["actor"], "ann");
    let bad = protocol("token-of-nobody");
    let refused = try_connect(running.address, &[("sec-websocket-protocol", &bad)]).await;
    assert_eq!(refused.err(), Some(401));
    let by_url = get(running.address, &format!("/ws?token={ANN}")).send().await;
    assert_eq!(by_url.status, 401);
    running.stop().await;
}

#[tokio::test]
async fn a_request_that_is_no_handshake_is_told_so() {
    let running = kit::local(Script::default()).await;
    let answer = get(running.address, "/ws").send().await;
    assert_eq!(answer.problem(), (426, "not_a_websocket".to_owned()));
    running.stop().await;
}

#[tokio::test]
async fn s04_a_revoked_token_ends_the_connection_and_says_why() {
    let access = Access::from(kit::tokens(&[(ANN, "ann"), (BOB, "bob")]));
    let settings = Settings { access: access.clone(), ..Settings::default() };
    let running = kit::start(Script::default(), settings).await;
    let mut ann = connect_as(running.address, Some(ANN)).await;
    let mut bob = connect_as(running.address, Some(BOB)).await;
    access.replace(kit::tokens(&[(BOB, "bob")]));
    assert_eq!(ann.next().await["reason"], "revoked");
    assert_eq!(ann.close_code().await, Some(1008));
    assert_eq!(bob.ask(message("abc", "m1")).await["type"], "ack");
    assert_eq!(
        bob.ask(json!({ "type": "sessions" })).await["sessions"].as_array().map(Vec::len),
        Some(1)
    );
    running.stop().await;
}
