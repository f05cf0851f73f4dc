//! What can be shown of an answer while it is still being said.

/// The parts of a structured answer that are prose, in whatever order they come.
const PROSE: [&str; 2] = ["position", "reasoning"];

/// The words of an answer, as far as it has been said. Prose is shown as it is; of data, the parts
/// that are prose. With every further letter the words only grow, so that nothing has to be taken back.
pub(super) fn readable(said: &str) -> String {
    match body(said) {
        Body::Unclear => String::new(),
        Body::Prose => said.trim_start().to_owned(),
        Body::Data(data) => Reader { rest: data.chars(), words: String::new() }.read(),
    }
}

enum Body<'a> {
    /// Too little was said to tell.
    Unclear,
    Prose,
    /// What follows the first brace.
    Data(&'a str),
}

fn body(said: &str) -> Body<'_> {
    let text = said.trim_start();
    let inside = match text.strip_prefix("```") {
        Some(fenced) => match fenced.split_once('\n') {
            Some((_, inside)) => inside.trim_start(),
            None => return Body::Unclear,
        },
        None if "```".starts_with(text) => return Body::Unclear,
        None => text,
    };
    match inside.strip_prefix('{') {
        Some(data) => Body::Data(data),
        None if inside.is_empty() => Body::Unclear,
        None => Body::Prose,
    }
}

/// Reads the members of an object that may break off anywhere.
struct Reader<'a> {
    rest: std::str::Chars<'a>,
    words: String,
}

impl Reader<'_> {
    fn read(mut self) -> String {
        while self.member().is_some() {}
        self.words
    }

    /// One member; nothing when the object is over, or what there is of it.
    fn member(&mut self) -> Option<()> {
        self.skip_to('"')?;
        let mut name = String::new();
        self.string(&mut name)?;
        self.skip_to(':')?;
        self.skip_space();
        let is_prose = PROSE.contains(&name.to_lowercase().as_str());
        if is_prose && self.rest.as_str().starts_with('"') {
            self.rest.next();
            let mut part = String::new();
            let whole = self.string(&mut part);
            self.show(&part);
            return whole;
        }
        self.skip_value()
    }

    /// Some give the position as the reason for it: as long as a part only says again what is shown, it
    /// is not.
    fn show(&mut self, part: &str) {
        if self.words.is_empty() {
            self.words.push_str(part);
        } else if !self.words.starts_with(part) {
            self.words.push_str("\n\n");
            self.words.push_str(part);
        }
    }

    /// Up to the closing quote; what there is of a broken off one is in `text`, too.
    fn string(&mut self, text: &mut String) -> Option<()> {
        loop {
            match self.rest.next()? {
                '"' => return Some(()),
                '\\' => text.push(self.escaped()?),
                letter => text.push(letter),
            }
        }
    }

    fn escaped(&mut self) -> Option<char> {
        Some(match self.rest.next()? {
            'n' => '\n',
            't' => '\t',
            'r' | 'b' | 'f' => ' ',
            'u' => self.unicode()?,
            other => other,
        })
    }

    /// The four digits of a letter, or of both halves of one.
    fn unicode(&mut self) -> Option<char> {
        let first = self.digits()?;
        if !(0xd800..0xdc00).contains(&first) {
            return Some(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        let (backslash, u) = (self.rest.next()?, self.rest.next()?);
        let second = self.digits()?;
        let whole = 0x10000 + ((first - 0xd800) << 10) + second.wrapping_sub(0xdc00);
        let is_pair = (backslash, u) == ('\\', 'u') && (0xdc00..0xe000).contains(&second);
        Some(char::from_u32(whole).filter(|_| is_pair).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn digits(&mut self) -> Option<u32> {
        let mut value = 0;
        for _ in 0..4 {
            value = value * 16 + self.rest.next()?.to_digit(16).unwrap_or(0);
        }
        Some(value)
    }

    /// A value that is not shown, with everything inside it.
    fn skip_value(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match self.rest.as_str().chars().next()? {
                ',' if depth == 0 => return Some(()),
                '}' | ']' if depth == 0 => return None,
                '"' => {
                    self.rest.next();
                    self.string(&mut String::new())?;
                    continue;
                }
                '{' | '[' => depth += 1,
                '}' | ']' => depth -= 1,
                _ => {}
            }
            self.rest.next();
        }
    }

    fn skip_to(&mut self, wanted: char) -> Option<()> {
        self.rest.find(|letter| *letter == wanted).map(|_| ())
    }

    fn skip_space(&mut self) {
        let rest = self.rest.as_str().trim_start();
        self.rest = rest.chars();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATA: &str = "```json\n{\"stance\": \"NO\", \"keyPoints\": [\"a \\\"b\\\", {\", 1], \
                        \"position\": \"Wait.\\n\\u00c4h \\ud83d\\ude00\", \"confidence\": 0.7, \
                        \"reasoning\": \"It \\\"works\\\".\", \"more\": {\"position\": \"x\"}}\n```";

    const TWICE: &str = r#"{"position": "Wait.", "reasoning": "Wait."}"#;

    #[test]
    fn prose_is_shown_as_it_is_and_of_data_the_prose() {
        assert_eq!(readable("  Begin now."), "Begin now.");
        assert_eq!(readable("{\"position\": 7, \"confidence\": 1}"), "");
        assert_eq!(readable(DATA), "Wait.\nÄh 😀\n\nIt \"works\".");
        assert_eq!(readable("```\nlet x;\n```"), "```\nlet x;\n```");
        assert_eq!(readable(TWICE), "Wait.");
    }

    #[test]
    fn with_every_letter_the_words_only_grow() {
        for whole in [DATA, TWICE, "Plain words, `code` and {braces}.", "`x` first", "```\nx"] {
            let mut before = String::new();
            for (end, letter) in whole.char_indices() {
                let now = readable(&whole[..end + letter.len_utf8()]);
                assert!(now.starts_with(&before), "{before:?} then {now:?}");
                before = now;
            }
            assert_eq!(before, readable(whole));
        }
    }
}
