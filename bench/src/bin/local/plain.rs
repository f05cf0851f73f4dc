//! What everything is compared with: a matrix times a vector in floating point, as one writes it
//! without a second thought.

use std::time::Duration;

use roundtable_bench::cpu;

/// A matrix of the size of the model's largest one, and a vector.
pub struct Plain {
    matrix: Vec<f32>,
    vector: Vec<f32>,
}

const WIDTH: usize = 576;
const ROWS: usize = 49_152;

impl Plain {
    pub fn new() -> Self {
        let matrix = (0..WIDTH * ROWS).map(|index| (index % 17) as f32 * 0.1 - 0.8).collect();
        Self { matrix, vector: vec![0.5; WIDTH] }
    }

    /// The processor time that so many weights take, each used once: the middle of three tries,
    /// because a single one is at the mercy of whatever else the machine does.
    pub fn time(&self, weights: f64) -> Duration {
        let mut tries = [(); 3].map(|()| self.once());
        tries.sort();
        tries[1].mul_f64(weights / self.matrix.len() as f64)
    }

    fn once(&self) -> Duration {
        let before = cpu();
        let mut sum = 0.0;
        for row in self.matrix.chunks_exact(WIDTH) {
            let mut product = 0.0;
            for (weight, value) in row.iter().zip(&self.vector) {
                product += weight * value;
            }
            sum += product;
        }
        std::hint::black_box(sum);
        cpu() - before
    }
}
