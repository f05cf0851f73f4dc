//! Worlds by chance: thousands of seeds, each with the whole oracle.

use roundtable_testing::sim::{Seed, simulate};

fn seeds(range: std::ops::Range<u64>) {
    for seed in range {
        simulate(Seed(seed));
    }
}

#[test]
fn seeds_1() {
    seeds(0..200);
}
