//! Worlds by chance: each seed with faults of every kind and the whole oracle. A seed that fails
//! prints the call that has it again, and is added to the regressions.

use std::ops::Range;

use roundtable_testing::oracle::Evidence;
use roundtable_testing::sim::{Seed, simulate};

/// Seeds that failed once, when the engine or the simulation was another.
const REGRESSIONS: [u64; 0] = [];

#[test]
fn regressions() {
    REGRESSIONS.into_iter().for_each(|seed| drop(simulate(Seed(seed))));
}

fn seeds(range: Range<u64>) {
    range.for_each(|seed| drop(simulate(Seed(seed))));
}

#[test]
fn the_same_seed_gives_the_same_log() {
    fn text(evidence: &Evidence) -> Vec<String> {
        let stored = evidence.logs.values().flatten();
        let logs = stored.map(|stored| format!("{} {:?}", stored.epoch, stored.event));
        let received = evidence.received.iter().map(|call| format!("{call:?}"));
        logs.chain(received).collect()
    }
    for seed in 5010..5030 {
        let (first, second) = (text(&simulate(Seed(seed))), text(&simulate(Seed(seed))));
        for (first, second) in first.iter().zip(&second) {
            assert_eq!(first, second, "simulate(Seed({seed}))");
        }
        assert_eq!(first.len(), second.len(), "simulate(Seed({seed}))");
    }
}

// Several tests, so that they share the cores.

#[test]
fn seeds_0_to_100() {
    seeds(0..100);
}
