//! Files that are not what they should be.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};

use proptest::prelude::*;

use super::synthetic::{F32, Meta, Q4_1, Synthetic, real};
use super::{Gguf, LoadError, SMOLLM2_SHA256, check_digest};
use crate::generate::testing::{answer, load};
use crate::tokens::Vocabulary;

fn refused(file: &Synthetic) -> String {
    load(&file.bytes()).err().map_or("accepted".into(), |error| error.to_string())
}

/// Whatever the bytes are: an error, or a model that answers something.
fn survives(bytes: &[u8]) {
    if let Ok(engine) = load(bytes) {
        answer(&engine, "hello", 4);
    }
}

#[test]
fn a_sound_file_is_read_and_answers() {
    let engine = load(&Synthetic::new(1).bytes()).unwrap();
    assert_eq!(answer(&engine, "hello", 8).1.output_tokens, 8);
}

#[test]
fn a_file_that_ends_early_is_refused_wherever_it_ends() {
    let bytes = Synthetic::new(1).bytes();
    let head = Synthetic::new(1).head().len();
    let padding = 31;
    for end in (0..head).chain((head..bytes.len() - padding).step_by(97)) {
        assert!(load(&bytes[..end]).is_err(), "{end} of {} bytes", bytes.len());
    }
}

#[test]
fn what_makes_no_sense_is_named() {
    let text = |value: &str| Meta::Text(value.into());
    let model = || Synthetic::new(1);
    let many = |count: u64, kind: u32| {
        Meta::Raw(9, [&kind.to_le_bytes()[..], &count.to_le_bytes()].concat())
    };
    let cases = [
        (model().with("general.architecture", text("bert")), "only Llama models"),
        (model().without("llama.block_count"), "llama.block_count is missing"),
        (model().with("llama.block_count", Meta::U32(3)), "blk.2.attn_norm.weight is missing"),
        (model().with("llama.block_count", Meta::U32(0)), "is not between 1 and 512"),
        (model().with("llama.block_count", text("2")), "is not a whole number"),
        (model().with("llama.embedding_length", Meta::U32(65)), "not a multiple of 32"),
        (model().with("llama.embedding_length", Meta::U32(96)), "is not the length of a head"),
        (
            model().with("llama.feed_forward_length", Meta::U32(64)),
            "has the shape 96x64, not 64x64",
        ),
        (model().with("llama.attention.head_count", Meta::U32(3)), "do not divide its width"),
        (model().with("llama.attention.head_count_kv", Meta::U32(3)), "do not divide its width"),
        (model().with("llama.attention.head_count", Meta::U32(64)), "heads of an odd length"),
        (model().with("llama.rope.dimension_count", Meta::U32(8)), "is not the length of a head"),
        (model().with("llama.rope.scaling.type", text("yarn")), "is not supported"),
        (model().with("llama.rope.freq_base", Meta::F32(f32::NAN)), "is not a positive number"),
        (model().with("general.alignment", Meta::U32(0)), "is not between 1 and 65536"),
        (model().with("tokenizer.ggml.pre", text("llama-bpe")), "only \"smollm\" is supported"),
        (
            model().with("tokenizer.ggml.token_type", Meta::I32s(vec![1])),
            "does not have the length",
        ),
        (model().with("tokenizer.ggml.merges", Meta::Texts(vec!["ab".into()])), "is not a pair"),
        (model().with("general.odd", Meta::Raw(99, vec![])), "is of unknown type 99"),
        (model().with("general.odd", Meta::Raw(9, vec![9; 12])), "is of unknown type"),
        (model().with("general.odd", many(1, 9)), "is a list of lists"),
        (model().with("general.odd", many(u64::MAX, 8)), "the limit is 65536"),
        (model().with("general.odd", many(u64::MAX, 5)), "the file ends inside of general.odd"),
        (model().with("general.odd", many(u64::MAX, 0)), "the file ends inside of general.odd"),
        (model().with("general.odd", Meta::Raw(8, vec![255; 8])), "the limit is 65536"),
        (model().with("general.odd", Meta::Raw(10, vec![255; 8])), "is too large"),
        (model().tensor("output_norm", |part| part.dimensions = vec![]), "has 0 dimensions"),
        (model().tensor("output_norm", |part| part.dimensions = vec![1; 5]), "has 5 dimensions"),
        (
            model().tensor("output_norm", |part| part.dimensions = vec![64, 64]),
            "has the shape 64x64",
        ),
        (model().tensor("output_norm", |part| part.offset = Some(u64::MAX)), "ends inside of"),
        (model().tensor("output_norm", |part| part.kind = Q4_1), "is Q4_1, not F32"),
        (
            model().tensor("token_embd", |part| part.dimensions = vec![u64::MAX, 2, u64::MAX]),
            "impossible shape",
        ),
        (model().tensor("token_embd", |part| part.dimensions = vec![1 << 62, 8]), "ends inside of"),
        (model().tensor("token_embd", |part| part.dimensions[1] -= 1), "has the shape"),
        (model().tensor("blk.0.attn_q", |part| part.kind = F32), "is F32; quantize it"),
        (model().tensor("blk.0.attn_q", |part| part.kind = 12), "is Other(12); quantize it"),
        (model().tensor("blk.0.attn_q", |p| p.name = "blk.0.attn_k.weight".into()), "duplicate"),
        (Synthetic { version: 1, ..model() }, "unsupported GGUF version 1"),
    ];
    for (file, expected) in cases {
        let found = refused(&file);
        assert!(found.contains(expected), "{found:?} does not contain {expected:?}");
    }
}

#[test]
fn control_tokens_are_needed_and_text_tokens_have_to_be_spelled_in_bytes() {
    let file = Synthetic::new(1);
    let tokens = |change: &dyn Fn(&mut Vec<String>)| {
        let mut file = file.clone();
        for (key, value) in &mut file.metadata {
            if let (Meta::Texts(tokens), "tokenizer.ggml.tokens") = (value, key.as_str()) {
                change(tokens);
            }
        }
        refused(&file)
    };
    assert!(tokens(&|tokens| tokens[2] = "<|stop|>".into()).contains("control token <|im_end|>"));
    assert!(tokens(&|tokens| tokens[9] = "two words".into()).contains("tokens has \"two words\""));
    assert!(tokens(&|tokens| tokens[9] = String::new()).contains("tokens has \"\""));
    assert!(tokens(&|tokens| tokens.truncate(4)).contains("not have the length"));
}

#[test]
fn a_file_of_another_kind_is_no_gguf_file() {
    for bytes in [&b""[..], b"GGU", b"PK\x03\x04 and more", &[0; 64]] {
        assert!(matches!(load(bytes), Err(LoadError::NotGguf)));
    }
}

#[test]
fn weights_that_are_no_numbers_still_give_an_answer() {
    for byte in [0x7f, 0xff, 0x7c] {
        let mut file = Synthetic::new(1);
        for part in &mut file.tensors {
            part.data.fill(byte);
        }
        survives(&file.bytes());
    }
}

#[test]
fn a_hash_that_is_not_the_known_one_is_refused() {
    let error = check_digest(&mut Cursor::new(b"abc"), SMOLLM2_SHA256).unwrap_err();
    let LoadError::Digest { found, .. } = error else { panic!("{error}") };
    assert_eq!(found, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert!(check_digest(&mut Cursor::new(b"abc"), &found).is_ok());
}

#[test]
fn the_real_file_is_the_known_one() {
    check_digest(&mut File::open(real()).unwrap(), SMOLLM2_SHA256).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn flipped_bits_are_survived(flips in prop::collection::vec((any::<prop::sample::Index>(), 0u8..8), 1..6)) {
        let file = Synthetic::new(1);
        let (mut bytes, head) = (file.bytes(), file.head().len());
        for (place, bit) in flips {
            bytes[place.index(head)] ^= 1 << bit;
        }
        survives(&bytes);
    }

    #[test]
    fn hostile_numbers_are_survived(
        place in any::<prop::sample::Index>(),
        number in prop::sample::select(vec![0, 1, 31, 1 << 16, 1 << 31, 1 << 32, 1 << 62, u64::MAX >> 1, u64::MAX]),
    ) {
        let file = Synthetic::new(1);
        let (mut bytes, head) = (file.bytes(), file.head().len());
        let place = place.index(head - 8);
        bytes[place..place + 8].copy_from_slice(&number.to_le_bytes());
        survives(&bytes);
    }

    #[test]
    fn flipped_bits_in_the_weights_are_survived(
        flips in prop::collection::vec((any::<prop::sample::Index>(), 0u8..8), 1..60)
    ) {
        let mut bytes = Synthetic::new(1).bytes();
        let length = bytes.len();
        for (place, bit) in flips {
            bytes[place.index(length)] ^= 1 << bit;
        }
        survives(&bytes);
    }

    #[test]
    fn any_bytes_behind_the_first_letters_are_survived(tail in prop::collection::vec(any::<u8>(), 0..200)) {
        survives(&[&b"GGUF\x03\0\0\0"[..], &tail].concat());
    }
}

/// The head of the real file with some bytes changed, and zeros for the rest.
struct Patched<'a> {
    head: &'a [u8],
    patch: (u64, &'a [u8]),
    length: u64,
    at: u64,
}

impl Read for Patched<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = (self.length.saturating_sub(self.at)).min(out.len() as u64) as usize;
        for (place, byte) in (self.at..).zip(&mut out[..count]) {
            let patched =
                place.checked_sub(self.patch.0).and_then(|at| self.patch.1.get(at as usize));
            *byte = *patched.or(self.head.get(place as usize)).unwrap_or(&0);
        }
        self.at += count as u64;
        Ok(count)
    }
}

impl Seek for Patched<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match to {
            SeekFrom::Start(at) => self.at = at,
            SeekFrom::End(_) => self.at = self.length,
            SeekFrom::Current(_) => return Err(io::ErrorKind::Unsupported.into()),
        }
        Ok(self.at)
    }
}

#[test]
fn the_real_head_with_hostile_numbers_is_survived() {
    let path = real();
    let length = path.metadata().unwrap().len();
    let mut head = vec![0; 1_785_664];
    File::open(&path).unwrap().read_exact(&mut head).unwrap();
    let tensors = 1_769_507..head.len() as u64;
    let places = (8..900).step_by(97).chain(tensors.step_by(1_301));
    for (place, number) in places.zip([0u64, u64::MAX, 1 << 40, 33].into_iter().cycle()) {
        let patch = number.to_le_bytes();
        let source = Patched { head: &head, patch: (place, &patch), length, at: 0 };
        if let Ok(file) = Gguf::read(source) {
            let _ = Vocabulary::read(&file);
        }
    }
}
