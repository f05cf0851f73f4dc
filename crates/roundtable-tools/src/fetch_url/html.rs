//! The words of an HTML page, in one pass over any input. It makes no tree and no promises about
//! layout: a model reads the result, a browser never does.

/// Elements whose content is not for reading.
const SILENT: [&str; 6] = ["script", "style", "noscript", "template", "svg", "iframe"];
/// Elements that do not begin a new line.
const INLINE: [&str; 16] = [
    "a", "abbr", "b", "cite", "code", "em", "font", "i", "mark", "q", "s", "small", "span",
    "strong", "sub", "sup",
];

/// The words of a page.
pub(super) fn words(html: &str) -> String {
    let mut page = Page::default();
    let mut rest = html;
    while let Some(place) = rest.find('<') {
        let (text, tag) = rest.split_at(place);
        page.text(text);
        rest = page.tag(tag);
    }
    page.text(rest);
    page.out.trim().to_owned()
}

#[derive(Default)]
struct Page {
    out: String,
}

impl Page {
    /// Takes a tag at the beginning of the text, and returns what is behind it.
    fn tag<'a>(&mut self, tag: &'a str) -> &'a str {
        if let Some(comment) = tag.strip_prefix("<!--") {
            return comment.split_once("-->").map_or("", |(_, rest)| rest);
        }
        let inside = &tag[1..];
        if !inside.starts_with(|char: char| char.is_ascii_alphabetic() || "/!?".contains(char)) {
            self.text("<");
            return inside;
        }
        let Some((inside, rest)) = inside.split_once('>') else { return "" };
        let name = inside.trim_start_matches('/');
        let end = name.find(|char: char| !char.is_ascii_alphanumeric()).unwrap_or(name.len());
        let name = name[..end].to_ascii_lowercase();
        if !INLINE.contains(&name.as_str()) {
            self.line();
        }
        let opens = !inside.starts_with('/') && !inside.ends_with('/');
        if opens && SILENT.contains(&name.as_str()) { behind(rest, &name) } else { rest }
    }

    /// Adds text, with runs of spaces as one.
    fn text(&mut self, text: &str) {
        for char in (Entities { rest: text }) {
            if !char.is_whitespace() {
                self.out.push(char);
            } else if !self.out.ends_with([' ', '\n']) {
                self.out.push(' ');
            }
        }
    }

    fn line(&mut self) {
        self.out.truncate(self.out.trim_end_matches(' ').len());
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
    }
}

/// What follows the end of a silent element; nothing, if it does not end.
fn behind<'a>(text: &'a str, name: &str) -> &'a str {
    let mut rest = text;
    while let Some(place) = rest.find("</") {
        rest = &rest[place + 2..];
        if rest.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)) {
            return rest.split_once('>').map_or("", |(_, rest)| rest);
        }
    }
    ""
}

/// The characters of a text, with character references replaced.
struct Entities<'a> {
    rest: &'a str,
}

impl Iterator for Entities<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        if let Some((char, length)) = reference(self.rest) {
            self.rest = &self.rest[length..];
            return Some(char);
        }
        let mut chars = self.rest.chars();
        let char = chars.next();
        self.rest = chars.as_str();
        char
    }
}

/// The character that a reference at the beginning of the text stands for, and its length.
fn reference(text: &str) -> Option<(char, usize)> {
    let inside = text.strip_prefix('&')?;
    let end = inside.bytes().take(10).position(|byte| byte == b';')?;
    let name = inside.get(..end)?;
    let char = match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        "mdash" => '—',
        "ndash" => '–',
        "hellip" => '…',
        "lsquo" | "rsquo" => '\'',
        "ldquo" | "rdquo" => '"',
        name => {
            let digits = name.strip_prefix('#')?;
            let code = match digits.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16).ok()?,
                None => digits.parse().ok()?,
            };
            char::from_u32(code).filter(|char| !char.is_control() || char.is_whitespace())?
        }
    };
    Some((char, end + 2))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::words;

    #[test]
    fn a_page_is_its_words_line_by_line() {
        let page = "<!DOCTYPE html><html><head><title>A &amp; B</title><STYLE>p { }</STYLE>\
                    <script>if (a </b>) alert('<p>')</Script ></head><body><!-- <p>no</p> -->\
                    <h1>Big   <em>news</em></h1>\n<p>One&nbsp;&#8212; two.<br>Three &lt; four<p>5 < 6</body>";
        assert_eq!(words(page), "A & B\nBig news\nOne — two.\nThree < four\n5 < 6");
    }

    #[test]
    fn what_does_not_end_is_left_out() {
        assert_eq!(words("a<!-- b"), "a");
        assert_eq!(words("a<b c"), "a");
        assert_eq!(words("a<script>b"), "a");
        assert_eq!(words("a &unknown; &#x110000; &#0; &"), "a &unknown; &#x110000; &#0; &");
    }

    proptest! {
        #[test]
        fn any_text_has_words(text in "(<|>|/|!--|-->|&|#|;|script|p|[a-zé ]|\\PC){0,60}") {
            let shown = words(&text);
            prop_assert!(shown.len() <= text.len());
        }
    }
}
