//! The safetensors format: a length, a JSON header with the place of each tensor, then numbers.
//! The file may be hostile: every length and place in it is checked before anything is read or
//! reserved for it.

use std::collections::BTreeMap;
use std::io::{Read, Seek, SeekFrom};

use serde::Deserialize;

/// How long a header may be. The real one has 11 kB.
const LONGEST_HEADER: u64 = 1 << 24;
/// How many numbers are read at once.
const PIECE: usize = 1 << 16;

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TensorError {
    /// The file cannot be read.
    #[error("read error: {0}")]
    Io(#[from] std::io::Error),
    /// It is not in this format, or it is damaged.
    #[error("invalid or damaged safetensors file: {0}")]
    Malformed(String),
    /// A tensor is missing, or not as it should be.
    #[error("tensor {name} {what}")]
    Tensor {
        /// The tensor.
        name: String,
        /// What is wrong with it.
        what: String,
    },
}

/// The tensors of a file.
pub(super) struct Tensors<R> {
    source: R,
    /// Where the numbers begin, and how many bytes they have.
    start: u64,
    bytes: u64,
    entries: BTreeMap<String, Entry>,
}

#[derive(Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<u64>,
    data_offsets: [u64; 2],
}

impl<R: Read + Seek> Tensors<R> {
    pub(super) fn open(mut source: R) -> Result<Self, TensorError> {
        let malformed = |what: &str| TensorError::Malformed(what.to_owned());
        let length = source.seek(SeekFrom::End(0))?;
        source.seek(SeekFrom::Start(0))?;
        let mut size = [0; 8];
        source.read_exact(&mut size).map_err(|_| malformed("it is too short"))?;
        let size = u64::from_le_bytes(size);
        let start = size.checked_add(8).filter(|start| *start <= length);
        let start = start.ok_or_else(|| malformed("its header is longer than the file"))?;
        if size > LONGEST_HEADER {
            return Err(malformed("its header is too long"));
        }
        let header = source.by_ref().take(size);
        let header: BTreeMap<String, serde_json::Value> = serde_json::from_reader(header)
            .map_err(|error| TensorError::Malformed(format!("its header: {error}")))?;
        let tensors = header.into_iter().filter(|(name, _)| name != "__metadata__");
        let entries = tensors.map(|(name, value)| match serde_json::from_value(value) {
            Ok(entry) => Ok((name, entry)),
            Err(error) => Err(TensorError::Malformed(format!("its header: {error}"))),
        });
        Ok(Self {
            source,
            start,
            bytes: length - start,
            entries: entries.collect::<Result<_, _>>()?,
        })
    }

    /// The shape of a tensor, if it is there.
    pub(super) fn shape(&self, name: &str) -> Option<&[u64]> {
        Some(&self.entries.get(name)?.shape)
    }

    /// The numbers of a tensor, which has to have this shape.
    pub(super) fn take(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>, TensorError> {
        let wrong = |what: String| TensorError::Tensor { name: name.to_owned(), what };
        let Some(entry) = self.entries.get(name) else {
            return Err(wrong("is missing".to_owned()));
        };
        if entry.dtype != "F32" {
            return Err(wrong("does not contain 32-bit numbers".to_owned()));
        }
        let wanted: Vec<u64> = shape.iter().map(|side| *side as u64).collect();
        if entry.shape != wanted {
            return Err(wrong(format!("has shape {:?} instead of {wanted:?}", entry.shape)));
        }
        let count = wanted.iter().try_fold(4u64, |bytes, side| bytes.checked_mul(*side));
        let [from, to] = entry.data_offsets;
        let inside = to <= self.bytes && to.checked_sub(from) == count;
        let count = count.filter(|_| inside).and_then(|bytes| usize::try_from(bytes / 4).ok());
        let count = count.ok_or_else(|| wrong("is outside of the file".to_owned()))?;
        self.source.seek(SeekFrom::Start(self.start + from))?;
        Ok(read_numbers(&mut self.source, count)?)
    }
}

/// Reads piece by piece, so that the bytes are not in memory a second time.
fn read_numbers(source: &mut impl Read, count: usize) -> std::io::Result<Vec<f32>> {
    let mut numbers = Vec::with_capacity(count);
    let mut piece = vec![0; 4 * PIECE.min(count)];
    while numbers.len() < count {
        let bytes = &mut piece[..4 * PIECE.min(count - numbers.len())];
        source.read_exact(bytes)?;
        numbers.extend(bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)));
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::prelude::*;

    use super::*;

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat()
    }

    fn take(bytes: &[u8], shape: &[usize]) -> Result<Vec<f32>, String> {
        let tensors = Tensors::open(Cursor::new(bytes));
        tensors.and_then(|mut tensors| tensors.take("a", shape)).map_err(|error| error.to_string())
    }

    fn good() -> Vec<u8> {
        let header = r#"{"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2,1],"data_offsets":[4,12]}}"#;
        let numbers = [9f32, 1.5, -2.0].map(f32::to_le_bytes).concat();
        file(header, &numbers)
    }

    #[test]
    fn a_tensor_is_read_from_its_place() {
        assert_eq!(take(&good(), &[2, 1]).unwrap(), [1.5, -2.0]);
        assert_eq!(take(&good(), &[2]).unwrap_err(), "tensor a has shape [2, 1] instead of [2]");
    }

    #[test]
    fn a_file_that_says_something_impossible_is_refused() {
        let header = |dtype: &str, shape: &str, place: &str| {
            let entry =
                format!(r#"{{"a":{{"dtype":"{dtype}","shape":{shape},"data_offsets":{place}}}}}"#);
            take(&file(&entry, &[0; 8]), &[2]).unwrap_err()
        };
        assert_eq!(header("F32", "[2]", "[0,9]"), "tensor a is outside of the file");
        assert_eq!(header("F32", "[2]", "[8,0]"), "tensor a is outside of the file");
        assert_eq!(header("F32", "[2]", "[1,9]"), "tensor a is outside of the file");
        assert_eq!(header("F16", "[2]", "[0,8]"), "tensor a does not contain 32-bit numbers");
        assert!(header("F32", "[-2]", "[0,8]").contains("damaged safetensors file: its header"));
        let huge = format!(
            r#"{{"a":{{"dtype":"F32","shape":[{0},{0}],"data_offsets":[0,8]}}}}"#,
            u64::MAX
        );
        let huge = take(&file(&huge, &[0; 8]), &[usize::MAX, usize::MAX]);
        assert_eq!(huge.unwrap_err(), "tensor a is outside of the file");
        assert_eq!(take(&file("{}", &[]), &[2]).unwrap_err(), "tensor a is missing");
        let endless = u64::MAX.to_le_bytes();
        assert!(take(&endless, &[2]).unwrap_err().ends_with("its header is longer than the file"));
        assert!(take(&[1, 2], &[2]).unwrap_err().ends_with("it is too short"));
        let deep = "[".repeat(100_000);
        assert!(take(&file(&deep, &[]), &[2]).unwrap_err().contains("its header"));
    }

    #[test]
    fn a_file_that_was_cut_off_anywhere_is_refused() {
        let whole = good();
        for cut in 0..whole.len() {
            assert!(take(&whole[..cut], &[2, 1]).is_err(), "{cut}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_give_numbers_or_an_error(
            place in 0usize..200, byte in any::<u8>(), noise in proptest::collection::vec(any::<u8>(), 0..60),
        ) {
            let mut bytes = good();
            let place = place % bytes.len();
            bytes[place] = byte;
            if let Ok(numbers) = take(&bytes, &[2, 1]) {
                prop_assert_eq!(numbers.len(), 2);
            }
            prop_assert!(take(&noise, &[2, 1]).is_err());
        }
    }
}
