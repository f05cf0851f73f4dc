//! How a panel argues: eight small policies, one file each.

mod adversarial;
mod collaborative;
mod council;
mod delphi;
mod devils_advocate;
mod expert_panel;
mod policy;
mod red_team_blue_team;
mod socratic;

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use policy::Role;
pub(super) use policy::{Naming, Policy, Seat};

use crate::Stance;
use roundtable_core::settings::Order;

/// Debate mode.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Agents build on each other's ideas and look for agreement.
    #[default]
    Collaborative,
    /// Proponents and opponents attack each other's strongest arguments.
    Adversarial,
    /// Questioners probe, respondents justify their positions.
    Socratic,
    /// Each agent argues from its own perspective.
    ExpertPanel,
    /// Some agents must argue for, some against, the others evaluate.
    DevilsAdvocate,
    /// Answers are anonymous. Agents see the statistics of the previous round.
    Delphi,
    /// One team attacks a plan, the other defends it.
    RedTeamBlueTeam,
    /// Agents answer, rank the anonymous answers, and a chair writes the verdict.
    Council,
}

/// A mode that there is not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown mode \"{name}\"; available: {known}")]
pub struct UnknownMode {
    /// The name that was given.
    pub name: String,
    /// The names that there are.
    pub known: String,
}

impl Mode {
    /// All modes.
    pub const ALL: [Self; 8] = [
        Self::Collaborative,
        Self::Adversarial,
        Self::Socratic,
        Self::ExpertPanel,
        Self::DevilsAdvocate,
        Self::Delphi,
        Self::RedTeamBlueTeam,
        Self::Council,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Collaborative => "collaborative",
            Self::Adversarial => "adversarial",
            Self::Socratic => "socratic",
            Self::ExpertPanel => "expert-panel",
            Self::DevilsAdvocate => "devils-advocate",
            Self::Delphi => "delphi",
            Self::RedTeamBlueTeam => "red-team-blue-team",
            Self::Council => "council",
        }
    }

    /// Whether the agents of a round hear each other.
    pub fn order(self) -> Order {
        self.policy().order()
    }

    /// The role of a seat, counted from 0, among so many.
    pub fn role(self, seat: usize, of: usize) -> Role {
        self.policy().role(seat, of)
    }

    /// The side that a seat is on when its answer names none, where the mode has sides.
    pub fn side(self, seat: usize, of: usize) -> Option<Stance> {
        self.policy().side(seat, of)
    }

    pub(super) fn policy(self) -> &'static dyn Policy {
        match self {
            Self::Collaborative => &collaborative::Collaborative,
            Self::Adversarial => &adversarial::Adversarial,
            Self::Socratic => &socratic::Socratic,
            Self::ExpertPanel => &expert_panel::ExpertPanel,
            Self::DevilsAdvocate => &devils_advocate::DevilsAdvocate,
            Self::Delphi => &delphi::Delphi,
            Self::RedTeamBlueTeam => &red_team_blue_team::RedTeamBlueTeam,
            Self::Council => &council::Council,
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Mode {
    type Err = UnknownMode;

    fn from_str(name: &str) -> Result<Self, UnknownMode> {
        Self::ALL.into_iter().find(|mode| mode.name() == name).ok_or_else(|| UnknownMode {
            name: name.chars().take(40).collect(),
            known: Self::ALL.map(Self::name).join(", "),
        })
    }
}
