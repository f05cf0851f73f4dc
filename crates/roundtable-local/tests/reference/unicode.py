"""Makes src/embed/unicode.rs: how MiniLM's tokeniser sorts characters, asked of the `tokenizers` package itself.

It sorts by an old version of Unicode. A newer table would cut some words in another way than the model has learned.

    pip install tokenizers==0.23.3
    python3 crates/roundtable-local/tests/reference/unicode.py > crates/roundtable-local/src/embed/unicode.rs
    cargo fmt -p roundtable-local
"""

import unicodedata

from tokenizers.normalizers import NFD, BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

CLEAN = BertNormalizer(clean_text=True, handle_chinese_chars=False, strip_accents=False, lowercase=False)
IDEOGRAPHS = BertNormalizer(clean_text=False, handle_chinese_chars=True, strip_accents=False, lowercase=False)
STRIP = BertNormalizer(clean_text=False, handle_chinese_chars=False, strip_accents=True, lowercase=False)
WORDS = BertPreTokenizer()
NFD = NFD()
ALL = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]


def ranges(characters):
    found = []
    for code in map(ord, characters):
        if found and found[-1][1] == code - 1:
            found[-1][1] = code
        else:
            found.append([code, code])
    return found


def table(name, says, characters):
    found = ranges(characters)
    print(f"\n/// {says}")
    print(f"const {name}: [u32; {2 * len(found)}] = [")
    for first, last in found:
        print(f"0x{first:04x}, 0x{last:04x},")
    print("];")


print(
    """//! How MiniLM's tokeniser sorts characters. Made by `tests/reference/unicode.py`, which asks the
//! original: it goes by an old version of Unicode, and a newer one would cut words in another way
//! than the model has learned.

/// Whether a character is left out: control characters and the like.
pub(super) fn is_dropped(c: char) -> bool {
    is_in(&DROPPED, c)
}

/// Whether a character is a word of its own, as in Chinese.
pub(super) fn is_ideograph(c: char) -> bool {
    is_in(&IDEOGRAPHS, c)
}

/// Whether a character only changes the one before it, and is left out.
pub(super) fn is_mark(c: char) -> bool {
    is_in(&MARKS, c)
}

/// Whether a character is a word of its own that also ends the one before.
pub(super) fn is_punctuation(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_punctuation() } else { is_in(&PUNCTUATION, c) }
}

/// Whether a character is taken as it is, though newer versions of Unicode decompose it.
pub(super) fn is_later(c: char) -> bool {
    is_in(&LATER, c)
}

/// The ranges stand as their first and last characters, in order.
fn is_in(ranges: &[u32], c: char) -> bool {
    let (code, ranges) = (u32::from(c), ranges.as_chunks::<2>().0);
    let after = ranges.partition_point(|[first, _]| *first <= code);
    after.checked_sub(1).and_then(|index| ranges.get(index)).is_some_and(|[_, last]| code <= *last)
}"""
)
table("DROPPED", "Left out.", [c for c in ALL if CLEAN.normalize_str(f"a{c}b") == "ab"])
table("IDEOGRAPHS", "Words of their own.", [c for c in ALL if IDEOGRAPHS.normalize_str(f"a{c}b") == f"a {c} b"])
table("MARKS", "Left out after decomposition.", [c for c in ALL if STRIP.normalize_str(f"a{c}b") == "ab"])
table(
    "PUNCTUATION",
    "Words of their own, beyond ASCII.",
    [c for c in ALL if ord(c) > 127 and [word for word, _ in WORDS.pre_tokenize_str(f"a{c}b")] == ["a", c, "b"]],
)
# Decomposed by Unicode 16 or 17; this list is made by the Rust test that compares all characters.
newer = [chr(code) for code in (0x11938,)]
table("LATER", "Not decomposed.", [c for c in newer if NFD.normalize_str(c) == c])
