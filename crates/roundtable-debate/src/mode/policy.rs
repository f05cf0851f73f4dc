//! What a mode has to decide.

use crate::{Perspective, Stance};
use roundtable_core::settings::Order;

/// How agents are named to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Naming {
    /// By their names.
    Names,
    /// `Participant 1`, the same for the whole session.
    Participants,
    /// `Member A`, the same for the whole session.
    Members,
}

/// What a seat is there for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Role {
    /// What it is called.
    pub title: &'static str,
    /// What it does.
    pub duty: &'static str,
    /// The side that it has to take, if it may not choose.
    pub stance: Option<Stance>,
}

/// A seat in a round.
#[derive(Debug, Clone, Copy)]
pub struct Seat<'a> {
    /// Which one, from 0.
    pub index: usize,
    /// Of how many.
    pub of: usize,
    /// The round's number.
    pub round: u32,
    /// The point of view that it speaks from, where the debate has them.
    pub perspective: Option<&'a Perspective>,
}

impl Seat<'_> {
    /// Whether nothing was said before this round.
    pub fn is_first_round(&self) -> bool {
        self.round <= 1
    }
}

/// A mode: what it decides, as values. Policies hold no state and see no text of the debate.
pub trait Policy: Sync {
    /// Whether the agents of a round hear each other.
    fn order(&self) -> Order {
        Order::Parallel
    }

    /// How agents are named to each other.
    fn naming(&self) -> Naming {
        Naming::Names
    }

    /// Whether the figures of earlier rounds are shown.
    fn shows_figures(&self) -> bool {
        false
    }

    /// What a seat is there for, counted from 0.
    fn role(&self, seat: usize, of: usize) -> Role;

    /// The side that a seat is on when its answer names none. A weak model says things without
    /// saying on which side; that two sides use the same words does not make them agree.
    fn side(&self, seat: usize, of: usize) -> Option<Stance> {
        self.role(seat, of).stance
    }

    /// How the panel works together: the same for everyone, in every round.
    fn contract(&self) -> &'static str;

    /// What an answer has to contain, in order; it changes from the first round to later ones.
    fn sections(&self, seat: &Seat<'_>) -> Vec<&'static str>;

    /// What an agent asks itself before it answers.
    fn checks(&self, seat: &Seat<'_>) -> Vec<&'static str>;
}
