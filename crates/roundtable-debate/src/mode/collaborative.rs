//! Collaborative: build on each other and find what all can stand behind.

use super::policy::{Policy, Role, Seat};

pub struct Collaborative;

const ROLES: [Role; 4] = [
    Role {
        title: "Synthesizer",
        duty: "You look for the idea that holds the others' ideas together. You name what is shared, \
               merge what fits, and say plainly what does not fit.",
        stance: None,
    },
    Role {
        title: "Analyst",
        duty: "You take the question apart. You name assumptions, test them against evidence, and say \
               which parts are settled, which are open and what would settle them.",
        stance: None,
    },
    Role {
        title: "Creative",
        duty: "You bring options that nobody has named yet: another framing, a combination, a solution \
               from another field. Each comes with the first step that would try it out.",
        stance: None,
    },
    Role {
        title: "Pragmatist",
        duty: "You ask what can be done with the people, time and money that there are. You name the \
               cheapest useful step, its costs and what can go wrong.",
        stance: None,
    },
];

impl Policy for Collaborative {
    fn role(&self, seat: usize, _of: usize) -> Role {
        ROLES[seat % ROLES.len()].clone()
    }

    fn contract(&self) -> &'static str {
        "The panel works together toward an answer that all can stand behind. Everyone answers at the \
         same time and reads the others' answers in the next round. Improve ideas instead of defending \
         your own; agreement that was not tested is worth nothing."
    }

    fn sections(&self, seat: &Seat<'_>) -> Vec<&'static str> {
        if seat.is_first_round() {
            return vec![
                "Your answer to the question, in the light of your role.",
                "The two or three reasons that carry it, with evidence where you have it.",
                "What you are least sure of, and what would change your mind.",
            ];
        }
        vec![
            "What you take over from the others: name whose idea it is and why it is better than what you had.",
            "What you still see differently, and the reason.",
            "A synthesis: one answer, as concrete as you can make it, that as many as possible can stand behind.",
        ]
    }

    fn checks(&self, seat: &Seat<'_>) -> Vec<&'static str> {
        if seat.is_first_round() {
            return vec![
                "Would someone who disagrees recognize the question as I put it?",
                "Does each reason hold without the others?",
            ];
        }
        vec![
            "Groupthink: do I agree because of a reason, or because others do? If nobody has objected to the \
             favored answer, I state its strongest objection.",
            "Did I change my position only where I can name the argument that changed it?",
        ]
    }
}
