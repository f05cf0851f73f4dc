//! The search against the plain definition, on both twins.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// What the search has to find: every row is compared, and sorted by product and key.
fn brute(rows: &BTreeMap<u32, Vec<f32>>, query: &[f32], most: usize, cpu: Cpu) -> Vec<(u32, u32)> {
    let mut found: Vec<(u32, f32)> =
        rows.iter().map(|(key, row)| (*key, cpu.dot_f32(query, row) + 0.0)).collect();
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    found.into_iter().take(most).map(|(key, score)| (key, score.to_bits())).collect()
}

fn found(matrix: &Matrix<u32>, query: &[f32], most: usize) -> Vec<(u32, u32)> {
    let hits = matrix.nearest(&Query::new(query).unwrap(), most).unwrap();
    hits.into_iter().map(|hit| (*hit.key, hit.score.to_bits())).collect()
}

/// What is done to a matrix.
#[derive(Debug, Clone)]
enum Act {
    Put(u32, Vec<f32>),
    Remove(u32),
    Search(Vec<f32>, usize),
}

/// Numbers of very different sizes, with many that are equal: rounding hurts, and there are ties.
fn number() -> impl Strategy<Value = f32> {
    prop_oneof![
        4 => -1f32..1.0,
        2 => (-3i8..4).prop_map(f32::from),
        1 => -1e-3f32..1e-3,
        1 => -1e4f32..1e4,
        1 => Just(0.0),
        1 => Just(-0.0),
    ]
}

fn act(width: usize) -> impl Strategy<Value = Act> {
    let vector = || vec(number(), width);
    prop_oneof![
        6 => (0u32..60, vector()).prop_map(|(key, vector)| Act::Put(key, vector)),
        2 => (0u32..60).prop_map(Act::Remove),
        2 => (vector(), 0usize..12).prop_map(|(query, most)| Act::Search(query, most)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_search_finds_what_comparing_every_row_finds(
        acts in (1usize..40).prop_flat_map(|width| (Just(width), vec(act(width), 1..120)))
    ) {
        let (width, acts) = acts;
        for cpu in [Cpu::scalar(), Cpu::detect()] {
            let (mut matrix, mut rows) = (Matrix::new_for(width, cpu), BTreeMap::new());
            for act in &acts {
                match act {
                    Act::Put(key, vector) => {
                        matrix.put(*key, vector).unwrap();
                        rows.insert(*key, vector.clone());
                    }
                    Act::Remove(key) => {
                        prop_assert_eq!(matrix.remove(key), rows.remove(key).is_some());
                    }
                    Act::Search(query, most) => {
                        prop_assert_eq!(found(&matrix, query, *most), brute(&rows, query, *most, cpu));
                    }
                }
                prop_assert_eq!(matrix.len(), rows.len());
            }
            for (key, row) in &rows {
                prop_assert_eq!(matrix.find(key), Some(row.as_slice()));
            }
        }
    }
}

/// Vectors of length one that lie in clusters, as those of texts do.
fn clustered(count: usize, width: usize) -> Vec<Vec<f32>> {
    let mut state = 7u64;
    let mut roll = move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f32::from(u16::try_from(state >> 48).unwrap()) / 32_768.0 - 1.0
    };
    let centres: Vec<Vec<f32>> = (0..20).map(|_| (0..width).map(|_| roll()).collect()).collect();
    let vector = |index: usize| {
        let row: Vec<f32> =
            centres[index % 20].iter().map(|number| number + 0.4 * roll()).collect();
        let length = row.iter().map(|number| number * number).sum::<f32>().sqrt();
        row.into_iter().map(|number| number / length).collect()
    };
    (0..count).map(vector).collect()
}

#[test]
fn the_best_of_many_are_found_and_few_are_looked_at() {
    let vectors = clustered(3000, 384);
    let mut matrix = Matrix::new(384);
    let rows: BTreeMap<u32, Vec<f32>> = (0..).zip(vectors.iter().cloned()).collect();
    for (key, row) in &rows {
        matrix.put(*key, row).unwrap();
    }
    for query in clustered(3020, 384).iter().skip(3000) {
        assert_eq!(found(&matrix, query, 10), brute(&rows, query, 10, Cpu::detect()));
    }
    let looked_at = matrix.looked_at(&Query::new(&vectors[17]).unwrap(), 10);
    assert!(looked_at < 600, "{looked_at} of 3000");
}

#[test]
fn of_equals_the_smaller_key_comes_first_whatever_the_order_of_coming_and_going() {
    let mut matrix = Matrix::new(2);
    for key in ["d", "b", "e", "a", "c"] {
        matrix.put(key, &[1.0, 0.0]).unwrap();
    }
    matrix.remove(&"b");
    matrix.put("e", &[2.0, 0.0]).unwrap();
    let query = Query::new(&[1.0, 1.0]).unwrap();
    let hits = matrix.nearest(&query, 3).unwrap();
    let found: Vec<(&str, f32)> = hits.iter().map(|hit| (*hit.key, hit.score)).collect();
    assert_eq!(found, [("e", 2.0), ("a", 1.0), ("c", 1.0)]);
}

#[test]
fn vectors_of_another_width_and_without_sense_are_refused() {
    let mut matrix = Matrix::new(2);
    matrix.put("a", &[1.0, 0.0]).unwrap();
    assert_eq!(matrix.put("a", &[1.0]), Err(VectorError::Width { found: 1, wanted: 2 }));
    for wild in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX] {
        assert_eq!(matrix.put("a", &[wild, 0.0]), Err(VectorError::Wild));
        assert_eq!(Query::new(&[wild]).err(), Some(VectorError::Wild));
    }
    let narrow = matrix.nearest(&Query::new(&[1.0]).unwrap(), 1);
    assert_eq!(narrow, Err(VectorError::Width { found: 1, wanted: 2 }));
    assert_eq!(matrix.find(&"a"), Some(&[1.0, 0.0][..]), "nothing has changed");
    assert!(
        Matrix::<u32>::new(2).nearest(&Query::new(&[0.0, 0.0]).unwrap(), 3).unwrap().is_empty()
    );
}
