//! The simulation: sessions, callers and faults in a world whose time and chance are decided by
//! the test. The same start gives the same log, always.

mod act;
mod client;
mod dice;
mod life;
mod plan;
mod random;
mod scenario;
mod wire;
mod workshop;
mod world;

pub use act::{Act, Conduct, Sight};
pub use client::Client;
pub use dice::{Dice, Seed};
pub use life::{End, Fate, Life, Turn};
pub use plan::{Odds, Plan};
pub use random::{simulate, simulate_planned_stops};
pub use scenario::{Scenario, Visited};
pub use workshop::{Workshop, job, questions};
pub use world::World;
