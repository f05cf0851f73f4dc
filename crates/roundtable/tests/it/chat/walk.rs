//! Whatever happens in whatever order, and wherever a process dies: the log of a chat is sound.

use roundtable::chat::{Chat, TITLE, Team};
use roundtable::core::event::{Body, ContextEvent, RoundEvent, SessionEvent};
use roundtable::core::id::SessionId;
use roundtable::core::input::OnBusy;
use roundtable::core::tool::ToolDecl;
use roundtable::prelude::*;
use roundtable_testing::ProgramSet;
use roundtable_testing::oracle::Evidence;
use roundtable_testing::sim::{Act, Client, Conduct, Dice, Scenario, Seed, Visited};
use roundtable_testing::walk::Walk;
use serde_json::json;

use super::agent;

#[test]
fn whatever_happens_in_a_chat_the_log_is_sound_and_gives_the_state() {
    Walk::new(Chat).run(|agents| {
        let members: Vec<_> = agents.iter().skip(1).map(|id| json!({ "agent": id })).collect();
        json!({ "supervisor": agents[0], "members": members, "titled": true })
    });
}

fn script() -> Script {
    let delegate = |agent: &str| Call::new("delegate", json!({ "agent": agent, "mission": "dig" }));
    let ask = Call::new("ask", json!({ "question": "Where?" }));
    Script::default()
        .voice(
            "boss",
            [Reply::calls([delegate("digger"), delegate("writer")]), Reply::text("All done.")],
        )
        .voice("boss/title", [Reply::text("Holes")])
        .voice("digger", [Reply::calls([ask]), Reply::text("Dug there.")])
        .voice("writer", [Reply::text("Written.")])
}

fn opening() -> roundtable::core::event::Opening {
    let mut digger = agent("Digger");
    digger.tools.push(ToolDecl::ask());
    Team::new(agent("Boss")).worker(digger, "digs").worker(agent("Writer"), "writes").opening("")
}

fn scenario() -> Scenario {
    Scenario {
        name: "chat",
        script,
        programs: || ProgramSet::default().program(Chat),
        clients: || {
            let acts = vec![
                Act::Open(Box::new(opening())),
                Act::Say("A hole, please.".to_owned(), OnBusy::Queue),
            ];
            let session = SessionId::new("chat").unwrap();
            let conduct = Conduct::Answers(Dice::new(Seed(3)));
            vec![Client::new("user", &session, conduct, acts)]
        },
    }
}

/// One question with one answer, one round, one title: once each, wherever the crash was.
fn check(label: &str, evidence: &Evidence) {
    let events = evidence.logs.values().flatten().map(|stored| &*stored.event);
    let told: Vec<String> = events
        .filter_map(|event| match &event.body {
            Body::Context(ContextEvent::ContextRequested(request)) => Some(request.query.clone()),
            Body::Context(ContextEvent::ContextProvided(_)) => Some("answered".to_owned()),
            Body::Round(RoundEvent::RoundAsideOpened { purpose, .. }) => Some(purpose.to_string()),
            Body::Round(RoundEvent::RoundClosed { outcome, .. }) => Some(format!("{outcome:?}")),
            Body::Session(SessionEvent::SessionChanged(change)) => change.title.clone(),
            _ => None,
        })
        .collect();
    let title = TITLE.to_string();
    let expected = ["Where?", "answered", "Completed", &title, "Holes", "Completed"];
    assert_eq!(told, expected, "{label}");
}

#[test]
fn a_crash_at_every_commit_of_a_chat_changes_nothing_that_it_decides() {
    let scenario = scenario();
    let Visited { commits, crashes } = scenario.crash_everywhere(check);
    assert!(commits > 0 && crashes >= 2 * commits, "{crashes} crashes of {commits} commits");
    assert!(scenario.fail_everywhere(check) > 0);
}
