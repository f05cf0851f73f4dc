//! The provider refuses, breaks off, and is back; the process may die meanwhile.

use roundtable::core::event::{Body, IterationEvent, TurnOutcome};
use roundtable::core::settings::Settings;
use roundtable_testing::provider::{Answer, Server, Stage};

use super::{Story, agent, but_one, voice};

fn plain(messages: &'static [&'static str]) -> Story {
    Story::new(agent("Ann", "groq/plain"), Settings::default(), messages)
}

fn limited() -> Answer {
    Answer::refusal(429, &[("retry-after", "0")], "{\"error\":{\"message\":\"slow down\"}}")
}

#[tokio::test]
async fn f28_refusals_and_a_reset_before_the_first_word_are_one_call_with_one_key() {
    let server = Server::following(|number, request| match number {
        0 => limited(),
        1 => Answer::refusal(500, &[("retry-after-ms", "1")], "oops"),
        2 => Answer::Reset(String::new()),
        _ => voice::answer(request),
    });
    let server = server.await;
    let account = plain(&["How many?"]).finish(&server).await;
    assert_eq!(account.requests().into_values().collect::<Vec<_>>(), [4]);
    let call = account.calls.values().next().unwrap();
    assert_eq!((call.started, call.cut.len(), call.finished.len()), (1, 0, 1));
    assert!(account.received.iter().all(|one| one.body == account.received[0].body));
    assert_eq!(account.outcomes(), [TurnOutcome::Answered]);
}

#[tokio::test]
async fn f28_a_process_that_dies_while_it_is_told_to_wait_asks_again_with_the_same_key() {
    // An hour: whoever asked is still waiting when it dies.
    let later = Answer::refusal(429, &[("retry-after", "3600")], "{}");
    let server = Server::following(move |number, request| match number {
        0 => later.clone(),
        1 => limited(),
        _ => voice::answer(request),
    });
    let server = server.await;
    let mut story = plain(&["How many?"]);
    story.cut(&server, 0, Stage::Answered).await;
    let account = story.finish(&server).await;
    assert_eq!(account.requests().into_values().collect::<Vec<_>>(), [3]);
    assert_eq!(account.declared(), 1);
    assert_eq!(account.outcomes(), [TurnOutcome::Answered]);
}

#[tokio::test]
async fn f28_an_answer_that_breaks_off_is_a_failed_turn_and_the_session_goes_on() {
    let server = but_one(0, |request| Answer::Reset(voice::half(request))).await;
    let account = plain(&["How many?", "Again?"]).finish(&server).await;
    let outcomes = account.outcomes();
    assert!(matches!(outcomes[0], TurnOutcome::Failed { .. }), "{outcomes:?}");
    assert_eq!(outcomes[1], TurnOutcome::Answered);
    // Once something was said it is not asked again, and half an answer is none.
    assert!(account.requests().values().all(|&asked| asked == 1));
    let texts: Vec<&str> = { account.log.iter() }
        .filter_map(|event| match &event.body {
            Body::Iteration(IterationEvent::ModelCallFinished { text, .. }) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(texts, ["So be it, I have nothing against it."]);
}
