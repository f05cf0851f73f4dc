//! What users read of a file: the texts of a program, the documentation of its wire types and options,
//! and documents as a whole.

use super::super::SourceFile;

/// A piece of text that users read.
pub struct Passage {
    /// The line on which it begins.
    pub line: usize,
    pub text: String,
}

/// Documents that users read, besides the guides.
const DOCUMENTS: [&str; 4] =
    ["README.md", "CHANGELOG.md", "docs/roundtable.example.toml", "docs/roundtable.schema.json"];

/// Languages of blocks that are programs; other blocks show what users type and read.
const PROGRAMS: [&str; 4] = ["rust", "rust,ignore", "js", "python"];

/// Everything in a file that users read.
pub fn passages(file: &SourceFile) -> Vec<Passage> {
    let path = file.path.as_str();
    let is_snapshot = path.starts_with("crates/") && path.ends_with(".snap");
    let is_guide = path.starts_with("docs/guides/") && path.ends_with(".md");
    if is_guide || is_snapshot || DOCUMENTS.contains(&path) {
        return paragraphs(&file.text);
    }
    let is_source = path.starts_with("crates/") && path.contains("/src/") && path.ends_with(".rs");
    if !is_source || path.ends_with("/tests.rs") || path.contains("/src/tests/") {
        return Vec::new();
    }
    let shipped = shipped(&file.text);
    let is_described = shipped.contains("JsonSchema") || shipped.contains("clap::");
    // A literal without a space is a name, not a text.
    let mut passages = literals(shipped);
    passages.retain(|passage| passage.text.trim().contains(char::is_whitespace));
    if is_described {
        passages.extend(documentation(shipped));
    }
    passages
}

/// A file without its module of tests, which is at its end and is read by contributors.
fn shipped(text: &str) -> &str {
    const MODULE: &str = "#[cfg(test)]\nmod ";
    let mut modules = text.match_indices(MODULE);
    let is_inline = |start: usize| {
        text[start + MODULE.len()..].lines().next().is_some_and(|line| line.ends_with('{'))
    };
    let start = modules.find(|(start, _)| is_inline(*start)).map(|(start, _)| start);
    &text[..start.unwrap_or(text.len())]
}

/// Consecutive lines, joined: a phrase can be broken over two of them.
fn paragraphs(text: &str) -> Vec<Passage> {
    let mut passages: Vec<Passage> = Vec::new();
    let mut is_open = false;
    let mut fence = "";
    for (index, line) in text.lines().enumerate() {
        if let Some(info) = line.strip_prefix("```") {
            fence = if fence.is_empty() && !info.is_empty() { info } else { "" };
        }
        if line.trim().is_empty() || PROGRAMS.contains(&fence) {
            is_open = false;
            continue;
        }
        let line = &without_names(line);
        match passages.last_mut().filter(|_| is_open && !starts_item(line)) {
            Some(passage) => passage.text = format!("{}\n{line}", passage.text),
            None => passages.push(Passage { line: index + 1, text: line.clone() }),
        }
        is_open = true;
    }
    passages
}

/// A line without the names of code in it, such as `session_id`.
fn without_names(line: &str) -> String {
    let parts = line.split('`').enumerate();
    let is_name = |index: usize, part: &str| index % 2 == 1 && !part.contains(' ');
    parts.filter(|(index, part)| !is_name(*index, part)).map(|(_, part)| part).collect()
}

/// Whether a line of a document begins something new, so that a finding names the right line.
fn starts_item(line: &str) -> bool {
    line.trim_start().starts_with(['|', '-', '"', '{', '#', '$'])
}

/// The documentation comments of a file, one for each item.
fn documentation(text: &str) -> Vec<Passage> {
    let mut passages: Vec<Passage> = Vec::new();
    let mut is_open = false;
    for (index, line) in text.lines().enumerate() {
        let Some(comment) = line.trim_start().strip_prefix("///") else {
            is_open = false;
            continue;
        };
        match passages.last_mut().filter(|_| is_open) {
            Some(passage) => passage.text.push_str(comment),
            None => passages.push(Passage { line: index + 1, text: comment.to_owned() }),
        }
        is_open = true;
    }
    passages
}

/// The string literals of a program; those that go over several lines are joined.
fn literals(text: &str) -> Vec<Passage> {
    let mut passages = Vec::new();
    let mut rest = Scanner { text, at: 0, line: 1 };
    while let Some(c) = rest.peek() {
        match c {
            '/' if rest.starts_with("//") => rest.skip_until("\n"),
            '/' if rest.starts_with("/*") => rest.skip_until("*/"),
            '\'' => rest.skip_char_literal(),
            '"' => passages.push(rest.take_string()),
            'r' if rest.is_raw_string() => passages.push(rest.take_raw_string()),
            _ => rest.advance(c.len_utf8()),
        }
    }
    passages
}

/// The first string literal of a text.
#[cfg(test)]
pub fn first_literal(text: &str) -> Option<String> {
    let passage = literals(text.split(")]").next()?).into_iter().next()?;
    Some(passage.text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// A position in a program.
struct Scanner<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl Scanner<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn starts_with(&self, what: &str) -> bool {
        self.rest().starts_with(what)
    }

    fn advance(&mut self, bytes: usize) {
        let end = (self.at + bytes).min(self.text.len());
        self.line += self.text[self.at..end].matches('\n').count();
        self.at = end;
    }

    fn skip_until(&mut self, end: &str) {
        let bytes = self.rest().find(end).map_or(self.rest().len(), |at| at + end.len());
        self.advance(bytes);
    }

    /// A character, or the quote of a lifetime.
    fn skip_char_literal(&mut self) {
        let mut chars = self.rest().chars().skip(1);
        let (first, second) = (chars.next(), chars.next());
        match (first, second) {
            (Some('\\'), Some(escaped)) => {
                self.advance(2 + escaped.len_utf8());
                self.skip_until("'");
            }
            (Some(c), Some('\'')) => self.advance(2 + c.len_utf8()),
            _ => self.advance(1),
        }
    }

    fn take_string(&mut self) -> Passage {
        let line = self.line;
        let mut text = String::new();
        self.advance(1);
        while let Some(c) = self.peek() {
            self.advance(c.len_utf8());
            match c {
                '"' => break,
                '\\' => {
                    let escaped = self.peek().unwrap_or(' ');
                    self.advance(escaped.len_utf8());
                    text.push(if matches!(escaped, '"' | '\\') { escaped } else { ' ' });
                }
                c => text.push(c),
            }
        }
        Passage { line, text }
    }

    fn is_raw_string(&self) -> bool {
        let before = self.text[..self.at].chars().next_back();
        let is_word = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let after = self.rest()[1..].trim_start_matches('#');
        (!is_word || before == Some('b')) && after.starts_with('"')
    }

    fn take_raw_string(&mut self) -> Passage {
        let line = self.line;
        let hashes = self.rest()[1..].chars().take_while(|c| *c == '#').count();
        self.advance(hashes + 2);
        let end = format!("\"{}", "#".repeat(hashes));
        let length = self.rest().find(&end).unwrap_or(self.rest().len());
        let text = self.rest()[..length].to_owned();
        self.advance(length + end.len());
        Passage { line, text }
    }
}
