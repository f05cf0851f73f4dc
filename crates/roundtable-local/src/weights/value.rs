//! The values that a file says about itself.

use std::io::Read;

use super::LoadError;
use super::cursor::Cursor;

/// A value of the metadata. Lists of numbers are kept as whole numbers; a list of anything else
/// than numbers and texts is read over, since nothing here needs one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    Integers(Vec<i32>),
    Texts(Vec<String>),
    Ignored,
}

/// The numbers that stand for types in the file.
mod kind {
    pub(super) const U8: u32 = 0;
    pub(super) const I8: u32 = 1;
    pub(super) const U16: u32 = 2;
    pub(super) const I16: u32 = 3;
    pub(super) const U32: u32 = 4;
    pub(super) const I32: u32 = 5;
    pub(super) const F32: u32 = 6;
    pub(super) const BOOL: u32 = 7;
    pub(super) const TEXT: u32 = 8;
    pub(super) const LIST: u32 = 9;
    pub(super) const U64: u32 = 10;
    pub(super) const I64: u32 = 11;
    pub(super) const F64: u32 = 12;
}

impl Value {
    /// Reads one value with its type before it.
    pub(super) fn read<R: Read>(cursor: &mut Cursor<R>, key: &str) -> Result<Self, LoadError> {
        match cursor.u32(key)? {
            kind::LIST => Self::list(cursor, key),
            kind => Self::single(cursor, kind, key),
        }
    }

    fn single<R: Read>(cursor: &mut Cursor<R>, kind: u32, key: &str) -> Result<Self, LoadError> {
        Ok(match kind {
            kind::U8 => Self::Integer(u8::from_le_bytes(cursor.array(key)?).into()),
            kind::I8 => Self::Integer(i8::from_le_bytes(cursor.array(key)?).into()),
            kind::U16 => Self::Integer(u16::from_le_bytes(cursor.array(key)?).into()),
            kind::I16 => Self::Integer(i16::from_le_bytes(cursor.array(key)?).into()),
            kind::U32 => Self::Integer(cursor.u32(key)?.into()),
            kind::I32 => Self::Integer(i32::from_le_bytes(cursor.array(key)?).into()),
            kind::F32 => Self::Float(f32::from_le_bytes(cursor.array(key)?).into()),
            kind::BOOL => Self::Bool(cursor.array(key)? != [0]),
            kind::TEXT => Self::Text(cursor.text(key)?),
            kind::U64 => {
                let number = i64::try_from(cursor.u64(key)?);
                Self::Integer(number.map_err(|_| LoadError::malformed(key, "is too large"))?)
            }
            kind::I64 => Self::Integer(i64::from_le_bytes(cursor.array(key)?)),
            kind::F64 => Self::Float(f64::from_le_bytes(cursor.array(key)?)),
            other => return Err(LoadError::malformed(key, format!("is of unknown type {other}"))),
        })
    }

    /// The count is not believed: elements are read one by one, and the file ends first.
    fn list<R: Read>(cursor: &mut Cursor<R>, key: &str) -> Result<Self, LoadError> {
        let kind = cursor.u32(key)?;
        let count = cursor.u64(key)?;
        match kind {
            kind::LIST => Err(LoadError::malformed(key, "is a list of lists")),
            kind::TEXT => {
                let mut texts = Vec::new();
                for _ in 0..count {
                    texts.push(cursor.text(key)?);
                }
                Ok(Self::Texts(texts))
            }
            kind::I32 => {
                let mut integers = Vec::new();
                for _ in 0..count {
                    integers.push(i32::from_le_bytes(cursor.array(key)?));
                }
                Ok(Self::Integers(integers))
            }
            kind => {
                for _ in 0..count {
                    Self::single(cursor, kind, key)?;
                }
                Ok(Self::Ignored)
            }
        }
    }
}
