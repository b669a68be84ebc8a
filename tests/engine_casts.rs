//! Casts between types of elements: for every ordered pair against PyTorch 2.9.1
//! (golden/dtypes.json), and from their definitions the ones that PyTorch leaves undefined and
//! every number and every tie of the half types.

#[path = "engine/typed.rs"]
mod typed;

use std::collections::BTreeSet;

use engine_room::{DType, Tensor, bf16, f16};
use serde_json::Value;
use typed::{compare, list, named};

/// A tensor with the elements of `x` at every second place of the storage.
fn spread(x: &Tensor) -> Tensor {
    let n = x.numel();
    let twice = x.view(&[n, 1]).expand(&[n, 2]).copy();
    twice.select(1, 1).copy_(&x.flip(&[0]));
    twice.select(1, 0)
}

/// All at once, each alone, and through views with strides 2 and 0.
#[test]
fn every_cast_agrees_with_pytorch() {
    let file: Value = serde_json::from_str(include_str!("golden/dtypes.json")).expect("JSON");
    let (mut pairs, mut faults) = (BTreeSet::new(), Vec::new());
    for cast in file["casts"].as_array().expect("a list") {
        let text = |key: &str| cast[key].as_str().expect("a string");
        let (from, to) = (named(text("from")), named(text("to")));
        let (x, y) = (list(text("x"), from), list(text("y"), to));
        let what = format!("{from} to {to}");
        assert!(pairs.insert(what.clone()), "{what} twice");
        faults.extend(compare(&what, &x.to(to), &y, 0.0));
        faults.extend(compare(&what, &spread(&x).to(to), &y, 0.0));
        for at in 0..x.numel() {
            let (x, y) = (x.narrow(0, at, 1), y.narrow(0, at, 1));
            faults.extend(compare(&format!("{what}: {x}"), &x.to(to), &y, 0.0));
            let (x, y) = (x.expand(&[5]), y.expand(&[5]));
            faults.extend(compare(&format!("{what}: {x}"), &x.to(to), &y, 0.0));
        }
    }
    assert_eq!(pairs.len(), 56, "every ordered pair of types");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The rule: towards zero; beyond the range the nearest end of it; 0 for NaN.
fn saturated(x: f64, (low, high): (i64, i64)) -> i64 {
    match x {
        x if x.is_nan() => 0,
        x if x >= high as f64 => high,
        x if x <= low as f64 => low,
        x => x.trunc() as i64,
    }
}

const UNFIT: [f64; 20] = [
    f64::NAN,
    1e10,
    -1.0,
    300.0,
    f64::INFINITY,
    255.9,
    -0.5,
    256.0,
    f64::NEG_INFINITY,
    -128.7,
    2147483648.0,
    -2147483649.0,
    9.3e18,
    -9.3e18,
    1e300,
    -1e300,
    3.99,
    -3.99,
    2147483647.5,
    65504.0,
];

#[test]
fn floats_saturate_in_integers_at_every_length_and_through_every_view() {
    let ranges = [
        (DType::I64, (i64::MIN, i64::MAX)),
        (DType::I32, (i32::MIN.into(), i32::MAX.into())),
        (DType::U8, (0, 255)),
    ];
    for from in [DType::F64, DType::F32, DType::F16, DType::BF16] {
        for (n, start) in [1, 4, 33, 1000].into_iter().flat_map(|n| (0..20).map(move |at| (n, at)))
        {
            let values = UNFIT.iter().cycle().skip(start).take(n).copied().collect();
            let x = Tensor::from_vec(values, &[n]).to(from);
            let stored: Vec<f64> = x.to(DType::F64).to_vec();
            let (strided, columns) = (spread(&x), x.expand(&[3, n]).transpose(0, 1));
            for (to, range) in ranges {
                let want: Vec<i64> = stored.iter().map(|&x| saturated(x, range)).collect();
                let cast = |x: &Tensor| x.to(to).to(DType::I64).to_vec::<i64>();
                assert_eq!(cast(&x), want, "{from} to {to}, {n} from {start}");
                assert_eq!(cast(&strided), want, "{from} to {to}, {n} from {start}, stride 2");
                let repeated: Vec<i64> = want.iter().flat_map(|&x| [x; 3]).collect();
                assert_eq!(cast(&columns), repeated, "{from} to {to}, {n} from {start}, columns");
            }
        }
    }
}

/// The number that 16 bits stand for: a sign, an exponent, and a fraction of `fraction` bits. The
/// pattern of infinity gives the number that would follow the largest one.
fn decoded(bits: u16, fraction: i32) -> f64 {
    let exponent = i32::from(bits & 0x7FFF) >> fraction;
    let rest = f64::from((bits & 0x7FFF) & ((1 << fraction) - 1)) * 2f64.powi(-fraction);
    let bias = (1 << (14 - fraction)) - 1;
    let size = match exponent {
        0 => rest * 2f64.powi(1 - bias),
        _ => (1.0 + rest) * 2f64.powi(exponent - bias),
    };
    if bits >> 15 == 1 { -size } else { size }
}

/// Every two neighbours of a half type: halfway between them the even one is the nearest, and one
/// `f32` further on the next one. `to_bits` casts numbers to that type.
fn check_every_tie(fraction: i32, infinity: u16, to_bits: impl Fn(Vec<f32>) -> Vec<u16>) {
    let (mut x, mut want) = (Vec::new(), Vec::new());
    for sign in [0, 0x8000] {
        for low in (0..infinity).map(|bits| bits | sign) {
            let middle = (decoded(low, fraction) + decoded(low + 1, fraction)) / 2.0;
            let middle = middle as f32;
            let (inner, outer) = match sign {
                0 => (middle.next_down(), middle.next_up()),
                _ => (middle.next_up(), middle.next_down()),
            };
            x.extend([decoded(low, fraction) as f32, inner, middle, outer]);
            want.extend([low, low, low + (low & 1), low + 1]);
        }
    }
    let got = to_bits(x.clone());
    for (at, x) in x.iter().enumerate() {
        assert_eq!(got[at], want[at], "{x:e}: {:#06x}, not {:#06x}", got[at], want[at]);
    }
}

#[test]
fn every_tie_of_f16_goes_to_the_even_neighbour() {
    let cast = |x: Vec<f32>| Tensor::from_vec(x.clone(), &[x.len()]).to(DType::F16).to_vec::<f16>();
    check_every_tie(10, 0x7C00, |x| cast(x).into_iter().map(f16::to_bits).collect());
}

#[test]
fn every_tie_of_bf16_goes_to_the_even_neighbour() {
    let cast =
        |x: Vec<f32>| Tensor::from_vec(x.clone(), &[x.len()]).to(DType::BF16).to_vec::<bf16>();
    check_every_tie(7, 0x7F80, |x| cast(x).into_iter().map(bf16::to_bits).collect());
}

/// All 65,536 patterns, to both wider types. NaN stays NaN.
#[test]
fn every_number_of_a_half_type_is_the_same_in_a_wider_one() {
    let bits: Vec<u16> = (0..=u16::MAX).collect();
    let x = Tensor::from_vec(bits.iter().copied().map(f16::from_bits).collect(), &[65536]);
    let y = Tensor::from_vec(bits.iter().copied().map(bf16::from_bits).collect(), &[65536]);
    for (x, fraction, infinity) in [(x, 10, 0x7C00), (y, 7, 0x7F80)] {
        let f64s: Vec<f64> = x.to(DType::F64).to_vec();
        let f32s: Vec<f32> = x.to(DType::F32).to_vec();
        for (&bits, (&wide, &single)) in bits.iter().zip(f64s.iter().zip(&f32s)) {
            let right = |got: f64| match (bits & 0x7FFF).cmp(&infinity) {
                std::cmp::Ordering::Less => got.to_bits() == decoded(bits, fraction).to_bits(),
                std::cmp::Ordering::Equal => got == f64::INFINITY.copysign(decoded(bits, fraction)),
                std::cmp::Ordering::Greater => got.is_nan(),
            };
            assert!(right(wide) && right(single.into()), "{bits:#06x}: {wide}, {single}");
        }
    }
}
