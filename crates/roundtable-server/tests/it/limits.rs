//! Limits per caller and for the whole server.

use std::path::Path;
use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::future::join_all;
use futures_util::stream::FuturesUnordered;
use roundtable::core::budget::Limits as Daily;
use roundtable::models::scripted::Fails;
use roundtable::models::{Retry, RetryPolicy};
use roundtable::prelude::*;
use roundtable_server::{Access, Quota, Quotas, Settings, Table};
use roundtable_testing::PausedClock;
use serde_json::{Value, json};

use crate::caller::Transport;
use crate::client::{Answer, get, post};
use crate::kit::{self, ANN, BOB, Serving};

/// The end of the day on which the clock of these tests starts.
const MIDNIGHT: &str = "2027-01-16T00:00:00Z";

fn topic() -> Value {
    json!({ "topic": "Shall we?", "agentCount": 2, "rounds": 9 })
}

fn calls(calls: u64) -> Quota {
    Quota { daily: Daily { calls: Some(calls), ..Daily::default() }, ..Quota::default() }
}

struct Limited {
    serving: Serving,
    model: ScriptedModel,
}

/// A server with limits, on a directory or in memory.
async fn limited(script: Script, table: Table, directory: Option<&Path>) -> Limited {
    let (model, quotas) = (ScriptedModel::new(script), Quotas::default());
    quotas.replace(table);
    let builder = Engine::builder().custom_model("scripted", model.clone());
    let builder = match directory {
        Some(directory) => builder.sqlite(directory),
        None => builder,
    };
    let builder = builder.clock(PausedClock::starting(0)).allowances(quotas.clone());
    let access = Access::from(kit::tokens(&[(ANN, "ann"), (BOB, "bob")]));
    let settings = Settings { access, quotas, ..Settings::default() };
    let engine = builder.build().await.expect("an engine");
    Limited { serving: kit::serve(engine, settings).await, model }
}

fn of_ann(quota: Quota) -> Table {
    Table::default().caller(Some("of-ann"), "ann", quota)
}

impl Limited {
    async fn start(&self, token: &str) -> Answer {
        post(self.serving.address, "/api/debates", &topic()).token(token).send().await
    }

    async fn go_on(&self, token: &str, started: &Answer) -> Answer {
        let id = started.json()["sessionId"].as_str().expect("a session").to_owned();
        let path = format!("/api/debates/{id}/continue");
        post(self.serving.address, &path, &json!({})).token(token).send().await
    }

    fn asked(&self) -> usize {
        self.model.count()
    }
}

/// The machine-readable part of a refusal.
fn refused(answer: &Answer) -> (u16, Value, Value, Value) {
    let body = answer.json();
    (answer.status, body["reason"].clone(), body["limit"].clone(), body["scope"].clone())
}

fn limit(name: &str, scope: &str) -> (u16, Value, Value, Value) {
    (429, json!("limit_reached"), json!(name), json!(scope))
}

#[tokio::test]
async fn s25_the_calls_of_a_day_are_never_more_than_the_limit_and_the_refusal_says_when_it_ends() {
    let limited = limited(Script::default(), of_ann(calls(3)), None).await;
    let started = limited.start(ANN).await;
    assert_eq!(started.status, 200, "{started:?}");
    let second = limited.go_on(ANN, &started).await;
    assert_eq!(
        (second.status, limited.asked()),
        (200, 3),
        "the fourth call was not made: {second:?}"
    );
    for answer in [limited.go_on(ANN, &started).await, limited.start(ANN).await] {
        assert_eq!(refused(&answer), limit("calls_per_day", "caller"), "{answer:?}");
        assert_eq!(
            (&answer.json()["allowed"], &answer.json()["ends"]),
            (&json!(3), &json!(MIDNIGHT))
        );
        assert!(answer.json()["error"].as_str().is_some_and(|it| it.contains(MIDNIGHT)));
        let retry = answer.headers.lines().find_map(|line| line.strip_prefix("retry-after: "));
        let retry: u64 = retry.expect("a header").trim().parse().expect("seconds");
        assert!((57_000..=57_600).contains(&retry), "{retry}");
    }
    assert_eq!(limited.start(BOB).await.status, 200, "others are not concerned");
    limited.serving.stop().await;
}

#[tokio::test]
async fn s25_under_a_limit_on_money_a_model_without_a_price_is_not_asked() {
    let daily = Daily { cost: Some(1_000_000), ..Daily::default() };
    let quota = Quota { daily, ..Quota::default() };
    let limited = limited(Script::default(), of_ann(quota), None).await;
    let answer = limited.start(ANN).await;
    assert_eq!((&answer.json()["status"], limited.asked()), (&json!("failed"), 0), "{answer:?}");
    let told = answer.json().to_string();
    assert!(told.contains("the price of this model is unknown"), "{told}");
    limited.serving.stop().await;
}

#[tokio::test(start_paused = true)]
async fn s25_requests_that_are_made_again_count_for_the_limit_of_the_day() {
    let down = || Reply::fails(Fails::Overloaded);
    let script = Script::default().voice("ann", [down()]);
    let (model, quotas) = (ScriptedModel::new(script), Quotas::default());
    quotas.replace(Table::server(calls(3)));
    let policy = RetryPolicy { attempts: 9, ..RetryPolicy::default() };
    let retried = Retry::new(Arc::new(model.clone()), policy);
    let builder = Engine::builder().custom_model("scripted", retried).allowances(quotas);
    let engine = builder.clock(PausedClock::starting(0)).build().await.expect("an engine");
    let session = engine.chat("x").agent("Ann").open().await.expect("a session");
    let answer = session.ask("Go.").await.expect("a round");
    assert_eq!(model.count(), 3, "{answer:?}");
    assert!(format!("{answer:?}").contains("the daily limit on calls"), "{answer:?}");
    engine.shutdown().await;
}

#[tokio::test]
async fn s25_a_limit_is_told_over_mcp_as_an_error_with_the_same_text() {
    let limited = limited(Script::default(), of_ann(calls(0)), None).await;
    let over_http = limited.start(ANN).await.json()["error"].clone();
    let mut caller = limited.serving.caller(Transport::Mcp2025);
    caller.token = Some(ANN);
    let over_mcp = caller.tool("start_roundtable", topic()).await.expect_err("a refusal");
    assert_eq!(json!(over_mcp.error), over_http);
    limited.serving.stop().await;
}

#[tokio::test]
async fn s25_two_processes_that_share_a_directory_spend_no_more_than_the_servers_limit() {
    let directory = tempfile::tempdir().expect("a directory");
    let table = || Table::server(calls(5));
    let one = limited(Script::default(), table(), Some(directory.path())).await;
    let two = limited(Script::default(), table(), Some(directory.path())).await;
    let starts = (0..8).map(|index| if index % 2 == 0 { one.start(ANN) } else { two.start(BOB) });
    let answers = join_all(starts).await;
    assert!(answers.iter().all(|answer| [200, 429].contains(&answer.status)), "{answers:?}");
    assert_eq!(one.asked() + two.asked(), 5, "all that is allowed, and no more");
    let later = two.start(BOB).await;
    assert_eq!(refused(&later), limit("calls_per_day", "server"));
    two.serving.stop().await;
    one.serving.stop().await;
}

#[tokio::test]
async fn f42_of_a_burst_only_as_many_rounds_run_as_may_and_the_others_are_told_to_wait() {
    let gate = || Reply::text("Yes.").at_gate("open");
    let script = Script::default().voice("synthesizer", [gate(), gate()]);
    let quota = Quota { running_rounds: Some(2), ..Quota::default() };
    let limited = limited(script, of_ann(quota), None).await;
    let mut starts: FuturesUnordered<_> = (0..20).map(|_| limited.start(ANN)).collect();
    for _ in 0..18 {
        let answer = starts.next().await.expect("an answer");
        assert_eq!(refused(&answer), limit("running_rounds", "caller"), "{answer:?}");
        assert!(answer.headers.contains("retry-after: 1"), "{answer:?}");
    }
    limited.model.gates().open("open");
    let finished: Vec<Answer> = starts.collect().await;
    assert_eq!(finished.iter().map(|answer| answer.status).collect::<Vec<_>>(), [200, 200]);
    assert_eq!(limited.start(ANN).await.status, 200, "there is room again");
    limited.serving.stop().await;
}

#[tokio::test]
async fn s25_sessions_and_stored_bytes_are_limited_and_concurrent_opens_do_not_overshoot() {
    let quota = Quota { sessions: Some(3), ..Quota::default() };
    let sessions = limited(Script::default(), of_ann(quota), None).await;
    let answers = join_all((0..10).map(|_| sessions.start(ANN))).await;
    let accepted: Vec<&Answer> = answers.iter().filter(|answer| answer.status == 200).collect();
    assert_eq!(accepted.len(), 3);
    assert_eq!(refused(&sessions.start(ANN).await), limit("sessions", "caller"));
    let more = sessions.go_on(ANN, accepted[0]).await;
    assert_eq!(more.status, 200, "a session that there is goes on: {more:?}");
    sessions.serving.stop().await;
    let quota = Quota { stored_bytes: Some(2000), ..Quota::default() };
    let bytes = limited(Script::default(), of_ann(quota), None).await;
    let first = bytes.start(ANN).await;
    assert_eq!(first.status, 200);
    assert_eq!(refused(&bytes.start(ANN).await), limit("stored_bytes", "caller"));
    assert_eq!(refused(&bytes.go_on(ANN, &first).await), limit("stored_bytes", "caller"));
    bytes.serving.stop().await;
}

#[tokio::test]
async fn s25_open_streams_are_limited_and_a_closed_one_makes_room() {
    let quota = Quota { streams: Some(1), ..Quota::default() };
    let limited = limited(Script::default(), of_ann(quota), None).await;
    let id = limited.start(ANN).await.json()["sessionId"].as_str().expect("a session").to_owned();
    let path = format!("/api/sessions/{id}/events");
    let read = || get(limited.serving.address, &path).token(ANN);
    let first = read().stream().await;
    assert_eq!(refused(&read().send().await), limit("streams", "caller"));
    drop(first);
    while read().status().await == 429 {
        tokio::task::yield_now().await;
    }
    limited.serving.stop().await;
}
