//! Who gets at what.

use roundtable::core::event::{Body, TurnEvent};
use roundtable::prelude::*;
use roundtable_server::{Access, Door, Server, Settings, check};
use serde_json::json;

use crate::client::{Answer, Events, Request, get, post, request};
use crate::kit::{self, ANN, BOB, Running};

const CANARY: &str = "canary-topic-of-ann";

/// A session of Ann's tenant with a finished round, and one of its turns.
async fn anns(running: &Running) -> (String, String) {
    let session = kit::session(&running.engine, Some("of-ann"), CANARY).await;
    session.ask("Go.").await.expect("a round");
    let log = session.log().await.expect("a log");
    let turn = log.iter().find_map(|event| match &event.body {
        Body::Turn(TurnEvent::TurnStarted { .. }) => event.place.turn.clone(),
        _ => None,
    });
    (session.id().to_string(), turn.expect("a turn").to_string())
}

/// Every route that there is, as a request for Ann's session.
fn requests(running: &Running, session: &str, turn: &str) -> Vec<(Request, &'static str, Door)> {
    let filled = |path: &str| {
        let path = path.replace("{sessionId}", session).replace("{turnId}", turn);
        let path = path.replace("{conversationId}", session).replace("{messageId}", "m1");
        path.replace("{number}", "1").replace("{roundNumber}", "1").replace("{agentId}", "ada")
    };
    let made = |(method, path, door): (http::Method, &'static str, Door)| {
        let request = request(running.address, method.as_str(), &filled(path));
        let request = request
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        let request = if method == http::Method::POST { request.body("{}") } else { request };
        (request, path, door)
    };
    Server::routes().into_iter().map(made).collect()
}

#[tokio::test]
async fn s01_no_route_answers_someone_without_a_token_or_with_a_wrong_one() {
    let running = kit::tenants(Script::default()).await;
    let (session, turn) = anns(&running).await;
    let mut open = Vec::new();
    for (request, path, door) in requests(&running, &session, &turn) {
        if door == Door::Open {
            open.push(path);
            continue;
        }
        for sent in
            [request.clone(), request.clone().token("token-of-nobody-1"), request.clone().token("")]
        {
            let answer = sent.send().await;
            assert_eq!(answer.problem(), (401, "unauthenticated".to_owned()), "{path}");
            assert!(answer.headers.contains("www-authenticate: bearer"), "{path}");
        }
    }
    assert_eq!(open, ["/health"], "these need no token");
    running.stop().await;
}

#[tokio::test]
async fn s01_s29_to_another_tenant_a_session_looks_as_if_it_were_not_there() {
    let running = kit::tenants(Script::default()).await;
    let (session, turn) = anns(&running).await;
    let missing = format!("{}0", &session[..session.len() - 1]);
    let missing =
        if missing == session { format!("{}1", &session[..session.len() - 1]) } else { missing };
    let theirs = requests(&running, &session, &turn);
    let nobodys = requests(&running, &missing, &turn);
    for ((theirs, path, _), (nobodys, ..)) in theirs.into_iter().zip(nobodys) {
        let answer = theirs.token(BOB).send().await;
        assert!(!answer.body.contains(CANARY), "{path}: {answer:?}");
        if path.contains("{sessionId}") {
            let same = nobodys.token(BOB).send().await;
            let same = Answer { body: same.body.replace(&missing, &session), ..same };
            let dateless = |answer: Answer| (answer.status, answer.body);
            assert_eq!(dateless(answer.clone()), dateless(same), "{path}");
            assert_eq!(answer.status, 404, "{path}: {answer:?}");
        }
    }
    let list = get(running.address, "/api/sessions").token(BOB).send().await;
    // What Bob has opened on the way is his own.
    assert!(!list.body.contains(&session) && !list.body.contains(CANARY), "{list:?}");
    let list = get(running.address, "/api/sessions").token(ANN).send().await;
    assert_eq!(list.json()["sessions"][0]["topic"], CANARY);
    running.stop().await;
}

#[tokio::test]
async fn s02_a_token_is_one_in_its_header_and_nowhere_else() {
    let running = kit::tenants(Script::default()).await;
    let list = || get(running.address, "/api/sessions");
    assert_eq!(list().token(ANN).send().await.status, 200);
    let elsewhere = [
        list().header("x-api-key", ANN),
        list().header("cookie", &format!("token={ANN}; authorization=Bearer {ANN}")),
        list().header("sec-websocket-protocol", ANN),
        list().header("proxy-authorization", &format!("Bearer {ANN}")),
        get(running.address, &format!("/api/sessions?token={ANN}")),
        get(running.address, &format!("/api/sessions?access_token={ANN}")),
        list().token(ANN).token(BOB),
        list().header("authorization", ANN),
    ];
    for (index, request) in elsewhere.into_iter().enumerate() {
        assert_eq!(request.send().await.status, 401, "{index}");
    }
    running.stop().await;
}

#[tokio::test]
async fn s03_an_id_that_is_a_path_a_wildcard_or_a_pattern_is_no_session() {
    let running = kit::local(Script::default()).await;
    kit::session(&running.engine, None, "mine").await;
    for id in [
        "*",
        "%2A",
        "%25",
        "_",
        ">",
        "%3E",
        ".",
        "..%2f..%2fetc",
        "%00",
        "ses_%00",
        "ses_*",
        "ses_.",
        "ses_%27OR%271",
        "trn_1",
    ] {
        for path in [format!("/api/sessions/{id}"), format!("/api/sessions/{id}/events")] {
            let answer = get(running.address, &path).send().await;
            assert!([400, 404].contains(&answer.status), "{path}: {answer:?}");
        }
    }
    running.stop().await;
}

#[tokio::test]
async fn s20_a_page_goes_on_where_a_list_said_and_nowhere_else() {
    let running = kit::tenants(Script::default()).await;
    let (session, _) = anns(&running).await;
    for before in [session.as_str(), "ses_nobody", "x", "", "-1", "1%20OR%201"] {
        let path = format!("/api/sessions?before={before}");
        let answer = get(running.address, &path).token(BOB).send().await;
        assert_eq!(answer.problem(), (400, "unknown_cursor".to_owned()), "{before}");
    }
    let path = format!("/api/sessions?before={session}");
    let answer = get(running.address, &path).token(ANN).send().await;
    assert_eq!(answer.json(), json!({ "sessions": [] }));
    running.stop().await;
}

#[tokio::test]
async fn another_tenant_cannot_answer_what_an_agent_asked() {
    let running = kit::tenants(kit::asking()).await;
    let session = kit::session(&running.engine, Some("of-ann"), "x").await;
    session.ask("Go.").await.expect("a round");
    let request = session.pending().await.expect("requests").remove(0);
    let body = json!({ "contextResults": [{ "requestId": request.id, "success": true, "result": "forged" }] });
    let path = format!("/api/sessions/{}/context-results", session.id());
    assert_eq!(post(running.address, &path, &body).token(BOB).send().await.status, 404);
    assert_eq!(session.pending().await.expect("requests").len(), 1);
    assert_eq!(post(running.address, &path, &body).token(ANN).send().await.status, 200);
    assert_eq!(session.pending().await.expect("requests").len(), 0);
    running.stop().await;
}

#[test]
fn s33_a_server_that_anyone_could_use_does_not_listen() {
    for address in ["0.0.0.0:7777", "[::]:7777", "192.0.2.1:80"] {
        let refused = check(address.parse().expect("an address"), &Access::default());
        assert!(refused.expect_err("unprotected").to_string().contains("[[token]]"), "{address}");
    }
    for address in ["127.0.0.1:7777", "[::1]:0", "127.8.8.8:1"] {
        assert!(check(address.parse().expect("an address"), &Access::default()).is_ok());
    }
}

/// A stream of the events of a session of one tenant, with its first event read.
async fn reading(running: &Running, tenant: &str, token: &str) -> (Session, Events) {
    let session = kit::session(&running.engine, Some(tenant), "x").await;
    let path = format!("/api/sessions/{}/events", session.id());
    let mut events = get(running.address, &path).token(token).stream().await;
    assert_eq!(events.next().await.expect("an event").data["seq"], 1);
    (session, events)
}

#[tokio::test]
async fn s04_a_stream_ends_when_its_token_is_revoked_and_others_go_on() {
    let access = Access::from(kit::tokens(&[(ANN, "ann"), (BOB, "bob")]));
    let settings = Settings { access: access.clone(), ..Settings::default() };
    let running = kit::start(Script::default(), settings).await;
    let (anns, mut ann) = reading(&running, "of-ann", ANN).await;
    let (bobs, mut bob) = reading(&running, "of-bob", BOB).await;
    access.replace(kit::tokens(&[(BOB, "bob")]));
    let end = ann.next().await.expect("an end");
    assert_eq!((end.name.as_str(), &end.data["reason"]), ("end", &"revoked".into()));
    assert_eq!(end.data["resumeFrom"], format!("{}:1", anns.id()));
    assert_eq!(ann.next().await, None, "the server hangs up");
    let path = format!("/api/sessions/{}/events", anns.id());
    let again = get(running.address, &path).token(ANN).header("last-event-id", "1").send().await;
    assert_eq!(again.problem(), (401, "unauthenticated".to_owned()));
    bobs.ask("Go.").await.expect("a round");
    assert_eq!(bob.next().await.expect("an event").data["seq"], 2);
    running.stop().await;
}

#[tokio::test]
async fn s04_whoever_waits_for_a_round_over_mcp_is_cut_off_when_the_token_is_revoked() {
    let access = Access::from(kit::tokens(&[(ANN, "ann")]));
    let settings = Settings { access: access.clone(), ..Settings::default() };
    let script = Script::default().voice("ada", [Reply::text("Yes.").at_gate("shut")]);
    let running = kit::start(script, settings).await;
    let debate = running.engine.debate("x").agent("Ada").agent("Bo").tenant("of-ann");
    let debate = debate.start().await.expect("a debate");
    let waits = json!({
        "name": "continue_roundtable",
        "arguments": { "sessionId": debate.id() },
        "_meta": { "progressToken": 1 },
    });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": waits });
    let request = post(running.address, "/mcp", &body)
        .token(ANN)
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2025-11-25");
    let mut events = request.stream().await;
    let first = events.next().await.expect("who is speaking");
    assert_eq!(first.data["method"], "notifications/progress", "{first:?}");
    access.replace(kit::tokens(&[]));
    assert_eq!(events.next().await, None, "no answer to the call");
    running.model.gates().open("shut");
    assert_eq!(debate.wait(1).await.expect("a round").number, 1, "the round itself goes on");
    running.stop().await;
}
