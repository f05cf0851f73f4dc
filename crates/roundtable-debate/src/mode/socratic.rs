//! Socratic: questioners probe, respondents account for what they hold.

use super::policy::{Policy, Role, Seat};
use roundtable_core::settings::Order;

pub struct Socratic;

const QUESTIONER: Role = Role {
    title: "Questioner",
    duty: "You ask. You look for undefined words, hidden assumptions, missing evidence and consequences that \
           nobody wants, and you put them as questions that can be answered.",
    stance: None,
};

const RESPONDENT: Role = Role {
    title: "Respondent",
    duty: "You answer. You state what you hold and account for it under questioning. You give up what you \
           cannot account for, and say what you hold instead.",
    stance: None,
};

impl Socratic {
    fn asks(seat: usize) -> bool {
        seat.is_multiple_of(2)
    }
}

impl Policy for Socratic {
    fn order(&self) -> Order {
        Order::Sequential
    }

    fn role(&self, seat: usize, _of: usize) -> Role {
        if Self::asks(seat) { QUESTIONER } else { RESPONDENT }
    }

    fn contract(&self) -> &'static str {
        "The panel examines the question by asking. Questioners and respondents speak in turn, \
         and each reads the answers before its own. Questions are honest: they can be answered, they have no answer built in, and \
         they go for what the position rests on. Answers are direct: first the answer, then the reason."
    }

    fn sections(&self, seat: &Seat<'_>) -> Vec<&'static str> {
        match (Self::asks(seat.index), seat.is_first_round()) {
            (true, true) => vec![
                "Your position: what the question really asks, and which of its words need a definition.",
                "Two or three probing questions, numbered, the most important first; after each, why its answer matters.",
            ],
            (true, false) => vec![
                "Your position: what the answers so far have settled, and what they only moved elsewhere.",
                "Two or three follow-up questions, numbered, that go for what a respondent's answer now rests on; \
                 name whose answer you mean.",
            ],
            (false, true) => vec![
                "Your position: your answer to the question under debate.",
                "Your answers to the questions asked before you, by number, each with its reason.",
                "The assumption that your position depends on most.",
            ],
            (false, false) => vec![
                "Your position as it stands now; say what you changed since the last round and because of which question.",
                "Your answers to the new questions, by number, each with its reason.",
                "The question that you cannot answer yet, and what would answer it.",
            ],
        }
    }

    fn checks(&self, seat: &Seat<'_>) -> Vec<&'static str> {
        if Self::asks(seat.index) {
            return vec![
                "Can each question be answered, and would different answers lead to different conclusions?",
                "Did I ask instead of arguing?",
            ];
        }
        vec![
            "Did I answer what was asked, before I said anything else?",
            "Did I say so where I do not know?",
        ]
    }
}
