//! Kinds of requests: an approval and an unknown outcome need a decision, and nothing else counts.

use roundtable_core::context_request::{
    About, CallDetails, ContextRequest, ContextResult, Decision, RequestKind,
};
use roundtable_core::digest::Digest;
use roundtable_core::event::{Body, ContextEvent, Event};
use roundtable_core::input::{Command, OnBusy, Ran};
use roundtable_core::scope::Place;
use roundtable_core::settings::Settings;
use roundtable_core::tool::{Effect, ToolDecl};
use serde_json::{Value, json};

use crate::context_requests::{asked, panel, want};
use crate::table::{Table, agent_with, ask};

fn pay() -> Value {
    json!({"to": "Bob", "crowns": 12})
}

/// A round in which a call waits for a person.
fn approving(arguments: Value) -> Table {
    let tools = vec![ToolDecl::handler("pay", Effect::Effectful).with_approval()];
    let mut table = Table::open(vec![agent_with("Ada", tools)]);
    table.say("Pay him.");
    table.asks("r1.t1.i1", "", vec![ask("pay", arguments)]);
    table.trace();
    table
}

/// A round in which a call may have happened.
fn doubting() -> Table {
    let tools = vec![ToolDecl::handler("pay", Effect::Effectful)];
    let mut table = Table::open(vec![agent_with("Ada", tools)]);
    table.say("Pay him.");
    table.asks("r1.t1.i1", "", vec![ask("pay", pay())]);
    table.begins("r1.t1.i1.c1");
    table.ok(table.ran("r1.t1.i1.c1", Ran::CutOff("timeout".to_owned())));
    table.trace();
    table
}

/// Refuses these answers in every way that they can come, and changes nothing.
fn assert_refused(table: &mut Table, result: &ContextResult, expected: &str) {
    let before = table.live.clone();
    let results = vec![result.clone()];
    let refused = table.refused(Command::Provide(results.clone())).to_string();
    assert_eq!(table.labels.replace(&refused), expected);
    assert!(table.say_with("On.", results).is_err());
    assert_eq!(table.live, before, "nothing is recorded, cleared or run");
}

#[test]
fn s25_only_a_decision_approves_and_no_text_is_taken_for_one() {
    let mut table = approving(pay());
    let expected = "request q1 is an approval and needs the decision \"approve\" or \"deny\"; the decision is missing, nothing was recorded";
    for text in ["no", "yes", "approve", ""] {
        let result = table.found("q1", text);
        assert_refused(&mut table, &result, expected);
    }
    let failed = ContextResult::not_found(table.request("q1"), "no");
    assert_refused(&mut table, &failed, expected);
    assert!(!table.session().has_work());
}

#[test]
fn a_decision_of_another_kind_is_refused_and_so_is_one_that_contradicts_itself() {
    let mut table = approving(pay());
    for (decision, word) in [
        (Decision::Happened, "happened"),
        (Decision::DidNotHappen, "did_not_happen"),
        (Decision::Unknown, "unknown"),
    ] {
        let expected = format!(
            "request q1 is an approval and needs the decision \"approve\" or \"deny\"; \"{word}\" is not valid, nothing was recorded"
        );
        let result = table.decided("q1", decision);
        assert_refused(&mut table, &result, &expected);
    }
    let torn = ContextResult { success: false, ..table.approve("q1") };
    let expected = "request q1: success false contradicts decision \"approve\"; send decision \"deny\" to refuse the call";
    assert_refused(&mut table, &torn, expected);
    let both = vec![table.approve("q1"), table.decided("q1", Decision::Deny)];
    let refused = table.refused(Command::Provide(both)).to_string();
    assert_eq!(
        table.labels.replace(&refused),
        "request q1 has two different decisions; send one, nothing was recorded"
    );
}

#[test]
fn an_unknown_outcome_needs_one_of_its_three_decisions() {
    let mut table = doubting();
    let needs = "request q1 is an unknown outcome and needs the decision \"happened\" or \"did_not_happen\" or \"unknown\"";
    let result = table.found("q1", "It happened.");
    assert_refused(
        &mut table,
        &result,
        &format!("{needs}; the decision is missing, nothing was recorded"),
    );
    let approved = table.approve("q1");
    let expected = format!("{needs}; \"approve\" is not valid, nothing was recorded");
    assert_refused(&mut table, &approved, &expected);
}

#[test]
fn a_question_takes_no_decision() {
    let mut table = asked();
    let result = ContextResult { decision: Some(Decision::Approve), ..table.found("q2", "12") };
    let expected =
        "request q2 is a question; answer it with success and result or error, without decision";
    assert_refused(&mut table, &result, expected);
}

#[test]
fn a_denial_is_recorded_as_one_whatever_success_says() {
    let mut table = approving(pay());
    let denied = ContextResult { success: true, ..table.decided("q1", Decision::Deny) };
    let events = table.ok(Command::Provide(vec![denied]));
    let provided = events.iter().find_map(|event| match &event.body {
        Body::Context(ContextEvent::ContextProvided(result)) => Some(result.clone()),
        _ => None,
    });
    assert_eq!(provided, Some(table.decided("q1", Decision::Deny)));
    assert!(
        table.trace().contains("finished failed \"A person refused this call: no reason given\"")
    );
}

#[test]
fn what_is_in_doubt_is_told_to_the_agents_in_words() {
    for (decision, told) in [
        (Decision::Happened, "It happened: the call took effect. Do not repeat it.\n"),
        (Decision::DidNotHappen, "It did not happen: the call had no effect.\n"),
        (
            Decision::Unknown,
            "It is unknown whether the call took effect. Check before you repeat it.\n",
        ),
    ] {
        let mut table = doubting();
        table.answer("r1.t1.i2", "I cannot tell.");
        table.say_with("On.", vec![table.decided("q1", decision)]).unwrap();
        let prompt = table.labels.replace(&table.prompt("r2.t1"));
        let block = format!("[q1] Did the call of pay (r1.t1.i1.c1) take effect?\n{told}");
        assert!(prompt.contains(&block), "{prompt}");
    }
}

fn details(arguments: &Value) -> CallDetails {
    let digest = Digest::of_json(&("pay", arguments));
    let (agent_name, tool) = ("Ada".to_owned(), "pay".to_owned());
    CallDetails { agent_name, tool, arguments: Some(arguments.clone()), digest }
}

fn only(table: &Table) -> &ContextRequest {
    assert_eq!(table.session().requests.len(), 1);
    &table.session().requests[0]
}

#[test]
fn an_approval_shows_the_whole_call_however_long_it_is() {
    let long = json!({"to": "Bob", "text": "x".repeat(40_000), "last": "and 1000 crowns"});
    let table = approving(long.clone());
    let request = only(&table);
    assert_eq!(request.kind(), RequestKind::Approval);
    assert_eq!(request.about.call(), Some(&details(&long)));
    let digest = details(&long).digest;
    let bytes = long.to_string().len();
    assert_eq!(
        request.query,
        format!(
            "May pay be called? Its arguments have {bytes} bytes and are shown with the call (digest {}).",
            digest.as_str()
        )
    );
}

#[test]
fn arguments_that_nobody_can_read_through_are_not_put_to_a_person() {
    let long = json!({"text": "x".repeat(64 * 1024)});
    let mut table = approving(json!(1));
    table.ok(Command::Provide(vec![table.decided("q1", Decision::Deny)]));
    table.trace();
    let bytes = long.to_string().len();
    table.asks("r1.t1.i2", "", vec![ask("pay", long)]);
    assert!(table.session().requests.is_empty());
    let refused = format!("they have {bytes} bytes, the limit is 65536");
    assert!(table.trace().contains(&refused));
}

#[test]
fn an_unknown_outcome_shows_the_call_and_forgets_it_when_it_is_answered() {
    let mut table = doubting();
    let request = only(&table);
    assert_eq!(request.kind(), RequestKind::UnknownOutcome);
    assert_eq!(request.about.call(), Some(&details(&pay())));
    table.ok(Command::Provide(vec![table.decided("q1", Decision::Happened)]));
    assert_eq!(table.session().carried[0].about.call(), None);
}

#[test]
fn an_approval_that_was_recorded_without_a_decision_folds_as_it_did() {
    let mut table = approving(pay());
    let body = Body::Context(ContextEvent::ContextProvided(table.found("q1", "no")));
    let (seq, at) = (table.session().head.next(), jiff::Timestamp::UNIX_EPOCH);
    table.live.apply(&Event { seq, at, place: Place::session(), body });
    assert!(table.session().requests.is_empty());
    assert!(table.session().has_work(), "the log says that it was approved");
    let old = json!({
        "id": "ctx_1", "agent": "agt_ada", "query": "May pay be called with {}?", "reason": "r",
        "priority": "required", "about": "approval", "tool_call": "tcl_1", "at": "2026-01-01T00:00:00Z"
    });
    let read: ContextRequest = serde_json::from_value(old.clone()).unwrap();
    assert!(matches!(read.about, About::Approval { call: None, .. }));
    assert_eq!(serde_json::to_value(&read).unwrap(), old);
}

#[test]
fn f25_a_second_different_answer_is_named_and_a_retry_is_not() {
    let mut table = asked();
    let first = table.found("q2", "12");
    table.ok(Command::Provide(vec![first.clone()]));
    let warnings = |results: &[ContextResult]| -> Vec<String> {
        let warnings = table.session().result_warnings(results, false);
        warnings.iter().map(|warning| table.labels.replace(warning)).collect()
    };
    assert_eq!(warnings(&[first]), [""; 0]);
    assert_eq!(
        warnings(&[table.found("q2", "13")]),
        ["q2 already has a different answer; this one is ignored"]
    );
    let twice = [table.found("q1", "rain"), table.found("q1", "rain"), table.found("q1", "sun")];
    assert_eq!(warnings(&twice), ["duplicate answer to q1; the first one counts"]);
}

#[test]
fn answers_to_what_was_withdrawn_or_is_cut_off_are_named() {
    let mut table = approving(pay());
    let yes = vec![table.approve("q1")];
    let warned = |table: &Table, interrupts| -> Vec<String> {
        let warnings = table.session().result_warnings(&yes, interrupts);
        warnings.iter().map(|warning| table.labels.replace(warning)).collect()
    };
    assert_eq!(warned(&table, false), [""; 0]);
    assert_eq!(
        warned(&table, true),
        ["q1 was withdrawn with its interrupted round; the answer is ignored"]
    );
    table.say_busy("Stop.", OnBusy::Interrupt).unwrap();
    assert_eq!(warned(&table, false), ["q1 is no longer pending; the answer is ignored"]);
}

#[test]
fn as_many_answers_are_taken_as_are_pending() {
    let mut table = panel(Settings { max_tool_calls: 2_000, ..Settings::default() });
    table.say("Debate.");
    let many = (0..1_500).map(|n| want(&format!("q{n}"), "required")).collect();
    table.asks("r1.t1.i1", "", many);
    table.answer("r1.t1.i2", "a");
    table.answer("r1.t2.i1", "b");
    let pending = &table.session().requests;
    assert_eq!(pending.len(), 1_500);
    let results: Vec<_> =
        pending.iter().map(|request| ContextResult::found(request.id.clone(), "x")).collect();
    table.say_with("On.", results).unwrap();
    assert!(table.session().requests.is_empty());
}

#[test]
fn questions_beyond_the_limit_are_refused_and_the_agent_is_told() {
    let mut table = panel(Settings { max_tool_calls: 2_000, ..Settings::default() });
    table.say("Debate.");
    let many = (0..1_024).map(|n| want(&format!("q{n}"), "optional")).collect();
    table.asks("r1.t1.i1", "", many);
    table.asks("r1.t1.i2", "", vec![want("one more", "required")]);
    assert_eq!(table.session().requests.len(), 1_024);
    assert!(table.trace().contains("Cannot request context: 1024 requests are already pending."));
}
