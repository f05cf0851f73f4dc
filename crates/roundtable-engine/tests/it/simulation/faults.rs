//! Faults that have a number: a process dies around one call.

use std::time::Duration;

use roundtable_backend::Fault;
use roundtable_core::event::{Body, IterationEvent, ToolCallEvent};
use roundtable_core::input::{Command, OnBusy};
use roundtable_core::settings::Order;
use roundtable_core::tool::ToolOutcome;
use roundtable_models::scripted::{Reply, Script};
use roundtable_testing::oracle::{Answer, Evidence};
use roundtable_testing::sim::{
    Act, Client, Dice, End, Fate, Life, Odds, Plan, Seed, Sight, Turn, World, job,
};

use super::people::{
    answers, call, closed, count, events, model_calls, open, people, received, say, session, worker,
};

/// How long people stay away after a crash: the engine has to go on by itself.
const AWAY: Duration = Duration::from_secs(30);

/// A session in which Ann is asked one thing. Its commits: 0 opens the session, 1 accepts the
/// message and starts the model call, 2 has the answer.
fn one_question(name: &str, reply: Reply) -> World {
    let acts = vec![open(vec![worker("Ann")], Order::Parallel), say("Well?")];
    World::new(name, Script::default().voice("ann", [reply]), people(name, acts))
}

/// What came of a life that ended as it should, and of the one after it.
fn after(mut world: World, life: &Life, end: End) -> Evidence {
    assert_eq!(world.live(life), end);
    world.come_to_rest(AWAY)
}

#[test]
fn f03_a_call_that_never_reached_the_provider_is_made_again_and_billed_once() {
    let world = one_question("f03", Reply::text("Yes."));
    let evidence = after(world, &Life::with(Plan::at(1, Fault::CrashAfter)), End::Crashed);
    assert_eq!(
        model_calls(&evidence),
        ["started 1", "interrupted 1 \"\" duplicate: true", "started 2", "finished 2 \"Yes.\""]
    );
    assert_eq!(received(&evidence), [(2, true)]);
}

#[test]
fn f04_a_call_that_is_cut_off_while_it_is_answered_is_declared_and_made_again() {
    let world = one_question("f04", Reply::text("Slowly, but surely.").in_pieces(4, 600));
    let killed = Life::fine().ending(Fate::Killed(Duration::from_millis(1500)));
    let evidence = after(world, &killed, End::Killed);
    assert_eq!(
        model_calls(&evidence),
        [
            "started 1",
            "interrupted 1 \"Slowly, \" duplicate: true",
            "started 2",
            "finished 2 \"Slowly, but surely.\""
        ]
    );
    assert_eq!(received(&evidence), [(1, false), (2, true)]);
}

#[test]
fn f05_an_answer_that_was_not_committed_is_declared_as_a_possible_duplicate() {
    let world = one_question("f05", Reply::text("Yes."));
    let evidence = after(world, &Life::with(Plan::at(2, Fault::CrashBefore)), End::Crashed);
    assert_eq!(
        model_calls(&evidence),
        ["started 1", "interrupted 1 \"\" duplicate: true", "started 2", "finished 2 \"Yes.\""]
    );
    assert_eq!(received(&evidence), [(1, true), (2, true)]);
}

#[test]
fn f06_of_two_parallel_tool_calls_only_the_unfinished_one_is_run_again() {
    let calls = [call("look", job("the slow one", 900)), call("note", job("the quick one", 30))];
    let script = Script::default().voice("ann", [Reply::calls(calls), Reply::text("Seen.")]);
    let acts = vec![open(vec![worker("Ann")], Order::Parallel), say("Well?")];
    let world = World::new("f06", script, people("f06", acts));
    // The commits: session, message, reply, two publications of the quick one, its finish.
    let evidence = after(world, &Life::with(Plan::at(6, Fault::CrashBefore)), End::Crashed);
    let runs = |tool: &str| evidence.executions.iter().filter(|run| run.tool == tool).count();
    assert_eq!((runs("look"), runs("note")), (2, 1));
    let finished: Vec<&str> = events(&evidence)
        .filter_map(|event| match &event.body {
            Body::ToolCall(ToolCallEvent::ToolCallFinished(outcome)) => Some(outcome.message()),
            _ => None,
        })
        .collect();
    assert_eq!(finished, ["note of the quick one is done", "look of the slow one is done"]);
    let prompt = &evidence.received.last().unwrap().prompt;
    let place = |text: &str| prompt.find(text).unwrap();
    assert!(place("the slow one is done") < place("the quick one is done"), "{prompt}");
}

#[test]
fn f08_f09_a_process_that_was_cut_off_finds_its_session_taken_over_and_writes_nothing() {
    let script = Script::default()
        .voice("ann", [Reply::text("Yes.").after(10_000)])
        .voice("ann", [Reply::text("Still yes.")]);
    let acts = vec![
        open(vec![worker("Ann")], Order::Parallel),
        say("Well?"),
        Act::Until(Sight::Closed(1)),
        Act::Wait(60_000),
        say("And now?"),
    ];
    // The first process is cut off from the store while it waits for the provider; the second one
    // looks for sessions that nobody drives. The message after that reaches whoever owns it.
    let people = vec![Client::new("usr", &session("f08"), answers(), acts)];
    let life = Life::fine().beside(Plan::fine()).taking(Turn::CutOff(Duration::from_secs(2)));
    let mut world = World::new("f08", script, people);
    world.config.idle_after = Duration::from_secs(600);
    let evidence = after(world, &life, End::Rest);
    assert_eq!(
        model_calls(&evidence),
        [
            "started 1",
            "interrupted 1 \"\" duplicate: true",
            "started 2",
            "finished 2 \"Yes.\"",
            "started 1",
            "finished 1 \"Still yes.\""
        ]
    );
    assert_eq!(received(&evidence), [(1, true), (2, true), (1, true)]);
    let epochs: Vec<u64> = evidence.logs[&session("f08")].iter().map(|s| s.epoch).collect();
    let (first, last) = (epochs.first().copied(), epochs.last().copied());
    assert_eq!((first, last), (Some(1), Some(2)), "one takeover, and no way back");
}

#[test]
fn f16_rounds_go_on_when_the_store_is_back_though_nobody_asks() {
    let script = Script::default()
        .voice("ann", [Reply::text("Yes.").after(3000)])
        .voice("bob", [Reply::calls([call("note", job("it", 5000))]), Reply::text("Noted.")]);
    let acts = vec![open(vec![worker("Ann"), worker("Bob")], Order::Parallel), say("Well?")];
    let life = Life::fine().taking(Turn::Outage(Duration::from_secs(2)));
    let evidence = after(World::new("f16", script, people("f16", acts)), &life, End::Rest);
    assert_eq!(closed(&evidence), 1);
}

#[test]
fn f20_readers_get_the_log_without_a_single_ring() {
    let calls = [call("look", job("a", 10)), call("note", job("b", 10))];
    let script = Script::default().voice("ann", [Reply::calls(calls), Reply::text("Seen.")]);
    let acts = vec![open(vec![worker("Ann")], Order::Parallel), say("Look."), say("Again.")];
    let odds = Odds { silent: 1000, ..Odds::default() };
    let life = Life::with(Plan::chance(Dice::new(Seed(20)), odds));
    let evidence = after(World::new("f20", script, people("f20", acts)), &life, End::Rest);
    assert_eq!(closed(&evidence), 2);
}

#[test]
fn f25_an_answer_counts_once_however_often_and_late_it_is_given() {
    let ask = serde_json::json!({ "query": "How many?", "reason": "to know" });
    let script = Script::default()
        .voice("ann", [Reply::calls([call("request_context", ask)]), Reply::text("I asked.")])
        .voice("ann", [Reply::text("I know.")]);
    let acts = vec![
        open(vec![worker("Ann")], Order::Parallel),
        say("Well?"),
        Act::Until(Sight::Closed(1)),
        Act::Until(Sight::Rest),
        Act::AnswerAgain,
        say("And now?"),
        Act::AnswerAgain,
        Act::Until(Sight::Closed(2)),
        Act::Send(Command::Stop),
        Act::AnswerAgain,
    ];
    let world = World::new("f25", script, people("f25", acts));
    let evidence = after(world, &Life::fine(), End::Rest);
    assert_eq!(count(&evidence, |body| body.kind() == "context_provided"), 1);
    let acknowledged = |answer: &Answer| matches!(answer, Answer::Acknowledged(_));
    assert!(evidence.orders.iter().all(|order| acknowledged(&order.answer)));
}

#[test]
fn f27_a_stop_that_races_the_answer_leaves_one_end_and_keeps_what_was_said() {
    let text = "One two three four.";
    let mut ends = std::collections::BTreeSet::new();
    for ms in 0..60 {
        let script = Script::default().voice("ann", [Reply::text(text).in_pieces(5, 10)]);
        let acts = vec![
            open(vec![worker("Ann")], Order::Parallel),
            say("Count."),
            Act::Wait(ms),
            Act::Send(Command::Stop),
        ];
        let world = World::new(format!("f27 after {ms} ms"), script, people("f27", acts));
        let evidence = after(world, &Life::fine(), End::Rest);
        let calls = model_calls(&evidence);
        assert_eq!(calls.len(), 2, "{ms}: {calls:?}");
        for event in events(&evidence) {
            if let Body::Iteration(IterationEvent::ModelCallCancelled { partial, .. }) = &event.body
            {
                assert!(text.starts_with(partial.as_str()) && partial.len() < text.len());
            }
        }
        ends.insert(calls[1].clone());
    }
    // Every point of the stream was met, from before the first word to after the last one.
    assert_eq!(ends.len(), 5, "{ends:?}");
}

#[test]
fn f27_a_message_that_cuts_a_round_off_closes_all_of_it_and_opens_its_own() {
    let long = call("send", job("a long one", 5000));
    let script = Script::default()
        .voice("ann", [Reply::text("Slowly, slowly.").in_pieces(3, 500)])
        .voice("ann", [Reply::text("At once.")])
        .voice("bob", [Reply::calls([long]), Reply::text("Sent.")])
        .voice("bob", [Reply::text("Yes.")]);
    let acts = vec![
        open(vec![worker("Ann"), worker("Bob")], Order::Parallel),
        say("Begin."),
        Act::Wait(1200),
        Act::Say("Stop that.".to_owned(), OnBusy::Interrupt),
    ];
    let evidence = after(World::new("f27", script, people("f27", acts)), &Life::fine(), End::Rest);
    let unknown = |body: &Body| {
        matches!(body, Body::ToolCall(ToolCallEvent::ToolCallFinished(ToolOutcome::Unknown { .. })))
    };
    assert_eq!(count(&evidence, unknown), 1);
    let calls = model_calls(&evidence);
    assert!(calls.contains(&"cancelled 1 \"Slowly\"".to_owned()), "{calls:?}");
}

#[test]
fn f31_a_handler_that_panics_spoils_its_own_call_only() {
    let script = Script::default()
        .voice("ann", [Reply::calls([call("burst", job("a pipe", 10))]), Reply::text("Oh.")])
        .voice("bob", [Reply::text("Fine.").after(50)]);
    let acts = vec![open(vec![worker("Ann"), worker("Bob")], Order::Parallel), say("Go.")];
    let evidence = after(World::new("f31", script, people("f31", acts)), &Life::fine(), End::Rest);
    let answered = count(&evidence, |body| body.kind() == "turn_ended");
    let asked = count(&evidence, |body| body.kind() == "context_requested");
    assert_eq!((answered, asked), (2, 1));
}
