//! Random walks of a program: whatever happens in whatever order, what must hold holds.
//!
//! A walk opens sessions of a program, lets random things happen to them (messages, answers, tool
//! calls, failures, cancellations, restarts, takes), and checks after each: the log alone gives the
//! state, a snapshot and the rest of the log give it too, every scope closes once, budgets hold,
//! and what has work comes to its end. Nothing runs: no model, no clock, no store.

mod ledger;
mod moves;
mod oracle;
mod player;
mod transcript;

#[cfg(test)]
mod gathering;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use roundtable_core::id::AgentId;
use roundtable_core::input::Command;
use roundtable_core::job::JobOutcome;
use roundtable_core::program::{PANEL, Program, Programs};
use roundtable_core::session::Status;
use roundtable_core::settings::{ProgramRef, Settings};
use roundtable_core::stage::Name;
use serde_json::Value;

use moves::{Move, Setup};
use player::Player;

type Compute = Arc<dyn Fn(Value) -> JobOutcome>;
type Words = Arc<dyn Fn(u64) -> String>;

/// The random walk of one program.
///
/// ```
/// use roundtable_core::program::Panel;
/// use roundtable_testing::walk::Walk;
///
/// Walk::new(Panel).cases(2).run(|_agents| Default::default());
/// ```
#[derive(Clone)]
pub struct Walk {
    programs: Programs,
    name: Name,
    jobs: BTreeMap<Name, Compute>,
    words: Option<Words>,
    acts: Vec<Command>,
    cases: u32,
    /// Whether its prompts tell earlier rounds as the panel does.
    plain: bool,
}

impl Walk {
    /// The walk of a program: 48 sessions with up to 90 moves each.
    pub fn new<P: Program>(program: P) -> Self {
        Self {
            programs: Programs::default().with(program),
            name: P::NAME,
            jobs: BTreeMap::new(),
            words: None,
            acts: Vec::new(),
            cases: 48,
            plain: P::NAME == PANEL,
        }
    }

    /// Computes a job of the program. Jobs that are not named here fail.
    #[must_use]
    pub fn job(mut self, name: Name, compute: impl Fn(Value) -> JobOutcome + 'static) -> Self {
        self.jobs.insert(name, Arc::new(compute));
        self
    }

    /// What models answer, made of a random number. Without this they answer with filler.
    #[must_use]
    pub fn words(mut self, words: impl Fn(u64) -> String + 'static) -> Self {
        self.words = Some(Arc::new(words));
        self
    }

    /// Something that a caller may ask of the program.
    #[must_use]
    pub fn act(mut self, name: Name, data: Value) -> Self {
        self.acts.push(Command::Act { name, data });
        self
    }

    /// How many sessions are walked through.
    #[must_use]
    pub fn cases(mut self, cases: u32) -> Self {
        self.cases = cases;
        self
    }

    /// Walks. The rules of each session are made of its participants.
    ///
    /// # Panics
    /// When something does not hold: the message names the smallest walk that shows it.
    pub fn run(self, rules: impl Fn(&[AgentId]) -> Value) {
        let setups = moves::setup();
        let steps = prop::collection::vec(moves::any_move(), 10..90);
        self.check(&(setups, steps), |(mut setup, steps)| {
            let agents: Vec<AgentId> = setup.agents.iter().map(|agent| agent.id.clone()).collect();
            let program = ProgramRef { name: self.name.clone(), rules: rules(&agents) };
            setup.settings = Settings { program, ..setup.settings };
            let mut player = self.play(&setup, &steps);
            player.check_resume();
            let ended = player.live.session.status == Status::Completed;
            player.drive();
            assert!(!player.live.session.has_work(), "it ends");
            if !ended {
                player.finish();
            }
            player.oracle.check_all_closed();
        });
    }

    #[cfg(test)]
    fn plain(self) -> Self {
        Self { plain: true, ..self }
    }

    fn check<S: Strategy>(&self, strategy: &S, test: impl Fn(S::Value)) {
        let config = Config { cases: self.cases, failure_persistence: None, ..Config::default() };
        let outcome = TestRunner::new(config).run(strategy, |value| {
            test(value);
            Ok(())
        });
        if let Err(error) = outcome {
            panic!("{error}");
        }
    }

    fn play(&self, setup: &Setup, moves: &[Move]) -> Player {
        let mut player = Player::open(self.clone(), setup);
        for one in moves {
            player.play(one);
        }
        player
    }

    /// What a job comes to.
    fn compute(&self, name: &Name, input: Value) -> JobOutcome {
        match self.jobs.get(name) {
            Some(compute) => compute(input),
            None => JobOutcome::Failed { error: format!("there is no job {name}") },
        }
    }
}
