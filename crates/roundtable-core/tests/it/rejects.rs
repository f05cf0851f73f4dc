//! Refusals: each says what is wrong and what to do, and changes nothing. That nothing changes is
//! checked by the table on every refusal.

use roundtable_core::agent::Agent;
use roundtable_core::event::Opening;
use roundtable_core::id::{AgentId, IterationId, SessionId, ToolCallId};
use roundtable_core::input::{Command, OnBusy, Ran, Reply, Report, Unanswered};
use roundtable_core::settings::Settings;
use roundtable_core::tool::{Effect, ToolDecl, ToolResult};
use roundtable_core::{MessageContext, Reject};

use serde_json::json;

use crate::table::{Table, agent, agent_with, ask, nested, opening, reply};

fn searcher(settings: Settings) -> Table {
    let tools = vec![ToolDecl::handler("search", Effect::Pure)];
    Table::open_with(vec![agent_with("Ada", tools)], settings)
}

fn refusal_of(agents: Vec<Agent>, settings: Settings) -> String {
    Table::empty("test").refused(opening(agents, settings)).to_string()
}

#[test]
fn a_session_has_one_to_sixty_four_agents_each_once() {
    let none = refusal_of(Vec::new(), Settings::default());
    assert_eq!(none, "a session needs 1 to 64 agents; this one has 0");
    let crowd = |count: usize| (0..count).map(|n| agent(&format!("A{n}"))).collect::<Vec<_>>();
    let many = refusal_of(crowd(65), Settings::default());
    assert_eq!(many, "a session needs 1 to 64 agents; this one has 65");
    Table::open(crowd(64));
    let twice = refusal_of(vec![agent("Ada"), agent("Ada")], Settings::default());
    assert_eq!(twice, "duplicate agent agt_ada; give each agent its own name");
}

#[test]
fn a_seat_is_for_an_agent_of_the_session() {
    let seats = vec![AgentId::new("eve").unwrap()];
    let refused = refusal_of(vec![agent("Ada")], Settings { seats, ..Settings::default() });
    assert_eq!(refused, "agent agt_eve is not in this session");
}

#[test]
fn a_session_has_at_least_one_round() {
    let settings = Settings { total_rounds: Some(0), ..Settings::default() };
    assert_eq!(refusal_of(vec![agent("Ada")], settings), "rounds must be at least 1");
}

#[test]
fn an_empty_message_is_refused_and_going_on_without_one_is_not() {
    let mut table = Table::open(vec![agent("Ada")]);
    for empty in ["", " \n\t"] {
        let refused = table.say_busy(empty, OnBusy::Queue).unwrap_err().to_string();
        assert_eq!(refused, "the message is empty; send a text, or continue without a message");
    }
    table.go_on();
}

#[test]
fn a_message_can_be_as_long_as_the_settings_say_and_no_longer() {
    let settings = Settings { max_message_bytes: 4, ..Settings::default() };
    let mut table = Table::open_with(vec![agent("Ada")], settings);
    let refused = table.say_busy("ääa", OnBusy::Queue).unwrap_err().to_string();
    assert_eq!(refused, "the message has 5 bytes; the limit is 4");
    table.say("ää");
}

#[test]
fn a_message_of_another_conversation_is_refused() {
    let mut table = Table::open(vec![agent("Ada")]);
    let mut say = table.next_say(Some("Hello"));
    say.context = MessageContext::new("m1", &SessionId::new("other").unwrap(), None).unwrap();
    let refused = table.refused(Command::Say(say)).to_string();
    assert_eq!(
        refused,
        "the message belongs to conversation ses_other; send it there, not to ses_test"
    );
}

#[test]
fn two_messages_cannot_wait_under_one_id() {
    let mut table = Table::open(vec![agent("Ada")]);
    table.say("runs");
    table.say("waits");
    let mut say = table.next_say(Some("also waits"));
    say.context = MessageContext::new("m2", &table.session().id, None).unwrap();
    let refused = table.refused(Command::Say(say)).to_string();
    assert_eq!(refused, "message m2 is already queued; give each message its own id");
}

#[test]
fn s03_an_id_that_a_client_chose_can_be_no_path_and_no_pattern() {
    let session = SessionId::new("abc").unwrap();
    for bad in ["", "a b", "../x", "a*", "%", "ä", &"x".repeat(65)] {
        let refused = MessageContext::new(bad, &session, None).unwrap_err();
        assert!(matches!(refused, Reject::BadId { .. }), "{bad}");
        assert!(refused.to_string().contains("use letters, digits"));
    }
    let parsed: Reject = "trn_1".parse::<SessionId>().unwrap_err().into();
    assert_eq!(
        parsed.to_string(),
        "\"trn_1\" is not a session id; a session id begins with \"ses_\""
    );
}

/// Every report about something that never was, or is over.
fn strange_reports() -> Vec<Report> {
    let iteration = IterationId::derive("nowhere", 1);
    let tool_call = ToolCallId::derive("nowhere", 1);
    vec![
        Report::ModelReplied { iteration: iteration.clone(), attempt: 1, reply: Reply::default() },
        Report::ModelFailed {
            iteration,
            attempt: 1,
            error: "e".to_owned(),
            unanswered: Unanswered::Refused,
        },
        Report::EffectBegins { tool_call: tool_call.clone() },
        Report::ToolRan {
            tool_call: tool_call.clone(),
            attempt: 1,
            ran: Ran::Returned(ToolResult::ok("r")),
        },
        Report::Evaluate { tool_call: tool_call.clone(), ordinal: 1, prompt: nested("x") },
        Report::Publish {
            tool_call,
            ordinal: 1,
            topic: "t".to_owned(),
            data: serde_json::Value::Null,
        },
    ]
}

#[test]
fn a_report_about_nothing_is_stale_whether_a_round_is_open_or_not() {
    let mut table = Table::open(vec![agent("Ada")]);
    for open in [false, true] {
        if open {
            table.say("Hello");
        }
        for report in strange_reports() {
            let refused = table.refused(report);
            assert!(matches!(refused, Reject::Stale { .. }), "{refused}");
        }
    }
}

#[test]
fn a_report_with_another_attempt_is_stale() {
    let mut table = Table::open(vec![agent("Ada")]);
    table.say("Hello");
    for attempt in [0, 2] {
        let (iteration, reply) = (table.iteration("r1.t1.i1"), Reply::default());
        table.refused(Report::ModelReplied { iteration: iteration.clone(), attempt, reply });
        let error = "down".to_owned();
        table.refused(Report::ModelFailed {
            iteration,
            attempt,
            error,
            unanswered: Unanswered::Refused,
        });
    }
}

#[test]
fn what_a_handler_publishes_has_the_size_of_a_message_at_most() {
    let settings = Settings { max_message_bytes: 16, ..Settings::default() };
    let mut table = searcher(settings);
    table.say("Hello");
    table.asks("r1.t1.i1", "", vec![ask("search", json!({}))]);
    let publish = |table: &Table, data: &str| Report::Publish {
        tool_call: table.call("r1.t1.i1.c1"),
        ordinal: 1,
        topic: "topic".to_owned(),
        data: json!(data),
    };
    let refused = table.refused(publish(&table, "0123456789")).to_string();
    assert_eq!(refused, "the published data has 17 bytes; the limit is 16");
    table.ok(publish(&table, "012345678"));
}

#[test]
fn an_opening_reads_back_from_the_command_that_carried_it() {
    let command = opening(vec![agent("Ada")], Settings::default());
    let json = serde_json::to_string(&command).unwrap();
    let Command::Open(read) = serde_json::from_str(&json).unwrap() else { panic!("{json}") };
    let read: Opening = *read;
    assert_eq!(Command::Open(Box::new(read)), command);
}

#[test]
fn a_late_or_second_result_of_a_tool_is_stale() {
    let mut table = searcher(Settings::default());
    table.say("Who?");
    table.asks("r1.t1.i1", "", vec![ask("search", json!({}))]);
    let first_attempt = table.ran("r1.t1.i1.c1", Ran::Returned(ToolResult::ok("late")));
    table.ok(Report::WriterChanged);
    table.refused(first_attempt);
    table.returns("r1.t1.i1.c1", "in time");
    table.refused(table.ran("r1.t1.i1.c1", Ran::Returned(ToolResult::ok("again"))));
    insta::assert_snapshot!(table.trace(), @r#"
    session accepted m1 "Who?"
    r1 opened as round 1 take 1 by m1 message 1
    r1.t1 started ada seat 0.0
    r1.t1.i1 opened 1
    r1.t1.i1 model started #1
      wants model r1.t1.i1 #1
    r1.t1.i1 model finished #1 "" 1 calls
    r1.t1.i1.c1 requested search {} pure
    r1.t1.i1.c1 started #1
      wants tool r1.t1.i1.c1 #1
    r1.t1.i1.c1 interrupted #1
    r1.t1.i1.c1 started #2
      wants tool r1.t1.i1.c1 #2
      refused: tool call r1.t1.i1.c1 has already ended; this result is not recorded
    r1.t1.i1.c1 finished ok "in time"
    r1.t1.i1 closed tools done
    r1.t1.i2 opened 2
    r1.t1.i2 model started #1
      wants model r1.t1.i2 #1
      refused: tool call r1.t1.i1.c1 has already ended; this result is not recorded
    "#);
}

#[test]
fn a_late_or_second_reply_of_a_model_is_stale() {
    let mut table = searcher(Settings::default());
    table.say("Who?");
    let first_attempt = table.replied("r1.t1.i1", reply("late", Vec::new()));
    table.ok(Report::WriterChanged);
    table.refused(first_attempt);
    table.answer("r1.t1.i1", "in time");
    table.refused(table.replied("r1.t1.i1", reply("again", Vec::new())));
    insta::assert_snapshot!(table.trace(), @r#"
    session accepted m1 "Who?"
    r1 opened as round 1 take 1 by m1 message 1
    r1.t1 started ada seat 0.0
    r1.t1.i1 opened 1
    r1.t1.i1 model started #1
      wants model r1.t1.i1 #1
    r1.t1.i1 model interrupted #1 "", possible duplicate
    r1.t1.i1 model started #2
      wants model r1.t1.i1 #2
      refused: model call r1.t1.i1 attempt 1 has already ended; this result is not recorded
    r1.t1.i1 model finished #2 "in time" 0 calls
    r1.t1.i1 closed answered
    r1.t1 ended answered message 2
    r1 closed completed
      wants nothing
      refused: model call r1.t1.i1 attempt 1 has already ended; this result is not recorded
    "#);
}

#[test]
fn a_tool_call_that_awaits_nothing_cannot_be_begun_as_an_effect() {
    let mut table = searcher(Settings::default());
    table.say("Who?");
    table.asks("r1.t1.i1", "", vec![ask("search", json!({}))]);
    table.refused(Report::EffectBegins { tool_call: table.call("r1.t1.i1.c1") });
    table.ok(Command::Stop);
    table.refused(Report::EffectBegins { tool_call: table.call("r1.t1.i1.c1") });
}
