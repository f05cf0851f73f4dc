//! Seats and roles.

use roundtable_debate::{Mode, Stance};

use super::{Wish, fitting, position};

fn titles(mode: Mode, of: usize) -> Vec<&'static str> {
    (0..of).map(|seat| mode.role(seat, of).title).collect()
}

#[test]
fn the_seats_of_a_devils_advocate_debate_from_two_to_ten() {
    let split = |of: usize| {
        let titles = titles(Mode::DevilsAdvocate, of);
        ["Primary", "Opposition", "Evaluator"]
            .map(|role| titles.iter().filter(|title| **title == role).count())
    };
    let splits: Vec<[usize; 3]> = (2..=10).map(split).collect();
    assert_eq!(
        splits,
        [
            [1, 1, 0],
            [1, 1, 1],
            [1, 1, 2],
            [2, 2, 1],
            [2, 2, 2],
            [3, 3, 1],
            [3, 3, 2],
            [4, 4, 1],
            [4, 4, 2]
        ]
    );
    // Those who are for speak first, those who weigh last.
    assert_eq!(
        titles(Mode::DevilsAdvocate, 5),
        ["Primary", "Primary", "Opposition", "Opposition", "Evaluator"]
    );
}

#[test]
fn the_seats_of_the_other_modes() {
    assert_eq!(
        titles(Mode::Collaborative, 5),
        ["Synthesizer", "Analyst", "Creative", "Pragmatist", "Synthesizer"]
    );
    assert_eq!(titles(Mode::Adversarial, 3), ["Proponent", "Opponent", "Proponent"]);
    assert_eq!(titles(Mode::Socratic, 3), ["Questioner", "Respondent", "Questioner"]);
    assert_eq!(
        titles(Mode::RedTeamBlueTeam, 4),
        ["Red team", "Blue team", "Red team", "Blue team"]
    );
    assert_eq!(titles(Mode::Delphi, 2), ["Panelist", "Panelist"]);
    assert_eq!(titles(Mode::Council, 2), ["Member", "Member"]);
}

#[test]
fn every_seat_of_every_mode_has_a_role_and_only_the_devils_advocate_binds_it_to_a_side() {
    for mode in Mode::ALL {
        for of in 2..=10 {
            for seat in 0..of {
                let role = mode.role(seat, of);
                assert!(!role.title.is_empty() && !role.duty.is_empty());
                assert_eq!(role.stance.is_some(), mode == Mode::DevilsAdvocate);
            }
        }
    }
}

#[test]
fn a_mode_is_known_by_its_name_and_an_unknown_one_is_refused_with_those_there_are() {
    for mode in Mode::ALL {
        assert_eq!(mode.name().parse(), Ok(mode));
    }
    let refused = "shouting".parse::<Mode>().unwrap_err().to_string();
    assert!(
        refused.starts_with("unknown mode \"shouting\"; available: collaborative, adversarial,"),
        "{refused}"
    );
}

#[test]
fn a_wrong_stance_is_flagged_and_the_right_one_is_not() {
    let mut hall = Wish::of(Mode::DevilsAdvocate).open();
    hall.first(|asked| match asked.agent.as_str() {
        "ann" => Ok(position(Some("YES"), "Build it", 0.8)),
        "bob" => Ok(position(Some("YES"), "I agree", 0.8)),
        _ => Ok("I weigh.".to_owned()),
    });
    let findings = hall.record().findings(1).unwrap();
    let flags: Vec<_> = findings
        .responses
        .iter()
        .map(|r| (r.name.as_str(), r.role.as_str(), r.off_stance))
        .collect();
    assert_eq!(
        flags,
        [("Ann", "Primary", false), ("Bob", "Opposition", true), ("Cyd", "Evaluator", true)]
    );
    assert_eq!(Mode::DevilsAdvocate.role(1, 3).stance, Some(Stance::No));
}

#[test]
fn an_expert_panel_speaks_from_given_points_of_view_or_the_usual_ones() {
    let mut wish = Wish::of(Mode::ExpertPanel);
    let mut hall = wish.open();
    hall.first(fitting);
    let views = |hall: &super::Hall| {
        let view = |text: &str| {
            text.split("Your point of view: ")
                .nth(1)
                .unwrap()
                .split([' ', '.'])
                .next()
                .unwrap()
                .to_owned()
        };
        hall.asked.iter().map(|asked| view(&asked.rendered.text())).collect::<Vec<_>>()
    };
    assert_eq!(views(&hall), ["technical", "economic", "ethical"]);
    wish.rules.perspectives = vec![roundtable_debate::Perspective::new("law")];
    let mut hall = wish.open();
    hall.first(fitting);
    assert_eq!(views(&hall), ["law", "law", "law"]);
}
