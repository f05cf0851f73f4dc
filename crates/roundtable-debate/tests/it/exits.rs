//! Whether a debate ends early: by agreement, by positions that stay, by confidence; and when not.

use roundtable_core::input::{Command, Report};
use roundtable_core::session::Status;
use roundtable_core::tool::ToolDecl;
use roundtable_core::want::Want;
use roundtable_debate::{Exit, Mode};
use serde_json::json;

use super::{Asked, Hall, TOPIC, Wish, fitting, position};
use crate::table::{ask, reply};

fn ending(mode: Mode) -> Wish {
    let mut wish = Wish::of(mode);
    wish.rules.exit_on_consensus = true;
    wish
}

/// Different words for everyone.
fn scattered(asked: &Asked) -> Result<String, String> {
    let words = match asked.agent.as_str() {
        "ann" => "Rails are quiet and carry crowds",
        "bob" => "Budgets collapse under concrete",
        _ => "Nobody surveyed citizens properly",
    };
    // Everyone adds something else, and something else in every round.
    let more = format!("{}{}, ", asked.agent, asked.round).repeat(20);
    Ok(position(None, &format!("{words} {more}"), 0.5))
}

fn end(hall: &Hall) -> (Status, Option<Exit>, Option<String>) {
    let record = hall.record();
    let exit = record.rounds.last().unwrap().measure.as_ref().and_then(|measure| measure.exit);
    (record.status, exit, record.completed_because)
}

#[test]
fn a_debate_ends_when_the_panel_agrees_and_says_so() {
    let mut hall = ending(Mode::Collaborative).open();
    hall.first(|_| Ok(position(Some("YES"), "Build the tram", 0.6)));
    let (status, exit, why) = end(&hall);
    assert_eq!((status, exit), (Status::Completed, Some(Exit::Agreement)));
    assert_eq!(why.unwrap(), "consensus: the panel agrees (agreement of 0.9 or more)");
}

#[test]
fn a_debate_ends_when_nobody_moved_in_two_rounds_in_a_row() {
    let fixed = |asked: &Asked| {
        Ok(position(
            None,
            if asked.agent == "ann" { "Rails are quiet" } else { "Budgets collapse" },
            0.5,
        ))
    };
    let mut hall = ending(Mode::Collaborative).open();
    hall.first(fixed);
    assert_eq!(end(&hall).0, Status::Active);
    hall.round(None, fixed);
    assert_eq!((end(&hall).0, end(&hall).1), (Status::Completed, Some(Exit::Convergence)));
}

#[test]
fn a_debate_ends_when_everyone_is_sure() {
    let sure = |asked: &Asked| Ok(scattered(asked)?.replace("0.5", "0.85"));
    let mut hall = ending(Mode::Collaborative).open();
    hall.first(sure);
    assert_eq!((end(&hall).0, end(&hall).1), (Status::Completed, Some(Exit::Confidence)));
}

#[test]
fn one_who_is_not_sure_or_did_not_answer_keeps_the_debate_going() {
    let sure = |asked: &Asked| Ok(scattered(asked)?.replace("0.5", "0.9"));
    let mut hall = ending(Mode::Collaborative).open();
    hall.first(|asked| if asked.agent == "cyd" { scattered(asked) } else { sure(asked) });
    assert_eq!(end(&hall), (Status::Active, None, None));
    let mut hall = ending(Mode::Collaborative).open();
    hall.first(|asked| if asked.agent == "cyd" { Err("no".to_owned()) } else { sure(asked) });
    assert_eq!(end(&hall), (Status::Active, None, None));
}

#[test]
fn without_the_wish_to_end_early_all_rounds_are_held() {
    let agreed = |_: &Asked| Ok(position(Some("YES"), "Build the tram", 0.99));
    let mut hall = Wish::of(Mode::Collaborative).open();
    hall.first(agreed);
    assert_eq!(end(&hall), (Status::Active, None, None));
}

#[test]
fn the_analysts_figure_decides_where_there_is_one() {
    let mut wish = Wish::judged(Mode::Collaborative);
    wish.rules.exit_on_consensus = true;
    let mut hall = wish.open();
    // The words are the same, the analyst sees half an agreement.
    hall.first(|asked| {
        if asked.prompt == "seat" {
            Ok(position(None, "Build the tram", 0.6))
        } else {
            fitting(asked)
        }
    });
    assert_eq!(end(&hall).0, Status::Active);
}

#[test]
fn one_round_completes_a_debate_of_one_round() {
    let mut wish = Wish::of(Mode::Adversarial);
    wish.rounds = 1;
    let mut hall = wish.open();
    hall.first(scattered);
    assert_eq!(
        (end(&hall).0, end(&hall).2.as_deref()),
        (Status::Completed, Some("all rounds are done"))
    );
}

#[test]
fn a_required_request_keeps_the_debate_open_and_its_answer_opens_the_next_round() {
    let mut wish = ending(Mode::Collaborative);
    wish.change = |opening| opening.agents[0].tools.push(ToolDecl::request_context());
    let mut hall = wish.open();
    hall.table.say(TOPIC);
    // Ann asks before she agrees.
    let Some(Want::CallModel { iteration, attempt, .. }) =
        hall.table.session().wants().into_iter().next()
    else {
        panic!("Ann is asked")
    };
    let question =
        ask("request_context", json!({ "query": "How many riders?", "reason": "It decides." }));
    hall.table.ok(Report::ModelReplied { iteration, attempt, reply: reply("", vec![question]) });
    let agreed = |_: &Asked| Ok(position(Some("YES"), "Build the tram", 0.9));
    hall.settle(agreed);
    assert_eq!(end(&hall), (Status::Active, None, None));
    let record = hall.record();
    let request = record.pending_context_requests[0].id.clone();
    let result = roundtable_core::context_request::ContextResult::found(request, "Nine thousand");
    hall.table.ok(Command::Provide(vec![result]));
    assert_eq!(hall.table.session().status, Status::Active, "an answer alone ends nothing");
    hall.round(None, agreed);
    assert_eq!(end(&hall).1, Some(Exit::Agreement));
}

#[test]
fn an_answer_that_the_panel_has_not_heard_keeps_the_debate_open() {
    let mut wish = ending(Mode::Collaborative);
    wish.change = |opening| opening.agents[0].tools.push(ToolDecl::request_context());
    let mut hall = wish.open();
    hall.table.say(TOPIC);
    let Some(Want::CallModel { iteration, attempt, .. }) =
        hall.table.session().wants().into_iter().next()
    else {
        panic!("Ann is asked")
    };
    let question =
        ask("request_context", json!({ "query": "How many riders?", "reason": "It decides." }));
    hall.table.ok(Report::ModelReplied { iteration, attempt, reply: reply("", vec![question]) });
    // People are faster than the panel.
    let request = hall.record().pending_context_requests[0].id.clone();
    let result = roundtable_core::context_request::ContextResult::found(request, "Nine thousand");
    hall.table.ok(Command::Provide(vec![result]));
    hall.settle(|_| Ok(position(Some("YES"), "Build the tram", 0.9)));
    assert_eq!(end(&hall), (Status::Active, None, None));
}

#[test]
fn a_message_that_waits_goes_before_the_end() {
    let mut hall = ending(Mode::Collaborative).open();
    hall.table.say(TOPIC);
    hall.table.say("And what of the night buses?");
    hall.settle(|_| Ok(position(Some("YES"), "Build the tram", 0.9)));
    assert_eq!(hall.record().rounds.len(), 2);
    assert_eq!(end(&hall).0, Status::Completed);
}
