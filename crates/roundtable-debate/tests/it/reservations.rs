//! What never gives `proceed` or a high consensus level, however high the agreement is.

use roundtable_core::input::Report;
use roundtable_core::session::Status;
use roundtable_core::tool::ToolDecl;
use roundtable_core::want::Want;
use roundtable_debate::{Action, Level, Mode, Record, Reservation, Stance};
use serde_json::{Value, json};

use super::{Asked, Hall, TOPIC, Wish, fitting, position};
use crate::table::{ask, reply};

/// A citation keeps a panel of one mind from being suspected of groupthink.
fn agreed(_: &Asked) -> Result<String, String> {
    let cited = r#""citations":[{"url":"https://trams.example","title":null,"quote":null}]"#;
    Ok(position(None, "Build the tram", 0.6).replace("\"citations\":[]", cited))
}

/// Agreement, level, recommendation and reservations of the first round.
fn result(hall: &Hall) -> (bool, Level, Action, Vec<Reservation>) {
    let findings = hall.record().findings(1).unwrap();
    let decision = findings.decision.unwrap();
    assert_eq!(decision.level, findings.consensus.level);
    let reservations = findings.consensus.reservations;
    (decision.agreement >= 0.7, decision.level, decision.recommendation.action, reservations)
}

#[test]
fn a_panel_that_agrees_without_reservations_may_proceed() {
    let mut hall = Wish::of(Mode::Collaborative).open();
    hall.first(agreed);
    assert_eq!(result(&hall), (true, Level::High, Action::Proceed, Vec::new()));
}

#[test]
fn a_failed_agent_is_a_reservation() {
    let mut hall = Wish::of(Mode::Collaborative).open();
    hall.first(|asked| if asked.agent == "bob" { Err("no key".to_owned()) } else { agreed(asked) });
    let failed = Reservation::NoAnswer { name: "Bob".to_owned(), error: "no key".to_owned() };
    assert_eq!(result(&hall), (true, Level::Medium, Action::Verify, vec![failed]));
    let reason = hall.record().findings(1).unwrap().decision.unwrap().recommendation.reason;
    assert_eq!(reason, "agreement 1.00; 1 of 3 agents could not answer");
}

#[test]
fn an_answer_without_a_position_is_a_reservation_and_is_not_measured() {
    for empty in ["", "…", "{}"] {
        let mut hall = Wish::of(Mode::Collaborative).open();
        let says = |asked: &Asked| match asked.agent.as_str() {
            "bob" => Ok(empty.to_owned()),
            _ => agreed(asked),
        };
        hall.first(says);
        let missing = Reservation::NoPosition { name: "Bob".to_owned() };
        assert_eq!(result(&hall), (true, Level::Medium, Action::Verify, vec![missing]), "{empty}");
        let measure = hall.record().rounds[0].measure.clone().unwrap();
        let measured: Vec<&str> = measure.clusters.iter().flatten().map(|id| id.suffix()).collect();
        assert_eq!(measured, ["ann", "cyd"], "{empty}");
    }
}

#[test]
fn an_answer_on_the_wrong_side_is_a_reservation() {
    let mut hall = Wish::of(Mode::DevilsAdvocate).open();
    hall.first(|_| Ok(position(Some("YES"), "Build the tram", 0.6)));
    let astray = |name: &str, required| Reservation::OffStance {
        name: name.to_owned(),
        required,
        taken: Some(Stance::Yes),
    };
    let expected = vec![astray("Bob", Stance::No), astray("Cyd", Stance::Neutral)];
    assert_eq!(result(&hall), (true, Level::Medium, Action::Verify, expected));
    let reason = hall.record().findings(1).unwrap().decision.unwrap().recommendation.reason;
    assert_eq!(
        reason,
        "agreement 1.00; Bob took YES, but its role requires NO; Cyd took YES, but its role requires NEUTRAL"
    );
}

#[test]
fn an_unanswered_required_request_is_a_reservation_until_it_is_answered() {
    let mut wish = Wish::of(Mode::Collaborative);
    wish.change = |opening| opening.agents[0].tools.push(ToolDecl::request_context());
    let mut hall = wish.open();
    hall.table.say(TOPIC);
    let want = hall.table.session().wants().into_iter().next();
    let Some(Want::CallModel { iteration, attempt, .. }) = want else { panic!("Ann is asked") };
    let question = ask("request_context", json!({ "query": "How many?", "reason": "It decides." }));
    hall.table.ok(Report::ModelReplied { iteration, attempt, reply: reply("", vec![question]) });
    hall.settle(agreed);
    let missing = Reservation::MissingContext { count: 1 };
    assert_eq!(result(&hall), (true, Level::Medium, Action::Verify, vec![missing]));
    let request = hall.record().pending_context_requests[0].id.clone();
    let answer = roundtable_core::context_request::ContextResult::found(request, "Nine");
    hall.table.ok(roundtable_core::input::Command::Provide(vec![answer]));
    assert_eq!(result(&hall), (true, Level::High, Action::Proceed, Vec::new()));
}

#[test]
fn a_debate_does_not_end_by_consensus_with_a_reservation() {
    type Says = fn(&Asked) -> Result<String, String>;
    let failed: Says = |asked| if asked.agent == "bob" { Err("no".into()) } else { agreed(asked) };
    let empty: Says = |asked| if asked.agent == "bob" { Ok("…".into()) } else { agreed(asked) };
    let astray: Says = |_| Ok(position(Some("YES"), "Build the tram", 0.9));
    let cases = [
        (Mode::Collaborative, failed),
        (Mode::Collaborative, empty),
        (Mode::DevilsAdvocate, astray),
    ];
    for (mode, says) in cases {
        let mut wish = Wish::of(mode);
        wish.rules.exit_on_consensus = true;
        let mut hall = wish.open();
        hall.first(says);
        assert_eq!(hall.record().status, Status::Active, "{mode}");
    }
}

#[test]
fn a_council_shows_how_its_members_ranked_the_answers() {
    let mut hall = Wish::judged(Mode::Council).open();
    hall.first(fitting);
    let record = hall.record();
    let ranking = record.consensus(1).unwrap().ranking.unwrap();
    assert_eq!(
        record.ranking_line(&ranking),
        "1. Bob (mean place 1.00), 2. Ann (mean place 2.00), 3. Cyd (mean place 3.00), ranked by 3 members"
    );
    assert!(record.minutes().contains("- **Ranking:** 1\\. Bob"));
}

#[test]
fn experts_that_were_made_for_a_panel_carry_the_names_of_their_perspectives() {
    let mut wish = Wish::judged(Mode::ExpertPanel);
    wish.names = ["Expert 1", "Ben", "Expert 2"].map(str::to_owned).to_vec();
    let mut hall = wish.open();
    hall.first(fitting);
    let findings = hall.record().findings(1).unwrap();
    let named: Vec<(&str, &str)> =
        findings.responses.iter().map(|one| (one.name.as_str(), one.role.as_str())).collect();
    assert_eq!(named, [("riders", "riders"), ("Ben", "budget"), ("climate", "climate")]);
}

#[test]
fn every_response_names_a_model_also_of_an_agent_that_failed() {
    let mut hall = Wish::of(Mode::Collaborative).open();
    hall.first(|asked| if asked.agent == "bob" { Err("no".to_owned()) } else { agreed(asked) });
    let findings = hall.record().findings(1).unwrap();
    let models: Vec<&str> = findings.responses.iter().map(|one| one.model.as_str()).collect();
    assert_eq!(models, ["scripted", "scripted", "scripted"]);
}

#[test]
fn an_export_has_costs_in_dollars_and_older_exports_are_still_read() {
    let mut hall = Wish::of(Mode::Collaborative).open();
    hall.first(agreed);
    let mut record = hall.record();
    record.total.as_mut().unwrap().cost = Some(12_345);
    record.rounds[0].turns[0].spent.cost = Some(7);
    record.rounds[0].turns[1].spent.cost = None;
    let export = record.export();
    let file: Value = serde_json::from_str(&export).unwrap();
    let turns = &file["rounds"][0]["turns"];
    let costs = [&file["usage"], &turns[0]["usage"], &turns[1]["usage"]].map(|it| &it["cost"]);
    assert_eq!(costs, [&json!(0.012_345), &json!(0.000_007), &Value::Null]);
    assert_eq!(Record::import(&export).as_ref(), Ok(&record));
    // Version 1 has the fields of the log.
    let mut before = serde_json::to_value(&record).unwrap();
    before["format"] = file["format"].clone();
    before["version"] = json!(1);
    assert_eq!(Record::import(&before.to_string()).as_ref(), Ok(&record));
    let bad = export.replace("0.012345", "-1");
    assert!(Record::import(&bad).is_err());
}
