//! The embedder against the originals: `tests/reference/embed.py` made what they say.

use std::path::PathBuf;

use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::*;

const WORDPIECE: &str = include_str!("../../tests/reference/wordpiece.json");
const MINILM: &str = include_str!("../../tests/reference/minilm.json");

/// From where the random texts are, as in the script.
const RANGES: [(u32, u32); 24] = [
    (0x20, 0x7e),
    (0x61, 0x7a),
    (0x61, 0x7a),
    (0x20, 0x20),
    (0xa0, 0x24f),
    (0x300, 0x36f),
    (0x370, 0x52f),
    (0x590, 0x6ff),
    (0x900, 0xdff),
    (0xe00, 0xeff),
    (0x1100, 0x11ff),
    (0x1e00, 0x1fff),
    (0x2000, 0x206f),
    (0x2070, 0x27bf),
    (0x3000, 0x30ff),
    (0x4e00, 0x4eff),
    (0xac00, 0xafff),
    (0xf900, 0xfaff),
    (0xfe00, 0xfffd),
    (0x1d400, 0x1d7ff),
    (0x1f300, 0x1f9ff),
    (0x20000, 0x20100),
    (0x0, 0x1f),
    (0xd0000, 0xd0100),
];

#[derive(Deserialize)]
struct Reference {
    samples: Vec<Sample>,
    characters: Vec<String>,
    mixtures: Vec<String>,
}

#[derive(Deserialize)]
struct Sample {
    text: String,
    tokens: Vec<u32>,
}

#[derive(Deserialize)]
struct Embedded {
    text: String,
    vector: Vec<f32>,
}

/// Where `cargo xtask test` puts the weights.
fn folder() -> PathBuf {
    let usual = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/models");
    let folder =
        Path::new(option_env!("ROUNDTABLE_MODELS_DIR").unwrap_or(usual)).join("all-MiniLM-L6-v2");
    assert!(
        folder.join(WEIGHTS).is_file(),
        "no weights in {}; `cargo xtask test` fetches them",
        folder.display()
    );
    folder
}

fn vocabulary() -> WordPiece {
    let path = folder().join(VOCABULARY);
    WordPiece::new(&std::fs::read_to_string(path).unwrap()).unwrap().0
}

fn reference() -> Reference {
    serde_json::from_str(WORDPIECE).unwrap()
}

fn digest(vocabulary: &WordPiece, texts: impl Iterator<Item = String>) -> String {
    let mut digest = Sha256::new();
    for text in texts {
        let tokens = vocabulary.encode(&text, MOST_TOKENS);
        digest.update(u32::try_from(tokens.len()).unwrap().to_le_bytes());
        tokens.iter().for_each(|token| digest.update(token.to_le_bytes()));
    }
    digest.finalize()[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The generator of the script: both roll the same.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u32) -> u32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from(self.0 >> 33).unwrap() % sides
    }

    fn text(&mut self) -> String {
        let letters = 0..=self.roll(24);
        let letter = |_| {
            let (first, last) = RANGES[self.roll(24) as usize];
            char::from_u32(first + self.roll(last - first + 1)).unwrap()
        };
        letters.map(letter).collect()
    }
}

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| -> f64 {
        a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
    };
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

#[test]
fn odd_texts_have_the_tokens_of_the_original() {
    let vocabulary = vocabulary();
    for Sample { text, tokens } in reference().samples {
        assert_eq!(vocabulary.encode(&text, MOST_TOKENS), tokens, "{text:?}");
    }
}

#[test]
fn every_character_of_unicode_is_taken_as_by_the_original() {
    let (vocabulary, mut different) = (vocabulary(), Vec::new());
    for (block, expected) in reference().characters.iter().enumerate() {
        let codes = u32::try_from(block).unwrap() * 4096..;
        let texts = codes.take(4096).filter_map(char::from_u32).map(|c| format!("a{c}b"));
        if digest(&vocabulary, texts) != *expected {
            different.push(format!("{block:#x}000"));
        }
    }
    assert_eq!(different, [""; 0], "blocks of characters with differences");
}

#[test]
fn mixtures_of_all_scripts_have_the_tokens_of_the_original() {
    let (vocabulary, mut dice) = (vocabulary(), Dice(20_261_116));
    for (index, expected) in reference().mixtures.iter().enumerate() {
        let texts: Vec<String> = (0..500).map(|_| dice.text()).collect();
        assert_eq!(digest(&vocabulary, texts.into_iter()), *expected, "from text {}", index * 500);
    }
}

#[test]
fn what_people_write_never_stands_for_a_special_token() {
    let vocabulary = vocabulary();
    let tokens = vocabulary.encode("[CLS] a [SEP] b [MASK] [PAD] [UNK]", MOST_TOKENS);
    let specials = tokens.iter().filter(|token| [0, 100, 101, 102, 103].contains(*token));
    assert_eq!(specials.collect::<Vec<_>>(), [&101, &102], "the beginning and the end alone");
}

#[test]
fn of_a_text_without_end_only_the_beginning_is_looked_at() {
    let vocabulary = vocabulary();
    let long = "word ".repeat(4_000_000);
    assert_eq!(vocabulary.encode(&long, MOST_TOKENS).len(), MOST_TOKENS);
    assert_eq!(vocabulary.encode(&"e\u{301}".repeat(1_000_000), MOST_TOKENS), [101, 100, 102]);
}

#[test]
fn vectors_are_those_of_a_forward_pass_in_double_precision() {
    let references: Vec<Embedded> = serde_json::from_str(MINILM).unwrap();
    for cpu in [Cpu::detect(), Cpu::scalar()] {
        let embedder = Embedder::load_for(&folder(), cpu).unwrap();
        assert_eq!(embedder.dimension(), 384);
        for Embedded { text, vector } in &references {
            let found = embedder.embed(text);
            let alike = cosine(&found, vector);
            assert!(alike > 0.999_99, "{alike} for {text:?} on {cpu:?}");
            assert!((cosine(&found, &found) - 1.0).abs() < 1e-6);
            let length: f32 = found.iter().map(|number| number * number).sum();
            assert!((length - 1.0).abs() < 1e-5, "{length}");
        }
    }
}

#[test]
fn texts_that_mean_alike_have_vectors_that_point_alike() {
    let embedder = Embedder::load(&folder()).unwrap();
    let [billing, invoicing, cat] = [
        "Should we move our billing service to Rust this year?",
        "Is it a good idea to rewrite the invoicing backend in Rust?",
        "The cat sat on the mat.",
    ]
    .map(|text| embedder.embed(text));
    assert!(cosine(&billing, &invoicing) > 0.5 && cosine(&billing, &cat) < 0.2);
}

#[test]
fn threads_at_once_get_the_same_bits_as_one_alone() {
    let embedder = Embedder::load(&folder()).unwrap();
    let texts: Vec<String> =
        (0..6).map(|index| format!("Text number {index}, and more.")).collect();
    let alone: Vec<Vec<f32>> = texts.iter().map(|text| embedder.embed(text)).collect();
    std::thread::scope(|scope| {
        let work = || texts.iter().map(|text| embedder.embed(text)).collect::<Vec<_>>();
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
        for thread in threads {
            assert_eq!(thread.join().unwrap(), alone);
        }
    });
}

#[test]
fn a_folder_without_the_model_is_refused_with_its_name() {
    let nowhere = Path::new("nowhere");
    let told = Embedder::load(nowhere).map(drop).unwrap_err().to_string();
    assert!(told.starts_with("nowhere/vocab.txt cannot be read: "), "{told}");
}
