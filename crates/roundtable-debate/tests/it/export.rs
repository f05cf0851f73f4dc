//! Export and import: what is written reads back, and what is no export is refused.

use std::collections::BTreeSet;

use roundtable_core::context_request::{ContextRequest, ContextResult};
use roundtable_core::event::{Body, IterationEvent, TurnEvent};
use roundtable_core::id::SessionId;
use roundtable_core::input::Command;
use roundtable_core::session::Status;
use roundtable_debate::{Consensus, Debate, ImportError, Mode, Record};
use serde_json::{Value, json};

use super::{Hall, Wish, fitting, position};
use crate::table::Table;

fn held(mode: Mode) -> Hall {
    let mut wish = Wish::judged(mode);
    wish.rounds = 2;
    let mut hall = wish.open();
    hall.first(fitting);
    hall.round(Some("What about the hills?"), |asked| match asked.agent.as_str() {
        "bob" => Err("the key is wrong".to_owned()),
        "cyd" if asked.prompt == "seat" => {
            let cited = r#""citations": [{"url": "https://www.Trams.example/report/#costs", "title": "Tram <b>costs</b>", "quote": "nine"}]"#;
            Ok(position(Some("NO"), "# Wait\nfor | bids", 0.4).replace("\"citations\":[]", cited))
        }
        _ => fitting(asked),
    });
    hall.table.ok(Debate::synthesize(None));
    hall.settle(fitting);
    hall
}

#[test]
fn what_is_exported_reads_back_as_it_was() {
    for mode in Mode::ALL {
        let record = held(mode).record();
        assert_eq!(Record::import(&record.export()), Ok(record), "{mode}");
    }
}

#[test]
fn r000_2_an_export_spells_requests_and_results_as_everyone_outside_does() {
    let mut hall = Wish::judged(Mode::Delphi).open();
    hall.first(fitting);
    let mut record = hall.record();
    let request: ContextRequest = serde_json::from_value(json!({
        "id": "ctx_1", "agent": "agt_ann", "query": "What does it cost?", "reason": "To decide.",
        "priority": "required", "about": "information", "at": "2026-01-01T00:00:00Z",
    }))
    .unwrap();
    let result = ContextResult::found(request.id.clone(), "Nine.");
    record.pending_context_requests = vec![request.clone()];
    record.rounds[0].requests = vec![request];
    record.rounds[0].provided = vec![result];
    let export = record.export();
    let file: Value = serde_json::from_str(&export).unwrap();
    let outside = json!({
        "id": "ctx_1", "agentId": "agt_ann", "query": "What does it cost?", "reason": "To decide.",
        "priority": "required", "about": "information", "timestamp": "2026-01-01T00:00:00Z",
    });
    assert_eq!(file["pendingContextRequests"], json!([outside]));
    assert_eq!(file["rounds"][0]["requests"], json!([outside]));
    let provided = json!([{ "requestId": "ctx_1", "success": true, "result": "Nine." }]);
    assert_eq!(file["rounds"][0]["provided"], provided);
    // A file of the version before has the names of the log.
    let (mut before, mut round) = (file.clone(), file["rounds"][0].clone());
    let old = serde_json::to_value(&record).unwrap();
    round["requests"] = old["rounds"][0]["requests"].clone();
    round["provided"] = old["rounds"][0]["provided"].clone();
    before["pendingContextRequests"] = old["pendingContextRequests"].clone();
    before["rounds"][0] = round;
    for text in [export, before.to_string()] {
        assert_eq!(Record::import(&text).as_ref(), Ok(&record));
    }
}

#[test]
fn an_import_is_a_completed_session_that_says_the_same() {
    let record = held(Mode::Council).record();
    let mut table = Table::empty("copy");
    table.ok(Command::Import(Box::new(Record::import(&record.export()).unwrap().imported())));
    let copy = Record::fold(&SessionId::new("copy").unwrap(), &table.log).unwrap();
    assert_eq!(copy.imported_from.as_ref(), Some(&record.session));
    assert_eq!((table.session().status, table.session().rounds_completed), (Status::Completed, 2));
    let consensus = Consensus { session: copy.session.clone(), ..record.consensus(2).unwrap() };
    assert_eq!(copy.consensus(2), Some(consensus));
    assert_eq!(copy.minutes(), record.minutes());
    let say = table.next_say(Some("Go on."));
    let refused = table.refused(Command::Say(say)).to_string();
    assert!(refused.starts_with("session is not active: it is completed"), "{refused}");
}

#[test]
fn what_is_no_export_is_refused_with_the_reason() {
    let good = held(Mode::Delphi).record().export();
    let refused = |json: &str| Record::import(json).unwrap_err().to_string();
    assert!(refused("").starts_with("this is not an exported debate: EOF"));
    assert_eq!(
        refused("{}"),
        "this is not an exported debate: its field \"format\" is not \"roundtable-debate\""
    );
    let newer = good.replace("\"version\": 2", "\"version\": 7");
    assert_eq!(Record::import(&newer), Err(ImportError::Newer { found: 7 }));
    let cases = [
        ("\"number\": 2", "\"number\": 9", "found round 9 instead of round 2"),
        (
            "\"agent\": \"agt_ann\"",
            "\"agent\": \"agt_eve\"",
            "agt_eve answers in round 1 but is not a member",
        ),
        ("\"topic\": \"Should", "\"topic\": 7, \"was\": \"Should", "invalid type"),
        ("\"outcome\": \"completed\"", "\"result\": \"completed\"", "round 1 is not over"),
    ];
    for (from, to, why) in cases {
        assert!(good.contains(from), "{from}");
        let refused = refused(&good.replace(from, to));
        assert!(
            refused.starts_with("the exported debate is incomplete:") && refused.contains(why),
            "{refused}"
        );
    }
    let huge = format!("\"{}\"", "x".repeat(17 * 1024 * 1024));
    assert!(matches!(Record::import(&huge), Err(ImportError::TooLarge { .. })));
}

#[test]
fn a_session_that_exists_takes_no_import() {
    let record = held(Mode::Delphi).record();
    let mut hall = Wish::of(Mode::Delphi).open();
    hall.table.refused(Command::Import(Box::new(record.imported())));
}

#[test]
fn the_minutes_read_like_minutes() {
    insta::assert_snapshot!(held(Mode::Collaborative).record().minutes());
}

#[test]
fn the_export_has_the_consensus_and_what_is_pending() {
    let mut wish = Wish::judged(Mode::Collaborative);
    wish.change =
        |opening| opening.agents[0].tools.push(roundtable_core::tool::ToolDecl::request_context());
    let hall = wish.open();
    let file: serde_json::Value =
        serde_json::from_str(&held(Mode::Collaborative).record().export()).unwrap();
    assert_eq!(file["consensus"][0]["agreementScore"], 0.5);
    assert_eq!(file["synthesis"]["recommendation"], "Ask for bids.");
    assert_eq!(file["rounds"][1]["focus"], "What about the hills?");
    assert!(hall.record().rounds.is_empty());
}

#[test]
fn what_people_provide_reaches_the_next_round_as_data_and_stands_in_the_record() {
    let mut wish = Wish::of(Mode::Collaborative);
    wish.change =
        |opening| opening.agents[0].tools.push(roundtable_core::tool::ToolDecl::request_context());
    let mut hall = wish.open();
    hall.table.say(super::TOPIC);
    let Some(roundtable_core::want::Want::CallModel { iteration, attempt, .. }) =
        hall.table.session().wants().into_iter().next()
    else {
        panic!("Ann is asked")
    };
    let arguments = serde_json::json!({ "query": "How many riders?", "reason": "It decides.", "priority": "optional" });
    let question = crate::table::ask("request_context", arguments);
    let reply = crate::table::reply("", vec![question]);
    hall.table.ok(roundtable_core::input::Report::ModelReplied { iteration, attempt, reply });
    hall.settle(fitting);
    let file: serde_json::Value = serde_json::from_str(&hall.record().export()).unwrap();
    assert_eq!(file["pendingContextRequests"][0]["query"], "How many riders?");
    let request = hall.record().pending_context_requests[0].id.clone();
    hall.table
        .say_with("And now?", vec![ContextResult::found(request.clone(), "Nine thousand")])
        .unwrap();
    hall.settle(fitting);
    let second = hall.asked.iter().filter(|asked| asked.round == 2);
    let told = format!("[{request}] How many riders?\nNine thousand");
    assert!(second.into_iter().all(|asked| asked.rendered.text().contains(&told)));
    assert_eq!(hall.record().rounds[1].provided[0].result.as_deref(), Some("Nine thousand"));
    assert!(hall.record().pending_context_requests.is_empty());
}

#[test]
fn minutes_say_once_what_people_should_know_of_the_models_that_spoke() {
    let mut hall = held(Mode::Adversarial);
    let mut toys = BTreeSet::new();
    for event in &mut hall.table.log {
        let turn = event.place.turn.clone();
        match &mut event.body {
            Body::Turn(TurnEvent::TurnStarted { agent, .. }) if agent.suffix() != "bob" => {
                toys.insert(turn);
            }
            Body::Iteration(IterationEvent::ModelCallFinished { record, .. })
                if toys.contains(&turn) =>
            {
                record.notice = Some("A toy\n# spoke.".to_owned());
            }
            _ => {}
        }
    }
    let record = hall.record();
    let minutes = record.minutes();
    assert_eq!(
        minutes.matches("\n\n**Ann, Cyd, Judge:** A toy # spoke.\n\n").count(),
        1,
        "{minutes}"
    );
    let noticed = record.responses(1).into_iter().map(|response| response.notice.is_some());
    assert_eq!(noticed.collect::<Vec<_>>(), [true, false, true]);
    assert_eq!(Record::import(&record.export()), Ok(record));
}

#[test]
fn long_words_without_reasons_are_no_headline_and_roles_are_not_named_twice() {
    let mut wish = Wish::of(Mode::Adversarial);
    wish.rounds = 1;
    wish.change = |opening| opening.agents[0].name = "Proponent 1".to_owned();
    let mut hall = wish.open();
    let long = "Rails carry crowds, and they do so every day. ".repeat(6);
    hall.first(|asked| Ok(if asked.agent == "ann" { long.clone() } else { "No.".to_owned() }));
    let minutes = hall.record().minutes();
    let first = format!("### Proponent 1\n\n{}\n", long.trim());
    assert!(minutes.contains(&first), "{minutes}");
    assert!(minutes.contains("### Bob: Opponent\n\n**No.**\n"), "{minutes}");
}
