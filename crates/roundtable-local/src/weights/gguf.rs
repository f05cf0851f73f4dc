//! The GGUF container: what a file says about itself, and where its tensors are.

use std::collections::HashMap;
use std::io::{BufReader, ErrorKind, Read, Seek, SeekFrom};

use super::cursor::Cursor;
use super::{LoadError, Value};
use crate::kernel::{BLOCK, Matrix, Q4_1_BYTES, Q8_0_BYTES};

/// How many blocks of a tensor are read at once.
const BLOCKS_AT_ONCE: usize = 8_192;

/// A file whose head was read and checked.
pub(crate) struct Gguf<R> {
    source: R,
    metadata: HashMap<String, Value>,
    tensors: HashMap<String, Tensor>,
}

/// Where a tensor is, and its shape; it lies within the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tensor {
    /// The length of a row.
    pub(crate) width: usize,
    /// How many rows.
    pub(crate) rows: usize,
    pub(crate) format: Format,
    /// From the beginning of the file.
    offset: u64,
    /// How many bytes it has.
    size: u64,
}

/// How the numbers of a tensor are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    F32,
    Q4_1,
    Q8_0,
    /// One that is not supported.
    Other(u32),
}

/// A tensor as its entry has it, before the data's beginning is known.
struct Entry {
    name: String,
    dimensions: Vec<u64>,
    format: u32,
    offset: u64,
}

impl<R: Read + Seek> Gguf<R> {
    /// Reads and checks the head of a file.
    pub(crate) fn read(mut source: R) -> Result<Self, LoadError> {
        let length = source.seek(SeekFrom::End(0))?;
        source.seek(SeekFrom::Start(0))?;
        let mut cursor = Cursor::new(BufReader::new(&mut source), length);
        let (tensor_count, value_count) = beginning(&mut cursor)?;
        let metadata = metadata(&mut cursor, value_count)?;
        let mut entries = Vec::new();
        for _ in 0..tensor_count {
            entries.push(Entry::read(&mut cursor)?);
        }
        let start = data_start(cursor.position(), &metadata)?;
        let mut tensors = HashMap::new();
        for entry in entries {
            let tensor = entry.place(start, length)?;
            if tensors.insert(entry.name.clone(), tensor).is_some() {
                return Err(LoadError::malformed(entry.name, "is a duplicate"));
            }
        }
        Ok(Self { source, metadata, tensors })
    }

    /// What the file says under this key.
    pub(crate) fn find(&self, key: &str) -> Option<&Value> {
        self.metadata.get(key)
    }

    /// A whole number that has to be there, and be at least 1 and at most `most`.
    pub(crate) fn count(&self, key: &str, most: usize) -> Result<usize, LoadError> {
        match self.find(key) {
            None => Err(LoadError::missing(key)),
            Some(Value::Integer(number)) => {
                let number = usize::try_from(*number).ok().filter(|n| (1..=most).contains(n));
                let why = || LoadError::malformed(key, format!("is not between 1 and {most}"));
                number.ok_or_else(why)
            }
            Some(_) => Err(LoadError::malformed(key, "is not a whole number")),
        }
    }

    /// A positive number that has to be there.
    pub(crate) fn positive(&self, key: &str) -> Result<f32, LoadError> {
        match self.find(key) {
            None => Err(LoadError::missing(key)),
            Some(Value::Float(number)) if (*number as f32).is_normal() && *number > 0.0 => {
                Ok(*number as f32)
            }
            Some(_) => Err(LoadError::malformed(key, "is not a positive number")),
        }
    }

    /// A text that has to be there.
    pub(crate) fn text(&self, key: &str) -> Result<&str, LoadError> {
        match self.find(key) {
            None => Err(LoadError::missing(key)),
            Some(Value::Text(text)) => Ok(text),
            Some(_) => Err(LoadError::malformed(key, "is not a string")),
        }
    }

    /// A list of texts that has to be there.
    pub(crate) fn texts(&self, key: &str) -> Result<&[String], LoadError> {
        match self.find(key) {
            None => Err(LoadError::missing(key)),
            Some(Value::Texts(texts)) => Ok(texts),
            Some(_) => Err(LoadError::malformed(key, "is not a list of strings")),
        }
    }

    /// A list of whole numbers that has to be there.
    pub(crate) fn integers(&self, key: &str) -> Result<&[i32], LoadError> {
        match self.find(key) {
            None => Err(LoadError::missing(key)),
            Some(Value::Integers(integers)) => Ok(integers),
            Some(_) => Err(LoadError::malformed(key, "is not a list of whole numbers")),
        }
    }

    /// Whether there is a tensor of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.tensors.contains_key(name)
    }

    /// Reads a vector of floating-point numbers of this length.
    pub(crate) fn vector(&mut self, name: &str, width: usize) -> Result<Vec<f32>, LoadError> {
        let tensor = self.tensor(name, 1, width)?;
        if tensor.format != Format::F32 {
            return Err(LoadError::malformed(name, format!("is {:?}, not F32", tensor.format)));
        }
        let mut numbers = Vec::with_capacity(width);
        self.chunks(&tensor, size_of::<f32>(), |bytes| {
            numbers.extend(bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)));
        })?;
        Ok(numbers)
    }

    /// Reads a matrix of quantised weights of this shape.
    pub(crate) fn matrix(
        &mut self,
        name: &str,
        rows: usize,
        width: usize,
    ) -> Result<Matrix, LoadError> {
        let tensor = self.tensor(name, rows, width)?;
        let (matrix, block) = match tensor.format {
            Format::Q4_1 => (Matrix::q4_1(rows, width), Q4_1_BYTES),
            Format::Q8_0 => (Matrix::q8_0(rows, width), Q8_0_BYTES),
            other => {
                let why = format!("is {other:?}; quantize it to Q4_1 or Q8_0");
                return Err(LoadError::malformed(name, why));
            }
        };
        let why = || LoadError::malformed(name, "is not made of whole blocks");
        let mut matrix = matrix.ok_or_else(why)?;
        self.chunks(&tensor, block, |bytes| matrix.extend(bytes))?;
        Ok(matrix)
    }

    fn tensor(&self, name: &str, rows: usize, width: usize) -> Result<Tensor, LoadError> {
        let tensor = self.tensors.get(name).ok_or_else(|| LoadError::missing(name))?;
        if (tensor.rows, tensor.width) == (rows, width) {
            return Ok(tensor.clone());
        }
        let why = format!("has the shape {}x{}, not {rows}x{width}", tensor.rows, tensor.width);
        Err(LoadError::malformed(name, why))
    }

    /// Hands out the bytes of a tensor in pieces of whole blocks, so that it is never in memory
    /// twice.
    fn chunks(
        &mut self,
        tensor: &Tensor,
        block: usize,
        mut take: impl FnMut(&[u8]),
    ) -> Result<(), LoadError> {
        self.source.seek(SeekFrom::Start(tensor.offset))?;
        let mut buffer = vec![0; block * BLOCKS_AT_ONCE];
        let mut left = tensor.size;
        while left > 0 {
            let count = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            self.source.read_exact(&mut buffer[..count]).map_err(|error| match error.kind() {
                ErrorKind::UnexpectedEof => LoadError::Truncated("a tensor".into()),
                _ => LoadError::Read(error),
            })?;
            take(&buffer[..count]);
            left -= count as u64;
        }
        Ok(())
    }
}

fn beginning<R: Read>(cursor: &mut Cursor<R>) -> Result<(u64, u64), LoadError> {
    if cursor.array("the magic number").ok() != Some(*b"GGUF") {
        return Err(LoadError::NotGguf);
    }
    match cursor.u32("the version")? {
        2 | 3 => Ok((cursor.u64("the tensor count")?, cursor.u64("the metadata count")?)),
        other => Err(LoadError::Version(other)),
    }
}

fn metadata<R: Read>(
    cursor: &mut Cursor<R>,
    count: u64,
) -> Result<HashMap<String, Value>, LoadError> {
    let mut metadata = HashMap::new();
    for _ in 0..count {
        let key = cursor.text("a metadata key")?;
        let value = Value::read(cursor, &key)?;
        metadata.insert(key, value);
    }
    Ok(metadata)
}

/// Data begins at the next multiple of the alignment.
fn data_start(position: u64, metadata: &HashMap<String, Value>) -> Result<u64, LoadError> {
    const KEY: &str = "general.alignment";
    let alignment = match metadata.get(KEY) {
        None => 32,
        Some(Value::Integer(bytes @ 1..=65_536)) => bytes.unsigned_abs(),
        Some(_) => return Err(LoadError::malformed(KEY, "is not between 1 and 65536")),
    };
    Ok(position.next_multiple_of(alignment))
}

impl Entry {
    fn read<R: Read>(cursor: &mut Cursor<R>) -> Result<Self, LoadError> {
        let name = cursor.text("a tensor's name")?;
        let count = cursor.u32(&name)?;
        if !(1..=4).contains(&count) {
            return Err(LoadError::malformed(name, format!("has {count} dimensions")));
        }
        let mut dimensions = Vec::new();
        for _ in 0..count {
            dimensions.push(cursor.u64(&name)?);
        }
        let (format, offset) = (cursor.u32(&name)?, cursor.u64(&name)?);
        Ok(Self { name, dimensions, format, offset })
    }

    /// Where the tensor lies in the file, if it does.
    fn place(&self, start: u64, length: u64) -> Result<Tensor, LoadError> {
        let (width, rows) = self.shape()?;
        let format = Format::of(self.format);
        let size = format.size(width, rows).unwrap_or(u64::MAX);
        let offset = start.checked_add(self.offset);
        let end = offset.and_then(|offset| offset.checked_add(size)).filter(|end| *end <= length);
        let (Some(offset), Some(_)) = (offset, end) else {
            return Err(LoadError::Truncated(format!("the tensor {}", self.name)));
        };
        Ok(Tensor { width, rows, format, offset, size })
    }

    fn shape(&self) -> Result<(usize, usize), LoadError> {
        let narrow = |size: u64| usize::try_from(size).ok();
        let width = self.dimensions.first().copied().and_then(narrow);
        let rows = self.dimensions.iter().skip(1).try_fold(1, |rows: u64, n| rows.checked_mul(*n));
        let shape = width.zip(rows.and_then(narrow));
        shape.ok_or_else(|| LoadError::malformed(self.name.as_str(), "has an impossible shape"))
    }
}

impl Format {
    fn of(number: u32) -> Self {
        match number {
            0 => Self::F32,
            3 => Self::Q4_1,
            8 => Self::Q8_0,
            other => Self::Other(other),
        }
    }

    /// The bytes of a tensor. Of formats that are not known it is nothing, so that a file may have
    /// tensors that are never read.
    fn size(self, width: usize, rows: usize) -> Option<u64> {
        let blocks = |bytes: usize| (width / BLOCK).checked_mul(bytes);
        let row = match self {
            Self::F32 => width.checked_mul(4),
            Self::Q4_1 => blocks(Q4_1_BYTES),
            Self::Q8_0 => blocks(Q8_0_BYTES),
            Self::Other(_) => Some(0),
        };
        u64::try_from(row?.checked_mul(rows)?).ok()
    }
}
