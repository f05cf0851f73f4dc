//! Search: ten nearest of 10 k, 100 k and 1 M vectors, beside comparing every row in floating point
//! with the same instructions as one writes it, and whether the same are found.

use std::time::Duration;

use roundtable_bench::{Report, Row, cpu};
use roundtable_local::search::{Matrix, Query};

const WIDTH: usize = 384;
const MOST: usize = 10;
const QUERIES: usize = 9;

pub fn measure(report: &mut Report) -> anyhow::Result<()> {
    // The aims are the spike's figures against its own scan of floats.
    for (count, name, aim) in
        [(10_000, "10 k", 0.6), (100_000, "100 k", 0.4), (1_000_000, "1 M", 0.4)]
    {
        at(report, count, name, aim)?;
    }
    Ok(())
}

fn at(report: &mut Report, count: u32, name: &str, aim: f64) -> anyhow::Result<()> {
    let mut dice = Dice(7);
    let centres: Vec<Vec<f32>> = (0..200).map(|_| dice.vector()).collect();
    let mut matrix = Matrix::new(WIDTH);
    let mut rows = Vec::with_capacity(count as usize * WIDTH);
    for key in 0..count {
        let row = dice.near(&centres[key as usize % centres.len()]);
        matrix.put(key, &row)?;
        rows.extend_from_slice(&row);
    }
    let mut found = 0;
    let mut runs = Vec::new();
    for centre in centres.iter().take(QUERIES) {
        let query = dice.near(centre);
        let wanted = plain(&rows, &query);
        let prepared = Query::new(&query)?;
        let hits = matrix.nearest(&prepared, MOST)?;
        found += hits.iter().filter(|hit| wanted.contains(hit.key)).count();
        // The system counts in steps of milliseconds, so small ones are done many times.
        let times = (2_000_000 / count).max(1);
        let before = cpu();
        (0..times).for_each(|_| drop(std::hint::black_box(plain(&rows, &query))));
        let between = cpu();
        (0..times).for_each(|_| drop(std::hint::black_box(matrix.nearest(&prepared, MOST))));
        let after = cpu();
        runs.push(((after - between) / times, (between - before) / times));
    }
    let ratio =
        |(time, plain): &(Duration, Duration)| time.as_secs_f64() / plain.as_secs_f64().max(1e-9);
    runs.sort_by(|a, b| ratio(a).total_cmp(&ratio(b)));
    let middle = runs[runs.len() / 2];
    let recall = found as f64 / (MOST * QUERIES) as f64;
    report.add(Row {
        name: format!("ten nearest of {name}"),
        figure: format!("{:.2?} of one processor, recall {recall:.3}", middle.0),
        against: format!("comparing every row, {:.2?}", middle.1),
        ratio: ratio(&middle),
        aim: Some(aim),
    });
    anyhow::ensure!(found == MOST * QUERIES, "the search missed some of {name}");
    let bytes = matrix.bytes() as f64;
    report.add(Row {
        name: format!("memory of {name} vectors"),
        figure: format!("{:.0} MB", bytes / 1e6),
        against: format!("the vectors alone, {:.0} MB", rows.len() as f64 * 4.0 / 1e6),
        ratio: bytes / (rows.len() as f64 * 4.0),
        aim: None,
    });
    Ok(())
}

/// The keys of the nearest rows, by comparing all: eight sums side by side, which the compiler
/// makes vector instructions of.
fn plain(rows: &[f32], query: &[f32]) -> Vec<u32> {
    let mut scored: Vec<(f32, u32)> = Vec::with_capacity(rows.len() / WIDTH);
    for (key, row) in (0..).zip(rows.chunks_exact(WIDTH)) {
        let mut sums = [0.0; 8];
        for (row, query) in row.as_chunks::<8>().0.iter().zip(query.as_chunks::<8>().0) {
            for ((sum, row), query) in sums.iter_mut().zip(row).zip(query) {
                *sum += row * query;
            }
        }
        scored.push((sums.iter().sum(), key));
    }
    let order = |a: &(f32, u32), b: &(f32, u32)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    scored.select_nth_unstable_by(MOST, order);
    scored.truncate(MOST);
    scored.into_iter().map(|(_, key)| key).collect()
}

struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> f32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1 << 23) as f32 - 1.0
    }

    fn vector(&mut self) -> Vec<f32> {
        (0..WIDTH).map(|_| self.roll()).collect()
    }

    /// A vector of length one near to another, as those of texts on one subject are.
    fn near(&mut self, centre: &[f32]) -> Vec<f32> {
        let row: Vec<f32> = centre.iter().map(|number| number + 1.2 * self.roll()).collect();
        let length = row.iter().map(|number| number * number).sum::<f32>().sqrt();
        row.into_iter().map(|number| number / length).collect()
    }
}
