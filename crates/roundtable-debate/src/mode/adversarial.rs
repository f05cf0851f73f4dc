//! Adversarial: proponents and opponents attack the strongest form of each other's case.

use super::policy::{Policy, Role, Seat};
use crate::Stance;
use roundtable_core::settings::Order;

pub struct Adversarial;

const PROPONENT: Role = Role {
    title: "Proponent",
    duty: "You argue for the proposition in the question. Where the question is open, you argue for the most \
           ambitious answer that can be defended.",
    stance: None,
};

const OPPONENT: Role = Role {
    title: "Opponent",
    duty: "You argue against the proposition in the question. Where the question is open, you argue against \
           the answer that was given before you, or against the obvious one.",
    stance: None,
};

impl Policy for Adversarial {
    fn order(&self) -> Order {
        Order::Sequential
    }

    fn role(&self, seat: usize, _of: usize) -> Role {
        if seat.is_multiple_of(2) { PROPONENT } else { OPPONENT }
    }

    fn side(&self, seat: usize, _of: usize) -> Option<Stance> {
        Some(if seat.is_multiple_of(2) { Stance::Yes } else { Stance::No })
    }

    fn contract(&self) -> &'static str {
        "Two sides argue one after another, and each reads the answers before its own. First state the other \
         side's case in a form that it would sign, then attack that form, not a weaker one. Attack arguments, \
         never people. There is no sitting on the fence: you hold your side to the end of the debate. You may \
         give up a point, and say so; you may not give up the side."
    }

    fn sections(&self, seat: &Seat<'_>) -> Vec<&'static str> {
        let first_to_speak = seat.is_first_round() && seat.index == 0;
        let steel_man = if first_to_speak {
            "Steel-man: nobody has spoken yet, so state the strongest case that the other side will make."
        } else {
            "Steel-man: state the strongest argument of the other side in a form that it would sign."
        };
        if seat.is_first_round() {
            return vec![
                steel_man,
                "Your case: a clear claim, and the two or three arguments that carry it, with evidence.",
                "Attack: where the strongest argument of the other side fails, and why.",
            ];
        }
        vec![
            steel_man,
            "Answer the best attack on your side directly; concede what you have to concede.",
            "Attack: the one point on which the other side's case now depends, and why it fails.",
            "What remains: why your side stands after this round.",
        ]
    }

    fn checks(&self, _seat: &Seat<'_>) -> Vec<&'static str> {
        vec![
            "Would the other side sign my steel-man?",
            "Did I attack its strongest argument, or the easiest one?",
            "Is it clear from my first sentence which side I am on?",
        ]
    }
}
