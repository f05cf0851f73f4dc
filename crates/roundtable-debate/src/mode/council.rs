//! Council: all answer, all rank the answers without names, and a chair writes the verdict.

use super::policy::{Naming, Policy, Role, Seat};

pub struct Council;

impl Policy for Council {
    fn naming(&self) -> Naming {
        Naming::Members
    }

    fn role(&self, _seat: usize, _of: usize) -> Role {
        Role {
            title: "Member",
            duty: "You answer the question as well as you can, on your own. Your answer has to stand by itself: it will \
                   be read without your name and ranked.",
            stance: None,
        }
    }

    fn contract(&self) -> &'static str {
        "The council answers in three steps. All members answer at the same time. All members rank the answers, without \
         knowing whose they are. The chair, who is not ranked, writes the verdict. Never say or guess who you or others \
         are."
    }

    fn sections(&self, seat: &Seat<'_>) -> Vec<&'static str> {
        if seat.is_first_round() {
            return vec![
                "The answer, complete and ready for use.",
                "The reasons and the evidence that it rests on.",
                "Its limits: when it would be wrong.",
            ];
        }
        vec![
            "The answer as you would give it now, complete: better than the last verdict, or the verdict with what it lacks.",
            "What you took over from others, and what you left out of your own.",
            "Its limits: when it would be wrong.",
        ]
    }

    fn checks(&self, _seat: &Seat<'_>) -> Vec<&'static str> {
        vec![
            "Does the answer stand without anything outside it?",
            "Is each claim either common knowledge, reasoned here or sourced?",
        ]
    }
}
