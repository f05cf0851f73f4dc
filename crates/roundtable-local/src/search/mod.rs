//! Exact nearest neighbours of a vector: the same answer as comparing it with every row, four times
//! quicker. Rows are kept twice, as they are and rounded to a byte a number. The rounded ones are
//! scanned, and since it is known how far off rounding can be, only rows that may be among the best
//! are looked at in full.

mod rounded;
mod scan;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::hash::Hash;

use crate::kernel::Cpu;
use rounded::Rounded;
pub use scan::Query;

/// How long a vector may be, so that no sum of products leaves what a number can hold.
const LONGEST: f32 = 1e9;

/// Why a vector is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum VectorError {
    /// It has another number of numbers.
    #[error("the vector has {found} dimensions instead of {wanted}")]
    Width {
        /// How many it has.
        found: usize,
        /// How many it has to have.
        wanted: usize,
    },
    /// It holds something that is no number, or a huge one.
    #[error("the vector contains an invalid number, or is too long")]
    Wild,
}

/// A row that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit<K> {
    /// Its key.
    pub key: K,
    /// The product of row and query: the cosine of their angle, if both have length one.
    pub score: f32,
}

/// Vectors under keys.
pub struct Matrix<K> {
    width: usize,
    keys: Vec<K>,
    places: HashMap<K, usize>,
    rows: Vec<f32>,
    rounded: Rounded,
    cpu: Cpu,
}

impl<K: Ord + Hash + Clone> Matrix<K> {
    /// One without rows, for vectors of so many numbers.
    pub fn new(width: usize) -> Self {
        Self::new_for(width, Cpu::detect())
    }

    fn new_for(width: usize, cpu: Cpu) -> Self {
        Self {
            width,
            keys: Vec::new(),
            places: HashMap::new(),
            rows: Vec::new(),
            rounded: Rounded::default(),
            cpu,
        }
    }

    /// How many numbers a vector has.
    pub fn width(&self) -> usize {
        self.width
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// How many bytes the rows take, both forms together.
    pub fn bytes(&self) -> usize {
        self.rows.capacity() * 4 + self.rounded.bytes()
    }

    /// Puts a vector under a key, in the place of the one that was there.
    ///
    /// # Errors
    /// [`VectorError`]; nothing has changed then.
    pub fn put(&mut self, key: K, vector: &[f32]) -> Result<(), VectorError> {
        check(vector, self.width)?;
        if let Some(place) = self.places.get(&key).copied() {
            self.rows[place * self.width..][..self.width].copy_from_slice(vector);
            self.rounded.replace(place, vector);
        } else {
            self.places.insert(key.clone(), self.keys.len());
            self.keys.push(key);
            self.rows.extend_from_slice(vector);
            self.rounded.push(vector);
        }
        Ok(())
    }

    /// Removes the vector under a key; says whether there was one.
    pub fn remove(&mut self, key: &K) -> bool {
        let Some(place) = self.places.remove(key) else { return false };
        let last = self.keys.len() - 1;
        // The last row takes its place: the order of rows means nothing.
        self.keys.swap_remove(place);
        let (from, to) = (last * self.width, place * self.width);
        self.rows.copy_within(from.., to);
        self.rows.truncate(from);
        self.rounded.swap_remove(place, self.width);
        if let Some(moved) = self.keys.get(place) {
            self.places.insert(moved.clone(), place);
        }
        true
    }

    /// The keys, in no order.
    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.keys.iter()
    }

    /// The vector under a key.
    pub fn find(&self, key: &K) -> Option<&[f32]> {
        Some(self.row(*self.places.get(key)?))
    }

    fn row(&self, place: usize) -> &[f32] {
        &self.rows[place * self.width..][..self.width]
    }
}

/// Whether a vector is one.
fn check(vector: &[f32], wanted: usize) -> Result<(), VectorError> {
    if vector.len() != wanted {
        return Err(VectorError::Width { found: vector.len(), wanted });
    }
    // Anything that is no number makes the sum none, and no comparison with it is true.
    let length: f32 = vector.iter().map(|number| number.abs()).sum();
    if length < LONGEST { Ok(()) } else { Err(VectorError::Wild) }
}
