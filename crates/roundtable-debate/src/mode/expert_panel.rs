//! Expert panel: each seat speaks from a point of view of its own.

use super::policy::{Policy, Role, Seat};

pub struct ExpertPanel;

impl Policy for ExpertPanel {
    fn role(&self, _seat: usize, _of: usize) -> Role {
        Role {
            title: "Expert",
            duty: "You speak as an expert from the point of view named below. You say what it shows about the \
                   question that the others are likely to miss, and where its knowledge ends.",
            stance: None,
        }
    }

    fn contract(&self) -> &'static str {
        "Each member of the panel looks at the question from one point of view. Everyone answers at the same time \
         and reads the others' answers in the next round. In the first round the points of view are laid out; in \
         later rounds they are brought together. Speak for your field; where a question belongs to another one, \
         say whose it is."
    }

    fn sections(&self, seat: &Seat<'_>) -> Vec<&'static str> {
        if seat.is_first_round() {
            return vec![
                "Your position on the question, from your point of view.",
                "The facts and findings of your field that decide it, with sources where you have them.",
                "The risk or the chance that only your point of view shows.",
                "Where your field has no answer.",
            ];
        }
        vec![
            "Your position now; say what another point of view changed in it.",
            "Synthesis: how your findings and those of the others fit into one answer.",
            "The conflict between points of view that remains, and how you would decide it.",
        ]
    }

    fn checks(&self, seat: &Seat<'_>) -> Vec<&'static str> {
        if seat.is_first_round() {
            return vec![
                "Could only someone of my field have written this?",
                "Do I tell apart what is known in my field from what I believe?",
            ];
        }
        vec![
            "Groupthink: does the panel agree because the evidence of different fields meets, or because nobody \
             objected? If the latter, I state the objection that my field would raise.",
            "Did I bring my field's findings in, instead of repeating the majority?",
        ]
    }
}
