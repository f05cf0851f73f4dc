//! Bytes to text as they come: a character is handed out when it is complete.

/// Bytes of a character that is not complete yet.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    pending: Vec<u8>,
}

impl Decoder {
    /// Takes bytes, and gives the characters that are complete with them. Bytes that are no UTF-8
    /// become replacement characters.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> String {
        self.pending.extend_from_slice(bytes);
        let mut text = String::new();
        let mut taken = 0;
        while let Err(error) = std::str::from_utf8(&self.pending[taken..]) {
            let valid = taken + error.valid_up_to();
            text.push_str(&String::from_utf8_lossy(&self.pending[taken..valid]));
            taken = valid;
            match error.error_len() {
                Some(wrong) => {
                    text.push(char::REPLACEMENT_CHARACTER);
                    taken += wrong;
                }
                None => {
                    self.pending.drain(..taken);
                    return text;
                }
            }
        }
        text.push_str(&String::from_utf8_lossy(&self.pending[taken..]));
        self.pending.clear();
        text
    }

    /// What is left when nothing more comes: a replacement character, or nothing.
    pub(crate) fn finish(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.pending)).into_owned()
    }
}
