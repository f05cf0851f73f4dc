//! Those who judge: they cost a turn, decide nothing about the round, and are not heard.

use roundtable_core::event::RoundOutcome;
use roundtable_debate::{Level, Mode};

use super::{Asked, Wish, fitting, position};

fn outcome(hall: &super::Hall) -> Option<RoundOutcome> {
    hall.record().rounds.last().unwrap().outcome
}

#[test]
fn an_analyst_that_fails_does_not_fail_the_round_and_the_measure_stands() {
    let mut hall = Wish::judged(Mode::Collaborative).open();
    hall.first(|asked| {
        if asked.prompt == "analyze" { Err("overloaded".to_owned()) } else { fitting(asked) }
    });
    assert_eq!(outcome(&hall), Some(RoundOutcome::Completed));
    let consensus = hall.record().consensus(1).unwrap();
    assert_eq!((consensus.is_analyzed, consensus.failure.as_deref()), (false, Some("overloaded")));
    assert_eq!(consensus.agreement, consensus.measured.unwrap().agreement);
}

#[test]
fn an_analyst_that_says_no_figure_is_reported_and_the_measure_stands() {
    let mut hall = Wish::judged(Mode::Collaborative).open();
    hall.first(|asked| {
        if asked.prompt == "analyze" { Ok("They mostly agree.".to_owned()) } else { fitting(asked) }
    });
    let consensus = hall.record().consensus(1).unwrap();
    assert_eq!(consensus.failure.as_deref(), Some("the analyst's answer has no agreement score"));
    assert!(consensus.agreement > 0.5, "{consensus:?}");
}

#[test]
fn the_analysts_figure_counts_before_the_measured_one() {
    let mut hall = Wish::judged(Mode::Collaborative).open();
    hall.first(fitting);
    let findings = hall.record().findings(1).unwrap();
    let decision = findings.decision.unwrap();
    assert_eq!((decision.agreement, decision.level), (0.5, Level::Medium));
    assert!(findings.consensus.measured.unwrap().agreement > 0.8);
}

#[test]
fn when_nobody_answers_nobody_is_asked_to_judge_and_the_round_failed() {
    for mode in Mode::ALL {
        let mut hall = Wish::judged(mode).open();
        hall.first(
            |asked: &Asked| {
                if asked.prompt == "seat" { Err("no".to_owned()) } else { fitting(asked) }
            },
        );
        assert_eq!(outcome(&hall), Some(RoundOutcome::Failed), "{mode}");
        let judged =
            hall.asked.iter().any(|asked| !matches!(asked.prompt.as_str(), "seat" | "frame"));
        assert!(!judged, "{mode}: {:?}", hall.calls(1));
    }
}

#[test]
fn who_fails_is_reported_as_failed_in_its_seat() {
    let mut hall = Wish::judged(Mode::Collaborative).open();
    hall.first(|asked| {
        if asked.agent == "bob" { Err("the key is wrong".to_owned()) } else { fitting(asked) }
    });
    let findings = hall.record().findings(1).unwrap();
    let failures: Vec<_> =
        findings.responses.iter().map(|r| (r.name.as_str(), r.error.as_deref())).collect();
    assert_eq!(failures, [("Ann", None), ("Bob", Some("the key is wrong")), ("Cyd", None)]);
    let reason = findings.decision.unwrap().recommendation.reason;
    assert!(reason.contains("1 of 3 agents could not answer"));
    let analyst = hall.asked.iter().find(|asked| asked.prompt == "analyze").unwrap();
    assert!(analyst.rendered.text().contains("No answer came from: Bob."));
}

#[test]
fn points_of_view_are_named_before_the_first_round_and_kept_for_all() {
    let mut hall = Wish::judged(Mode::ExpertPanel).open();
    hall.first(fitting);
    hall.round(None, fitting);
    assert_eq!(hall.calls(1)[0], "judge frame");
    assert_eq!(hall.calls(2)[0], "ann seat");
    let views: Vec<bool> = hall
        .asked
        .iter()
        .filter(|asked| asked.agent == "bob")
        .map(|asked| {
            asked.rendered.text().contains("Your point of view: budget (those who pay for it).")
        })
        .collect();
    assert_eq!(views, [true, true]);
}

#[test]
fn when_no_points_of_view_can_be_named_the_usual_ones_are_used() {
    let mut hall = Wish::judged(Mode::ExpertPanel).open();
    hall.first(|asked| if asked.prompt == "frame" { Err("no".to_owned()) } else { fitting(asked) });
    let bob = hall.asked.iter().find(|asked| asked.agent == "bob").unwrap();
    assert!(bob.rendered.text().contains("Your point of view: economic"));
}

#[test]
fn a_fork_without_the_analyst_goes_on_without_an_analysis() {
    use roundtable_core::event::Origin;
    use roundtable_core::input::Command;
    let mut hall = Wish::judged(Mode::Collaborative).open();
    hall.first(fitting);
    let session = hall.table.session().clone();
    let mut fork = crate::table::Table::empty("fork");
    fork.live = roundtable_core::Live::new(
        roundtable_core::id::SessionId::new("fork").unwrap(),
        &crate::programs(),
    );
    hall.table.log.iter().for_each(|event| fork.live.apply(event));
    fork.log.clone_from(&hall.table.log);
    let origin = Origin { session: session.id.clone(), seq: session.head };
    let agents = session.agents.into_iter().filter(|agent| agent.name != "Judge").collect();
    fork.ok(Command::Fork { origin, agents: Some(agents) });
    let mut hall = super::Hall { table: fork, asked: Vec::new() };
    hall.round(None, fitting);
    assert_eq!(hall.calls(2), ["ann seat", "bob seat", "cyd seat"]);
    assert!(hall.record().consensus(2).unwrap().failure.is_none());
}

#[test]
fn judges_are_offered_no_tools() {
    let mut wish = Wish::judged(Mode::Council);
    wish.change = |opening| {
        for agent in &mut opening.agents {
            agent.tools.push(roundtable_core::tool::ToolDecl::request_context());
        }
    };
    let mut hall = wish.open();
    hall.first(fitting);
    for asked in &hall.asked {
        assert_eq!(
            asked.rendered.tools.is_empty(),
            asked.prompt != "seat",
            "{} {}",
            asked.agent,
            asked.prompt
        );
    }
}

#[test]
fn everyone_sure_agreed_and_without_a_source_is_a_warning() {
    let mut hall = Wish::of(Mode::Collaborative).open();
    hall.first(|_| Ok(position(Some("YES"), "Build the tram", 0.95)));
    let findings = hall.record().findings(1).unwrap();
    assert!(findings.consensus.groupthink.is_some());
    let recommendation = findings.decision.unwrap().recommendation;
    assert_eq!(recommendation.action, roundtable_debate::Action::Verify);
}
