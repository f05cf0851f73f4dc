//! The process dies around a model call; the next one goes on.

use std::collections::BTreeSet;

use roundtable::Archive;
use roundtable::core::event::{Body, ToolCallEvent, TurnOutcome};
use roundtable::core::settings::Settings;
use roundtable_testing::provider::{Answer, Server, Stage};
use tokio::net::TcpListener;

use super::{Story, agent, but_one, patient, session_id, voice};

const CHAT: &str = "groq/worker";
const MESSAGES: &str = "anthropic/worker";

/// The model calls of one message to a worker: its own three, and two that its tool asks for.
const CALLS: usize = 5;

fn worker(model: &str) -> Story {
    Story::new(agent("Ann", model), Settings::default(), &["How many?"])
}

/// When a process dies.
#[derive(Debug, Clone, Copy)]
enum Moment {
    /// The provider has the request and says nothing.
    Asked,
    /// The provider has said half of the answer.
    Halfway,
    /// The provider has said everything.
    Answered,
}

/// A worker dies at a request, and another one goes on.
async fn dies(model: &str, request: usize, moment: Moment) {
    let label = format!("{model}, request {request}, {moment:?}");
    let server = but_one(request, move |one| match moment {
        Moment::Asked => Answer::Silence,
        Moment::Halfway => Answer::Stall(voice::half(one)),
        Moment::Answered => voice::answer(one),
    });
    let server = server.await;
    let stage = match moment {
        Moment::Asked => Stage::Arrived,
        Moment::Halfway => Stage::Begun,
        Moment::Answered => Stage::Answered,
    };
    let mut story = worker(model);
    story.cut(&server, request, stage).await;
    let cut = server.received()[request].key().to_owned();
    let recorded = recorded(&story).await;
    let before = server.received().len();
    let account = story.finish(&server).await;
    account.check(1);
    assert_eq!(account.outcomes(), [TurnOutcome::Answered], "{label}");
    assert_eq!(account.calls.len(), CALLS, "{label}");
    let asked_again: BTreeSet<&str> = account.received[before..].iter().map(|r| r.key()).collect();
    let repeated: Vec<&String> =
        recorded.iter().filter(|key| asked_again.contains(key.as_str())).collect();
    assert!(repeated.is_empty(), "{label}: {repeated:?} were recorded, and asked again");
    match moment {
        // It is the one call that was under way.
        Moment::Asked | Moment::Halfway => {
            assert!(!recorded.contains(&cut), "{label}");
            assert_eq!(account.requests()[cut.as_str()], 2, "{label}");
            assert_eq!((account.calls[&cut].cut.len(), account.declared()), (1, 1), "{label}");
        }
        // Whether the answer was recorded before the process died is for the scheduler to say.
        Moment::Answered => {
            let again = usize::from(!recorded.contains(&cut));
            assert_eq!(account.requests()[cut.as_str()], 1 + again, "{label}");
            assert_eq!(account.calls[&cut].cut.len(), again, "{label}");
        }
    }
}

/// The keys of the calls that are recorded as finished, while nobody writes.
async fn recorded(story: &Story) -> BTreeSet<String> {
    let log = Archive::open(story.directory.path()).unwrap().log(&session_id()).await.unwrap();
    super::Account::new(log, Vec::new(), Vec::new()).finished()
}

#[tokio::test]
async fn without_a_death_every_call_is_made_once_and_nothing_is_declared() {
    for model in [CHAT, MESSAGES] {
        let server = Server::following(|_, request| voice::answer(request)).await;
        let mut story =
            Story::new(agent("Ann", model), Settings::default(), &["How many?", "Sure?"]);
        let account = story.finish(&server).await;
        account.check(2);
        assert_eq!((account.received.len(), account.declared()), (2 * CALLS, 0));
        // A process that finds everything done does nothing, and its commands get their answers.
        let again = story.finish(&server).await;
        assert_eq!((again.received.len(), again.log.len()), (2 * CALLS, account.log.len()));
    }
}

#[tokio::test]
async fn f03_a_call_that_never_reached_the_provider_is_asked_once() {
    let deaf = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut story = worker(CHAT);
    let teller = story.begin(&format!("http://{}", deaf.local_addr().unwrap()));
    let dialled = patient("a connection", deaf.accept()).await.unwrap();
    story.runs.extend(teller.kill().await);
    drop(dialled);
    story.verify().await;
    let server = Server::following(|_, request| voice::answer(request)).await;
    let account = story.finish(&server).await;
    account.check(1);
    // Nobody can know that it did not arrive, so it is declared; it is not doubled.
    assert_eq!((account.received.len(), account.declared()), (CALLS, 1));
}

#[tokio::test]
async fn f04_a_process_that_dies_while_a_chat_provider_has_its_request_asks_again_and_says_so() {
    for request in 0..CALLS {
        dies(CHAT, request, Moment::Asked).await;
    }
}

#[tokio::test]
async fn f04_a_process_that_dies_while_a_chat_provider_answers_asks_again_and_says_so() {
    for request in 0..CALLS {
        dies(CHAT, request, Moment::Halfway).await;
    }
}

#[tokio::test]
async fn f04_a_process_that_dies_while_a_messages_provider_answers_asks_again_and_says_so() {
    for request in 0..CALLS {
        dies(MESSAGES, request, Moment::Halfway).await;
    }
}

#[tokio::test]
async fn f05_a_process_that_dies_when_the_answer_is_there_asks_again_only_what_is_not_recorded() {
    for request in 0..CALLS {
        dies(CHAT, request, Moment::Answered).await;
        dies(MESSAGES, request, Moment::Answered).await;
    }
}

#[tokio::test]
async fn f04_a_process_that_dies_at_every_call_still_comes_to_the_end() {
    // Every second request is cut: each call is made twice.
    let server = Server::following(|number, request| match number % 2 {
        0 => Answer::Stall(voice::half(request)),
        _ => voice::answer(request),
    });
    let server = server.await;
    let mut story = worker(CHAT);
    for call in 0..CALLS {
        story.cut(&server, 2 * call, Stage::Begun).await;
    }
    let account = story.finish(&server).await;
    account.check(1);
    assert!(account.requests().values().all(|&asked| asked == 2));
    assert_eq!((account.received.len(), account.declared()), (2 * CALLS, CALLS));
    assert_eq!(account.outcomes(), [TurnOutcome::Answered]);
}

#[tokio::test]
async fn f06_a_tool_that_is_done_is_not_run_again_while_the_one_beside_it_is() {
    // The second request is the first prompt of `ponder`; `look` runs beside it.
    let server = but_one(1, |_| Answer::Silence).await;
    let mut story = worker(CHAT);
    let teller = story.begin(&server.address);
    patient("the nested prompt", server.reaches(1, Stage::Arrived)).await;
    patient("the end of the other tool", async {
        while !has_finished_tool(&story).await {
            tokio::task::yield_now().await;
        }
    })
    .await;
    story.runs.extend(teller.kill().await);
    let account = story.finish(&server).await;
    account.check(1);
    // It looks once more in its second iteration.
    assert_eq!((account.runs_of("look"), account.runs_of("ponder")), (2, 2));
    assert_eq!(account.outcomes(), [TurnOutcome::Answered]);
}

async fn has_finished_tool(story: &Story) -> bool {
    let archive = Archive::open(story.directory.path()).unwrap();
    let log = archive.log(&session_id()).await.unwrap();
    let finished = |body: &Body| matches!(body, Body::ToolCall(ToolCallEvent::ToolCallFinished(_)));
    log.iter().any(|event| finished(&event.body))
}

#[tokio::test]
async fn f04_what_was_said_before_the_death_is_kept_apart_from_the_answer() {
    let server = but_one(0, |request| Answer::Stall(voice::half(request))).await;
    let ann = agent("Ann", "groq/plain");
    let mut story = Story::new(ann, Settings::default(), &["How many?"]);
    let teller = story.begin(&server.address);
    patient("half of an answer", server.reaches(0, Stage::Begun)).await;
    patient("a note of it", async {
        while !has_draft(&story) {
            tokio::task::yield_now().await;
        }
    })
    .await;
    story.runs.extend(teller.kill().await);
    let account = story.finish(&server).await;
    account.check(1);
    let partial = &account.calls.values().next().unwrap().cut[0];
    let whole = "So be it, I have nothing against it.";
    assert!(!partial.is_empty() && whole.starts_with(partial.as_str()), "{partial:?}");
    assert_ne!(partial, whole);
}

fn has_draft(story: &Story) -> bool {
    let file = story.directory.path().join("roundtable.db");
    let shell = rusqlite::Connection::open(file).unwrap();
    let count = shell.query_row("SELECT count(*) FROM draft", [], |row| row.get::<_, i64>(0));
    count.is_ok_and(|count| count > 0)
}
