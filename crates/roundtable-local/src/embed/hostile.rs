//! Files that lie: a tiny model, complete at first, with one thing after the other wrong with it.

use std::io::Cursor;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::minilm::MiniLm;
use super::safetensors::Tensors;
use super::wordpiece::WordPiece;
use crate::kernel::Cpu;

const WIDTH: usize = 32;
const WORDS: usize = 6;
const VOCABULARY: &str = "[CLS]\n[SEP]\n[UNK]\na\nb\n##c\n";

/// The tensors of a model with one layer: their names and shapes.
fn shapes() -> Vec<(String, Vec<usize>)> {
    let square = vec![WIDTH, WIDTH];
    let mut shapes: Vec<(String, Vec<usize>)> = vec![
        ("embeddings.word_embeddings.weight".into(), vec![WORDS, WIDTH]),
        ("embeddings.position_embeddings.weight".into(), vec![8, WIDTH]),
        ("embeddings.token_type_embeddings.weight".into(), vec![2, WIDTH]),
    ];
    let mut linear = |name: &str, shape: Vec<usize>| {
        shapes.push((format!("{name}.bias"), vec![shape[0]]));
        shapes.push((format!("{name}.weight"), shape));
    };
    for part in ["self.query", "self.key", "self.value", "output.dense"] {
        linear(&format!("encoder.layer.0.attention.{part}"), square.clone());
    }
    linear("encoder.layer.0.intermediate.dense", vec![64, WIDTH]);
    linear("encoder.layer.0.output.dense", vec![WIDTH, 64]);
    for norm in [
        "embeddings.LayerNorm",
        "encoder.layer.0.attention.output.LayerNorm",
        "encoder.layer.0.output.LayerNorm",
    ] {
        linear(norm, vec![WIDTH]);
    }
    shapes
}

/// A file with these tensors, full of one number.
fn file(shapes: &[(String, Vec<usize>)], number: f32) -> Vec<u8> {
    let (mut header, mut data) = (Map::new(), Vec::new());
    for (name, shape) in shapes {
        let from = data.len();
        let count: usize = shape.iter().product();
        data.extend((0..count).flat_map(|index| (number * (index % 7) as f32).to_le_bytes()));
        let entry = json!({ "dtype": "F32", "shape": shape, "data_offsets": [from, data.len()] });
        header.insert(name.clone(), entry);
    }
    let header = Value::Object(header).to_string();
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &data].concat()
}

fn read(bytes: &[u8]) -> Result<MiniLm, String> {
    let read = |mut tensors| MiniLm::read(&mut tensors, WORDS, Cpu::detect());
    Tensors::open(Cursor::new(bytes)).and_then(read).map_err(|error| error.to_string())
}

fn embed(model: &MiniLm) -> Vec<f32> {
    let (vocabulary, size) = WordPiece::new(VOCABULARY).unwrap();
    assert_eq!(size, WORDS);
    model.embed(&vocabulary.encode("a bc abc b", model.positions()))
}

#[test]
fn the_tiny_model_is_a_model() {
    let vector = embed(&read(&file(&shapes(), 0.1)).unwrap());
    let length: f32 = vector.iter().map(|number| number * number).sum();
    assert!((length - 1.0).abs() < 1e-5, "{vector:?}");
}

#[test]
fn a_tensor_that_is_missing_or_has_another_shape_is_named() {
    let whole = shapes();
    for index in 0..whole.len() {
        let mut without = whole.clone();
        let (name, _) = without.remove(index);
        // Without the mark of its last layer it is a model without layers.
        if name != "encoder.layer.0.output.dense.bias" {
            let told = read(&file(&without, 0.1)).map(drop).unwrap_err();
            assert!(told.contains(&name) || name.contains("intermediate"), "{name}: {told}");
        }
        let mut wrong = whole.clone();
        // How many positions there are is the model's own affair.
        let side = usize::from(name.contains("position"));
        wrong[index].1[side] += 1;
        let told = read(&file(&wrong, 0.1)).map(drop).unwrap_err();
        assert!(told.starts_with("tensor "), "{name}: {told}");
    }
}

#[test]
fn weights_without_sense_give_a_vector_without_meaning_and_no_panic() {
    for number in [f32::NAN, f32::INFINITY, f32::MAX, f32::MIN_POSITIVE, 0.0] {
        let vector = embed(&read(&file(&shapes(), number)).unwrap());
        assert!(vector.iter().all(|number| number.is_finite()), "{number}: {vector:?}");
    }
}

#[test]
fn tokens_beyond_the_model_count_as_nothing() {
    let model = read(&file(&shapes(), 0.1)).unwrap();
    assert_eq!(model.embed(&[9999, u32::MAX, 3]).len(), WIDTH);
    assert_eq!(model.embed(&[1; 100]).len(), WIDTH, "more positions than it has");
    assert_eq!(model.embed(&[]), vec![0.0; WIDTH]);
}

#[test]
fn a_vocabulary_without_its_special_tokens_is_none() {
    for missing in ["[CLS]", "[SEP]", "[UNK]"] {
        assert!(WordPiece::new(&VOCABULARY.replace(missing, "x")).is_none(), "{missing}");
    }
    assert!(WordPiece::new("").is_none());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_file_with_a_changed_byte_is_read_or_refused(place in 0usize..4000, byte in any::<u8>()) {
        let mut bytes = file(&shapes(), 0.1);
        bytes[place] = byte;
        if let Ok(model) = read(&bytes) {
            prop_assert_eq!(embed(&model).len(), WIDTH);
        }
    }

    #[test]
    fn a_file_that_was_cut_off_is_refused(cut in 0usize..60_000) {
        let bytes = file(&shapes(), 0.1);
        prop_assert!(read(&bytes[..cut.min(bytes.len() - 1)]).is_err());
    }
}
