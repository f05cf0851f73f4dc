//! Requests that a foreign page makes a browser send.

use roundtable::prelude::*;
use roundtable_server::Settings;
use serde_json::json;

use crate::client::{get, post, request};
use crate::kit;

#[tokio::test]
async fn s06_a_name_that_is_not_the_servers_gets_nowhere() {
    let running = kit::local(Script::default()).await;
    let port = running.address.port();
    for path in ["/health", "/api/sessions", "/mcp", "/nowhere"] {
        for host in [
            "evil.com",
            "evil.com:7777",
            "127.0.0.1.evil.com",
            "localhost.evil.com",
            "user@localhost",
            "10.0.0.1",
            "",
            "localhost, evil.com",
        ] {
            let answer = get(running.address, path).host(host).send().await;
            assert!([400, 403].contains(&answer.status), "{path} {host}: {answer:?}");
        }
        let twice = get(running.address, path).header("host", "evil.com").send().await;
        assert!([400, 403].contains(&twice.status), "{path}: {twice:?}");
    }
    let absolute = request(running.address, "GET", "http://evil.com/health").send().await;
    assert_eq!(absolute.problem(), (403, "host".to_owned()));
    for host in [
        "localhost".to_owned(),
        format!("localhost:{port}"),
        format!("127.0.0.1:{port}"),
        "[::1]".to_owned(),
        "LOCALHOST".to_owned(),
    ] {
        assert_eq!(get(running.address, "/health").host(&host).send().await.status, 200, "{host}");
    }
    running.stop().await;
}

#[tokio::test]
async fn s05_s07_pages_of_other_sites_get_nowhere() {
    let running = kit::local(Script::default()).await;
    let session = kit::session(&running.engine, None, "x").await;
    let path = format!("/api/sessions/{}/context-results", session.id());
    let body = json!({ "contextResults": [] });
    for origin in [
        "https://evil.com",
        "null",
        "http://127.0.0.1",
        "http://localhost:1",
        "file://",
        "http://evil.com@127.0.0.1",
    ] {
        for path in ["/health", "/api/sessions", "/mcp"] {
            let answer = get(running.address, path).header("origin", origin).send().await;
            assert_eq!(answer.problem(), (403, "origin".to_owned()), "{path} {origin}");
        }
        let answer = post(running.address, &path, &body).header("origin", origin).send().await;
        assert_eq!(answer.status, 403, "{origin}");
    }
    for site in ["cross-site", "same-site"] {
        let answer =
            get(running.address, "/api/sessions").header("sec-fetch-site", site).send().await;
        assert_eq!(answer.problem(), (403, "origin".to_owned()), "{site}");
    }
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonx",
        "",
    ] {
        let form = request(running.address, "POST", &path)
            .header("content-type", kind)
            .body(body.to_string());
        assert_eq!(form.send().await.problem(), (415, "content_type".to_owned()), "{kind}");
    }
    let own = format!("http://{}", running.address);
    let same = get(running.address, "/api/sessions")
        .header("origin", &own)
        .header("sec-fetch-site", "same-origin");
    assert_eq!(same.send().await.status, 200);
    running.stop().await;
}

#[tokio::test]
async fn s08_a_preflight_from_a_foreign_page_is_not_answered() {
    let origins = vec!["https://app.example".to_owned()];
    let running = kit::start(Script::default(), Settings { origins, ..Settings::default() }).await;
    let preflight = |origin: &str| {
        let asked = request(running.address, "OPTIONS", "/api/sessions").header("origin", origin);
        asked
            .header("access-control-request-method", "GET")
            .header("access-control-request-headers", "authorization")
    };
    let foreign = preflight("https://evil.com").send().await;
    assert_eq!(foreign.status, 403);
    assert!(!foreign.headers.contains("access-control"), "{}", foreign.headers);
    let listed = preflight("https://app.example").send().await;
    assert_eq!(listed.status, 204);
    assert!(listed.headers.contains("access-control-allow-origin: https://app.example"));
    assert!(!listed.headers.contains("allow-credentials"));
    let read = get(running.address, "/api/sessions").header("origin", "https://app.example");
    let read = read.header("sec-fetch-site", "cross-site").send().await;
    assert_eq!(read.status, 200);
    assert!(read.headers.contains("access-control-allow-origin: https://app.example"));
    running.stop().await;
}

#[tokio::test]
async fn every_answer_says_what_it_is_and_is_not_kept() {
    let running = kit::local(Script::default()).await;
    for path in ["/health", "/api/sessions", "/nowhere", "/api/sessions/ses_x"] {
        let answer = get(running.address, path).send().await;
        for header in [
            "x-content-type-options: nosniff",
            "cache-control: no-store",
            "content-type: application/json",
        ] {
            assert!(answer.headers.contains(header), "{path}: {}", answer.headers);
        }
    }
    assert_eq!(
        get(running.address, "/nowhere").send().await.problem(),
        (404, "not_found".to_owned())
    );
    let wrong = post(running.address, "/api/sessions", &json!({})).send().await;
    assert_eq!(wrong.problem(), (405, "method".to_owned()));
    running.stop().await;
}
