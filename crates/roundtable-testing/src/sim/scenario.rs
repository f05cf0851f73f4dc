//! A scenario: a story that is the same in every run, tried with a crash at every commit.

use std::time::Duration;

use roundtable_backend::Fault;
use roundtable_models::scripted::Script;

use super::client::Client;
use super::life::{End, Life};
use super::plan::Plan;
use super::world::World;
use crate::ProgramSet;
use crate::oracle::Evidence;

/// How long people stay away after a crash: the engine has to go on by itself.
const AWAY: Duration = Duration::from_secs(30);

/// A story that is the same in every run.
pub struct Scenario {
    /// Its name.
    pub name: &'static str,
    /// What agents say.
    pub script: fn() -> Script,
    /// Who takes part.
    pub clients: fn() -> Vec<Client>,
    /// The programs that their sessions run.
    pub programs: fn() -> ProgramSet,
}

/// Which points were tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Visited {
    /// How many commits the story has when nothing goes wrong.
    pub commits: u64,
    /// At how many points a process died.
    pub crashes: u64,
}

impl Scenario {
    /// The story's world, at its beginning.
    pub fn world(&self, label: &str) -> World {
        let label = format!("{} {label}", self.name);
        let mut world = World::new(label, (self.script)(), (self.clients)());
        world.programs = (self.programs)();
        world
    }

    /// The story when nothing goes wrong, and how many commits it has.
    pub fn undisturbed(&self) -> (Evidence, u64) {
        let mut world = self.world("undisturbed");
        let life = Life::fine();
        assert_eq!(world.live(&life), End::Rest);
        (world.come_to_rest(Duration::ZERO), life.plan.appends())
    }

    /// Tries a crash before and after every commit. `check` is given what came of each, besides
    /// what the oracle says.
    pub fn crash_everywhere(&self, check: impl Fn(&str, &Evidence)) -> Visited {
        let (evidence, commits) = self.undisturbed();
        check("undisturbed", &evidence);
        let mut visited = Visited { commits, crashes: 0 };
        for commit in 0..commits {
            for fault in [Fault::CrashBefore, Fault::CrashAfter] {
                let label = format!("{fault:?} of commit {commit}");
                let mut world = self.world(&label);
                let end = world.live(&Life::with(Plan::at(commit, fault)));
                visited.crashes += u64::from(end == End::Crashed);
                check(&label, &world.come_to_rest(AWAY));
            }
        }
        visited
    }

    /// Tries a second crash in the recovery from a first one, before and after the first commit
    /// that the recovery makes; how many there were.
    pub fn crash_twice_everywhere(&self, check: impl Fn(&str, &Evidence)) -> u64 {
        let (_, commits) = self.undisturbed();
        let mut crashes = 0;
        for commit in 0..commits {
            for fault in [Fault::CrashBefore, Fault::CrashAfter] {
                let label = format!("CrashAfter of commit {commit}, then {fault:?} of the next");
                let mut world = self.world(&label);
                world.live(&Life::with(Plan::at(commit, Fault::CrashAfter)));
                let end = world.live(&Life::with(Plan::at(0, fault)).alone_for(AWAY));
                crashes += u64::from(end == End::Crashed);
                check(&label, &world.come_to_rest(AWAY));
            }
        }
        crashes
    }

    /// Tries every fault of the store that a process survives, with every commit; how many there
    /// were.
    pub fn fail_everywhere(&self, check: impl Fn(&str, &Evidence)) -> u64 {
        let (_, commits) = self.undisturbed();
        let faults = [Fault::Conflict, Fault::Unavailable, Fault::AckLost, Fault::Fenced];
        for commit in 0..commits {
            for fault in faults {
                let label = format!("{fault:?} of commit {commit}");
                let mut world = self.world(&label);
                assert_eq!(world.live(&Life::with(Plan::at(commit, fault))), End::Rest, "{label}");
                check(&label, &world.come_to_rest(Duration::ZERO));
            }
        }
        commits * faults.len() as u64
    }
}
