//! Vectors of texts for tests: which words they have, by hash.

/// How many numbers a vector has.
const LENGTH: usize = 256;

/// The words of a text, counted by their hashes.
pub fn vector(text: &str) -> Vec<f32> {
    let mut vector = vec![0.0f32; LENGTH];
    let plain = text.to_lowercase();
    for word in plain.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let hash = word.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        vector[usize::try_from(hash % LENGTH as u64).unwrap()] += 1.0;
    }
    // A word that comes ten times does not count ten times.
    vector.iter_mut().for_each(|count| *count = count.sqrt());
    vector
}
