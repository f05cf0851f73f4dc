//! The oracle can fail: sound evidence is doctored in one place, and the right promise is named.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use roundtable_backend::StoredEvent;
use roundtable_core::agent::Agent;
use roundtable_core::context_request::{About, ContextResult};
use roundtable_core::event::{Body, ContextEvent, Event, IterationEvent, Seq, ToolCallEvent};
use roundtable_core::id::SessionId;
use roundtable_core::input::{Command, OnBusy};
use roundtable_core::settings::Settings;
use roundtable_core::tool::{Effect, ToolOutcome, ToolResult};
use roundtable_models::scripted::{Call, Reply, Script};

use super::{Answer, Evidence, Rule};
use crate::sim::{Act, Client, Conduct, Dice, Fate, Life, Seed, Sight, Workshop, World, job};
use crate::{agent, opening};

fn session() -> SessionId {
    SessionId::new("sound").expect("a session id")
}

fn fork() -> SessionId {
    SessionId::new("fork").expect("a session id")
}

/// Evidence of a run with everything in it: a crash in the middle of tools of every class, a
/// question and its answer, two rounds, a second take and a fork.
fn sound() -> Evidence {
    static SOUND: OnceLock<Evidence> = OnceLock::new();
    SOUND.get_or_init(run).clone()
}

fn run() -> Evidence {
    let calls = [("look", "a"), ("note", "b"), ("send", "c")]
        .map(|(tool, what)| Call::new(tool, job(what, 1000)));
    let script = Script::default()
        .voice("ann", [Reply::calls(calls), Reply::text("Done.").after(10)])
        .voice("ann", [Reply::text("Again.")])
        .voice("ann", [Reply::text("Elsewhere.")]);
    let ann = Agent { tools: Workshop::declarations(), ..agent("Ann") };
    let say = |text: &str| Act::Say(text.to_owned(), OnBusy::Queue);
    let acts = vec![
        Act::Open(Box::new(opening(vec![ann], Settings::default()))),
        say("One."),
        Act::Until(Sight::Closed(1)),
        Act::Until(Sight::Rest),
        say("Two."),
        Act::Until(Sight::Closed(2)),
        Act::Send(Command::Regenerate),
        Act::Look,
    ];
    let clients = vec![
        Client::new("user", &session(), Conduct::Answers(Dice::new(Seed(1))), acts),
        Client::new("tab", &session(), Conduct::Reads, Vec::new()),
        Client::new(
            "other",
            &fork(),
            Conduct::Reads,
            vec![Act::Fork(session(), 2, None), say("Three.")],
        ),
    ];
    let mut world = World::new("sound", script, clients);
    world.live(&Life::fine().ending(Fate::Killed(Duration::from_millis(500))));
    world.come_to_rest(Duration::ZERO)
}

/// The promises that doctored evidence breaks.
fn broken(doctor: impl FnOnce(&mut Evidence)) -> Vec<Rule> {
    let mut evidence = sound();
    doctor(&mut evidence);
    let mut rules: Vec<Rule> = evidence.violations().into_iter().map(|wrong| wrong.rule).collect();
    rules.sort();
    rules.dedup();
    rules
}

fn log(evidence: &mut Evidence) -> &mut Vec<StoredEvent> {
    evidence.logs.get_mut(&session()).expect("a log")
}

/// Changes the first event of the log that can be changed so.
fn change(evidence: &mut Evidence, alter: impl Fn(&mut Event) -> bool) {
    let changed = log(evidence).iter_mut().any(|stored| {
        let mut event = (*stored.event).clone();
        let fits = alter(&mut event);
        stored.event = Arc::new(event);
        fits
    });
    assert!(changed, "there is nothing to doctor");
}

/// Takes the first event out that fits, and closes the gap.
fn take_out(evidence: &mut Evidence, fits: impl Fn(&Body) -> bool) {
    let log = log(evidence);
    let index = log.iter().position(|stored| fits(&stored.event.body)).expect("such an event");
    log.remove(index);
    renumber(log);
}

/// Puts a copy of the first event that fits right behind it, and makes room.
fn double(evidence: &mut Evidence, fits: impl Fn(&Body) -> bool) {
    let log = log(evidence);
    let index = log.iter().position(|stored| fits(&stored.event.body)).expect("such an event");
    log.insert(index, log[index].clone());
    renumber(log);
}

fn renumber(log: &mut [StoredEvent]) {
    for (index, stored) in log.iter_mut().enumerate() {
        let seq = Seq(index as u64 + 1);
        stored.event = Arc::new(Event { seq, ..(*stored.event).clone() });
    }
}

fn is_finish(body: &Body) -> bool {
    matches!(body, Body::Iteration(IterationEvent::ModelCallFinished { .. }))
}

#[test]
fn a_sound_run_breaks_nothing_and_has_everything_in_it() {
    assert_eq!(broken(|_| {}), []);
    let evidence = sound();
    let kinds: Vec<String> = evidence
        .logs
        .values()
        .flatten()
        .map(|stored| stored.event.body.kind().to_owned())
        .collect();
    let wanted = [
        "tool_call_interrupted",
        "tool_call_published",
        "context_requested",
        "context_provided",
        "session_round_superseded",
        "session_forked",
    ];
    for kind in wanted {
        assert!(kinds.iter().any(|it| it == kind), "{kind} is not in it");
    }
    assert_eq!(evidence.executions.len(), 5, "{:?}", evidence.executions);
}

#[test]
fn i1_a_gap_is_found() {
    let rules = broken(|evidence| {
        log(evidence).remove(3);
    });
    assert!(rules.contains(&Rule::I1), "{rules:?}");
}

#[test]
fn i1_a_log_that_was_rewritten_or_cut_is_found() {
    let before = sound();
    let mut after = sound();
    change(&mut after, |event| match &mut event.body {
        Body::Iteration(IterationEvent::ModelCallFinished { text, .. }) => {
            text.push('!');
            true
        }
        _ => false,
    });
    assert_eq!(after.rewrites(&before.logs).len(), 1);
    let mut shorter = sound();
    log(&mut shorter).pop();
    assert_eq!(shorter.rewrites(&before.logs).len(), 1);
    assert_eq!(before.rewrites(&shorter.logs), []);
}

#[test]
fn i2_an_acknowledged_message_that_is_lost_is_found() {
    let rules = broken(|evidence| {
        take_out(evidence, |body| body.kind() == "session_input_accepted");
    });
    assert!(rules.contains(&Rule::I2), "{rules:?}");
}

#[test]
fn i2_a_message_that_is_accepted_twice_is_found() {
    let rules = broken(|evidence| double(evidence, |b| b.kind() == "session_input_accepted"));
    assert!(rules.contains(&Rule::I2), "{rules:?}");
}

#[test]
fn i2_a_command_that_was_refused_and_took_effect_is_found() {
    let rules = broken(|evidence| {
        let order = evidence.orders.iter_mut().find(|o| matches!(o.command, Command::Say(_)));
        order.expect("a message").answer = Answer::Refused("no".to_owned());
    });
    assert_eq!(rules, [Rule::I2]);
}

#[test]
fn i2_a_receipt_that_the_store_does_not_know_is_found() {
    let rules = broken(|evidence| evidence.records.values_mut().for_each(Vec::clear));
    assert_eq!(rules, [Rule::I2]);
}

#[test]
fn i2_a_round_that_nobody_asked_for_is_found() {
    let rules = broken(|evidence| {
        evidence.orders.retain(|order| order.command != Command::Regenerate);
    });
    assert_eq!(rules, [Rule::I2]);
}

#[test]
fn i2_an_answer_that_counts_twice_is_found() {
    let rules = broken(|evidence| double(evidence, |body| body.kind() == "context_provided"));
    assert!(rules.contains(&Rule::I2), "{rules:?}");
}

#[test]
fn i2_an_answer_that_nobody_gave_is_found() {
    let rules = broken(|evidence| {
        change(evidence, |event| match &mut event.body {
            Body::Context(ContextEvent::ContextProvided(result)) => {
                *result = ContextResult::found(result.request.clone(), "made up");
                true
            }
            _ => false,
        });
    });
    assert!(rules.contains(&Rule::I2), "{rules:?}");
}

#[test]
fn i3_a_second_finish_is_found() {
    let rules = broken(|evidence| double(evidence, is_finish));
    assert!(rules.contains(&Rule::I3), "{rules:?}");
}

#[test]
fn i3_a_finish_without_a_start_is_found() {
    let rules = broken(|evidence| take_out(evidence, |b| b.kind() == "model_call_started"));
    assert!(rules.contains(&Rule::I3), "{rules:?}");
}

#[test]
fn i3_a_tool_call_that_finishes_twice_or_out_of_nowhere_is_found() {
    let rules = broken(|evidence| double(evidence, |body| body.kind() == "tool_call_finished"));
    assert!(rules.contains(&Rule::I3), "{rules:?}");
    let rules = broken(|evidence| take_out(evidence, |b| b.kind() == "tool_call_requested"));
    assert!(rules.contains(&Rule::I3), "{rules:?}");
}

#[test]
fn i4_an_epoch_that_decreases_is_found() {
    let rules = broken(|evidence| log(evidence)[5].epoch = 99);
    assert_eq!(rules, [Rule::I4]);
    let mut after = sound();
    log(&mut after)[5].epoch = 99;
    assert_eq!(after.rewrites(&sound().logs).len(), 1);
}

#[test]
fn i5_a_reader_that_missed_doubled_or_swapped_an_event_is_found() {
    let doctors: [fn(&mut Vec<Arc<Event>>); 4] = [
        |events| drop(events.remove(4)),
        |events| events.insert(4, events[4].clone()),
        |events| events.swap(4, 5),
        |events| drop(events.pop()),
    ];
    for doctor in doctors {
        assert_eq!(broken(|evidence| doctor(&mut evidence.readings[1].events)), [Rule::I5]);
    }
}

#[test]
fn i5_a_reader_that_saw_what_was_never_committed_is_found() {
    let mut evidence = sound();
    assert_eq!(evidence.misreadings(), []);
    log(&mut evidence).pop();
    assert!(!evidence.misreadings().is_empty());
}

#[test]
fn i6_a_reader_of_another_tenant_is_found() {
    let rules = broken(|evidence| evidence.readings[1].tenant = Some("other".to_owned()));
    assert_eq!(rules, [Rule::I6]);
}

#[test]
fn i7_a_state_that_is_not_the_fold_of_its_log_is_found() {
    let rules = broken(|evidence| evidence.states[0].last_message += 1);
    assert_eq!(rules, [Rule::I7]);
}

#[test]
fn i8_usage_that_the_provider_did_not_count_is_found() {
    let rules = broken(|evidence| {
        let usage = evidence.received.iter_mut().find_map(|call| call.usage.as_mut());
        usage.expect("a finished call").output += 1;
    });
    assert_eq!(rules, [Rule::I8]);
}

#[test]
fn i8_a_call_that_the_log_does_not_declare_is_found() {
    let rules = broken(|evidence| {
        let mut call = evidence.received[0].clone();
        call.attempt += 7;
        evidence.received.push(call);
    });
    assert_eq!(rules, [Rule::I8]);
}

#[test]
fn i8_a_call_that_was_made_twice_is_found() {
    let rules = broken(|evidence| evidence.received.push(evidence.received[0].clone()));
    assert_eq!(rules, [Rule::I8]);
}

#[test]
fn i8_another_attempt_that_asks_something_else_is_found() {
    let rules = broken(|evidence| {
        let mut call = evidence.received[0].clone();
        call.prompt.push('!');
        evidence.received.push(call);
    });
    assert_eq!(rules, [Rule::I8]);
}

#[test]
fn a_scope_that_stays_open_or_closes_twice_is_found() {
    for kind in ["iteration_closed", "turn_ended", "tool_call_finished", "round_closed"] {
        let rules = broken(|evidence| take_out(evidence, |body| body.kind() == kind));
        assert!(rules.contains(&Rule::Scopes), "{kind} missing: {rules:?}");
        let rules = broken(|evidence| double(evidence, |body| body.kind() == kind));
        assert!(rules.contains(&Rule::Scopes), "{kind} twice: {rules:?}");
    }
}

#[test]
fn a_scope_that_closes_before_its_children_is_found() {
    let rules = broken(|evidence| {
        let log = log(evidence);
        let index = log.iter().position(|stored| stored.event.body.kind() == "turn_ended");
        let index = index.expect("a turn");
        log.swap(index - 1, index);
        renumber(log);
    });
    assert!(rules.contains(&Rule::Scopes), "{rules:?}");
}

#[test]
fn an_effectful_tool_that_ran_twice_is_found() {
    let rules = broken(|evidence| {
        let effectful = |execution: &&super::Execution| execution.effect == Effect::Effectful;
        let again = evidence.executions.iter().find(effectful).expect("one that ran").clone();
        evidence.executions.push(again);
    });
    assert_eq!(rules, [Rule::Tools]);
}

#[test]
fn a_harmless_tool_that_ran_again_undeclared_is_found() {
    let rules = broken(|evidence| {
        take_out(evidence, |body| body.kind() == "tool_call_interrupted");
    });
    assert!(rules.contains(&Rule::Tools), "{rules:?}");
    let rules = broken(|evidence| {
        let harmless = |execution: &&super::Execution| execution.effect == Effect::Pure;
        let again = evidence.executions.iter().find(harmless).expect("one that ran").clone();
        evidence.executions.push(again);
    });
    assert_eq!(rules, [Rule::Tools]);
}

#[test]
fn something_published_twice_is_found() {
    let rules = broken(|evidence| double(evidence, |body| body.kind() == "tool_call_published"));
    assert!(rules.contains(&Rule::Tools), "{rules:?}");
}

#[test]
fn an_effect_in_doubt_that_nobody_is_asked_about_is_found() {
    let rules = broken(|evidence| {
        take_out(evidence, |body| {
            matches!(body, Body::Context(ContextEvent::ContextRequested(request))
                if matches!(request.about, About::Outcome { .. }))
        });
    });
    assert!(rules.contains(&Rule::Tools), "{rules:?}");
}

#[test]
fn an_effect_in_doubt_that_is_guessed_is_found() {
    let rules = broken(|evidence| {
        change(evidence, |event| match &mut event.body {
            Body::ToolCall(ToolCallEvent::ToolCallFinished(outcome))
                if matches!(outcome, ToolOutcome::Unknown { .. }) =>
            {
                *outcome = ToolOutcome::Returned(ToolResult::ok("surely"));
                true
            }
            _ => false,
        });
    });
    assert!(rules.contains(&Rule::Tools), "{rules:?}");
}
