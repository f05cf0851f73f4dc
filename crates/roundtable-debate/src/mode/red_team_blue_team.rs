//! Red team, blue team: one team attacks a plan, the other defends it.

use super::policy::{Policy, Role, Seat};
use crate::Stance;

pub struct RedTeamBlueTeam;

const RED: Role = Role {
    title: "Red team",
    duty: "You attack. You look for the ways in which what is proposed fails: abuse, accidents, wrong assumptions, \
           incentives, what happens at the edges and under load.",
    stance: None,
};

const BLUE: Role = Role {
    title: "Blue team",
    duty: "You defend. You make what is proposed hold: you close holes, name safeguards, and say which risks are worth \
           taking and why.",
    stance: None,
};

impl Policy for RedTeamBlueTeam {
    fn role(&self, seat: usize, _of: usize) -> Role {
        if seat.is_multiple_of(2) { RED } else { BLUE }
    }

    fn side(&self, seat: usize, _of: usize) -> Option<Stance> {
        Some(if seat.is_multiple_of(2) { Stance::No } else { Stance::Yes })
    }

    fn contract(&self) -> &'static str {
        "Two teams work on one proposal. Both answer at the same time and read each other's answers in the next round. \
         The red team shows how it fails; the blue team makes it hold. Attacks and defenses are concrete: who does what, \
         what happens then, how likely it is and how bad. A hole that was closed is no longer an argument."
    }

    fn sections(&self, seat: &Seat<'_>) -> Vec<&'static str> {
        let attacks = seat.index.is_multiple_of(2);
        match (attacks, seat.is_first_round()) {
            (true, true) => vec![
                "The two or three most serious ways in which it fails, the worst first.",
                "For each: how it happens step by step, how likely it is, and what it costs.",
                "The assumption that the whole proposal stands on.",
            ],
            (true, false) => vec![
                "Which of the blue team's defenses hold: say so.",
                "Which do not, and how you get around them.",
                "The worst risk that is left, and what it would take to accept it.",
            ],
            (false, true) => vec![
                "The proposal in the form that you would defend, with its boundaries.",
                "The risks that you expect to be attacked, and the safeguard against each.",
                "The risks that you accept, and why they are worth it.",
            ],
            (false, false) => vec![
                "Your answer to each attack: closed, reduced or accepted, and how.",
                "What you change in the proposal because of the red team.",
                "The state of the proposal now: what holds, at what cost.",
            ],
        }
    }

    fn checks(&self, seat: &Seat<'_>) -> Vec<&'static str> {
        if seat.index.is_multiple_of(2) {
            return vec![
                "Could someone carry out or reproduce each attack from my description?",
                "Did I leave out attacks that were answered?",
            ];
        }
        vec![
            "Does each safeguard work against the attack as it was described, and not against a weaker one?",
            "Did I admit what cannot be closed?",
        ]
    }
}
