//! Devil's advocate: some have to be for, some against, the rest weigh.

use super::policy::{Policy, Role, Seat};
use crate::Stance;
use roundtable_core::settings::Order;

pub struct DevilsAdvocate;

const PRIMARY: Role = Role {
    title: "Primary",
    duty: "You argue that the answer is YES, or that what is proposed should be done. Your stance is YES in every round.",
    stance: Some(Stance::Yes),
};

const OPPOSITION: Role = Role {
    title: "Opposition",
    duty: "You are the devil's advocate: you argue that the answer is NO, or that what is proposed should not be \
           done, whatever you would think yourself. Your stance is NO in every round.",
    stance: Some(Stance::No),
};

const EVALUATOR: Role = Role {
    title: "Evaluator",
    duty: "You weigh. You hear both sides and say which arguments hold, which do not and what is missing. You take \
           no side: your stance is NEUTRAL in every round.",
    stance: Some(Stance::Neutral),
};

impl DevilsAdvocate {
    /// How many are for, against, and weigh.
    fn split(of: usize) -> (usize, usize) {
        let evaluators = match of {
            0..=2 => 0,
            odd if odd % 2 == 1 => 1,
            _ => 2,
        };
        let side = (of - evaluators) / 2;
        (side, side)
    }
}

impl Policy for DevilsAdvocate {
    fn order(&self) -> Order {
        Order::Sequential
    }

    fn role(&self, seat: usize, of: usize) -> Role {
        let (primaries, opponents) = Self::split(of);
        if seat < primaries {
            PRIMARY
        } else if seat < primaries + opponents {
            OPPOSITION
        } else {
            EVALUATOR
        }
    }

    fn contract(&self) -> &'static str {
        "Sides are assigned so that every argument is made. First those who have to say YES speak, then those who \
         have to say NO, then those who weigh; each reads the answers before its own. You make the best case for the \
         side that you were given, and you keep it. Write your stance in the field \"stance\", exactly as your role \
         says."
    }

    fn sections(&self, seat: &Seat<'_>) -> Vec<&'static str> {
        let weighs = self.role(seat.index, seat.of).stance == Some(Stance::Neutral);
        match (weighs, seat.is_first_round()) {
            (false, true) => vec![
                "Your claim in one sentence.",
                "The two or three strongest arguments for it, with evidence.",
                "The best argument against it, and your answer to that.",
            ],
            (false, false) => vec![
                "The evaluators' and the other side's most damaging point, stated fairly.",
                "Your answer to it; concede details where you have to, never the side.",
                "A new argument or new evidence for your side: no repetition.",
            ],
            (true, true) => vec![
                "The strongest argument of each side, stated fairly.",
                "For each: does it hold, and what is it worth?",
                "The question that would decide the matter.",
            ],
            (true, false) => vec![
                "What changed in this round: which arguments were answered and which were passed over.",
                "Where the weight of the evidence lies now, as a judgment on the arguments and not as a side.",
                "What would still have to be known to decide.",
            ],
        }
    }

    fn checks(&self, seat: &Seat<'_>) -> Vec<&'static str> {
        match self.role(seat.index, seat.of).stance {
            Some(Stance::Yes) => vec![
                "Is my stance YES?",
                "Would someone who doubts it find this the best case for YES?",
            ],
            Some(Stance::No) => {
                vec!["Is my stance NO?", "Would someone in favor have to answer this first?"]
            }
            _ => vec![
                "Is my stance NEUTRAL?",
                "Did I weigh arguments by their strength and not by their number?",
            ],
        }
    }
}
