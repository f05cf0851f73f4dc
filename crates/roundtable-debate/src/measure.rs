//! How far a panel agrees, without a model: from vectors of the positions, and stances.
//!
//! A position is embedded behind its question, so that "Yes, every day." means something, and what
//! its vector shares with the question is taken away: to speak of one thing is not yet to agree.
//! Vectors know what a text is about, not what it says of it: "we should" and "we should not" lie
//! close to each other. Where stances were asked for they correct this; where not, nothing does.
//!
//! The numbers below are chosen by what MiniLM says of a committed set of positions:
//! `cargo xtask bench consensus` prints it, and a test holds them to it.

use serde::{Deserialize, Serialize};

use super::{Exit, Stance};
use roundtable_core::id::AgentId;

/// Up to this cosine two positions have nothing in common but their question.
const APART: f64 = 0.1;

/// From this cosine on they say the same in other words.
const ALIKE: f64 = 0.65;

/// From this likeness on two positions belong together.
const TOGETHER: f64 = 0.6;

/// Up to this change a position is the same, said again.
const SAME: f64 = 0.2;

/// From this change on a position is another one.
pub(super) const ANOTHER: f64 = 0.6;

/// How many characters of a question go before a position: a long one would drown it.
const QUESTION: usize = 200;

/// How far an agent's position has moved since the round before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    /// Who.
    pub agent: AgentId,
    /// From 0 (not at all) to 1 (to the other side).
    pub change: f64,
}

/// How far a panel agrees, without a model. Stored once per round; numbers have three digits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// Name of the embedder.
    pub by: String,
    /// Agreement from 0 (opposed) to 1 (unanimous).
    pub agreement: f64,
    /// Who holds much the same, the largest group first.
    pub clusters: Vec<Vec<AgentId>>,
    /// How far each moved since the round before, of those who answered in both.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drift: Vec<Drift>,
    /// Why the debate ends here, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<Exit>,
}

/// A position as it is measured.
#[derive(Debug, Clone, PartialEq)]
pub struct PositionVector {
    /// Whose it is.
    pub agent: AgentId,
    /// Stance of an agent.
    pub stance: Option<Stance>,
    /// Its vector, without what it shares with the question.
    pub vector: Vec<f32>,
}

impl PositionVector {
    /// A position with the vector of its [`text`], and that of the question's.
    ///
    /// [`text`]: Self::text
    pub fn new(agent: AgentId, stance: Option<Stance>, vector: Vec<f32>, question: &[f32]) -> Self {
        Self { agent, stance, vector: without(vector, question) }
    }

    /// What is embedded: a position behind its question; the question alone with an empty one.
    pub fn text(question: &str, position: &str) -> String {
        let question = question.trim();
        let end = question.char_indices().nth(QUESTION).map_or(question.len(), |(place, _)| place);
        format!("{}\n{position}", &question[..end])
    }
}

impl Measure {
    /// Measures a round against the one before it.
    pub fn of(by: &str, now: &[PositionVector], before: &[PositionVector]) -> Self {
        Self {
            by: by.to_owned(),
            agreement: digits(agreement(now)),
            clusters: clusters(now),
            drift: drift(now, before),
            exit: None,
        }
    }

    /// Whether every one of these agents holds what it held in the round before.
    pub fn is_steady(&self, agents: usize) -> bool {
        agents > 0
            && self.drift.len() == agents
            && self.drift.iter().all(|drift| drift.change <= SAME)
    }
}

/// The mean likeness of all pairs; one alone has nobody to agree with.
fn agreement(positions: &[PositionVector]) -> f64 {
    let pairs = positions
        .iter()
        .enumerate()
        .flat_map(|(index, one)| positions[index + 1..].iter().map(move |other| alike(one, other)));
    let (mut sum, mut count) = (0.0, 0.0);
    for pair in pairs {
        sum += pair;
        count += 1.0;
    }
    if count > 0.0 { sum / count } else { 0.0 }
}

/// How alike two positions are, from 0 to 1. Stances outweigh words: those who say the same of one
/// thing agree however they put it, and those who say the opposite do not.
fn alike(one: &PositionVector, other: &PositionVector) -> f64 {
    let cosine = cosine(&one.vector, &other.vector);
    let words = ((cosine - APART) / (ALIKE - APART)).clamp(0.0, 1.0);
    match (one.stance, other.stance) {
        (Some(one), Some(other)) if one == other => 0.6 + 0.4 * words,
        (Some(Stance::Neutral), Some(_)) | (Some(_), Some(Stance::Neutral)) => 0.2 + 0.3 * words,
        (Some(_), Some(_)) => 0.2 * words,
        _ => words,
    }
}

/// Groups in which everyone is reached from everyone over likeness; opposed stances never share one.
fn clusters(positions: &[PositionVector]) -> Vec<Vec<AgentId>> {
    let mut groups: Vec<Vec<&PositionVector>> = Vec::new();
    for position in positions {
        let fits = |group: &[&PositionVector]| {
            group.iter().any(|member| alike(member, position) >= TOGETHER)
                && !group.iter().any(|member| opposed(member, position))
        };
        let (near, far): (Vec<_>, Vec<_>) = groups.into_iter().partition(|group| fits(group));
        // Two groups that one position joins are one, unless they oppose each other.
        let mut joined: Vec<&PositionVector> = vec![position];
        groups = far;
        for group in near {
            if group.iter().any(|one| joined.iter().any(|other| opposed(one, other))) {
                groups.push(group);
            } else {
                joined.splice(0..0, group);
            }
        }
        groups.push(joined);
    }
    let seat = |agent: &AgentId| positions.iter().position(|position| position.agent == *agent);
    let mut named: Vec<Vec<AgentId>> = groups
        .iter()
        .map(|group| group.iter().map(|member| member.agent.clone()).collect())
        .collect();
    for group in &mut named {
        group.sort_by_key(seat);
    }
    named.sort_by_key(|group| (std::cmp::Reverse(group.len()), group.first().and_then(seat)));
    named
}

fn opposed(one: &PositionVector, other: &PositionVector) -> bool {
    matches!(
        (one.stance, other.stance),
        (Some(Stance::Yes), Some(Stance::No)) | (Some(Stance::No), Some(Stance::Yes))
    )
}

fn drift(now: &[PositionVector], before: &[PositionVector]) -> Vec<Drift> {
    let moved = |position: &PositionVector| {
        let earlier = before.iter().find(|earlier| earlier.agent == position.agent)?;
        let words = (1.0 - cosine(&position.vector, &earlier.vector)).clamp(0.0, 1.0);
        let turned = position.stance != earlier.stance;
        let change = if turned { words.max(0.5) } else { words };
        Some(Drift { agent: position.agent.clone(), change: digits(change) })
    };
    now.iter().filter_map(moved).collect()
}

/// A vector without its part in the direction of another one.
#[expect(clippy::cast_possible_truncation, reason = "vectors have short numbers")]
fn without(mut vector: Vec<f32>, direction: &[f32]) -> Vec<f32> {
    let length = dot(direction, direction);
    if vector.len() != direction.len() || length <= 0.0 || !length.is_finite() {
        return vector;
    }
    let share = dot(&vector, direction) / length;
    for (number, part) in vector.iter_mut().zip(direction) {
        *number = (f64::from(*number) - share * f64::from(*part)) as f32;
    }
    vector
}

fn dot(one: &[f32], other: &[f32]) -> f64 {
    one.iter().zip(other).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
}

/// The cosine of two vectors; 0 where one has no length or they do not fit.
fn cosine(one: &[f32], other: &[f32]) -> f64 {
    if one.len() != other.len() {
        return 0.0;
    }
    let length = (dot(one, one) * dot(other, other)).sqrt();
    if length > 0.0 && length.is_finite() {
        (dot(one, other) / length).clamp(-1.0, 1.0)
    } else {
        0.0
    }
}

fn digits(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}
