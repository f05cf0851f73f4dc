//! Shapes of JSON.

use super::MaskError;
use super::pattern::Pattern;

/// How deep shapes may be nested.
const DEEPEST: usize = 16;

/// A shape of JSON. Everything in it has an end: texts and lists have a most, numbers have at most
/// nine digits before the point and four after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// A string with at most so many characters.
    Text {
        /// How many characters.
        max_chars: usize,
    },
    /// A whole number.
    Integer,
    /// A number, perhaps with a fraction.
    Number,
    /// `true` or `false`.
    Boolean,
    /// One of these strings.
    OneOf(Vec<String>),
    /// A list with at most so many elements.
    List {
        /// What each of them is.
        of: Box<Shape>,
        /// How many there may be.
        max_items: usize,
    },
    /// An object with all of these members, in this order.
    Object(Vec<(String, Shape)>),
}

impl Shape {
    pub(super) fn pattern(&self, depth: usize) -> Result<Pattern, MaskError> {
        if depth >= DEEPEST {
            return Err(MaskError::TooDeep { most: DEEPEST });
        }
        Ok(match self {
            Self::Text { max_chars } => {
                let inside = Pattern::repeat(character(), 0, *max_chars);
                Pattern::All(vec![Pattern::text("\""), inside, Pattern::text("\"")])
            }
            Self::Integer => integer(),
            Self::Number => Pattern::All(vec![integer(), Pattern::repeat(fraction(), 0, 1)]),
            Self::Boolean => Pattern::OneOf(vec![Pattern::text("true"), Pattern::text("false")]),
            Self::OneOf(texts) if texts.is_empty() => return Err(MaskError::Empty),
            Self::OneOf(texts) => {
                Pattern::OneOf(texts.iter().map(|text| Pattern::text(&quoted(text))).collect())
            }
            Self::List { of, max_items } => list(&of.pattern(depth + 1)?, *max_items),
            Self::Object(members) => object(members, depth)?,
        })
    }
}

fn list(item: &Pattern, most: usize) -> Pattern {
    let further = Pattern::All(vec![Pattern::text(", "), item.clone()]);
    let items =
        Pattern::All(vec![item.clone(), Pattern::repeat(further, 0, most.saturating_sub(1))]);
    let items = Pattern::repeat(items, 0, most.min(1));
    Pattern::All(vec![Pattern::text("["), items, Pattern::text("]")])
}

fn object(members: &[(String, Shape)], depth: usize) -> Result<Pattern, MaskError> {
    let mut parts = vec![Pattern::text("{")];
    for (index, (name, shape)) in members.iter().enumerate() {
        let comma = if index == 0 { "" } else { ", " };
        parts.push(Pattern::text(&format!("{comma}{}: ", quoted(name))));
        parts.push(shape.pattern(depth + 1)?);
    }
    parts.push(Pattern::text("}"));
    Ok(Pattern::All(parts))
}

fn integer() -> Pattern {
    let digit = || Pattern::Byte(b'0', b'9');
    let large = Pattern::All(vec![Pattern::Byte(b'1', b'9'), Pattern::repeat(digit(), 0, 8)]);
    let sign = Pattern::repeat(Pattern::text("-"), 0, 1);
    Pattern::All(vec![sign, Pattern::OneOf(vec![Pattern::text("0"), large])])
}

fn fraction() -> Pattern {
    Pattern::All(vec![Pattern::text("."), Pattern::repeat(Pattern::Byte(b'0', b'9'), 1, 4)])
}

/// A character inside of a JSON string: itself, or one of the short escapes.
fn character() -> Pattern {
    let bytes = |ranges: &[(u8, u8)]| {
        Pattern::All(ranges.iter().map(|(low, high)| Pattern::Byte(*low, *high)).collect())
    };
    let any = (0x80, 0xbf);
    let escapes = br#""\/bnrt"#.iter().map(|letter| Pattern::Byte(*letter, *letter)).collect();
    Pattern::OneOf(vec![
        // ASCII without control characters, quotation mark and backslash.
        bytes(&[(0x20, 0x21)]),
        bytes(&[(0x23, 0x5b)]),
        bytes(&[(0x5d, 0x7e)]),
        Pattern::All(vec![Pattern::text("\\"), Pattern::OneOf(escapes)]),
        // UTF-8 of two, three and four bytes, without the forms that are not allowed.
        bytes(&[(0xc2, 0xdf), any]),
        bytes(&[(0xe0, 0xe0), (0xa0, 0xbf), any]),
        bytes(&[(0xe1, 0xec), any, any]),
        bytes(&[(0xed, 0xed), (0x80, 0x9f), any]),
        bytes(&[(0xee, 0xef), any, any]),
        bytes(&[(0xf0, 0xf0), (0x90, 0xbf), any, any]),
        bytes(&[(0xf1, 0xf3), any, any, any]),
        bytes(&[(0xf4, 0xf4), (0x80, 0x8f), any, any]),
    ])
}

/// A text as a JSON string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            control if control.is_control() => {
                quoted.push_str(&format!("\\u{:04x}", u32::from(control)));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}
