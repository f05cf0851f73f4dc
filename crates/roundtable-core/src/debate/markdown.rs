//! Words of others in Markdown: they stay text, whatever they look like.

/// Text that stays text: no headings, no HTML.
pub(super) fn plain(text: &str) -> String {
    let kept = |line: &str| {
        let inner = line.trim_start();
        let markup = inner.starts_with(['#', '>', '|', '='])
            || inner.starts_with("---")
            || inner.starts_with("```");
        if markup { format!("\\{inner}") } else { line.to_owned() }
    };
    text.replace('<', "&lt;").lines().map(kept).collect::<Vec<_>>().join("\n")
}

/// The same in one line.
pub(super) fn line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    plain(&words.join(" "))
}

pub(super) fn cell(text: &str) -> String {
    line(text).replace('|', "\\|")
}

pub(super) fn is_link(url: &str) -> bool {
    (url.starts_with("https://") || url.starts_with("http://"))
        && !url.contains(['<', '>', ' ', '\n'])
}

pub(super) fn capital(name: &str) -> String {
    let mut chars = name.chars();
    chars.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(chars).collect()
}
