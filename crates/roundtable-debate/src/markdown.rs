//! Words of others in Markdown: they stay text, whatever they look like.
//!
//! Everything that CommonMark, GitHub's extensions and common renderers read as markup is escaped:
//! emphasis, code, links, images, HTML, entities, tables, math, and what begins a block at the start
//! of a line. Only bare `http`, `https` and `mailto` addresses may become links, and such a link
//! shows where it leads.

use roundtable_core::{acts, printable};

/// Schemes that renderers turn into links without any markup, though nothing here should lead there.
const DEFUSED: [&str; 2] = ["ftp:", "xmpp:"];

/// Text in paragraphs: line breaks and blank lines are kept, and nothing else is markup.
pub(super) fn plain(text: &str) -> String {
    let text = printable(text);
    let mut kept = String::with_capacity(text.len() + text.len() / 16);
    let mut blank = false;
    for words in text.lines().map(str::trim) {
        if words.is_empty() {
            blank = true;
            continue;
        }
        if !kept.is_empty() {
            // A backslash at the end of a line keeps the line break.
            kept.push_str(if blank { "\n\n" } else { "\\\n" });
        }
        blank = false;
        push_escaped(&mut kept, words);
    }
    kept
}

/// The same in one line.
pub(super) fn line(text: &str) -> String {
    let text = printable(text);
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut kept = String::with_capacity(text.len());
    push_escaped(&mut kept, &words.join(" "));
    kept
}

/// An address as the target of a link; nothing when it should not be one.
pub(super) fn target(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once(':')?;
    let allowed = match scheme.to_ascii_lowercase().as_str() {
        "http" | "https" => rest.strip_prefix("//").is_some_and(|rest| !rest.is_empty()),
        "mailto" => !rest.is_empty(),
        _ => false,
    };
    let harmless = |c: char| !(acts(c) || c.is_whitespace() || matches!(c, '<' | '>' | '\\'));
    (allowed && url.chars().all(harmless)).then(|| url.replace('&', "&amp;"))
}

pub(super) fn capital(name: &str) -> String {
    let mut chars = name.chars();
    chars.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(chars).collect()
}

/// One line of text, escaped for the start of a line and for everything after it.
fn push_escaped(kept: &mut String, line: &str) {
    let block = block_marker(line);
    let (mut before, mut guarded) = (' ', false);
    for (at, c) in line.char_indices() {
        let after = &line[at + c.len_utf8()..];
        if before.is_whitespace() {
            guarded = has_markup(line[at..].split(char::is_whitespace).next().unwrap_or_default());
        }
        match c {
            '<' => kept.push_str("&lt;"),
            _ if guarded && begins_address(&line[..at], c, after) => {
                kept.push('\\');
                kept.push(c);
            }
            _ if block == Some(at) || is_markup(c, before, after) => {
                kept.push('\\');
                kept.push(c);
            }
            _ => kept.push(c),
        }
        if c == ':' && ends_with_defused(&line[..=at]) {
            kept.push(' ');
        }
        before = c;
    }
}

/// Whether a character could be markup, wherever in a line it is.
fn is_markup(c: char, before: char, after: &str) -> bool {
    let next = after.chars().next().unwrap_or(' ');
    match c {
        '\\' | '`' | '*' | '[' | ']' | '|' | '~' | '$' => true,
        // Inside a word it is part of a name.
        '_' => !(before.is_alphanumeric() && next.is_alphanumeric()),
        // After a space, a heading could end with it.
        '#' => before == ' ' && after.trim_start_matches('#').trim_start().is_empty(),
        '&' => is_entity(after),
        // Two of them begin a comment in Obsidian.
        '%' => before == '%' || next == '%',
        _ => false,
    }
}

/// Whether a word has something that has to be escaped.
fn has_markup(word: &str) -> bool {
    let mut before = ' ';
    word.char_indices().any(|(at, c)| {
        let found = c == '<' || is_markup(c, before, &word[at + c.len_utf8()..]);
        before = c;
        found
    })
}

/// Whether renderers take what follows for an address because of this character. In an address
/// they do not read escapes, so one with markup in it must not become a link.
fn begins_address(before: &str, c: char, after: &str) -> bool {
    let www = || before.get(before.len().saturating_sub(3)..);
    match c {
        ':' => after.starts_with("//"),
        '.' => www().is_some_and(|www| www.eq_ignore_ascii_case("www")),
        _ => false,
    }
}

fn is_entity(after: &str) -> bool {
    let name = after.strip_prefix('#').unwrap_or(after);
    name.find(|c: char| !c.is_ascii_alphanumeric())
        .is_some_and(|end| end > 0 && name[end..].starts_with(';'))
}

/// Where the character is that could begin a block: a quote, a list, a rule, a table, a definition.
fn block_marker(line: &str) -> Option<usize> {
    if line.starts_with(['#', '>', '-', '+', '=', ':']) {
        return Some(0);
    }
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    (digits > 0 && line[digits..].starts_with(['.', ')'])).then_some(digits)
}

fn ends_with_defused(text: &str) -> bool {
    DEFUSED.iter().any(|scheme| {
        text.len()
            .checked_sub(scheme.len())
            .and_then(|start| text.get(start..))
            .is_some_and(|end| end.eq_ignore_ascii_case(scheme))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_words_are_not_changed() {
        let words = "Zoë's A&B: 3.5% (or 4 - 5), snake_case, C#, a@b.example, https://x.example/a_b?c=1&d=2.";
        assert_eq!(line(words), words);
        assert_eq!(plain(words), words);
    }

    #[test]
    fn markup_is_escaped_wherever_it_is() {
        assert_eq!(line("![a](b) **c** `d` ~e~ _f_"), r"!\[a\](b) \*\*c\*\* \`d\` \~e\~ \_f\_");
        assert_eq!(line("<b>x</b> &lt; &#60; a\\"), r"&lt;b>x&lt;/b> \&lt; \&#60; a\\");
        assert_eq!(line("$x$ | # y ##"), r"\$x\$ \| # y \##");
    }

    #[test]
    fn an_address_with_markup_in_it_is_not_a_link() {
        assert_eq!(line("http://a~ www.b* c://d"), r"http\://a\~ www\.b\* c://d");
    }

    #[test]
    fn lines_stay_lines_and_begin_no_block() {
        let text = "# a\n- b\n  + c\n1. d\n2) e\n> f\n===\n---\n:--\n\n\n    code\n```\n[x]: y";
        let kept = "\\# a\\\n\\- b\\\n\\+ c\\\n1\\. d\\\n2\\) e\\\n\\> f\\\n\\===\\\n\\---\\\n\\:--\n\ncode\\\n\\`\\`\\`\\\n\\[x\\]: y";
        assert_eq!(plain(text), kept);
    }

    #[test]
    fn only_addresses_of_the_web_and_of_mail_are_targets() {
        for good in ["https://x.example/a(b)", "HTTP://x.example", "mailto:a@b.example"] {
            assert_eq!(target(good).as_deref(), Some(good));
        }
        assert_eq!(target("https://x/?a=1&copy;=2").as_deref(), Some("https://x/?a=1&amp;copy;=2"));
        for bad in [
            "javascript:alert(1)",
            "JavaScript://x/%0aalert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "//x.example",
            "relative",
            "https:x",
            "http://",
            "https://x>y",
            "https://x\\y",
            "https://x y",
            "https://x\u{202e}y",
            "https://x\ny",
        ] {
            assert_eq!(target(bad), None, "{bad}");
        }
    }

    #[test]
    fn schemes_that_renderers_link_by_themselves_are_taken_apart() {
        assert_eq!(line("ftp://x XMPP:a@b.example"), "ftp: //x XMPP: a@b.example");
    }
}
