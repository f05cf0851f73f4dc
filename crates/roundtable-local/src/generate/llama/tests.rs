//! The model against a float forward pass (`tests/reference/logits.py` made what it gives), and its
//! promises.

use std::fs::File;
use std::io::Cursor;

use serde::Deserialize;

use super::*;
use crate::tokens::{Token, Vocabulary};
use crate::weights::synthetic::{Synthetic, real};

const LOGITS: &str = include_str!("../../../tests/reference/logits.json");

#[derive(Deserialize)]
struct Reference {
    text: String,
    best: Token,
    logits: Vec<(Token, f32)>,
}

/// Reads tokens in chunks of these lengths; what is likely then.
fn logits(llama: &Llama, tokens: &[Token], chunks: &[usize]) -> Vec<f32> {
    let (mut memory, mut work, mut out) = (llama.memory(), Workspace::default(), Vec::new());
    let (mut rest, mut lengths) = (tokens, chunks.iter().cycle());
    while !rest.is_empty() {
        let (chunk, after) = rest.split_at(rest.len().min(*lengths.next().unwrap()));
        llama.read_tokens(chunk, &mut memory, &mut work);
        rest = after;
    }
    llama.logits(&mut work, &mut out);
    out
}

fn bits(numbers: &[f32]) -> Vec<u32> {
    numbers.iter().map(|number| number.to_bits()).collect()
}

fn small(cpu: Cpu) -> Llama {
    let mut file = Gguf::read(Cursor::new(Synthetic::new(7).bytes())).unwrap();
    let vocabulary = Vocabulary::read(&file).unwrap();
    Llama::read(&mut file, vocabulary.len(), cpu).unwrap()
}

#[test]
fn logits_are_those_of_a_float_forward_up_to_rounding() {
    let mut file = Gguf::read(File::open(real()).unwrap()).unwrap();
    let vocabulary = Vocabulary::read(&file).unwrap();
    let llama = Llama::read(&mut file, vocabulary.len(), Cpu::detect()).unwrap();
    let reference: Vec<Reference> = serde_json::from_str(LOGITS).unwrap();
    assert_eq!(reference.len(), 4);
    for Reference { text, best, logits: expected } in reference {
        let mut tokens = Vec::new();
        vocabulary.encode(&text, &mut tokens);
        let found = logits(&llama, &tokens, &[32]);
        // Activations in eight bits cost this much; logits lie between -10 and 25.
        let off = |(token, logit): &(Token, f32)| (found[*token as usize] - logit).abs();
        let furthest = expected.iter().map(off).fold(0.0, f32::max);
        let squares = expected.iter().map(|pair| off(pair).powi(2)).sum::<f32>();
        let usual = (squares / expected.len() as f32).sqrt();
        assert!(furthest < 1.0 && usual < 0.5, "{text:?}: off by {usual}, at most {furthest}");
        let likeliest = (0..).zip(&found).max_by(|a, b| a.1.total_cmp(b.1)).unwrap();
        assert_eq!(likeliest.0, best, "{text:?}");
    }
}

#[test]
fn a_prompt_gives_the_same_bits_however_it_is_cut() {
    let llama = small(Cpu::detect());
    let tokens: Vec<Token> = (0..70).map(|number| number * 37 % 240).collect();
    let whole = bits(&logits(&llama, &tokens, &[70]));
    for chunks in [&[1][..], &[2, 3], &[32], &[5, 1, 4, 9]] {
        assert_eq!(bits(&logits(&llama, &tokens, chunks)), whole, "{chunks:?}");
    }
}

#[test]
fn a_prompt_gives_the_same_bits_with_and_without_vector_instructions() {
    let tokens: Vec<Token> = (0..50).map(|number| number * 31 % 240).collect();
    let [plain, vector] = [Cpu::scalar(), Cpu::detect()].map(small);
    assert_eq!(bits(&logits(&plain, &tokens, &[16])), bits(&logits(&vector, &tokens, &[16])));
}

#[test]
fn a_beginning_of_a_memory_is_as_good_as_one_that_was_read() {
    let llama = small(Cpu::detect());
    let tokens: Vec<Token> = (0..40).map(|number| number * 11 % 240).collect();
    let (mut whole, mut work, mut out) = (llama.memory(), Workspace::default(), Vec::new());
    llama.read_tokens(&tokens, &mut whole, &mut work);
    let mut beginning = whole.beginning(25, 10);
    assert_eq!((beginning.len(), whole.len(), whole.beginning(99, 0).len()), (25, 40, 40));
    llama.read_tokens(&[5, 6, 7], &mut beginning, &mut work);
    llama.logits(&mut work, &mut out);
    let expected = logits(&llama, &[&tokens[..25], &[5, 6, 7]].concat(), &[28]);
    assert_eq!(bits(&out), bits(&expected));
}

#[test]
fn a_token_takes_the_memory_that_the_documentation_says() {
    // 30 layers, keys and values, 3 heads of 64 numbers: what `Options::context` tells.
    let mut memory = Memory::new(30, 192);
    for layer in 0..30 {
        memory.extend(layer, &[0.0; 192], &[0.0; 192]);
    }
    memory.shrink();
    assert_eq!(memory.bytes(), 46_080);
}
