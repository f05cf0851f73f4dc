//! Where a page of a search begins.

use roundtable_core::Timestamp;
use roundtable_core::digest::Digest;

use super::{REACH, Search};

/// How much of a search's digest a cursor carries.
const MARK: usize = 12;

/// Where a page begins, and which messages the pages are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cursor {
    /// How many messages come before it.
    pub skip: usize,
    /// The time of the first page.
    pub until: Timestamp,
}

impl Cursor {
    /// The cursor as callers have it: it fits this search and no other.
    pub fn text(self, search: &Search) -> String {
        format!("{}.{}.{}", mark(search), self.until.as_nanosecond(), self.skip)
    }

    /// Reads a cursor that a caller sends.
    pub fn parse(text: &str, search: &Search) -> Option<Self> {
        let rest = text.strip_prefix(&mark(search))?.strip_prefix('.')?;
        let (until, skip) = rest.split_once('.')?;
        let until = Timestamp::from_nanosecond(until.parse().ok()?).ok()?;
        let skip: usize = skip.parse().ok().filter(|skip| *skip < REACH)?;
        Some(Self { skip, until })
    }
}

/// Tells searches apart. The size of a page may change on the way.
fn mark(search: &Search) -> String {
    let Search { text, mode, filter, .. } = search;
    let digest = Digest::of(format!("{text:?} {mode:?} {filter:?}").as_bytes());
    digest.as_str().chars().take(MARK).collect()
}

#[cfg(test)]
mod tests {
    use super::super::SearchMode;
    use super::*;

    #[test]
    fn a_cursor_reads_back_for_its_own_search() {
        let search = Search::new("lake");
        let until = Timestamp::from_second(1_800_000_000).unwrap();
        let cursor = Cursor { skip: 20, until };
        let text = cursor.text(&search);
        assert_eq!(Cursor::parse(&text, &search), Some(cursor));
        assert_eq!(Cursor::parse(&text, &search.clone().limit(3)), Some(cursor));
        let others = [
            Search::new("hill"),
            search.clone().mode(SearchMode::Hybrid),
            search.clone().tenant(None),
            search.with_archived(),
        ];
        for other in others {
            assert_eq!(Cursor::parse(&text, &other), None, "{other:?}");
        }
    }

    #[test]
    fn s20_a_crafted_cursor_is_refused() {
        let search = Search::new("lake");
        let own = mark(&search);
        let made = |rest: &str| format!("{own}{rest}");
        for bad in [
            String::new(),
            own.clone(),
            made("."),
            made(".1"),
            made(".1.-1"),
            made(".1.1000"),
            made(".1.99999999999999999999"),
            made(".99999999999999999999999999.1"),
            made(".1.1.1"),
            made(".1.1 OR 1"),
            "\0".repeat(40),
        ] {
            assert_eq!(Cursor::parse(&bad, &search), None, "{bad:?}");
        }
    }
}
