//! Child turns: delegations, and prompts that a tool handler wants answered.

use roundtable_core::Reject;
use roundtable_core::agent::Agent;
use roundtable_core::event::TurnOutcome;
use roundtable_core::input::{Command, Ran, Report};
use roundtable_core::settings::Settings;
use roundtable_core::tool::{Effect, ToolDecl, ToolResult};
use serde_json::json;

use crate::table::{Table, agent, agent_with, ask, nested};

/// A supervisor with two workers, and a tool whose handler asks prompts of its own.
fn office(max_depth: u32) -> Table {
    let tools = vec![ToolDecl::handler("judge", Effect::Pure), ToolDecl::delegate()];
    let workers = vec![agent("Digger").id, agent("Writer").id];
    let boss = Agent { workers: workers.clone(), ..agent_with("Boss", tools.clone()) };
    let digger = Agent { workers, ..agent_with("Digger", tools) };
    let settings = Settings { seats: vec![boss.id.clone()], max_depth, ..Settings::default() };
    Table::open_with(vec![boss, digger, agent("Writer")], settings)
}

fn delegate(agent: &str, mission: &str) -> roundtable_core::input::AskedCall {
    ask("delegate", json!({"agent": agent, "mission": mission, "rationale": "you know how"}))
}

/// What the model is told of its first call.
fn told(table: &Table, turn: &str) -> (String, bool) {
    let record = table.live.window.find_turn(&table.turn(turn)).unwrap();
    let iterations = record.context.iterations();
    let calls = iterations.iter().rev().find(|iteration| !iteration.tool_calls.is_empty());
    let answer = calls.unwrap().tool_calls[0].result.clone().unwrap();
    (answer.content, answer.success)
}

#[test]
fn r001_7_a_delegation_is_a_child_turn_whose_words_answer_the_call() {
    let mut table = office(4);
    table.say("Build it.");
    table.asks("r1.t1.i1", "Digger will.", vec![delegate("digger", "dig a hole")]);
    insta::assert_snapshot!(table.prompt("r1.t2"), @r"
    System: You are Digger.
    User: dig a hole

    Why you: you know how
    ");
    table.answer("r1.t2.i1", "The hole is dug.");
    insta::assert_snapshot!(table.trace(), @r#"
    session accepted m1 "Build it."
    r1 opened as round 1 take 1 by m1 message 1
    r1.t1 started boss seat 0.0
    r1.t1.i1 opened 1
    r1.t1.i1 model started #1
      wants model r1.t1.i1 #1
    r1.t1.i1 model finished #1 "Digger will." 1 calls
    r1.t1.i1.c1 requested delegate {"agent":"digger","mission":"dig a hole","rationale":"you know how"} idempotent
    r1.t2 started digger for r1.t1.i1.c1: dig a hole
    r1.t2.i1 opened 1
    r1.t2.i1 model started #1
      wants model r1.t2.i1 #1
    r1.t2.i1 model finished #1 "The hole is dug." 0 calls
    r1.t2.i1 closed answered
    r1.t2 ended answered
    r1.t1.i1.c1 finished answered by r1.t2
    r1.t1.i1 closed tools done
    r1.t1.i2 opened 2
    r1.t1.i2 model started #1
      wants model r1.t1.i2 #1
    "#);
    assert_eq!(told(&table, "r1.t1"), ("The hole is dug.".to_owned(), true));
    table.answer("r1.t1.i2", "Done.");
    // The worker's words belong to its parent: the session's own messages are two.
    assert_eq!(table.session().last_message, 2);
}

#[test]
fn delegations_of_one_reply_run_side_by_side() {
    let mut table = office(4);
    table.say("Build it.");
    let calls = vec![delegate("digger", "dig"), delegate("agt_writer", "write")];
    table.asks("r1.t1.i1", "", calls);
    table.trace();
    table.answer("r1.t3.i1", "written");
    table.answer("r1.t2.i1", "dug");
    insta::assert_snapshot!(table.trace(), @r#"
    r1.t3.i1 model finished #1 "written" 0 calls
    r1.t3.i1 closed answered
    r1.t3 ended answered
    r1.t1.i1.c2 finished answered by r1.t3
      wants model r1.t2.i1 #1
    r1.t2.i1 model finished #1 "dug" 0 calls
    r1.t2.i1 closed answered
    r1.t2 ended answered
    r1.t1.i1.c1 finished answered by r1.t2
    r1.t1.i1 closed tools done
    r1.t1.i2 opened 2
    r1.t1.i2 model started #1
      wants model r1.t1.i2 #1
    "#);
}

#[test]
fn a_delegation_to_an_unknown_worker_fails_and_names_those_that_there_are() {
    let mut table = office(4);
    table.say("Build it.");
    table.asks("r1.t1.i1", "", vec![delegate("plumber", "dig")]);
    assert_eq!(
        told(&table, "r1.t1"),
        (
            "delegate: unknown worker \"plumber\"; Boss may delegate to: digger, writer".to_owned(),
            false
        )
    );
}

#[test]
fn an_agent_delegates_to_its_own_workers_alone() {
    let mut table = office(4);
    table.say("Build it.");
    table.asks("r1.t1.i1", "", vec![delegate("boss", "dig")]);
    let (told, _) = told(&table, "r1.t1");
    assert_eq!(
        told,
        "delegate: Boss may not delegate to \"boss\"; Boss may delegate to: digger, writer"
    );
    let alone = agent_with("Alone", vec![ToolDecl::delegate()]);
    let mut table = Table::open(vec![alone, agent("Other")]);
    table.say("Build it.");
    table.asks("r1.t1.i1", "", vec![delegate("other", "dig")]);
    let (told, _) = self::told(&table, "r1.t1");
    assert_eq!(
        told,
        "delegate: Alone may not delegate to \"other\"; no workers are available, answer yourself"
    );
}

#[test]
fn a_delegation_with_bad_arguments_fails_and_says_what_to_mend() {
    for (arguments, expected) in [
        (
            json!({"agent": "digger"}),
            "the arguments of delegate do not match its schema: missing field `mission`",
        ),
        (
            json!({"agent": "digger", "mission": " "}),
            "delegate: mission must have 1 to 10000 characters; this one has 1",
        ),
        (
            json!("digger"),
            "the arguments of delegate do not match its schema: invalid type: string \"digger\", expected struct Delegation",
        ),
    ] {
        let mut table = office(4);
        table.say("Build it.");
        table.asks("r1.t1.i1", "", vec![ask("delegate", arguments)]);
        assert_eq!(told(&table, "r1.t1"), (expected.to_owned(), false));
    }
}

#[test]
fn a_delegate_that_fails_is_a_failed_result_for_the_one_who_delegated() {
    let mut table = office(4);
    table.say("Build it.");
    table.asks("r1.t1.i1", "", vec![delegate("digger", "dig")]);
    table.trace();
    table.fails("r1.t2.i1", "out of paper");
    insta::assert_snapshot!(table.trace(), @r#"
    r1.t2.i1 model failed #1: out of paper
    r1.t2.i1 closed failed
    r1.t2 ended failed: out of paper
    r1.t1.i1.c1 finished failed "The delegate failed: out of paper"
    r1.t1.i1 closed tools done
    r1.t1.i2 opened 2
    r1.t1.i2 model started #1
      wants model r1.t1.i2 #1
    "#);
    assert_eq!(told(&table, "r1.t1"), ("The delegate failed: out of paper".to_owned(), false));
}

#[test]
fn s25_turns_nest_only_as_deep_as_the_settings_allow() {
    let mut table = office(2);
    table.say("Build it.");
    table.asks("r1.t1.i1", "", vec![delegate("digger", "dig")]);
    table.asks("r1.t2.i1", "", vec![delegate("digger", "dig deeper")]);
    assert_eq!(
        told(&table, "r1.t2"),
        ("turns can be nested at most 2 levels deep".to_owned(), false)
    );
    let mut table = office(1);
    table.say("Build it.");
    table.asks("r1.t1.i1", "", vec![delegate("digger", "dig")]);
    assert_eq!(
        told(&table, "r1.t1"),
        ("turns can be nested at most 1 levels deep".to_owned(), false)
    );
}

#[test]
fn s25_a_handler_may_not_ask_deeper_either_and_its_call_goes_on() {
    let mut table = office(1);
    table.say("Judge.");
    table.asks("r1.t1.i1", "", vec![ask("judge", json!({}))]);
    let refused = table.refused(table.evaluates("r1.t1.i1.c1", 1, "Is it good?"));
    assert_eq!(
        refused,
        Reject::Invalid { what: "turns can be nested at most 1 levels deep".to_owned() }
    );
    table.returns("r1.t1.i1.c1", "I cannot say.");
}

#[test]
fn r002_9_a_handler_asks_two_prompts_and_they_appear_under_its_call() {
    let mut table = office(4);
    table.say("Judge.");
    table.asks("r1.t1.i1", "", vec![ask("judge", json!({}))]);
    table.trace();
    table.ok(table.evaluates("r1.t1.i1.c1", 1, "Is it good?"));
    insta::assert_snapshot!(table.prompt("r1.t2"), @r"
    System: Judge.
    User: Is it good?
    ");
    table.answer("r1.t2.i1", "good");
    table.ok(table.evaluates("r1.t1.i1.c1", 2, "Is it cheap?"));
    table.answer("r1.t3.i1", "cheap");
    table.returns("r1.t1.i1.c1", "good and cheap");
    insta::assert_snapshot!(table.trace(), @r#"
    r1.t2 started boss for r1.t1.i1.c1 nested 1: Is it good?
    r1.t2.i1 opened 1
    r1.t2.i1 model started #1
      wants tool r1.t1.i1.c1 #1, model r1.t2.i1 #1
    r1.t2.i1 model finished #1 "good" 0 calls
    r1.t2.i1 closed answered
    r1.t2 ended answered
      wants tool r1.t1.i1.c1 #1
    r1.t3 started boss for r1.t1.i1.c1 nested 2: Is it cheap?
    r1.t3.i1 opened 1
    r1.t3.i1 model started #1
      wants tool r1.t1.i1.c1 #1, model r1.t3.i1 #1
    r1.t3.i1 model finished #1 "cheap" 0 calls
    r1.t3.i1 closed answered
    r1.t3 ended answered
      wants tool r1.t1.i1.c1 #1
    r1.t1.i1.c1 finished ok "good and cheap"
    r1.t1.i1 closed tools done
    r1.t1.i2 opened 2
    r1.t1.i2 model started #1
      wants model r1.t1.i2 #1
    "#);
}

#[test]
fn a_handler_that_runs_again_gets_what_is_recorded_of_its_children() {
    let mut table = office(4);
    table.say("Judge.");
    table.asks("r1.t1.i1", "", vec![ask("judge", json!({}))]);
    table.ok(table.evaluates("r1.t1.i1.c1", 1, "Is it good?"));
    table.answer("r1.t2.i1", "good");
    table.ok(table.evaluates("r1.t1.i1.c1", 2, "Is it cheap?"));
    table.trace();
    table.ok(Report::WriterChanged);
    assert!(table.ok(table.evaluates("r1.t1.i1.c1", 1, "Is it good?")).is_empty());
    let first = table.live.window.find_child(&table.turn("r1.t2")).unwrap();
    assert_eq!((&first.outcome, first.text.as_str()), (&TurnOutcome::Answered, "good"));
    assert!(table.ok(table.evaluates("r1.t1.i1.c1", 2, "Is it cheap?")).is_empty());
    table.answer("r1.t3.i1", "cheap");
    table.returns("r1.t1.i1.c1", "good and cheap");
    insta::assert_snapshot!(table.trace(), @r#"
    r1.t1.i1.c1 interrupted #1
    r1.t3.i1 model interrupted #1 "", possible duplicate
    r1.t1.i1.c1 started #2
    r1.t3.i1 model started #2
      wants tool r1.t1.i1.c1 #2, model r1.t3.i1 #2
      wants tool r1.t1.i1.c1 #2, model r1.t3.i1 #2
      wants tool r1.t1.i1.c1 #2, model r1.t3.i1 #2
    r1.t3.i1 model finished #2 "cheap" 0 calls
    r1.t3.i1 closed answered
    r1.t3 ended answered
      wants tool r1.t1.i1.c1 #2
    r1.t1.i1.c1 finished ok "good and cheap"
    r1.t1.i1 closed tools done
    r1.t1.i2 opened 2
    r1.t1.i2 model started #1
      wants model r1.t1.i2 #1
    "#);
    assert!(table.live.window.find_child(&table.turn("r1.t2")).is_none());
}

#[test]
fn a_handler_that_asks_another_prompt_when_it_runs_again_fails_its_call() {
    let mut table = office(4);
    table.say("Judge.");
    table.asks("r1.t1.i1", "", vec![ask("judge", json!({}))]);
    table.ok(table.evaluates("r1.t1.i1.c1", 1, "Is it good?"));
    table.answer("r1.t2.i1", "good");
    table.ok(table.evaluates("r1.t1.i1.c1", 2, "Is it cheap?"));
    table.ok(Report::WriterChanged);
    table.trace();
    table.ok(table.evaluates("r1.t1.i1.c1", 1, "Is it bad?"));
    insta::assert_snapshot!(table.trace(), @r#"
    r1.t3.i1 model cancelled #2 ""
    r1.t3.i1 closed cancelled
    r1.t3 ended cancelled
    r1.t1.i1.c1 finished failed "nested prompt 1 of judge differs from the recorded one; a handler must ask the same prompts in the same order"
    r1.t1.i1 closed tools done
    r1.t1.i2 opened 2
    r1.t1.i2 model started #1
      wants model r1.t1.i2 #1
    "#);
}

#[test]
fn a_nested_prompt_offers_the_tools_that_it_names_and_no_others() {
    let mut table = office(4);
    table.say("Judge.");
    table.asks("r1.t1.i1", "", vec![ask("judge", json!({}))]);
    let prompt = roundtable_core::event::NestedPrompt {
        tools: vec!["judge".to_owned(), "unheard_of".to_owned()],
        ..nested("Sub?")
    };
    let tool_call = table.call("r1.t1.i1.c1");
    table.ok(Report::Evaluate { tool_call, ordinal: 1, prompt });
    let (rendered, _) = table.live.render(&table.turn("r1.t2")).unwrap();
    assert_eq!(rendered.tools, ["judge"]);
    table.trace();
    table.asks("r1.t2.i1", "", vec![delegate("digger", "dig"), ask("judge", json!({}))]);
    insta::assert_snapshot!(table.trace(), @r#"
        r1.t2.i1 model finished #1 "" 2 calls
        r1.t2.i1.c1 requested delegate {"agent":"digger","mission":"dig","rationale":"you know how"} pure
        r1.t2.i1.c1 finished failed "unknown tool \"delegate\"; available: judge"
        r1.t2.i1.c2 requested judge {} pure
        r1.t2.i1.c2 started #1
          wants tool r1.t1.i1.c1 #1, tool r1.t2.i1.c2 #1
        "#);
}

#[test]
fn when_a_handler_is_done_the_children_it_left_behind_are_closed_first() {
    for ran in [Ran::Returned(ToolResult::ok("enough")), Ran::CutOff("timeout".to_owned())] {
        let mut table = office(4);
        table.say("Judge.");
        table.asks("r1.t1.i1", "", vec![ask("judge", json!({}))]);
        table.ok(table.evaluates("r1.t1.i1.c1", 1, "Is it good?"));
        table.trace();
        table.ok(table.ran("r1.t1.i1.c1", ran));
        let trace = table.trace();
        let closing: Vec<&str> = trace.lines().take(4).collect();
        assert_eq!(
            closing[..3].to_vec(),
            [
                "r1.t2.i1 model cancelled #1 \"\"",
                "r1.t2.i1 closed cancelled",
                "r1.t2 ended cancelled",
            ]
        );
        assert!(closing[3].starts_with("r1.t1.i1.c1 finished"), "{trace}");
    }
}

#[test]
fn a_handler_whose_call_is_over_can_ask_nothing_more() {
    let mut table = office(4);
    table.say("Judge.");
    table.asks("r1.t1.i1", "", vec![ask("judge", json!({}))]);
    table.ok(Command::Stop);
    let refused = table.refused(table.evaluates("r1.t1.i1.c1", 1, "Is it good?"));
    assert!(matches!(refused, Reject::Stale { .. }));
}

#[test]
fn a_nested_prompt_can_be_no_longer_than_a_message() {
    let mut table = office(4);
    table.say("Judge.");
    table.asks("r1.t1.i1", "", vec![ask("judge", json!({}))]);
    let long = "x".repeat(256 * 1024);
    let refused = table.refused(table.evaluates("r1.t1.i1.c1", 1, &long)).to_string();
    assert_eq!(refused, "the nested prompt has 262150 bytes; the limit is 262144");
}

#[test]
fn a_session_whose_handler_still_runs_after_its_children_ended_has_work() {
    let mut table = office(4);
    table.say("Judge.");
    table.asks("r1.t1.i1", "", vec![ask("judge", json!({}))]);
    table.ok(table.evaluates("r1.t1.i1.c1", 1, "Is it good?"));
    assert!(table.session().has_work());
    table.answer("r1.t2.i1", "good");
    assert!(table.session().has_work(), "the handler has to be run again if it is cut off now");
}

#[test]
fn a_worker_is_told_of_its_own_missions_in_takes_that_count_and_of_no_others() {
    let mut table = office(4);
    for (round, mission) in [(1, "dig"), (2, "dig deeper")] {
        table.say("Build it.");
        let calls = vec![delegate("digger", mission), delegate("writer", "write")];
        table.asks(&format!("r{round}.t1.i1"), "", calls);
        table.answer(&format!("r{round}.t2.i1"), &format!("dug in round {round}"));
        table.answer(&format!("r{round}.t3.i1"), "written");
        table.answer(&format!("r{round}.t1.i2"), "Built.");
    }
    table.ok(Command::Rewind { number: 2 });
    table.say("Go on.");
    table.asks("r3.t1.i1", "", vec![delegate("digger", "measure")]);
    insta::assert_snapshot!(table.prompt("r3.t2"), @r"
    System: You are Digger.
    User: Your earlier missions in this conversation:

    [Mission]
    dig
    [Your answer]
    dug in round 1

    Your mission now:
    measure

    Why you: you know how
    ");
    table.answer("r3.t2.i1", "Three feet.");
    table.asks("r3.t1.i2", "", vec![delegate("digger", "again")]);
    let prompt = table.prompt("r3.t3");
    assert!(prompt.contains("[Mission]\nmeasure\n[Your answer]\nThree feet."), "{prompt}");
}

#[test]
fn a_worker_is_told_of_eight_missions_at_most() {
    let mut table = office(4);
    for round in 1..=10 {
        table.say("Build it.");
        table.asks(
            &format!("r{round}.t1.i1"),
            "",
            vec![delegate("digger", &format!("dig {round}."))],
        );
        let told = table.prompt(&format!("r{round}.t2"));
        assert_eq!(told.matches("[Mission]").count(), (round - 1).min(8), "{told}");
        assert!(round < 10 || !told.contains("dig 1.") && told.contains("dig 2."), "{told}");
        table.answer(&format!("r{round}.t2.i1"), "dug");
        table.answer(&format!("r{round}.t1.i2"), "Built.");
    }
}

#[test]
fn the_sources_of_a_worker_reach_the_supervisor() {
    use roundtable_core::message::Citation;
    let mut table = office(4);
    table.say("Look it up.");
    table.asks("r1.t1.i1", "", vec![delegate("digger", "look it up")]);
    let source = Citation { url: Some("https://a.example".to_owned()), title: None, quote: None };
    let mut reply = crate::table::reply("It is so.", Vec::new());
    reply.citations = vec![source];
    table.ok(table.replied("r1.t2.i1", reply));
    let record = table.live.window.find_turn(&table.turn("r1.t1")).unwrap();
    let answer = record.context.iterations()[0].tool_calls[0].result.clone().unwrap();
    assert_eq!(answer.content, "It is so.");
    assert_eq!(answer.value, Some(json!({ "citations": [{ "url": "https://a.example" }] })));
}
