//! The team: who answers, who is delegated to, what the conversation is called.

use roundtable::core::budget::Limits;
use roundtable::core::event::RoundOutcome;
use roundtable::core::tool::ToolDecl;
use roundtable::models::scripted::Fails;
use roundtable::prelude::*;
use roundtable_testing::PausedClock;
use serde_json::json;

use super::{agent, engine, recorded, title_of, until_closed};

fn delegate(agent: &str, mission: &str) -> Call {
    Call::new("delegate", json!({ "agent": agent, "mission": mission, "rationale": "yours" }))
}

fn office(boss: impl IntoIterator<Item = Reply>) -> Script {
    Script::default()
        .voice("boss", boss)
        .voice("boss/title", [Reply::text("\"Digging a hole.\"")])
        .voice("digger", [Reply::text("Dug.")])
        .voice("writer", [Reply::text("Written.")])
        .voice("secret", [Reply::text("By name.")])
}

async fn open(engine: &Engine, title: &str) -> Session {
    let chat = engine.chat(title).supervisor(agent("Boss"));
    let chat = chat.worker(agent("Digger")).worker_for(agent("Writer"), "writes letters");
    chat.command_only(agent("Secret")).open().await.unwrap()
}

#[tokio::test]
async fn a_supervisor_delegates_side_by_side_and_answers_with_the_results() {
    let calls = [delegate("digger", "dig"), delegate("writer", "write")];
    let (model, _) = recorded(office([Reply::calls(calls), Reply::text("Done.")]));
    let engine = engine(&model).await;
    let chat = open(&engine, "Garden").await;
    let report = chat.ask("A hole, and a letter about it.").await.unwrap();
    assert_eq!(report.outcome, Some(RoundOutcome::Completed));
    assert_eq!(report.answers[0].text, "Done.");
    let requests = model.requests();
    let last = format!("{:?}", requests.last().unwrap().messages);
    assert!(last.contains("Dug.") && last.contains("Written."), "{last}");
    let system = format!("{:?}", requests[0].messages);
    assert!(system.contains("- digger: You are Digger"), "{system}");
    assert!(system.contains("- writer: writes letters"), "{system}");
    assert!(!system.contains("- secret"), "nobody delegates to who answers only by name: {system}");
    engine.shutdown().await;
}

#[tokio::test]
async fn a_name_at_the_start_of_a_message_chooses_who_answers_and_an_unknown_one_is_text() {
    let (model, _) = recorded(office([Reply::text("I am the boss.")]));
    let engine = engine(&model).await;
    let chat = open(&engine, "Garden").await;
    let answer = async |text: &str| chat.ask(text).await.unwrap().answers.remove(0).text;
    assert_eq!(answer("#Secret who are you?").await, "By name.");
    assert_eq!(answer("#digger dig").await, "Dug.");
    assert_eq!(answer("#Plumber fix it").await, "I am the boss.");
    let asked: Vec<String> =
        model.requests().iter().map(|it| it.messages.last().unwrap().text()).collect();
    assert_eq!(asked, ["User: who are you?", "User: dig", "User: #Plumber fix it"]);
    engine.shutdown().await;
}

#[tokio::test]
async fn who_answers_only_by_name_is_not_delegated_to() {
    let boss = [Reply::calls([delegate("secret", "tell")]), Reply::text("Then not.")];
    let (model, _) = recorded(office(boss));
    let engine = engine(&model).await;
    let chat = open(&engine, "Garden").await;
    assert_eq!(chat.ask("What is it?").await.unwrap().answers[0].text, "Then not.");
    let told = format!("{:?}", model.requests().last().unwrap().messages);
    let why =
        "Boss may not delegate to \\\\\\\"secret\\\\\\\"; Boss may delegate to: digger, writer";
    assert!(told.contains(&why.replace("\\\\\\\"", "\\\"")), "{told}");
    engine.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_fails_or_takes_too_long_is_reported_and_the_supervisor_answers() {
    let calls = [delegate("digger", "dig"), delegate("writer", "write")];
    let script = Script::default()
        .voice("boss", [Reply::calls(calls), Reply::text("Neither worked; here is what I know.")])
        .voice("digger", [Reply::fails(Fails::Refused)])
        .voice("writer", [Reply::text("Too late.").after(60_000)]);
    let (model, _) = recorded(script);
    let builder = Engine::builder().custom_model("scripted", model.clone());
    let engine = builder.clock(PausedClock::starting(0)).build().await.unwrap();
    let limits = Limits { time_ms: Some(1_000), ..Limits::default() };
    let writer = agent("Writer");
    let chat = engine.chat("Garden").supervisor(agent("Boss")).worker(agent("Digger"));
    let chat = chat.limits(&writer.id, limits).worker(writer).open().await.unwrap();
    let report = chat.ask("A hole, and a letter.").await.unwrap();
    assert_eq!(report.answers[0].text, "Neither worked; here is what I know.");
    let told = format!("{:?}", model.requests().last().unwrap().messages);
    assert!(told.contains("The delegate failed: "), "{told}");
    assert!(told.contains("The delegate ran out of its budget (time)."), "{told}");
    engine.shutdown().await;
}

#[tokio::test]
async fn the_first_completed_round_names_the_conversation_and_holds_nobody_up() {
    let (model, _) = recorded(office([Reply::text("Yes.")]));
    let engine = engine(&model).await;
    let chat = open(&engine, "").await;
    chat.ask("May I dig a hole?").await.unwrap();
    chat.ask("And another?").await.unwrap();
    let events = until_closed(&chat, 3).await;
    assert_eq!(title_of(&events).as_deref(), Some("Digging a hole"));
    assert_eq!(chat.state().await.unwrap().title(), "Digging a hole");
    let titles = model.requests().iter().filter(|it| it.prompt == "title").count();
    assert_eq!(titles, 1, "once, after the first round");
    engine.shutdown().await;
}

#[tokio::test]
async fn a_conversation_that_has_a_title_keeps_it() {
    let (model, _) = recorded(office([Reply::text("Yes.")]));
    let engine = engine(&model).await;
    let chat = open(&engine, "Garden").await;
    chat.ask("May I dig a hole?").await.unwrap();
    assert_eq!(chat.state().await.unwrap().asides_opened, 0);
    engine.shutdown().await;
}

#[tokio::test]
async fn a_team_that_does_not_fit_opens_nothing_and_says_what_to_fix() {
    let (model, _) = recorded(Script::default());
    let engine = engine(&model).await;
    let refused =
        |chat: roundtable::chat::ChatBuilder| async { chat.open().await.unwrap_err().to_string() };
    let mut lonely = agent("Boss");
    lonely.tools.push(ToolDecl::delegate());
    let why = refused(engine.chat("x").supervisor(lonely)).await;
    assert!(why.contains("agt_boss has the tool delegate but no workers"), "{why}");
    let mut boss = agent("Boss");
    boss.workers.push(agent("Ghost").id);
    let why = refused(engine.chat("x").supervisor(boss)).await;
    assert!(why.contains("agt_ghost, who is not on the team"), "{why}");
    let mut boss = agent("Boss");
    boss.workers.push(agent("Secret").id);
    let why = refused(engine.chat("x").supervisor(boss).command_only(agent("Secret"))).await;
    assert!(why.contains("answers only by name"), "{why}");
    assert_eq!(engine.sessions(10).await.unwrap().len(), 0);
    engine.shutdown().await;
}

#[tokio::test]
async fn without_agents_the_standard_team_answers() {
    let (model, _) = recorded(Script::default().voice("supervisor", [Reply::text("Hello.")]));
    let engine = engine(&model).await;
    let chat = engine.chat("").open().await.unwrap();
    assert_eq!(chat.ask("Hi").await.unwrap().answers[0].text, "Hello.");
    let state = chat.state().await.unwrap();
    let names: Vec<&str> = state.agents.iter().map(|agent| agent.name.as_str()).collect();
    assert_eq!(names, ["Supervisor", "Researcher", "Writer", "Coder", "Planner"]);
    let request = &model.requests()[0];
    let tools: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(tools, ["ask", "delegate"]);
    engine.shutdown().await;
}

#[tokio::test]
async fn on_a_model_without_tools_nobody_delegates_and_workers_answer_by_name() {
    let script = Script::default().voice("writer", [Reply::text("Dear Ann,")]);
    let model = ScriptedModel::new(script);
    let name = roundtable::models::local::NAME;
    let engine = Engine::builder().custom_model(name, model).build().await.unwrap();
    let chat = engine.chat("").open().await.unwrap();
    let agents = chat.state().await.unwrap().agents;
    assert_eq!(agents.len(), 5);
    assert!(agents.iter().all(|agent| agent.tools.is_empty() && agent.workers.is_empty()));
    let report = chat.ask("#Writer a letter to Ann").await.unwrap();
    assert_eq!(report.answers[0].text, "Dear Ann,");
    engine.shutdown().await;
}
