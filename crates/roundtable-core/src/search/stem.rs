//! The stem of an English word, by Porter's algorithm (1980): what SQLite's full-text index uses, so
//! that both stores find the same, and what is marked is what was found.

/// Words that are shorter or longer are left as they are.
const LENGTHS: std::ops::RangeInclusive<usize> = 3..=64;

/// The stem of a word in lower case. A word that is not ASCII is left as it is.
pub fn stem(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    if !LENGTHS.contains(&word.len()) || !word.bytes().all(is_plain) {
        return word.to_owned();
    }
    let mut word = word.to_owned();
    plural(&mut word);
    past(&mut word);
    if let Some(rest) = word.strip_suffix('y')
        && has_vowel(rest)
    {
        word = format!("{rest}i");
    }
    replace(&mut word, &DOUBLE, |rest| measure(rest) > 0);
    replace(&mut word, &DERIVED, |rest| measure(rest) > 0);
    ending(&mut word);
    last_letters(&mut word);
    word
}

/// Whether the letter at a place is a consonant. A y is one at the start and after a vowel.
fn is_consonant(word: &[u8], at: usize) -> bool {
    match word.get(at) {
        Some(b'a' | b'e' | b'i' | b'o' | b'u') | None => false,
        Some(b'y') => at == 0 || !is_consonant(word, at - 1),
        Some(_) => true,
    }
}

/// How often a consonant follows a vowel.
fn measure(word: &str) -> usize {
    let word = word.as_bytes();
    let kinds: Vec<bool> = (0..word.len()).map(|at| is_consonant(word, at)).collect();
    kinds.windows(2).filter(|pair| matches!(pair, [false, true])).count()
}

fn has_vowel(word: &str) -> bool {
    (0..word.len()).any(|at| !is_consonant(word.as_bytes(), at))
}

fn ends_double(word: &str) -> bool {
    match word.as_bytes() {
        [.., before, last] => before == last && is_consonant(word.as_bytes(), word.len() - 1),
        _ => false,
    }
}

/// Whether it ends with consonant, vowel, consonant, where the last one is not w, x or y.
fn ends_short(word: &str) -> bool {
    let bytes = word.as_bytes();
    let Some(last) = word.len().checked_sub(1).filter(|last| *last >= 2) else { return false };
    is_consonant(bytes, last)
        && !is_consonant(bytes, last - 1)
        && is_consonant(bytes, last - 2)
        && !word.ends_with(['w', 'x', 'y'])
}

fn cut(word: &mut String, letters: usize) {
    word.truncate(word.len().saturating_sub(letters));
}

fn plural(word: &mut String) {
    if word.ends_with("sses") || word.ends_with("ies") {
        cut(word, 2);
    } else if word.ends_with('s') && !word.ends_with("ss") {
        cut(word, 1);
    }
}

fn past(word: &mut String) {
    if let Some(rest) = word.strip_suffix("eed") {
        if measure(rest) > 0 {
            cut(word, 1);
        }
        return;
    }
    let rest = word.strip_suffix("ed").or_else(|| word.strip_suffix("ing"));
    let Some(rest) = rest.filter(|rest| has_vowel(rest)).map(str::to_owned) else { return };
    *word = rest;
    if word.ends_with("at") || word.ends_with("bl") || word.ends_with("iz") {
        word.push('e');
    } else if ends_double(word) && !word.ends_with(['l', 's', 'z']) {
        cut(word, 1);
    } else if measure(word) == 1 && ends_short(word) {
        word.push('e');
    }
}

const DOUBLE: [(&str, &str); 21] = [
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("logi", "log"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
];

const DERIVED: [(&str, &str); 7] = [
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
];

/// Replaces the first ending that fits, if what comes before it allows it.
fn replace(word: &mut String, endings: &[(&str, &str)], allowed: fn(&str) -> bool) {
    for (ending, with) in endings {
        if let Some(rest) = word.strip_suffix(ending) {
            if allowed(rest) {
                *word = format!("{rest}{with}");
            }
            return;
        }
    }
}

/// Longer endings come before those that they end with.
const ENDINGS: [&str; 18] = [
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous",
    "ive", "ize", "al", "er", "ic", "ou",
];

fn ending(word: &mut String) {
    let ion = word.strip_suffix("ion").filter(|rest| rest.ends_with(['s', 't']));
    let other = || ENDINGS.iter().find_map(|ending| word.strip_suffix(ending));
    if let Some(rest) = ion.or_else(other).filter(|rest| measure(rest) > 1) {
        *word = rest.to_owned();
    }
}

fn last_letters(word: &mut String) {
    if let Some(rest) = word.strip_suffix('e')
        && (measure(rest) > 1 || (measure(rest) == 1 && !ends_short(rest)))
    {
        cut(word, 1);
    }
    if word.ends_with("ll") && measure(word) > 1 {
        cut(word, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From the paper and its vocabulary.
    #[test]
    fn words_have_the_stems_of_the_paper() {
        let words = [
            ("caresses", "caress"),
            ("ponies", "poni"),
            ("cats", "cat"),
            ("feed", "feed"),
            ("agreed", "agre"),
            ("plastered", "plaster"),
            ("bled", "bled"),
            ("motoring", "motor"),
            ("sing", "sing"),
            ("conflated", "conflat"),
            ("troubled", "troubl"),
            ("sized", "size"),
            ("hopping", "hop"),
            ("falling", "fall"),
            ("filing", "file"),
            ("happy", "happi"),
            ("sky", "sky"),
            ("relational", "relat"),
            ("conditional", "condit"),
            ("vietnamization", "vietnam"),
            ("operator", "oper"),
            ("hopefulness", "hope"),
            ("sensibiliti", "sensibl"),
            ("triplicate", "triplic"),
            ("electrical", "electr"),
            ("goodness", "good"),
            ("revival", "reviv"),
            ("adjustment", "adjust"),
            ("adoption", "adopt"),
            ("replacement", "replac"),
            ("effective", "effect"),
            ("probate", "probat"),
            ("rate", "rate"),
            ("cease", "ceas"),
            ("controll", "control"),
            ("roll", "roll"),
            ("generalizations", "gener"),
            ("oscillators", "oscil"),
        ];
        for (word, expected) in words {
            assert_eq!(stem(word), expected, "{word}");
        }
    }

    #[test]
    fn short_words_and_words_of_other_letters_stay() {
        for word in ["as", "i", "müller", "лодки", &"s".repeat(65)] {
            assert_eq!(stem(word), word);
        }
    }
}
