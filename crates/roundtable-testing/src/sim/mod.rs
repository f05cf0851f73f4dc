//! The simulation: sessions, callers and faults in a world whose time and chance are decided by
//! the test. The same start gives the same log, always.

mod client;
mod dice;
mod plan;
mod random;
mod scenario;
mod wire;
mod workshop;
mod world;

pub use client::{Act, Client, Conduct, Sight};
pub use dice::{Dice, Seed};
pub use plan::{Odds, Plan};
pub use random::{simulate, simulate_planned_stops};
pub use scenario::{Scenario, Visited};
pub use workshop::{Workshop, job, questions};
pub use world::{End, Fate, Life, Turn, World};
