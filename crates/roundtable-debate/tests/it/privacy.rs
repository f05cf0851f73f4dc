//! Who reads what of whom: nothing of the same round in a parallel mode, no name in an anonymous one.

use proptest::prelude::*;
use roundtable_core::settings::Order;
use roundtable_debate::Mode;

use super::{Asked, Wish, fitting, position};

/// Answers that can be told from all others.
fn marked(asked: &Asked) -> Result<String, String> {
    if asked.prompt != "seat" {
        return fitting(asked);
    }
    let mark = format!("mark-{}-{} by {}", asked.agent, asked.round, asked.agent);
    Ok(position(Some("NO"), &mark, 0.5))
}

fn modes() -> impl Strategy<Value = Mode> {
    proptest::sample::select(Mode::ALL.to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    #[test]
    fn nobody_reads_the_same_round_in_a_parallel_mode_and_everybody_what_was_said_before(
        mode in modes(), seats in 2usize..=5, rounds in 1u32..=3,
    ) {
        let mut wish = Wish::judged(mode);
        wish.names = (0..seats).map(|seat| format!("Seat{seat}x")).collect();
        wish.rounds = rounds;
        let mut hall = wish.open();
        hall.first(marked);
        for _ in 1..rounds {
            hall.round(None, marked);
        }
        for asked in hall.asked.iter().filter(|asked| asked.prompt == "seat") {
            let text = asked.rendered.text();
            let own: usize = asked.agent[4..asked.agent.len() - 1].parse().unwrap();
            for seat in 0..seats {
                let same = text.contains(&format!("mark-seat{seat}x-{} ", asked.round));
                let heard = mode.order() == Order::Sequential && seat < own;
                prop_assert_eq!(same, heard, "{} reads {} in round {}", own, seat, asked.round);
                let before = asked.round == 1 || text.contains(&format!("mark-seat{seat}x-{} ", asked.round - 1));
                prop_assert!(before, "{} does not read {}'s last answer", own, seat);
            }
        }
    }

    #[test]
    fn no_agent_is_named_in_a_delphi_or_council_prompt(
        names in proptest::collection::btree_set("[A-Z][a-z]{5,8}q", 3..=4),
        council in any::<bool>(),
    ) {
        let mode = if council { Mode::Council } else { Mode::Delphi };
        let mut wish = Wish::judged(mode);
        wish.names = names.iter().cloned().collect();
        let mut hall = wish.open();
        // Agents who sign with their names and speak of the others by name.
        let signed = |asked: &Asked| {
            if asked.prompt != "seat" {
                return fitting(asked);
            }
            let all: Vec<&str> = names.iter().map(String::as_str).collect();
            Ok(position(None, &format!("I am {}, and {} agree.", all[0], all.join(" and ")), 0.6))
        };
        hall.first(signed);
        hall.round(None, signed);
        for asked in &hall.asked {
            let text = asked.rendered.text();
            for name in &names {
                prop_assert!(!text.contains(name.as_str()), "{} is named to {} ({})", name, asked.agent, asked.prompt);
                prop_assert!(!text.contains(&name.to_lowercase()), "the id of {} is named to {}", name, asked.agent);
            }
        }
    }
}

#[test]
fn a_participants_number_is_the_same_in_every_round() {
    let mut hall = Wish::of(Mode::Delphi).open();
    hall.first(fitting);
    hall.round(None, fitting);
    hall.round(None, fitting);
    for asked in &hall.asked {
        let number =
            ["ann", "bob", "cyd"].iter().position(|name| *name == asked.agent).unwrap() + 1;
        assert!(asked.rendered.text().contains(&format!("You are Participant {number}.")));
    }
}

#[test]
fn what_judges_say_is_never_told_to_debaters() {
    let secret = |asked: &Asked| match asked.prompt.as_str() {
        "analyze" => Ok(r#"{"agreement": 0.3, "summary": "a-secret-of-the-judge"}"#.to_owned()),
        "rank" => {
            Ok(r#"{"ranking": ["Member A"], "reasons": "a-secret-of-the-ranker"}"#.to_owned())
        }
        _ => fitting(asked),
    };
    for mode in Mode::ALL {
        let mut hall = Wish::judged(mode).open();
        hall.first(secret);
        hall.round(None, secret);
        let debaters = hall.asked.iter().filter(|asked| asked.prompt == "seat");
        assert!(
            debaters.into_iter().all(|asked| !asked.rendered.text().contains("a-secret")),
            "{mode}"
        );
    }
}
