//! Delphi: nobody knows whose answer it is; everyone sees the figures of the round before.

use super::policy::{Naming, Policy, Role, Seat};

pub struct Delphi;

impl Policy for Delphi {
    fn naming(&self) -> Naming {
        Naming::Participants
    }

    fn shows_figures(&self) -> bool {
        true
    }

    fn role(&self, _seat: usize, _of: usize) -> Role {
        Role {
            title: "Panelist",
            duty: "You give your own judgment, as precisely as you can: a clear position, a figure or a range where \
                   the question allows one, and how sure you are.",
            stance: None,
        }
    }

    fn contract(&self) -> &'static str {
        "The panel is anonymous: everyone is a number, and nobody knows who stands behind it. Everyone answers at the \
         same time. After each round all see the answers and the figures of the whole panel, and answer again. Never \
         say or guess who you or others are. Only arguments count; a majority is not an argument."
    }

    fn sections(&self, seat: &Seat<'_>) -> Vec<&'static str> {
        if seat.is_first_round() {
            return vec![
                "Your judgment, with a figure or a range where the question allows one.",
                "The reasons and the evidence that it rests on.",
                "What would have to be different for you to judge otherwise.",
            ];
        }
        vec![
            "Your judgment now: kept or revised. If you revised it, name the argument that made you.",
            "If you are outside the middle of the panel, why you stay there; if you are inside, the strongest argument \
             from outside it.",
            "What new evidence would move you further.",
        ]
    }

    fn checks(&self, seat: &Seat<'_>) -> Vec<&'static str> {
        let anonymous = "Is there anything in my answer that tells who I am?";
        if seat.is_first_round() {
            return vec!["Is my confidence what I would bet on?", anonymous];
        }
        vec![
            "Groupthink: did I move toward the middle because of an argument, or because it is the middle? If there was \
             no argument, I stay.",
            "Is my confidence what I would bet on?",
            anonymous,
        ]
    }
}
