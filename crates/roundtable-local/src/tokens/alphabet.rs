//! The letters that stand for bytes in the vocabulary's spelling. Printable bytes stand for
//! themselves; the others, in order, for the characters from U+0100 on.

/// The bytes that a token's spelling stands for; nothing, if one of its letters stands for none.
pub(super) fn to_bytes(spelling: &str) -> Option<Vec<u8>> {
    spelling.chars().map(byte).collect()
}

fn byte(letter: char) -> Option<u8> {
    let code = u32::from(letter);
    match u8::try_from(code) {
        Ok(byte) => is_printable(byte).then_some(byte),
        Err(_) => {
            let index = usize::try_from(code.checked_sub(256)?).ok()?;
            (0..=u8::MAX).filter(|byte| !is_printable(*byte)).nth(index)
        }
    }
}

fn is_printable(byte: u8) -> bool {
    matches!(byte, 33..=126 | 161..=172 | 174..)
}
