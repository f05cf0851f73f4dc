//! JSON from outside has at most 64 levels when it is stored, whoever it comes from.

use roundtable_core::event::{Body, IterationEvent, ToolCallEvent};
use roundtable_core::input::{Ran, Report};
use roundtable_core::json::MAX_LEVELS;
use roundtable_core::message::Reasoning;
use roundtable_core::prompt::OutputSchema;
use roundtable_core::settings::Settings;
use roundtable_core::tool::{Effect, ToolDecl, ToolOutcome, ToolResult};
use serde_json::{Value, json};

use crate::table::{Table, agent, agent_with, ask, nested, opening, reply};

fn deep(levels: usize) -> Value {
    (0..levels).fold(json!(1), |inner, _| Value::Array(vec![inner]))
}

/// A table at which Ada has called a tool that is running.
fn running() -> Table {
    let mut table = Table::open(vec![agent_with("Ada", vec![decl()])]);
    table.say("Look.");
    table.asks("r1.t1.i1", "", vec![ask("look", json!({}))]);
    table
}

fn decl() -> ToolDecl {
    ToolDecl::handler("look", Effect::Pure)
}

#[test]
fn s23_a_call_with_arguments_that_nest_too_deeply_fails_and_the_other_calls_run() {
    let mut table = Table::open(vec![agent_with("Ada", vec![decl()])]);
    table.say("Look.");
    table.trace();
    let calls = [127, 65, MAX_LEVELS].map(|levels| ask("look", deep(levels)));
    table.asks("r1.t1.i1", "", calls.to_vec());
    let whole = deep(MAX_LEVELS);
    let expected = format!(
        "r1.t1.i1 model finished #1 \"\" 3 calls\n\
         r1.t1.i1.c1 requested look null pure\n\
         r1.t1.i1.c1 finished failed \"not run: the arguments of look are nested 127 levels deep; \
         at most 64 levels are allowed. They were not stored. Call it again with fewer levels.\"\n\
         r1.t1.i1.c2 requested look null pure\n\
         r1.t1.i1.c2 finished failed \"not run: the arguments of look are nested 65 levels deep; \
         at most 64 levels are allowed. They were not stored. Call it again with fewer levels.\"\n\
         r1.t1.i1.c3 requested look {whole} pure\n\
         r1.t1.i1.c3 started #1\n  wants tool r1.t1.i1.c3 #1"
    );
    assert_eq!(table.trace().trim(), expected);
}

#[test]
fn s23_a_thought_that_nests_too_deeply_is_left_out_and_the_answer_counts() {
    let mut table = Table::open(vec![agent("Ada")]);
    table.say("Think.");
    let thought = |payload| Reasoning { wire: "test".to_owned(), text: String::new(), payload };
    let mut thoughtful = reply("Done.", Vec::new());
    thoughtful.thoughts = vec![thought(deep(65)), thought(deep(64))];
    let events = table.ok(table.replied("r1.t1.i1", thoughtful));
    let Body::Iteration(IterationEvent::ModelCallFinished { text, thoughts, .. }) = &events[0].body
    else {
        panic!("{:?}", events[0]);
    };
    assert_eq!((text.as_str(), thoughts), ("Done.", &vec![thought(deep(64))]));
}

/// What is stored of a result.
fn stored(result: ToolResult) -> ToolResult {
    let mut table = running();
    let events = table.ok(table.ran("r1.t1.i1.c1", Ran::Returned(result)));
    match &events[0].body {
        Body::ToolCall(ToolCallEvent::ToolCallFinished(ToolOutcome::Returned(stored))) => {
            stored.clone()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn s23_a_value_that_nests_too_deeply_is_left_out_of_a_result_that_counts() {
    let fits = ToolResult::ok("seen").with_value(deep(64));
    assert_eq!(stored(fits.clone()), fits);
    let told =
        "seen\n[the value is left out: it is nested 65 levels deep; at most 64 levels are allowed]";
    assert_eq!(stored(ToolResult::ok("seen").with_value(deep(65))), ToolResult::ok(told));
}

#[test]
fn a_value_has_the_size_of_a_message_at_most() {
    let most = Settings::default().max_message_bytes as usize;
    let fits = ToolResult::ok("").with_value(json!("x".repeat(most - 2)));
    assert_eq!(stored(fits.clone()), fits);
    let told = format!("[the value is left out: it has {} bytes; the limit is {most}]", most + 1);
    let large = ToolResult::failed("").with_value(json!("x".repeat(most - 1)));
    assert_eq!(stored(large), ToolResult::failed(told));
}

#[test]
fn s23_published_data_that_nests_too_deeply_is_refused() {
    let mut table = running();
    let publish = |data| Report::Publish {
        tool_call: table.call("r1.t1.i1.c1"),
        ordinal: 1,
        topic: "news".to_owned(),
        data,
    };
    let (fits, refused) = (publish(deep(64)), publish(deep(65)));
    assert_eq!(
        table.refused(refused).to_string(),
        "the published data is nested 65 levels deep; at most 64 levels are allowed"
    );
    table.ok(fits);
}

#[test]
fn s23_an_output_schema_that_nests_too_deeply_is_refused() {
    let what = "the output schema \"form\" is nested 65 levels deep; at most 64 levels are allowed";
    let mut ada = agent("Ada");
    ada.output = Some(OutputSchema::new("form", deep(65)));
    let opened = opening(vec![ada], Settings::default());
    assert_eq!(Table::empty("test").refused(opened).to_string(), what);
    let mut table = running();
    let mut prompt = nested("What?");
    prompt.output = Some(OutputSchema::new("form", deep(65)));
    let tool_call = table.call("r1.t1.i1.c1");
    let evaluate = Report::Evaluate { tool_call, ordinal: 1, prompt };
    assert_eq!(table.refused(evaluate).to_string(), what);
}
