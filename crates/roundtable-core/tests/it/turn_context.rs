//! `turn::Context`: the record of a turn, in iterations, as a value.

use jiff::{SignedDuration, Timestamp};
use roundtable_core::id::ToolCallId;
use roundtable_core::message::{Message, Part, Role, ToolAnswer, ToolRequest};
use roundtable_core::scope::{Place, Scope};
use roundtable_core::turn::{Attributes, Context, IterationRecord};
use serde_json::{Value, json};

use crate::table::{Table, agent_with, ask};

fn at(seconds: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH.checked_add(SignedDuration::from_secs(seconds)).unwrap()
}

fn request(name: &str) -> ToolRequest {
    ToolRequest { id: id(name), name: name.to_owned(), arguments: json!({"of": name}) }
}

fn answer(name: &str, content: &str) -> ToolAnswer {
    ToolAnswer { id: id(name), content: content.to_owned(), value: None, success: true }
}

fn id(name: &str) -> ToolCallId {
    ToolCallId::new(name).unwrap()
}

/// A first iteration with one call, and its result.
fn called() -> Context {
    Context::new("Weather?", Some("Be helpful."), at(1))
        .add_assistant_message("Let me see.", vec![request("weather")], at(2))
        .add_tool_results(vec![answer("weather", "sunny")], at(3))
}

#[test]
fn r004_1_a_context_has_two_data_fields_and_two_times() {
    let json: Value = serde_json::to_value(called()).unwrap();
    let mut keys: Vec<&str> = json.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    assert_eq!(keys, ["created_at", "current_iteration", "iterations", "updated_at"]);
}

#[test]
fn r004_1_create_and_update_take_the_two_data_fields() {
    let empty = Context::create(Attributes::default(), at(1));
    assert_eq!((empty.iterations().len(), empty.current_iteration()), (0, 0));
    assert_eq!((empty.created_at(), empty.updated_at()), (at(1), at(1)));
    let full = called();
    let attributes = Attributes {
        iterations: full.iterations().to_vec(),
        current_iteration: full.current_iteration(),
    };
    let updated = empty.update(attributes, at(9));
    assert_eq!(updated.iterations(), full.iterations());
    assert_eq!((updated.created_at(), updated.updated_at()), (at(1), at(9)));
}

#[test]
fn r004_2_an_iteration_has_number_messages_calls_times_and_metadata() {
    let json: Value = serde_json::to_value(Context::new("Hello", None, at(1))).unwrap();
    assert_eq!(
        json["iterations"][0],
        json!({
            "number": 1,
            "messages": [{"role": "user", "parts": [{"type": "text", "text": "Hello"}]}],
            "tool_calls": [],
            "started_at": "1970-01-01T00:00:01Z",
            "completed_at": null,
            "metadata": {},
        })
    );
}

#[test]
fn r004_3_a_new_context_begins_with_the_input_and_the_instructions_before_it() {
    let plain = Context::new("Hello", None, at(1));
    assert_eq!(plain.current_iteration(), 1);
    assert_eq!(plain.to_messages(), [&Message::user("Hello")]);
    let instructed = Context::new("Hello", Some("Be kind."), at(1));
    assert_eq!(instructed.to_messages(), [&Message::system("Be kind."), &Message::user("Hello")]);
    let first: &IterationRecord = &instructed.iterations()[0];
    assert_eq!((first.started_at, first.completed_at), (at(1), None));
}

#[test]
fn r004_4_a_new_context_takes_input_instructions_and_time_and_nothing_else() {
    // The signature is the proof: no agent, domain, actor, tenant or limit fits in.
    let new: fn(&str, Option<&str>, Timestamp) -> Context = Context::new;
    assert_eq!(new("a", None, at(1)), Context::new("a", None, at(1)));
}

#[test]
fn r004_5_a_reply_is_added_to_the_current_iteration_with_its_calls() {
    let asked = Context::new("Go", None, at(1));
    let plain = asked.add_assistant_message("Hi", Vec::new(), at(2));
    assert!(plain.iterations()[0].tool_calls.is_empty());
    assert_eq!(plain.to_messages()[1].tool_calls().count(), 0);
    assert_eq!(plain.to_messages()[1].text(), "Hi");
    let two = asked.add_assistant_message("", vec![request("a"), request("b")], at(2));
    let calls: Vec<&ToolRequest> = two.to_messages()[1].tool_calls().collect();
    assert_eq!(calls, [&request("a"), &request("b")]);
    let more = two.add_assistant_message("", vec![request("c")], at(3));
    let recorded: Vec<&str> =
        more.iterations()[0].tool_calls.iter().map(|call| call.request.name.as_str()).collect();
    assert_eq!(recorded, ["a", "b", "c"]);
}

#[test]
fn r004_6_all_results_are_one_user_message_and_the_next_iteration_opens() {
    let context = Context::new("Go", None, at(1))
        .add_assistant_message("", vec![request("a"), request("b")], at(2))
        .add_tool_results(vec![answer("a", "1"), answer("b", "2")], at(3));
    let first = &context.iterations()[0];
    let last = first.messages.last().unwrap();
    assert_eq!(last.role, Role::User);
    assert_eq!(
        last.parts,
        [Part::ToolResult(answer("a", "1")), Part::ToolResult(answer("b", "2"))]
    );
    let json: Value = serde_json::to_value(&last.parts[0]).unwrap();
    assert_eq!(json["type"], "tool_result");
    let filled: Vec<_> = first.tool_calls.iter().map(|call| call.result.clone()).collect();
    assert_eq!(filled, [Some(answer("a", "1")), Some(answer("b", "2"))]);
    assert_eq!(first.completed_at, Some(at(3)));
    assert_eq!(context.current_iteration(), 2);
    let second = &context.iterations()[1];
    assert_eq!((second.number, second.started_at, second.completed_at), (2, at(3), None));
    assert!(second.messages.is_empty() && second.tool_calls.is_empty());
}

#[test]
fn r004_7_the_limit_is_exceeded_at_it_and_above_it() {
    let second = called();
    assert_eq!([1, 2, 3].map(|max| second.exceeded_max_iterations(max)), [true, true, false]);
}

#[test]
fn r004_9_calls_are_extracted_from_the_last_message_of_the_current_iteration() {
    let asked = Context::new("Go", None, at(1));
    assert!(asked.extract_tool_calls().is_empty());
    let called = asked.add_assistant_message("", vec![request("a")], at(2));
    assert_eq!(called.extract_tool_calls(), [&request("a")]);
    let answered = called.add_tool_results(vec![answer("a", "1")], at(3));
    assert!(answered.extract_tool_calls().is_empty(), "the current iteration is empty");
    let done = answered.add_assistant_message("Done.", Vec::new(), at(4));
    assert!(done.extract_tool_calls().is_empty());
    assert!(Context::create(Attributes::default(), at(1)).extract_tool_calls().is_empty());
}

#[test]
fn r004_10_all_messages_are_those_of_all_iterations_in_order() {
    let context = called().add_assistant_message("Sunny.", Vec::new(), at(4));
    let texts: Vec<(Role, String)> =
        context.to_messages().iter().map(|message| (message.role, message.text())).collect();
    assert_eq!(
        texts,
        [
            (Role::System, "Be helpful.".to_owned()),
            (Role::User, "Weather?".to_owned()),
            (Role::Assistant, "Let me see.".to_owned()),
            (Role::User, String::new()),
            (Role::Assistant, "Sunny.".to_owned()),
        ]
    );
    assert_eq!(context.get_all_messages(), context.to_messages());
}

#[test]
fn r004_11_an_iteration_can_be_looked_up_by_its_number() {
    let context = called();
    assert_eq!(context.get_iteration(1).map(|iteration| iteration.number), Some(1));
    assert_eq!(context.get_iteration(2).map(|iteration| iteration.number), Some(2));
    assert_eq!((context.get_iteration(0), context.get_iteration(3)), (None, None));
    assert_eq!(context.get_iteration_messages(1).len(), 4);
    assert!(context.get_iteration_messages(2).is_empty());
    assert!(context.get_iteration_messages(3).is_empty());
}

#[test]
fn r004_12_every_operation_leaves_the_old_value_as_it_was() {
    let old = Context::new("Go", None, at(1));
    let copy = old.clone();
    let called = old.add_assistant_message("", vec![request("a")], at(2));
    let called_copy = called.clone();
    let answered = called.add_tool_results(vec![answer("a", "1")], at(3));
    let completed = answered.complete(at(4));
    let _ = old.update(Attributes::default(), at(5));
    assert_eq!((&old, &called), (&copy, &called_copy));
    assert_ne!(answered, completed);
    assert_eq!(answered.iterations()[1].completed_at, None);
}

#[test]
fn the_last_iteration_is_completed_with_its_turn_and_an_earlier_time_stays() {
    let done = called().add_assistant_message("Sunny.", Vec::new(), at(4)).complete(at(5));
    let times: Vec<_> = done.iterations().iter().map(|one| one.completed_at).collect();
    assert_eq!(times, [Some(at(3)), Some(at(5))]);
    assert_eq!(done.complete(at(6)).iterations()[1].completed_at, Some(at(5)));
    assert_eq!((done.created_at(), done.updated_at()), (at(1), at(5)));
}

#[test]
fn r004_13_who_runs_a_turn_comes_from_the_scope_and_actor_and_tenant_may_be_absent() {
    let session = roundtable_core::id::SessionId::new("s").unwrap();
    let scope = Scope {
        session,
        place: Place::session(),
        round_number: 1,
        iteration_number: 1,
        agent: roundtable_core::id::AgentId::new("ada").unwrap(),
        domain: "default".to_owned(),
        actor: None,
        tenant: None,
        message: None,
    };
    assert_eq!((scope.agent.suffix(), scope.domain.as_str()), ("ada", "default"));
}

#[test]
fn r004_14_a_context_stores_no_agent_domain_actor_tenant_or_limit() {
    let mut table = Table::open(vec![agent_with("Ada", Vec::new())]);
    table.say("Hello");
    let record = table.live.window.find_turn(&table.turn("r1.t1")).unwrap();
    let json = serde_json::to_string(&record.context).unwrap();
    for word in ["agent", "domain", "actor", "tenant", "max_iterations"] {
        assert!(!json.contains(&format!("\"{word}\"")), "{word} in {json}");
    }
}

#[test]
fn r004_15_a_turn_with_one_tool_call_takes_two_iterations() {
    let context = called();
    let roles: Vec<Role> = context.get_iteration_messages(1).iter().map(|m| m.role).collect();
    assert_eq!(roles, [Role::System, Role::User, Role::Assistant, Role::User]);
    let done = context.add_assistant_message("Sunny.", Vec::new(), at(4));
    assert_eq!(done.get_iteration_messages(2), [Message::assistant("Sunny.", Vec::new())]);
    assert!(done.extract_tool_calls().is_empty(), "the loop ends");
    assert!(!done.exceeded_max_iterations(10));
}

#[test]
fn r004_15_a_session_keeps_the_record_of_a_turn_the_same_way() {
    use roundtable_core::tool::{Effect, ToolDecl};
    let tools = vec![ToolDecl::handler("weather", Effect::Pure)];
    let mut table = Table::open(vec![agent_with("Ada", tools)]);
    table.say("Weather?");
    table.asks("r1.t1.i1", "Let me see.", vec![ask("weather", json!({}))]);
    table.returns("r1.t1.i1.c1", "sunny");
    let context = &table.live.window.find_turn(&table.turn("r1.t1")).unwrap().context;
    let first = context.get_iteration(1).unwrap();
    assert_eq!(first.messages.len(), 4);
    assert_eq!(first.tool_calls[0].result.as_ref().unwrap().content, "sunny");
    assert!(first.completed_at.is_some());
    let metadata = first.metadata();
    let known: Vec<&str> = metadata.keys().map(String::as_str).collect();
    assert_eq!(known, ["latency_ms", "model", "stop"]);
    assert_eq!(context.current_iteration(), 2);
}

#[test]
fn a_context_reads_back_from_json_while_its_calls_are_pending_and_goes_on_the_same() {
    let pending = Context::new("Go", Some("Be quick."), at(1)).add_assistant_message(
        "On it.",
        vec![request("a"), request("b")],
        at(2),
    );
    let json = serde_json::to_string(&pending).unwrap();
    let read: Context = serde_json::from_str(&json).unwrap();
    assert_eq!(read, pending);
    let finish = |context: &Context| {
        let results = vec![answer("a", "1"), answer("b", "2")];
        let next = context.add_tool_results(results, at(3));
        next.add_assistant_message("Done.", Vec::new(), at(4)).complete(at(4))
    };
    assert_eq!(finish(&read), finish(&pending));
}
