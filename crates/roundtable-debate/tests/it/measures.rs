//! The measure without a model: what it ranks, what it keeps apart, what it cannot see.

use roundtable_debate::{Measure, Mode, PositionVector, Stance};

use super::{Wish, id};
use crate::vectors::vector;

fn measured(positions: &[(&str, Option<Stance>, &str)]) -> Vec<PositionVector> {
    positions
        .iter()
        .map(|(agent, stance, text)| PositionVector {
            agent: id(agent),
            stance: *stance,
            vector: vector(text),
        })
        .collect()
}

fn agreement(positions: &[(&str, Option<Stance>, &str)]) -> f64 {
    Measure::of("words", &measured(positions), &[]).agreement
}

const YES: Option<Stance> = Some(Stance::Yes);
const NO: Option<Stance> = Some(Stance::No);
const NEUTRAL: Option<Stance> = Some(Stance::Neutral);

#[test]
fn agreeing_split_and_opposed_positions_rank_in_that_order() {
    let agreeing = [
        ("ann", YES, "Build the tram now, it pays for itself in ten years"),
        ("bob", YES, "The tram should be built now because it pays for itself"),
        ("cyd", YES, "Build the tram: within ten years it pays for itself"),
    ];
    let split = [
        ("ann", YES, "Build the tram now, it pays for itself in ten years"),
        ("bob", YES, "The tram should be built now because it pays for itself"),
        ("cyd", NEUTRAL, "First ask citizens, then decide between buses and rails"),
    ];
    let opposed = [
        ("ann", YES, "Build the tram now, it pays for itself in ten years"),
        ("bob", NO, "Never build it: concrete ruins the budget for a generation"),
        ("cyd", NO, "More night buses are cheaper and come sooner"),
    ];
    let (agreeing, split, opposed) = (agreement(&agreeing), agreement(&split), agreement(&opposed));
    assert!(agreeing > split + 0.1 && split > opposed + 0.1, "{agreeing} {split} {opposed}");
}

#[test]
fn without_stances_words_alone_rank_in_that_order_too() {
    let plain = |positions: [&str; 3]| {
        let [a, b, c] = positions;
        agreement(&[("ann", None, a), ("bob", None, b), ("cyd", None, c)])
    };
    let agreeing = plain([
        "Postgres is the right database for this, with one replica",
        "The right database for this is Postgres with a replica",
        "Use Postgres with one replica as the database",
    ]);
    let split = plain([
        "Postgres is the right database for this, with one replica",
        "The right database for this is Postgres with a replica",
        "Files on disk are enough until there is a second customer",
    ]);
    let opposed = plain([
        "Postgres is the right database for this, with one replica",
        "Files on disk are enough until there is a second customer",
        "Buy a hosted queue and keep no state ourselves",
    ]);
    assert!(agreeing > split && split > opposed, "{agreeing} {split} {opposed}");
}

#[test]
fn negation_is_what_vectors_cannot_see_and_stances_correct() {
    let words = |stances: [Option<Stance>; 2]| {
        let [first, second] = stances;
        agreement(&[
            ("ann", first, "We should build the tram"),
            ("bob", second, "We should not build the tram"),
        ])
    };
    assert!(words([None, None]) > 0.8, "without stances they look alike");
    assert!(words([YES, NO]) < 0.25, "with stances they do not");
}

#[test]
fn groups_hold_those_who_are_alike_and_never_two_sides() {
    let positions = measured(&[
        ("ann", YES, "Build the tram"),
        ("bob", NO, "Build the tram"),
        ("cyd", YES, "Build the tram now"),
        ("dan", NEUTRAL, "Something about lunch menus"),
    ]);
    let measure = Measure::of("words", &positions, &[]);
    assert_eq!(measure.clusters, [vec![id("ann"), id("cyd")], vec![id("bob")], vec![id("dan")]]);
}

#[test]
fn who_weighs_is_of_no_side_whatever_the_words_are() {
    let words = "Build the tram";
    let positions = measured(&[("ann", YES, words), ("bob", NEUTRAL, words), ("cyd", NO, words)]);
    let measure = Measure::of("words", &positions, &[]);
    assert_eq!(measure.clusters, [vec![id("ann")], vec![id("bob")], vec![id("cyd")]]);
    // Two halves and a fifth, of three pairs.
    assert_eq!(measure.agreement, 0.4);
    let alone = Measure::of("words", &positions[..1], &[]);
    assert_eq!((alone.agreement, alone.clusters.len()), (0.0, 1), "one agrees with nobody");
}

#[test]
fn drift_is_nothing_for_the_same_words_and_much_for_another_side() {
    let before = measured(&[
        ("ann", YES, "Build the tram"),
        ("bob", YES, "Build the tram"),
        ("cyd", None, "Wait"),
    ]);
    let now = measured(&[
        ("ann", YES, "Build the tram"),
        ("bob", NO, "Build the tram"),
        ("eve", None, "New here"),
    ]);
    let drift = Measure::of("words", &now, &before).drift;
    let shown: Vec<_> = drift.iter().map(|drift| (drift.agent.suffix(), drift.change)).collect();
    assert_eq!(shown, [("ann", 0.0), ("bob", 0.5)]);
}

#[test]
fn a_panel_holds_its_positions_when_everyone_does_and_there_is_someone() {
    let said = measured(&[("ann", YES, "Build the tram"), ("bob", NO, "Buy buses")]);
    let steady =
        |now: &[PositionVector], agents| Measure::of("words", now, &said).is_steady(agents);
    assert!(steady(&said, 2));
    assert!(!steady(&said, 3), "one did not answer");
    assert!(!steady(&measured(&[("ann", YES, "Build the tram"), ("bob", YES, "Go on")]), 2));
    assert!(!steady(&[], 0), "nobody holds anything");
}

#[test]
fn what_a_position_shares_with_its_question_counts_for_nothing() {
    let question = [1.0, 0.0, 0.0];
    let said = |agent: &str, vector: [f32; 3]| {
        PositionVector::new(id(agent), None, vector.to_vec(), &question)
    };
    let of = |one, other| Measure::of("v", &[said("ann", one), said("bob", other)], &[]).agreement;
    assert_eq!(of([9.0, 1.0, 0.0], [9.0, 0.0, 1.0]), 0.0, "they share the question alone");
    assert_eq!(of([0.0, 1.0, 0.0], [9.0, 1.0, 0.0]), 1.0, "they say one thing");
    // A question that cannot be taken away changes nothing.
    for question in [&[][..], &[0.0; 3], &[f32::NAN; 3], &[1.0; 2]] {
        let kept = PositionVector::new(id("ann"), None, vec![9.0, 1.0, 0.0], question);
        assert_eq!(kept.vector, [9.0, 1.0, 0.0]);
    }
}

#[test]
fn a_position_is_embedded_behind_the_beginning_of_its_question() {
    assert_eq!(PositionVector::text(" Why? ", "So."), "Why?\nSo.");
    let long = "ä".repeat(10_000);
    assert_eq!(PositionVector::text(&long, "So."), format!("{}\nSo.", &long[..400]));
}

#[test]
fn odd_vectors_are_measured_without_a_crash() {
    let odd = |vector: Vec<f32>| PositionVector { agent: id("ann"), stance: None, vector };
    for vectors in [
        vec![],
        vec![vec![]],
        vec![vec![0.0], vec![0.0]],
        vec![vec![1.0], vec![1.0, 2.0]],
        vec![vec![f32::NAN], vec![1.0]],
        vec![vec![f32::INFINITY], vec![1.0]],
        vec![vec![f32::MAX, f32::MAX], vec![f32::MAX, f32::MIN]],
    ] {
        let positions: Vec<PositionVector> = vectors.into_iter().map(odd).collect();
        let measure = Measure::of("odd", &positions, &positions);
        assert!((0.0..=1.0).contains(&measure.agreement), "{measure:?}");
        assert!(
            measure.drift.iter().all(|drift| (0.0..=1.0).contains(&drift.change)),
            "{measure:?}"
        );
    }
}

#[test]
fn two_sides_do_not_agree_because_they_use_the_same_words() {
    for (mode, agrees) in [
        (Mode::Adversarial, false),
        (Mode::RedTeamBlueTeam, false),
        (Mode::DevilsAdvocate, false),
        (Mode::Collaborative, true),
    ] {
        let mut hall = Wish::of(mode).open();
        hall.first(|_| Ok("The tram is a matter of money and of time.".to_owned()));
        let measure = hall.record().rounds[0].measure.clone().unwrap();
        assert_eq!(measure.agreement >= 0.7, agrees, "{mode:?}: {}", measure.agreement);
    }
}
