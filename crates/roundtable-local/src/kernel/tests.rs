//! Both twins of every kernel against each other, and against the plain definition.

use proptest::collection::vec;
use proptest::prelude::*;

use super::math::half;
use super::{Attention, BLOCK, Blocks, Cpu, Matrix, Q4_1_BYTES, Q8_0_BYTES, Rows, exp, swiglu};

fn numbers(count: usize) -> impl Strategy<Value = Vec<f32>> {
    vec(-8f32..8.0, count)
}

/// The bits, so that zeros of either sign and oddities compare as what they are.
fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// A file's bytes of weights whose scales are ordinary numbers.
fn blocks(count: usize, size: usize, halves: usize) -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), count * size).prop_map(move |mut bytes| {
        for block in bytes.chunks_exact_mut(size) {
            for half in block[..2 * halves].chunks_exact_mut(2) {
                half[1] = half[1] & 0x83 | 0x28;
            }
        }
        bytes
    })
}

fn q4_1(bytes: &[u8], width: usize) -> Option<Matrix> {
    let mut matrix = Matrix::q4_1(0, width)?;
    matrix.extend(bytes);
    Some(matrix)
}

fn q8_0(bytes: &[u8], width: usize) -> Option<Matrix> {
    let mut matrix = Matrix::q8_0(0, width)?;
    matrix.extend(bytes);
    Some(matrix)
}

/// Both kinds of matrix with `rows` rows, and `count` tokens to multiply them with.
fn products() -> impl Strategy<Value = (Vec<u8>, Vec<u8>, Vec<f32>, usize)> {
    (1usize..7, 1usize..19, 1usize..20).prop_flat_map(|(rows, count, per_row)| {
        (
            blocks(rows * per_row, Q4_1_BYTES, 2),
            blocks(rows * per_row, Q8_0_BYTES, 1),
            numbers(count * per_row * BLOCK),
            Just(per_row * BLOCK),
        )
    })
}

proptest! {
    #[test]
    fn the_twins_of_the_integer_product_are_equal(
        pairs in vec((any::<i8>(), any::<i8>()), 0..400),
        longer in 0usize..3,
    ) {
        let (a, mut b): (Vec<i8>, Vec<i8>) = pairs.into_iter().unzip();
        let exact: i32 = a.iter().zip(&b).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum();
        b.extend(vec![1; longer]);
        prop_assert_eq!(Cpu::scalar().dot_i8(&a, &b), exact);
        prop_assert_eq!(Cpu::detect().dot_i8(&a, &b), exact);
    }

    #[test]
    fn a_vector_meets_every_row_of_a_matrix(
        vector in vec(any::<i8>(), 0..70),
        count in 0usize..6,
        seed in any::<i8>(),
    ) {
        let rows: Vec<i8> = (0..vector.len() * count)
            .map(|index| (index as i8).wrapping_mul(31).wrapping_add(seed))
            .collect();
        let expected: Vec<i32> = (0..count)
            .map(|row| Cpu::scalar().dot_i8(&vector, &rows[row * vector.len()..]))
            .collect();
        for cpu in [Cpu::scalar(), Cpu::detect()] {
            let mut out = vec![7; count];
            cpu.dots_i8(&vector, &rows, &mut out);
            prop_assert_eq!(&out, &expected);
        }
    }

    #[test]
    fn the_twins_of_the_float_product_agree(pairs in vec((-8f32..8.0, -8f32..8.0), 0..400)) {
        let (a, b): (Vec<f32>, Vec<f32>) = pairs.into_iter().unzip();
        let exact: f64 = a.iter().zip(&b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
        for cpu in [Cpu::scalar(), Cpu::detect()] {
            prop_assert!((f64::from(cpu.dot_f32(&a, &b)) - exact).abs() < 2e-2);
        }
    }

    #[test]
    fn the_twins_of_the_float_matrix_product_agree(
        (inputs, weights, width) in (1usize..30, 1usize..8, 1usize..10).prop_flat_map(
            |(width, rows, count)| (numbers(count * width), numbers(rows * width), Just(width))
        )
    ) {
        let (rows, count) = (weights.len() / width, inputs.len() / width);
        let weights = Rows { values: &weights, width };
        let mut outs = [vec![0.0; rows * count], vec![0.0; rows * count]];
        Cpu::scalar().matmul_f32(&inputs, weights, &mut outs[0]);
        Cpu::detect().matmul_f32(&inputs, weights, &mut outs[1]);
        for (index, (scalar, vector)) in outs[0].iter().zip(&outs[1]).enumerate() {
            let input = &inputs[index / rows * width..][..width];
            let alone = Cpu::detect().dot_f32(weights.row(index % rows), input);
            prop_assert!((scalar - vector).abs() < 1e-2 && (alone - vector).abs() < 1e-2);
        }
    }

    #[test]
    fn the_twins_of_the_quantised_product_give_the_same_bits(
        (q4, q8, inputs, width) in products()
    ) {
        for matrix in [q4_1(&q4, width).unwrap(), q8_0(&q8, width).unwrap()] {
            let results = [Cpu::scalar(), Cpu::detect()].map(|cpu| {
                let mut out = vec![0.0; inputs.len() / width * matrix.rows()];
                matrix.mul(cpu, &Blocks::quantize(cpu, &inputs, width), &mut out);
                bits(&out)
            });
            prop_assert_eq!(&results[0], &results[1]);
        }
    }

    #[test]
    fn a_token_gives_the_same_bits_alone_and_among_others((q4, q8, inputs, width) in products()) {
        let cpu = Cpu::detect();
        for matrix in [q4_1(&q4, width).unwrap(), q8_0(&q8, width).unwrap()] {
            let mut together = vec![0.0; inputs.len() / width * matrix.rows()];
            matrix.mul(cpu, &Blocks::quantize(cpu, &inputs, width), &mut together);
            for (input, expected) in inputs.chunks(width).zip(together.chunks(matrix.rows())) {
                let mut alone = vec![0.0; matrix.rows()];
                matrix.mul(cpu, &Blocks::quantize(cpu, input, width), &mut alone);
                prop_assert_eq!(bits(&alone), bits(expected));
            }
        }
    }

    #[test]
    fn the_quantised_product_is_the_product_up_to_rounding((q4, q8, inputs, width) in products()) {
        let cpu = Cpu::detect();
        for matrix in [q4_1(&q4, width).unwrap(), q8_0(&q8, width).unwrap()] {
            let mut out = vec![0.0; inputs.len() / width * matrix.rows()];
            matrix.mul(cpu, &Blocks::quantize(cpu, &inputs, width), &mut out);
            for (index, product) in out.iter().enumerate() {
                let mut row = vec![0.0; width];
                matrix.decode(index % matrix.rows(), &mut row);
                let input = &inputs[index / matrix.rows() * width..][..width];
                let exact = cpu.dot_f32(&row, input);
                // Half a step of rounding (8 / 127 / 2) for every weight.
                let slack: f32 = row.iter().map(|weight| weight.abs()).sum::<f32>() * 0.032;
                prop_assert!((product - exact).abs() <= slack + 1e-3, "{product} {exact}");
            }
        }
    }

    #[test]
    fn any_bytes_make_a_matrix_or_none(bytes in vec(any::<u8>(), 0..400), width in 0usize..130) {
        for matrix in [q4_1(&bytes, width), q8_0(&bytes, width)].into_iter().flatten() {
            let mut out = vec![0.0; matrix.rows() * 2];
            let inputs = vec![1.0; matrix.width() * 2];
            let cpu = Cpu::detect();
            matrix.mul(cpu, &Blocks::quantize(cpu, &inputs, matrix.width()), &mut out);
            matrix.decode(0, &mut vec![0.0; matrix.width()]);
        }
    }

    #[test]
    fn any_numbers_can_be_rounded(bits in vec(any::<u32>(), BLOCK * 2)) {
        let wild: Vec<f32> = bits.into_iter().map(f32::from_bits).collect();
        for cpu in [Cpu::scalar(), Cpu::detect()] {
            let blocks = Blocks::quantize(cpu, &wild, BLOCK);
            prop_assert!(blocks.row(0).codes[0].iter().all(|code| *code != i8::MIN));
        }
    }

    #[test]
    fn the_twins_of_attention_give_the_same_bits(
        query in numbers(20), keys in numbers(24 * 9), values in numbers(24 * 9),
        gate in numbers(37), up in numbers(37),
    ) {
        let results = [Cpu::scalar(), Cpu::detect()].map(|cpu| {
            let (mut out, mut gate) = (vec![0.0; 20], gate.clone());
            let attention = Attention {
                query: &query, keys: &keys, values: &values, stride: 24, count: 9, scale: 0.3,
            };
            attention.attend(cpu, &mut Vec::new(), &mut out);
            swiglu(cpu, &mut gate, &up);
            (bits(&out), bits(&gate))
        });
        prop_assert_eq!(&results[0], &results[1]);
    }

    #[test]
    fn exp_is_close_to_the_exact_one(x in -80f32..80.0) {
        let exact = f64::from(x).exp();
        prop_assert!((f64::from(exp(x)) - exact).abs() / exact < 3e-7);
    }
}

#[test]
fn attention_to_one_key_is_its_value() {
    let attention = Attention {
        query: &[1.0, 2.0],
        keys: &[0.5, 0.5],
        values: &[3.0, -4.0],
        stride: 2,
        count: 1,
        scale: 1.0,
    };
    let mut out = [0.0; 2];
    attention.attend(Cpu::detect(), &mut Vec::new(), &mut out);
    assert_eq!(out, [3.0, -4.0]);
}

#[test]
fn halves_are_read_as_the_standard_says() {
    let cases = [
        (0x0000u16, 0.0),
        (0x3c00, 1.0),
        (0xc000, -2.0),
        (0x3555, 0.333_251_95),
        (0x7bff, 65_504.0),
        (0x0400, 6.103_515_6e-5),
        (0x0001, 5.960_464_5e-8),
        (0x8001, -5.960_464_5e-8),
        (0x7c00, f32::INFINITY),
        (0xfc00, f32::NEG_INFINITY),
    ];
    for (bits, expected) in cases {
        assert_eq!(half(bits.to_le_bytes()), expected, "{bits:#06x}");
    }
    assert!(half(0x7e00u16.to_le_bytes()).is_nan());
    assert_eq!(half(0x8000u16.to_le_bytes()).to_bits(), (-0.0f32).to_bits());
}

#[test]
fn tokens_of_another_width_give_zeros() {
    let matrix = q8_0(&[1; Q8_0_BYTES], BLOCK).unwrap();
    let mut out = [5.0];
    let cpu = Cpu::detect();
    matrix.mul(cpu, &Blocks::quantize(cpu, &[1.0; 64], 64), &mut out);
    assert_eq!(out, [0.0]);
}
