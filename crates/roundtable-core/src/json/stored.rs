//! Reading JSON that is stored already, however deep it nests. Versions before the limit stored
//! values that no recursive parser reads; their sessions must stay readable.

use serde::de::Error as _;
use serde_json::{Error, Map, Value};

use super::{MAX_BODY_LEVELS, text_levels};

/// How many levels of a stored text are kept. Far more than any model or parser produced, and few
/// enough that code which recurses over the value is safe.
const KEPT_LEVELS: usize = 512;

/// What stands for a part that nests deeper than that.
const LEFT_OUT: &str = "[left out: nested more than 512 levels deep]";

/// Reads a text that is stored already. A text that a recursive parser refuses for its depth is
/// read level by level; beyond 512 levels, a sentence stands in place of the value.
///
/// # Errors
/// What is wrong with the text; its depth never is.
pub fn parse_stored(text: &str) -> Result<Value, Error> {
    match serde_json::from_str(text) {
        Err(_) if text_levels(text.as_bytes()) > MAX_BODY_LEVELS => {
            Reader { text, at: 0, open: Vec::new() }.read()
        }
        parsed => parsed,
    }
}

/// An array or object whose end is still to come.
enum Open {
    Array(Vec<Value>),
    /// With the key of the value that is being read.
    Object(Map<String, Value>, String),
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    open: Vec<Open>,
}

impl Reader<'_> {
    fn read(mut self) -> Result<Value, Error> {
        loop {
            let Some(mut value) = self.begin()? else { continue };
            // A value that is whole may end the arrays and objects that it is in.
            loop {
                let Some(open) = self.open.pop() else {
                    return if self.peek().is_none() { Ok(value) } else { Err(self.wrong()) };
                };
                match open {
                    Open::Array(mut items) => {
                        items.push(value);
                        if self.skip(b',') {
                            self.open.push(Open::Array(items));
                            break;
                        }
                        self.expect(b']')?;
                        value = Value::Array(items);
                    }
                    Open::Object(mut map, key) => {
                        map.insert(key, value);
                        if self.skip(b',') {
                            let key = self.key()?;
                            self.open.push(Open::Object(map, key));
                            break;
                        }
                        self.expect(b'}')?;
                        value = Value::Object(map);
                    }
                }
            }
        }
    }

    /// A value that is whole, or nothing when an array or object begins.
    fn begin(&mut self) -> Result<Option<Value>, Error> {
        match self.peek() {
            Some(b'[' | b'{') if self.open.len() >= KEPT_LEVELS => {
                self.leave_out()?;
                Ok(Some(Value::String(LEFT_OUT.to_owned())))
            }
            Some(b'[') => {
                self.at += 1;
                if self.skip(b']') {
                    return Ok(Some(Value::Array(Vec::new())));
                }
                self.open.push(Open::Array(Vec::new()));
                Ok(None)
            }
            Some(b'{') => {
                self.at += 1;
                if self.skip(b'}') {
                    return Ok(Some(Value::Object(Map::new())));
                }
                let key = self.key()?;
                self.open.push(Open::Object(Map::new(), key));
                Ok(None)
            }
            _ => self.scalar().map(Some),
        }
    }

    fn key(&mut self) -> Result<String, Error> {
        let Value::String(key) = self.scalar()? else { return Err(self.wrong()) };
        self.expect(b':')?;
        Ok(key)
    }

    /// A string, a number, a boolean or null.
    fn scalar(&mut self) -> Result<Value, Error> {
        self.peek();
        let rest = &self.text.as_bytes()[self.at..];
        let length = match rest.first() {
            Some(b'"') => string_length(rest),
            _ => rest.iter().position(|byte| b",:]} \n\r\t".contains(byte)).unwrap_or(rest.len()),
        };
        // Both ends are at ASCII characters, or at the end of the text.
        let text = self.text.get(self.at..self.at + length).unwrap_or_default();
        self.at += length;
        serde_json::from_str(text)
    }

    /// Goes past an array or object without keeping it.
    fn leave_out(&mut self) -> Result<(), Error> {
        let mut level = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => self.at += string_length(&self.text.as_bytes()[self.at..]),
                b'[' | b'{' => {
                    level += 1;
                    self.at += 1;
                }
                b']' | b'}' => {
                    level -= 1;
                    self.at += 1;
                    if level == 0 {
                        return Ok(());
                    }
                }
                _ => self.at += 1,
            }
        }
        Err(self.wrong())
    }

    /// The next byte that is no white space.
    fn peek(&mut self) -> Option<u8> {
        let rest = self.text.as_bytes().get(self.at..)?;
        let blank = rest.iter().take_while(|byte| b" \n\r\t".contains(byte)).count();
        self.at += blank;
        rest.get(blank).copied()
    }

    fn skip(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8) -> Result<(), Error> {
        if self.skip(byte) { Ok(()) } else { Err(self.wrong()) }
    }

    fn wrong(&self) -> Error {
        Error::custom(format_args!("the text is not JSON at byte {}", self.at))
    }
}

/// How many bytes a string has, both quotes included.
fn string_length(text: &[u8]) -> usize {
    let mut escaped = false;
    for (index, byte) in text.iter().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return index + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::json::levels;

    /// Nested to both sides of a list of everything that JSON has.
    fn nested(levels: usize) -> Value {
        let inner = json!({ "ä\"]": [1, -2.5, "b}\\", null, true], "": [], "o": {} });
        (2..levels).fold(inner, |inner, _| json!({ "n": 7, "in": inner, "then": "x" }))
    }

    #[test]
    fn s23_a_stored_text_is_read_to_the_letter_however_deep_it_nests() {
        for depth in [2, 100, 127, 128, 130, 512] {
            let value = nested(depth);
            assert_eq!(levels(&value), depth);
            assert_eq!(parse_stored(&value.to_string()).unwrap(), value);
            assert_eq!(parse_stored(&format!("{value:#} ")).unwrap(), value);
        }
    }

    #[test]
    fn s23_beyond_512_levels_a_sentence_stands_for_the_value() {
        let text = format!("{}1, \"]\"{}", "[".repeat(100_000), "]".repeat(100_000));
        let read = parse_stored(&text).unwrap();
        assert_eq!(levels(&read), 512);
        let innermost = (0..512).fold(&read, |value, _| &value[0]);
        assert_eq!(*innermost, LEFT_OUT);
    }

    #[test]
    fn a_deep_text_that_is_not_json_is_an_error() {
        let open = "[".repeat(130);
        let close = "]".repeat(130);
        for text in [
            open.clone(),
            format!("{open}1{}", &close[1..]),
            format!("{open}1{close}]"),
            format!("{open}1 2{close}"),
            format!("{open}{{1:2}}{close}"),
            format!("{open}\"a{close}"),
            format!("{open}nul{close}"),
            format!("{open},{close}"),
        ] {
            assert!(parse_stored(&text).is_err(), "{text}");
        }
    }
}
