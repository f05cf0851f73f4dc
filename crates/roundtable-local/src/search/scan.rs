//! Finding the best rows: rounded products for all, exact ones for those that may be among the best.

use std::cmp::Ordering;
use std::hash::Hash;

use super::rounded::Codes;
use super::{Hit, Matrix, VectorError, check};

/// How many rows are multiplied at once: their products stay close at hand.
const RUN: usize = 1024;
/// How much the sums of floats may be off, in relation to the vectors' lengths.
const SLACK: f32 = 1e-5;

/// A vector that is looked for, made ready once for any number of matrices.
pub struct Query {
    vector: Vec<f32>,
    rounded: Codes,
    length: f32,
}

impl Query {
    /// A vector that is looked for.
    ///
    /// # Errors
    /// [`VectorError`] if it holds something that is no number.
    pub fn new(vector: &[f32]) -> Result<Self, VectorError> {
        check(vector, vector.len())?;
        let rounded = Codes::of(vector);
        let length = rounded.length + rounded.error;
        Ok(Self { vector: vector.to_vec(), rounded, length })
    }

    /// How many numbers it has.
    pub fn width(&self) -> usize {
        self.vector.len()
    }
}

/// A row's product, as rounding gives it, and how far off that may be.
#[derive(Clone, Copy)]
struct About {
    product: f32,
    off: f32,
}

impl<K: Ord + Hash + Clone> Matrix<K> {
    /// The rows with the largest products with a vector, `most` at the most: the best first, and
    /// of equals the one with the smaller key.
    ///
    /// # Errors
    /// [`VectorError`] if the vector has another width.
    pub fn nearest(&self, query: &Query, most: usize) -> Result<Vec<Hit<&K>>, VectorError> {
        check(&query.vector, self.width)?;
        let mut hits: Vec<Hit<&K>> = if most == 0 {
            Vec::new()
        } else if most >= self.len() {
            (0..self.len()).map(|place| self.hit(query, place)).collect()
        } else {
            self.candidates(query, most).into_iter().map(|place| self.hit(query, place)).collect()
        };
        if most < hits.len() {
            hits.select_nth_unstable_by(most, best_first);
            hits.truncate(most);
        }
        hits.sort_unstable_by(best_first);
        Ok(hits)
    }

    fn hit(&self, query: &Query, place: usize) -> Hit<&K> {
        // Zero has two forms that do not compare equal in an order; adding it leaves one.
        let score = self.cpu.dot_f32(&query.vector, self.row(place)) + 0.0;
        Hit { key: &self.keys[place], score }
    }

    /// The rows that may be among the best. At least `most` products are certain to reach `floor`,
    /// so a row that cannot reach it is not one of them.
    fn candidates(&self, query: &Query, most: usize) -> Vec<usize> {
        let about = self.about(query);
        let mut certain: Vec<f32> = Vec::with_capacity(2 * most);
        let mut floor = f32::NEG_INFINITY;
        for About { product, off } in &about {
            if product - off > floor {
                certain.push(product - off);
                if certain.len() == 2 * most {
                    floor = keep_best(&mut certain, most);
                }
            }
        }
        if certain.len() >= most {
            floor = keep_best(&mut certain, most);
        }
        let may_reach =
            |(place, about): (usize, &About)| (about.product + about.off >= floor).then_some(place);
        about.iter().enumerate().filter_map(may_reach).collect()
    }

    /// How many rows a search looks at in full.
    #[cfg(test)]
    pub(super) fn looked_at(&self, query: &Query, most: usize) -> usize {
        self.candidates(query, most).len()
    }

    /// The product of every row, as rounding gives it.
    fn about(&self, query: &Query) -> Vec<About> {
        let mut about = Vec::with_capacity(self.len());
        let mut products = [0; RUN];
        let runs = self.rounded.codes.chunks(RUN * self.width.max(1));
        for (codes, sizes) in runs.zip(self.rounded.sizes.chunks(RUN)) {
            self.cpu.dots_i8(&query.rounded.codes, codes, &mut products[..sizes.len()]);
            for (product, size) in products.iter().zip(sizes) {
                #[expect(clippy::cast_precision_loss, reason = "it is part of the slack")]
                let product = *product as f32 * (query.rounded.scale * size.scale);
                // (query + its error) * (row + its error), without the product of what was rounded.
                let off = query.length * size.error
                    + query.rounded.error * size.length
                    + SLACK * query.length * (size.length + size.error);
                about.push(About { product, off });
            }
        }
        about
    }
}

/// Leaves the largest `most` numbers; the smallest of them.
fn keep_best(numbers: &mut Vec<f32>, most: usize) -> f32 {
    let last = most - 1;
    let (_, floor, _) = numbers.select_nth_unstable_by(last, |a, b| b.total_cmp(a));
    let floor = *floor;
    numbers.truncate(most);
    floor
}

fn best_first<K: Ord>(a: &Hit<K>, b: &Hit<K>) -> Ordering {
    b.score.total_cmp(&a.score).then_with(|| a.key.cmp(&b.key))
}
