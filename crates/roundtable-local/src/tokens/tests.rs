//! The tokeniser against the original (`tests/reference/tokens.py` made what it says), and its
//! promises.

use std::fs::File;

use proptest::prelude::*;

use super::*;
use crate::weights::synthetic::{Synthetic, real};

const TOKENS: &str = include_str!("../../tests/reference/tokens.json");

fn vocabulary() -> Vocabulary {
    Vocabulary::read(&Gguf::read(File::open(real()).unwrap()).unwrap()).unwrap()
}

fn small() -> Vocabulary {
    let bytes = Synthetic::new(1).bytes();
    Vocabulary::read(&Gguf::read(std::io::Cursor::new(bytes)).unwrap()).unwrap()
}

fn encoded(vocabulary: &Vocabulary, text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    vocabulary.encode(text, &mut tokens);
    tokens
}

/// The definition of BPE, word for word: join the best pair, the leftmost of equals, again and again.
fn joined_slowly(vocabulary: &Vocabulary, word: &str) -> Vec<Token> {
    let mut pieces: Vec<Token> = word.bytes().filter_map(|byte| vocabulary.single(byte)).collect();
    loop {
        let pairs = pieces.windows(2).enumerate().filter_map(|(place, pair)| {
            vocabulary.merges.find((pair[0], pair[1])).map(|rule| (rule.rank, place, rule.joined))
        });
        let Some((_, place, joined)) = pairs.min() else { return pieces };
        pieces[place] = joined;
        pieces.remove(place + 1);
    }
}

#[test]
fn odd_texts_have_the_tokens_of_the_original() {
    let vocabulary = vocabulary();
    let reference: Vec<(String, Vec<Token>)> = serde_json::from_str(TOKENS).unwrap();
    assert!(reference.len() >= 900);
    for (text, expected) in reference {
        assert_eq!(encoded(&vocabulary, &text), expected, "{text:?}");
    }
}

#[test]
fn text_never_becomes_a_control_token() {
    let vocabulary = vocabulary();
    for name in ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<repo_name>", "<empty_output>"] {
        for text in [name.to_owned(), format!("a{name}b"), format!("\n{name} {name}")] {
            let tokens = encoded(&vocabulary, &text);
            assert!(tokens.iter().all(|token| !vocabulary.bytes(*token).is_empty()), "{text:?}");
            assert_eq!(vocabulary.decode(&tokens), text);
        }
    }
}

#[test]
fn a_long_text_without_blanks_is_encoded_in_a_moment() {
    // By the definition this takes a hundred thousand times a hundred thousand steps.
    let vocabulary = small();
    let tokens = encoded(&vocabulary, &"a".repeat(400_000));
    assert_eq!((tokens.len(), vocabulary.bytes(tokens[0])), (100_000, &b"aaaa"[..]));
}

#[test]
fn words_are_cut_as_the_pattern_says() {
    let words = |text| split::words(text).collect::<Vec<_>>();
    assert_eq!(words("Hello  world"), ["Hello", " ", " world"]);
    assert_eq!(words("it's we'll'd"), ["it", "'s", " we", "'ll", "'d"]);
    assert_eq!(words(" 's!'s"), [" '", "s", "!'", "s"]);
    assert_eq!(words("a 12 b"), ["a", " ", "1", "2", " b"]);
    assert_eq!(words("a  1"), ["a", "  ", "1"]);
    assert_eq!(words("\n\n x\n"), ["\n\n", " x", "\n"]);
    assert_eq!(words("नमस्ते"), ["नमस", "्", "त", "े"]);
    assert_eq!(words(""), [""; 0]);
}

#[test]
fn a_character_is_handed_out_when_it_is_complete() {
    let mut decoder = Decoder::default();
    let heard: Vec<String> =
        "aé😀".bytes().map(|byte| decoder.push(&[byte])).filter(|text| !text.is_empty()).collect();
    assert_eq!(heard, ["a", "é", "😀"]);
    assert_eq!(decoder.push(b"\xff\xf0\x9f"), "\u{fffd}");
    assert_eq!(decoder.push(b"z"), "\u{fffd}z");
    assert_eq!(decoder.push(b"\xc3"), "");
    assert_eq!((decoder.finish(), decoder.finish()), ("\u{fffd}".into(), String::new()));
}

proptest! {
    #[test]
    fn joining_follows_the_definition(word in "[helo a\":]{0,24}") {
        let vocabulary = small();
        let mut tokens = Vec::new();
        vocabulary.merges.apply(word.bytes().filter_map(|byte| vocabulary.single(byte)), &mut tokens);
        prop_assert_eq!(tokens, joined_slowly(&vocabulary, &word));
    }

    #[test]
    fn words_together_are_the_text(text in any::<String>()) {
        prop_assert_eq!(split::words(&text).collect::<String>(), text);
    }

    #[test]
    fn text_comes_back_from_its_tokens(text in "[\\PC\\n\\t&&[^\u{40000}-\u{10ffff}]]{0,40}") {
        let vocabulary = small();
        prop_assert_eq!(vocabulary.decode(&encoded(&vocabulary, &text)), text);
    }

    #[test]
    fn bytes_in_any_pieces_give_the_text_that_they_are(
        bytes in prop::collection::vec(any::<u8>(), 0..40), cut in 1usize..5
    ) {
        let mut decoder = Decoder::default();
        let mut text: String = bytes.chunks(cut).map(|piece| decoder.push(piece)).collect();
        text.push_str(&decoder.finish());
        prop_assert_eq!(text, String::from_utf8_lossy(&bytes));
    }
}
