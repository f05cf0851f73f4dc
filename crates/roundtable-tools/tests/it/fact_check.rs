//! `fact_check` finds who said what, in a session that an engine made.

use roundtable::prelude::*;
use roundtable_core::MessageContext;
use roundtable_core::event::{Body, Opening, ToolCallEvent};
use roundtable_core::input::{Command, Say};
use roundtable_core::program::{Brief, NoRules, Program, Progress, SeatView, Step};
use roundtable_core::stage::{ANSWER, Name, Stage};
use roundtable_core::tool::ToolOutcome;
use roundtable_ports::DynTool as _;
use roundtable_tools::FactCheck;
use serde_json::json;

/// A debate of two rounds, in the second of which Bob checks what was said.
async fn checked(quote: &str, said_by: Option<&str>, sequential: bool) -> ToolResult {
    let mut arguments = json!({ "quote": quote });
    if let Some(said_by) = said_by {
        arguments["said_by"] = json!(said_by);
    }
    let check = Reply::calls([Call::new("fact_check", arguments)]);
    let script = Script::default()
        .voice("ann", [Reply::text("Rust is  “fast”,\nI said.")])
        .voice("ann", [Reply::text("Go is simple.")])
        .voice("bob", [Reply::text("Hm.")])
        .voice("bob", [check, Reply::text("So.")]);
    let engine = Engine::builder()
        .custom_model("scripted", ScriptedModel::new(script))
        .tool(FactCheck)
        .build()
        .await
        .unwrap();
    let mut bob = Agent::new("Bob", "scripted").unwrap();
    bob.tools = vec![FactCheck.declare()];
    let mut talk = engine.panel("Which language?").agent("Ann").participant(bob);
    if sequential {
        talk = talk.sequential();
    }
    let session = talk.open().await.unwrap();
    session.ask("Which language is best?").await.unwrap();
    session.ask("And now?").await.unwrap();
    let log = session.log().await.unwrap();
    engine.shutdown().await;
    let result = log.iter().find_map(|event| match &event.body {
        Body::ToolCall(ToolCallEvent::ToolCallFinished(ToolOutcome::Returned(result))) => {
            Some(result.clone())
        }
        _ => None,
    });
    result.unwrap()
}

#[tokio::test]
async fn a_quote_is_found_with_agent_round_and_event() {
    let result = checked("rust IS \"fast\", i", Some("ann"), false).await;
    let event = result.value.as_ref().unwrap()["events"][0].clone();
    let line = format!("- Ann (agt_ann), round 1, event {event}: \"Rust is  “fast”,\nI said.\"");
    assert_eq!(result.message, format!("Found in 1 message(s) of this session:\n{line}"));
    assert_eq!(result.value, Some(json!({ "events": [event] })));
}

#[tokio::test]
async fn what_people_said_is_found_too() {
    let result = checked("language is best", None, false).await;
    let lines: Vec<&str> = result.message.lines().collect();
    assert_eq!(lines.len(), 2);
    assert!(lines[1].starts_with("- ") && lines[1].contains(", round 1, event "), "{}", lines[1]);
}

#[tokio::test]
async fn a_misquote_is_not_found_and_the_nearest_statement_is_named() {
    let result = checked("I said Rust is slow", None, false).await;
    let lines: Vec<&str> = result.message.lines().collect();
    assert_eq!(lines[0], "Not found in 4 message(s) of this session.");
    assert!(lines[1].starts_with("Closest match: Ann (agt_ann), round 1, event "), "{}", lines[1]);
    let result = checked("Rust is", Some("Bob"), false).await;
    assert_eq!(result.message, "Not found in 1 message(s) of this session.");
    assert_eq!(result.value, Some(json!({ "events": [] })));
}

#[tokio::test]
async fn those_who_speak_side_by_side_do_not_hear_each_other_through_it() {
    let together = checked("Go is simple", None, false).await;
    assert_eq!(together.message, "Not found in 4 message(s) of this session.");
    let in_turn = checked("Go is simple", None, true).await;
    assert!(
        in_turn
            .message
            .starts_with("Found in 1 message(s) of this session:\n- Ann (agt_ann), round 2")
    );
}

#[tokio::test]
async fn a_quote_without_words_is_refused() {
    let result = checked(" … \"\" ", None, false).await;
    assert_eq!(result, ToolResult::failed("the quote is empty"));
}

#[tokio::test]
async fn in_a_debate_without_names_a_quote_is_found_without_a_name() {
    let check = Reply::calls([Call::new("fact_check", json!({ "quote": "Rust is fast" }))]);
    let script = Script::default()
        .voice("ann", [Reply::text("Rust is fast.")])
        .voice("bob", [Reply::text("Hm.")])
        .voice("bob", [check, Reply::text("So.")]);
    let model = ScriptedModel::new(script);
    let engine =
        Engine::builder().custom_model("scripted", model).tool(FactCheck).build().await.unwrap();
    let mut bob = Agent::new("Bob", "scripted").unwrap();
    bob.tools = vec![FactCheck.declare()];
    let wish = engine.debate("Which language?").mode(Mode::Delphi).agent("Ann").participant(bob);
    let debate = wish.rounds(2).run().await.unwrap();
    debate.wait(2).await.unwrap();
    let log = debate.session().log().await.unwrap();
    engine.shutdown().await;
    let result = log.iter().find_map(|event| match &event.body {
        Body::ToolCall(ToolCallEvent::ToolCallFinished(ToolOutcome::Returned(result))) => {
            Some(result.clone())
        }
        _ => None,
    });
    let result = result.unwrap();
    assert!(result.message.contains("- Participant 1, round 1"), "{}", result.message);
    let told = format!("{} {:?}", result.message, result.value);
    assert!(!told.contains("Ann") && !told.contains("agt_ann"), "{told}");
}

/// A room in which Bob arrives in the second round.
struct Room;

impl Program for Room {
    type Rules = NoRules;
    type State = ();
    const NAME: Name = Name::constant("room");
    const VERSION: u32 = 1;

    fn next(&self, progress: &Progress<'_, Self>) -> Step<()> {
        let everyone = progress.session.seats();
        let ann = everyone[0].clone();
        match (progress.scope.number, progress.last()) {
            (_, Some(_)) => Step::close(),
            (1, None) => {
                let plan = Stage::new(Name::constant("plan"), [ann.clone()]).private();
                Step::stages(vec![plan, Stage::new(ANSWER, [ann.clone()])]).among([ann])
            }
            (_, None) => {
                let aside = Stage::new(ANSWER, [ann.clone()]).to([ann]);
                Step::stages(vec![aside, Stage::new(ANSWER, everyone)])
            }
        }
    }

    fn brief(&self, view: &SeatView<'_, Self>) -> Brief {
        Brief::new("room", view.persona(), view.asked())
    }
}

#[tokio::test]
async fn nobody_finds_through_it_what_went_to_others() {
    let hidden =
        ["canary-whisper", "canary-plan", "canary-absent", "canary-aside", "canary-beside"];
    let check = |quote: &str| Call::new("fact_check", json!({ "quote": quote }));
    let script = Script::default()
        .voice("ann", [Reply::text("canary-plan")])
        .voice("ann", [Reply::text("canary-absent")])
        .voice("ann", [Reply::text("canary-aside")])
        .voice("ann", [Reply::text("canary-beside")])
        .voice("bob", [Reply::calls(hidden.map(check)), Reply::text("Nothing.")]);
    let model = ScriptedModel::new(script);
    let engine = Engine::builder().custom_model("scripted", model).tool(FactCheck).program(Room);
    let engine = engine.build().await.unwrap();
    let mut bob = Agent::new("Bob", "scripted").unwrap();
    bob.tools = vec![FactCheck.declare()];
    let ann = Agent::new("Ann", "scripted").unwrap();
    let to = [ann.id.clone()].into_iter().collect();
    let opening = Opening::of::<Room>("A room", vec![ann, bob], &NoRules).unwrap();
    let session = engine.open(opening).await.unwrap();
    let context = MessageContext::new("m1", session.id(), None).unwrap();
    let text = Some("canary-whisper".to_owned());
    let say = Say { text, to: Some(to), ..Say::new(context) };
    session.command(Command::Say(say)).await.unwrap();
    session.ask("Who is there?").await.unwrap();
    let log = session.log().await.unwrap();
    engine.shutdown().await;
    let found = log.iter().filter_map(|event| match &event.body {
        Body::ToolCall(ToolCallEvent::ToolCallFinished(ToolOutcome::Returned(result))) => {
            Some(result.message.clone())
        }
        _ => None,
    });
    // Bob knows the message of his round, and nothing else.
    assert_eq!(found.collect::<Vec<_>>(), ["Not found in 1 message(s) of this session."; 5]);
}
