//! A small model made up by the tests: everything that a real file has, in 100 kB.

use std::path::PathBuf;

/// A file in parts, so that tests can change one of them.
#[derive(Clone)]
pub(crate) struct Synthetic {
    pub(crate) version: u32,
    pub(crate) metadata: Vec<(String, Meta)>,
    pub(crate) tensors: Vec<Part>,
}

#[derive(Clone)]
pub(crate) enum Meta {
    U32(u32),
    F32(f32),
    Text(String),
    Texts(Vec<String>),
    I32s(Vec<i32>),
    /// Bytes with their type before them, as they are.
    Raw(u32, Vec<u8>),
}

#[derive(Clone)]
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) dimensions: Vec<u64>,
    pub(crate) kind: u32,
    pub(crate) data: Vec<u8>,
    /// Where it says that it is; where it is, if it does not say.
    pub(crate) offset: Option<u64>,
}

pub(crate) const F32: u32 = 0;
pub(crate) const Q4_1: u32 = 3;
pub(crate) const Q8_0: u32 = 8;

const WIDTH: u64 = 64;
const KV: u64 = 32;
const FEED: u64 = 96;
const LAYERS: u32 = 2;

impl Synthetic {
    /// A model whose weights come from a seed.
    pub(crate) fn new(seed: u64) -> Self {
        let mut chance = Chance(seed);
        let (tokens, types, merges) = vocabulary();
        let rows = tokens.len() as u64;
        let metadata = [
            ("general.architecture", Meta::Text("llama".into())),
            ("llama.block_count", Meta::U32(LAYERS)),
            ("llama.context_length", Meta::U32(160)),
            ("llama.embedding_length", Meta::U32(WIDTH as u32)),
            ("llama.feed_forward_length", Meta::U32(FEED as u32)),
            ("llama.attention.head_count", Meta::U32(4)),
            ("llama.attention.head_count_kv", Meta::U32(2)),
            ("llama.rope.freq_base", Meta::F32(10_000.0)),
            ("llama.rope.dimension_count", Meta::U32(16)),
            ("llama.attention.layer_norm_rms_epsilon", Meta::F32(1e-5)),
            ("tokenizer.ggml.model", Meta::Text("gpt2".into())),
            ("tokenizer.ggml.pre", Meta::Text("smollm".into())),
            ("tokenizer.ggml.tokens", Meta::Texts(tokens)),
            ("tokenizer.ggml.token_type", Meta::I32s(types)),
            ("tokenizer.ggml.merges", Meta::Texts(merges)),
            ("general.quantised", Meta::Raw(7, vec![1])),
        ];
        let mut tensors = vec![
            chance.blocks("token_embd", &[WIDTH, rows], Q8_0),
            chance.floats("output_norm", WIDTH),
        ];
        for layer in 0..LAYERS {
            let name = |part: &str| format!("blk.{layer}.{part}");
            tensors.push(chance.floats(&name("attn_norm"), WIDTH));
            tensors.push(chance.floats(&name("ffn_norm"), WIDTH));
            for (part, shape) in [
                ("attn_q", [WIDTH, WIDTH]),
                ("attn_k", [WIDTH, KV]),
                ("attn_v", [WIDTH, KV]),
                ("attn_output", [WIDTH, WIDTH]),
                ("ffn_gate", [WIDTH, FEED]),
                ("ffn_up", [WIDTH, FEED]),
                ("ffn_down", [FEED, WIDTH]),
            ] {
                tensors.push(chance.blocks(&name(part), &shape, Q4_1));
            }
        }
        let metadata = metadata.map(|(key, value)| (key.to_owned(), value)).into();
        Self { version: 3, metadata, tensors }
    }

    /// The same with another value under a key.
    pub(crate) fn with(mut self, key: &str, value: Meta) -> Self {
        self.metadata.retain(|(other, _)| other != key);
        self.metadata.push((key.to_owned(), value));
        self
    }

    /// The same without a key.
    pub(crate) fn without(mut self, key: &str) -> Self {
        self.metadata.retain(|(other, _)| other != key);
        self
    }

    /// The same with one tensor changed.
    pub(crate) fn tensor(mut self, name: &str, change: impl FnOnce(&mut Part)) -> Self {
        let name = format!("{name}.weight");
        change(self.tensors.iter_mut().find(|part| part.name == name).unwrap());
        self
    }

    /// The bytes before the tensors' data.
    pub(crate) fn head(&self) -> Vec<u8> {
        let mut out = b"GGUF".to_vec();
        out.extend(self.version.to_le_bytes());
        out.extend((self.tensors.len() as u64).to_le_bytes());
        out.extend((self.metadata.len() as u64).to_le_bytes());
        for (key, value) in &self.metadata {
            text(key, &mut out);
            value.write(&mut out);
        }
        let mut place = 0;
        for part in &self.tensors {
            text(&part.name, &mut out);
            out.extend((part.dimensions.len() as u32).to_le_bytes());
            part.dimensions.iter().for_each(|size| out.extend(size.to_le_bytes()));
            out.extend(part.kind.to_le_bytes());
            out.extend(part.offset.unwrap_or(place).to_le_bytes());
            place += (part.data.len() as u64).next_multiple_of(32);
        }
        out.resize(out.len().next_multiple_of(32), 0);
        out
    }

    /// The whole file.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut out = self.head();
        for part in &self.tensors {
            out.extend(&part.data);
            out.resize(out.len().next_multiple_of(32), 0);
        }
        out
    }
}

impl Meta {
    fn write(&self, out: &mut Vec<u8>) {
        let kind: u32 = match self {
            Self::U32(_) => 4,
            Self::F32(_) => 6,
            Self::Text(_) => 8,
            Self::Texts(_) | Self::I32s(_) => 9,
            Self::Raw(kind, _) => *kind,
        };
        out.extend(kind.to_le_bytes());
        match self {
            Self::U32(number) => out.extend(number.to_le_bytes()),
            Self::F32(number) => out.extend(number.to_le_bytes()),
            Self::Text(value) => text(value, out),
            Self::Texts(texts) => {
                out.extend(8u32.to_le_bytes());
                out.extend((texts.len() as u64).to_le_bytes());
                texts.iter().for_each(|value| text(value, out));
            }
            Self::I32s(numbers) => {
                out.extend(5u32.to_le_bytes());
                out.extend((numbers.len() as u64).to_le_bytes());
                numbers.iter().for_each(|number| out.extend(number.to_le_bytes()));
            }
            Self::Raw(_, bytes) => out.extend(bytes),
        }
    }
}

fn text(text: &str, out: &mut Vec<u8>) {
    out.extend((text.len() as u64).to_le_bytes());
    out.extend(text.as_bytes());
}

/// Control tokens, bytes (without some, like the real one), and a few joined ones.
fn vocabulary() -> (Vec<String>, Vec<i32>, Vec<String>) {
    let mut tokens: Vec<String> =
        ["<|endoftext|>", "<|im_start|>", "<|im_end|>"].map(String::from).into();
    let mut types = vec![3; tokens.len()];
    let mut shifted = 256;
    for byte in 0..=u8::MAX {
        let letter = if matches!(byte, 33..=126 | 161..=172 | 174..) {
            char::from(byte)
        } else {
            shifted += 1;
            char::from_u32(shifted - 1).unwrap()
        };
        if !matches!(byte, 4 | 6 | 0xc0 | 0xc1 | 0xf1 | 0xf2 | 0xf5..) {
            tokens.push(letter.into());
        }
    }
    let merges = ["h e", "l l", "he ll", "hell o", "Ġ a", "\" :", "\": Ġ", "a a", "aa aa", "t r"];
    tokens.extend(merges.iter().map(|pair| pair.replace(' ', "")));
    types.resize(tokens.len(), 1);
    (tokens, types, merges.map(String::from).into())
}

/// Numbers that look like chance.
struct Chance(u64);

impl Chance {
    fn byte(&mut self) -> u8 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 56) as u8
    }

    fn floats(&mut self, name: &str, width: u64) -> Part {
        let numbers = (0..width).map(|_| 0.5 + f32::from(self.byte()) / 256.0);
        let data = numbers.flat_map(f32::to_le_bytes).collect();
        Part::new(name, &[width], F32, data)
    }

    fn blocks(&mut self, name: &str, shape: &[u64; 2], kind: u32) -> Part {
        let (size, halves) = if kind == Q4_1 { (20, 2) } else { (34, 1) };
        let mut data: Vec<u8> = (0..shape[0] / 32 * shape[1] * size).map(|_| self.byte()).collect();
        for block in data.chunks_exact_mut(size as usize) {
            // A scale of about a thirtieth, and an offset that centres the codes.
            block[1] = if kind == Q4_1 { 0x28 } else { 0x14 };
            if halves == 2 {
                block[2] = block[0];
                block[3] = 0xb4;
            }
        }
        Part::new(name, shape, kind, data)
    }
}

impl Part {
    fn new(name: &str, shape: &[u64], kind: u32, data: Vec<u8>) -> Self {
        let name = format!("{name}.weight");
        Self { name, dimensions: shape.to_vec(), kind, data, offset: None }
    }
}

/// The real weights; a test that needs them fails without them.
pub(crate) fn real() -> PathBuf {
    let usual = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/models");
    let folder = option_env!("ROUNDTABLE_MODELS_DIR").unwrap_or(usual);
    let path = PathBuf::from(folder).join(super::SMOLLM2_FILE);
    assert!(path.is_file(), "no weights at {}; `cargo xtask test` fetches them", path.display());
    path
}
