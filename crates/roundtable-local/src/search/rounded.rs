//! Vectors rounded to a byte a number, and how far off that makes them.

/// A vector rounded to a byte a number: a number is about its code times the scale.
pub(super) struct Codes {
    pub(super) codes: Vec<i8>,
    pub(super) scale: f32,
    /// The length of what rounding took away.
    pub(super) error: f32,
    /// The length of what is left.
    pub(super) length: f32,
}

impl Codes {
    pub(super) fn of(vector: &[f32]) -> Self {
        let largest = vector.iter().fold(0f32, |largest, number| largest.max(number.abs()));
        let scale = largest / 127.0;
        let code = |number: f32| match scale.is_normal() {
            #[expect(clippy::cast_possible_truncation, reason = "it is between -127 and 127")]
            true => (number / scale).round_ties_even() as i8,
            false => 0,
        };
        let codes: Vec<i8> = vector.iter().map(|number| code(*number)).collect();
        let (mut error, mut length) = (0f64, 0f64);
        for (number, code) in vector.iter().zip(&codes) {
            let rounded = f64::from(*code) * f64::from(scale);
            error += (f64::from(*number) - rounded).powi(2);
            length += rounded.powi(2);
        }
        Self { codes, scale, error: above(error.sqrt()), length: above(length.sqrt()) }
    }
}

/// The number as a float that is not smaller.
#[expect(clippy::cast_possible_truncation, reason = "rounded up afterwards")]
fn above(number: f64) -> f32 {
    (number as f32).next_up()
}

/// Rows of a matrix, rounded.
#[derive(Default)]
pub(super) struct Rounded {
    pub(super) codes: Vec<i8>,
    pub(super) sizes: Vec<Size>,
}

/// What is known of a rounded row.
#[derive(Clone, Copy)]
pub(super) struct Size {
    pub(super) scale: f32,
    pub(super) error: f32,
    pub(super) length: f32,
}

impl Rounded {
    pub(super) fn push(&mut self, vector: &[f32]) {
        let Codes { codes, scale, error, length } = Codes::of(vector);
        self.codes.extend(codes);
        self.sizes.push(Size { scale, error, length });
    }

    pub(super) fn replace(&mut self, place: usize, vector: &[f32]) {
        let Codes { codes, scale, error, length } = Codes::of(vector);
        self.codes[place * vector.len()..][..vector.len()].copy_from_slice(&codes);
        self.sizes[place] = Size { scale, error, length };
    }

    pub(super) fn swap_remove(&mut self, place: usize, width: usize) {
        self.sizes.swap_remove(place);
        let last = self.sizes.len() * width;
        self.codes.copy_within(last.., place * width);
        self.codes.truncate(last);
    }

    pub(super) fn bytes(&self) -> usize {
        self.codes.capacity() + self.sizes.capacity() * size_of::<Size>()
    }
}
