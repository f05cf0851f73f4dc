//! Context requests: raised by a tool call, stored with the session, answered once.

use roundtable_core::Reject;
use roundtable_core::context_request::{ContextRequest, Priority};
use roundtable_core::event::{Body, ToolCallEvent};
use roundtable_core::input::{AskedCall, Command};
use roundtable_core::session::Session;
use roundtable_core::settings::Settings;
use roundtable_core::tool::{ToolDecl, ToolOutcome};
use serde_json::{Value, json};

use crate::table::{Table, agent_with, ask, opening};

pub fn panel(settings: Settings) -> Table {
    let tools = || vec![ToolDecl::request_context()];
    Table::open_with(vec![agent_with("Ada", tools()), agent_with("Bob", tools())], settings)
}

pub fn want(query: &str, priority: &str) -> AskedCall {
    ask("request_context", json!({"query": query, "reason": "to decide", "priority": priority}))
}

/// A round in which Ada asks for something required and Bob for something optional.
pub fn asked() -> Table {
    let mut table = panel(Settings::default());
    table.say("Debate.");
    table.asks("r1.t2.i1", "", vec![want("the weather", "optional")]);
    table.asks("r1.t1.i1", "", vec![want("the price", "required")]);
    table.answer("r1.t1.i2", "I need the price.");
    table.answer("r1.t2.i2", "Fine.");
    table.quietly()
}

pub fn pending(table: &Table) -> Vec<String> {
    let requests = table.session().requests.iter();
    requests.map(|request| table.labels.of(request.id.as_str())).collect()
}

#[test]
fn r000_1_r000_4_a_session_without_requests_has_an_empty_list_and_goes_on() {
    let mut table = panel(Settings::default());
    assert!(table.session().requests.is_empty());
    table.say("Debate.");
    table.answer("r1.t1.i1", "a");
    table.answer("r1.t2.i1", "b");
    assert!(table.say_with("On.", Vec::new()).is_ok());
}

#[test]
fn r000_2_a_request_has_id_agent_query_reason_priority_and_time() {
    let table = asked();
    let request = &table.session().requests[1];
    let json: Value = serde_json::to_value(request).unwrap();
    assert_eq!(
        json,
        json!({
            "id": table.request("q2"),
            "agent": "agt_ada",
            "query": "the price",
            "reason": "to decide",
            "priority": "required",
            "about": "information",
            "at": "2026-01-01T00:00:03Z",
        })
    );
}

#[test]
fn r000_3_requests_are_stored_with_the_session_and_survive_a_restart() {
    let table = asked();
    let snapshot = serde_json::to_string(table.session()).unwrap();
    let restored: Session = serde_json::from_str(&snapshot).unwrap();
    assert_eq!(restored.requests, table.session().requests);
    assert_eq!(table.replayed().session.requests, table.session().requests);
}

#[test]
fn r000_5_only_the_answered_requests_are_cleared() {
    let mut table = asked();
    assert_eq!(pending(&table), ["q1", "q2"]);
    table.ok(Command::Provide(vec![table.found("q2", "12 crowns")]));
    assert_eq!(pending(&table), ["q1"]);
}

#[test]
fn r000_6_requests_are_in_the_log_before_the_round_is_closed() {
    let mut table = panel(Settings::default());
    table.say("Debate.");
    table.asks("r1.t1.i1", "", vec![want("the price", "required")]);
    table.answer("r1.t1.i2", "I need the price.");
    table.answer("r1.t2.i1", "Fine.");
    insta::assert_snapshot!(table.trace(), @r#"
    session accepted m1 "Debate."
    r1 opened as round 1 take 1 by m1 message 1
    r1.t1 started ada seat 0.0
    r1.t1.i1 opened 1
    r1.t1.i1 model started #1
    r1.t2 started bob seat 0.1
    r1.t2.i1 opened 1
    r1.t2.i1 model started #1
      wants model r1.t1.i1 #1, model r1.t2.i1 #1
    r1.t1.i1 model finished #1 "" 1 calls
    r1.t1.i1.c1 requested request_context {"priority":"required","query":"the price","reason":"to decide"} idempotent
    r1.t1.i1.c1 asked q1 by ada, required information: the price
    r1.t1.i1.c1 finished ok "Context request queued."
    r1.t1.i1 closed tools done
    r1.t1.i2 opened 2
    r1.t1.i2 model started #1
      wants model r1.t1.i2 #1, model r1.t2.i1 #1
    r1.t1.i2 model finished #1 "I need the price." 0 calls
    r1.t1.i2 closed answered
    r1.t1 ended answered message 2
      wants model r1.t2.i1 #1
    r1.t2.i1 model finished #1 "Fine." 0 calls
    r1.t2.i1 closed answered
    r1.t2 ended answered message 3
    r1 closed completed
      wants nothing
    "#);
}

#[test]
fn r000_7_r000_8_going_on_without_the_required_answer_is_refused_and_changes_nothing() {
    let mut table = asked();
    let before = table.live.clone();
    let refused = table.say_with("On.", Vec::new()).unwrap_err().to_string();
    assert_eq!(table.live, before);
    assert_eq!(table.session().rounds_completed, 1);
    insta::assert_snapshot!(table.labels.replace(&refused), @r"
    Cannot continue: 1 required context request(s) pending.

    You MUST provide contextResults for these requests:
    - [q2] (agt_ada): the price

    Answer these requests, then continue the session.
    ");
    let without_a_message = table.next_say(None);
    assert_eq!(table.refused(Command::Say(without_a_message)).to_string(), refused);
}

#[test]
fn r000_9_only_the_missing_required_requests_are_counted_and_listed() {
    let mut table = panel(Settings::default());
    table.say("Debate.");
    let three = ["one", "two", "three"].map(|query| want(query, "required"));
    table.asks("r1.t1.i1", "", three.to_vec());
    table.answer("r1.t1.i2", "a");
    table.answer("r1.t2.i1", "b");
    let some = vec![table.found("q2", "2")];
    let refused = table.say_with("On.", some).unwrap_err();
    let Reject::ContextRequired { missing } = &refused else { panic!("{refused}") };
    let labels: Vec<_> = missing.iter().map(|r| table.labels.of(r.id.as_str())).collect();
    assert_eq!(labels, ["q1", "q3"]);
    assert!(refused.to_string().starts_with("Cannot continue: 2 required context request(s)"));
    assert_eq!(pending(&table).len(), 3, "the partial answer is not recorded either");
}

#[test]
fn r000_11_optional_requests_never_block() {
    let mut table = panel(Settings::default());
    table.say("Debate.");
    table.asks("r1.t1.i1", "", vec![want("the weather", "optional")]);
    table.answer("r1.t1.i2", "a");
    table.answer("r1.t2.i1", "b");
    assert!(table.say_with("On.", Vec::new()).is_ok());
    assert_eq!(pending(&table), ["q1"], "it stays pending");
}

#[test]
fn r000_15_the_tool_answers_that_the_request_is_queued() {
    let mut table = panel(Settings::default());
    table.say("Debate.");
    let events = table.asks("r1.t1.i1", "", vec![want("the price", "required")]);
    let result = events.iter().find_map(|event| match &event.body {
        Body::ToolCall(ToolCallEvent::ToolCallFinished(ToolOutcome::Returned(r))) => Some(r),
        _ => None,
    });
    let result = result.unwrap();
    assert!(result.success);
    assert_eq!(
        result.value,
        Some(json!({"requestId": table.request("q1"), "message": "Context request queued."}))
    );
}

#[test]
fn r000_16_r000_17_requests_of_agents_that_run_side_by_side_carry_their_own_agents() {
    let tools = || vec![ToolDecl::request_context()];
    let names = ["Ada", "Bob", "Cid", "Dee", "Eva"];
    let mut table = Table::open(names.map(|name| agent_with(name, tools())).to_vec());
    table.say("Debate.");
    // Neither in seat order nor one turn after another.
    for seat in [3, 1, 5, 2, 4] {
        let label = format!("r1.t{seat}.i1");
        table.asks(&label, "", vec![want(&format!("for seat {seat}"), "required")]);
    }
    let attributed = |r: &ContextRequest| (r.agent.suffix().to_owned(), r.query.clone());
    let mut stored: Vec<_> = table.session().requests.iter().map(attributed).collect();
    stored.sort();
    let seats = names.iter().zip(1..);
    let expected = seats.map(|(name, seat)| (name.to_lowercase(), format!("for seat {seat}")));
    assert_eq!(stored, expected.collect::<Vec<_>>());
}

#[test]
fn equal_questions_of_two_agents_are_two_requests() {
    let mut table = panel(Settings::default());
    table.say("Debate.");
    table.asks("r1.t1.i1", "", vec![want("the price", "required")]);
    table.asks("r1.t2.i1", "", vec![want("the price", "required")]);
    assert_eq!(pending(&table), ["q1", "q2"]);
}

#[test]
fn r000_18_not_found_and_not_active_come_before_the_missing_answers() {
    let mut stranger = Table::empty("nowhere");
    let say = stranger.next_say(Some("Hello?"));
    let refused = stranger.refused(Command::Say(say));
    assert_eq!(
        refused.to_string(),
        "session ses_nowhere was not found; list the sessions to find its id"
    );
    let mut table = asked();
    table.ok(Command::Pause);
    let refused = table.say_with("On.", Vec::new()).unwrap_err();
    assert_eq!(refused.to_string(), "session is not active: it is paused; resume it first");
    table.ok(Command::Complete { reason: "enough".to_owned() });
    let refused = table.say_with("On.", Vec::new()).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "session is not active: it is completed; open another session, or fork this one"
    );
}

#[test]
fn on_the_final_round_nothing_can_be_requested() {
    let mut table = panel(Settings { total_rounds: Some(1), ..Settings::default() });
    table.say("Debate.");
    let events = table.asks("r1.t1.i1", "", vec![want("the price", "required")]);
    assert_eq!(
        finished(&events),
        "Cannot request context on the final round. This is round 1 of 1. \
         Please provide your best response with available information."
    );
    assert!(pending(&table).is_empty());
}

fn finished(events: &[roundtable_core::event::Event]) -> String {
    let outcome = events.iter().find_map(|event| match &event.body {
        Body::ToolCall(ToolCallEvent::ToolCallFinished(outcome)) => Some(outcome),
        _ => None,
    });
    let outcome = outcome.unwrap();
    assert!(!outcome.succeeded());
    outcome.message().to_owned()
}

#[test]
fn bad_arguments_are_refused_with_what_to_mend() {
    let ok = |text: &str| format!("request_context: {text}");
    let fits =
        |text: &str| format!("the arguments of request_context do not match its schema: {text}");
    for (arguments, expected) in [
        (
            json!({"query": "", "reason": "r"}),
            ok("query must have 1 to 1000 characters; this one has 0"),
        ),
        (
            json!({"query": "q".repeat(1001), "reason": "r"}),
            ok("query must have 1 to 1000 characters; this one has 1001"),
        ),
        (
            json!({"query": "q", "reason": "r".repeat(501)}),
            ok("reason must have 1 to 500 characters; this one has 501"),
        ),
        (json!({"query": "q"}), fits("missing field `reason`")),
        (
            json!({"query": "q", "reason": "r", "urgent": true}),
            fits("unknown field `urgent`, expected one of `query`, `reason`, `priority`"),
        ),
        (
            json!({"query": "q", "reason": "r", "priority": "soon"}),
            fits("unknown variant `soon`, expected `required` or `optional`"),
        ),
    ] {
        let mut table = panel(Settings::default());
        table.say("Debate.");
        let events = table.asks("r1.t1.i1", "", vec![ask("request_context", arguments)]);
        assert_eq!(finished(&events), expected);
        assert!(pending(&table).is_empty());
    }
}

#[test]
fn lengths_are_counted_in_characters_and_the_longest_are_taken() {
    let mut table = panel(Settings::default());
    table.say("Debate.");
    let arguments = json!({"query": "ä".repeat(1000), "reason": "ö".repeat(500)});
    table.asks("r1.t1.i1", "", vec![ask("request_context", arguments)]);
    assert_eq!(table.session().requests[0].priority, Priority::Required, "the default");
}

#[test]
fn r000_14_a_request_is_attributed_to_the_agent_of_its_turn_whatever_the_arguments_say() {
    let mut table = panel(Settings::default());
    table.say("Debate.");
    let arguments = json!({"query": "q", "reason": "r", "agentId": "agt_bob"});
    table.asks("r1.t1.i1", "", vec![ask("request_context", arguments)]);
    assert!(pending(&table).is_empty(), "there is no such parameter");
    table.asks("r1.t1.i2", "", vec![want("q", "required")]);
    assert_eq!(table.session().requests[0].agent.suffix(), "ada");
}

#[test]
fn a_session_that_offers_no_such_tool_raises_no_request() {
    let mut table = Table::empty("plain");
    table.ok(opening(vec![agent_with("Ada", Vec::new())], Settings::default()));
    table.say("Debate.");
    table.asks("r1.t1.i1", "", vec![want("the price", "required")]);
    assert!(pending(&table).is_empty());
}
