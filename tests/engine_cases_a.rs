//! Given cases of area A, creation, types and casts: real reports about PyTorch-like libraries with
//! a definite right answer, named by id. Beside each, more inputs of its kind. Numbers without a
//! word of explanation are the case's, or follow from the definition; other ones say so.

#[path = "engine/refused.rs"]
mod refused;
#[path = "engine/typed.rs"]
mod typed;

use engine_room::{DType, Misuse, Tensor, f16};
use refused::refused;
use typed::{compare, list, named};

use DType::{BF16, Bool, F16, F32, F64, I32, I64, U8};

const FLOATS: [DType; 4] = [F64, F32, F16, BF16];
const NAN: f32 = f32::NAN;

/// The type, the shape and every bit.
#[track_caller]
fn is(got: &Tensor, want: &Tensor) {
    assert_eq!(compare("", got, want, 0.0), None);
}

/// As `is`, with the elements of `got` under any shape.
#[track_caller]
fn holds(got: &Tensor, dtype: DType, words: &str) {
    is(got, &list(words, dtype).reshape(got.shape()));
}

/// One number, repeated with stride 0.
fn filled(shape: &[usize], value: f64, dtype: DType) -> Tensor {
    Tensor::from_vec(vec![value], &[]).to(dtype).expand(shape)
}

#[test]
fn a01_mean_of_many_f16() {
    let ones = filled(&[100_000], 1.0, F16).copy();
    holds(&ones.mean(), F16, "1");
    holds(&ones.mean_dims(&[0], true), F16, "1");
    let leaf = ones.requires_grad_(true);
    leaf.mean().backward();
    // PyTorch's: 1 / 100000 as f16.
    holds(&leaf.grad().expect("a gradient").narrow(0, 99_998, 2), F16, "1.0014e-5 1.0014e-5");
    for dtype in [F16, BF16] {
        for value in [1.0, 3.0, -0.5, 60_000.0] {
            let want = filled(&[2], value, dtype);
            let rows = filled(&[2, 70_000], value, dtype);
            is(&rows.mean_dims(&[1], false), &want);
            is(&rows.copy().mean_dims(&[1], false), &want);
            is(&rows.transpose(0, 1).mean_dims(&[0], false), &want);
            is(&rows.transpose(0, 1).copy().mean_dims(&[0], false), &want);
            let deep = filled(&[300, 2, 300], value, dtype).copy();
            is(&deep.mean_dims(&[0, 2], false), &want);
        }
    }
}

/// Of ones, the sum times a rounded 1 / n is not 1 for n = 41 in f32 and n = 49 in f64.
#[test]
fn a01_ones_have_mean_one_for_every_count() {
    for dtype in FLOATS {
        for n in 1..=300 {
            holds(&filled(&[n], 1.0, dtype).mean(), dtype, "1");
            holds(&filled(&[n, 1], 3.0, dtype).mean_dims(&[0], false), dtype, "3");
        }
        holds(&filled(&[0], 1.0, dtype).mean(), dtype, "nan");
        holds(&filled(&[0, 2], 1.0, dtype).mean_dims(&[0], false), dtype, "nan nan");
    }
    assert_eq!(refused(|| filled(&[2], 1.0, I64).mean()).op, "mean");
}

#[test]
fn a03_half_sums_need_a_wider_accumulator() {
    let signs = list("32000 32000 32000 32000 -32000 -32000 -32000 -32000", F16);
    holds(&signs.sum_dims(&[0], false), F16, "0");
    holds(&filled(&[4096], 1.0, F16).copy().sum(), F16, "4096");
    holds(&filled(&[4096, 2], 1.0, F16).copy().sum_dims(&[0], false), F16, "4096 4096");
    holds(&filled(&[1000], 1.0, BF16).copy().sum(), BF16, "1000");
    holds(&filled(&[1000], 0.1, BF16).copy().sum(), BF16, "100");
}

/// The same along every dimension, through views, and in what else adds up.
#[test]
fn a03_every_path_accumulates_wide() {
    // 40000 + 40000 is no f16, but the sum of the three is one.
    let x = list("40000 40000 -40000", F16);
    let wide = x.expand(&[2, 3]);
    for (x, dim) in [(wide.clone(), 1), (wide.copy(), 1), (wide.transpose(0, 1), 0)] {
        holds(&x.sum_dims(&[dim], false), F16, "40000 40000");
        holds(&x.copy().transpose(0, 1).sum_dims(&[1 - dim], true), F16, "40000 40000");
        holds(&x.cumsum(dim).select(dim, 2), F16, "40000 40000");
        holds(&x.cumsum(dim).select(dim, 1), F16, "inf inf");
    }
    holds(&list("65504 65504", F16).sum(), F16, "inf");
    for (dtype, n, want) in [(F16, 4096, "4096"), (BF16, 1000, "1000"), (F32, 1 << 20, "1048576")] {
        let ones = filled(&[n], 1.0, dtype);
        holds(&ones.sum(), dtype, want);
        holds(&ones.view(&[n, 1]).sum_dims(&[0], false), dtype, want);
        holds(&ones.cumsum(0).select(0, -1), dtype, want);
        holds(&ones.matmul(&ones), dtype, want);
        holds(&ones.softmax(0).sum(), dtype, "1");
    }
    // f32 ones stop at 2^24 where an f32 counts them one by one.
    for shape in [&[1 << 25][..], &[1 << 24, 2], &[2, 1 << 24]] {
        holds(&filled(shape, 1.0, F32).sum(), F32, "33554432");
    }
    holds(&filled(&[1 << 25, 1], 1.0, F32).sum_dims(&[0], false), F32, "33554432");
    let column = list("200 200 -200 -200", F16).view(&[4, 1]).expand(&[4, 2]).reshape(&[8]);
    holds(&filled(&[8], 200.0, F16).matmul(&column), F16, "0");
    // PyTorch's: 100,000 equal maxima share the gradient, and no f16 can count them.
    let leaf = filled(&[100_000], 1.0, F16).copy().requires_grad_(true);
    leaf.max_dims(&[], false).backward();
    holds(&leaf.grad().expect("a gradient").narrow(0, 0, 2), F16, "1.0014e-5 1.0014e-5");
}

/// Alone and beside others: where a vector kernel takes over must not show.
#[test]
fn a05_f32_to_f16_rounds_to_nearest_even() {
    let words = "65504 65519 65520 65536 -65520 1e-8 5.960464477539063e-8 2.9802322387695312e-8 \
                 2.9832124710083005e-8 6e-8 0.1";
    let right = "65504 65504 inf inf -inf 0 5.960464477539063e-8 0 5.960464477539063e-8 \
                 5.960464477539063e-8 0.0999755859375";
    for from in [F32, F64] {
        let (x, y) = (list(words, from), list(right, F16));
        is(&x.to(F16), &y);
        is(&x.neg().to(F16).neg(), &y);
        is(&x.view(&[11, 1]).expand(&[11, 3]).to(F16), &y.view(&[11, 1]).expand(&[11, 3]));
        (0..11).for_each(|at| is(&x.narrow(0, at, 1).to(F16), &y.narrow(0, at, 1)));
    }
    // What an operation rounds at its end follows the same rule.
    let (big, step) = (list("65504 65504 2048 2048 2048", F16), list("15 16 1 3 -1", F16));
    holds(&big.add(&step), F16, "65504 inf 2048 2052 2047");
    holds(&list("65504", F16).mul_scalar(1.0003), F16, "inf");
    assert_eq!(list("65504", F16).to_vec::<f16>(), [f16::MAX]);
}

#[test]
fn a07_f32_to_bf16_rounds_to_nearest_even() {
    let words = "0.2691408770292272 3.14 1e-8 1.00390625 1.01171875 3.4028234663852886e38 -0";
    let right = "0.26953125 3.140625 1.0011717677116394e-8 1 1.015625 inf -0";
    for from in [F32, F64] {
        let (x, y) = (list(words, from), list(right, BF16));
        is(&x.to(BF16), &y);
        is(&x.flip(&[0]).to(BF16).flip(&[0]), &y);
        (0..7).for_each(|at| is(&x.narrow(0, at, 1).to(BF16), &y.narrow(0, at, 1)));
    }
    let bits = [0x7F80_0001, 0x7FC0_0001, 0xFF80_0001, 0x7F80_FFFF, 0x7FFF_FFFF, 0xFFFF_FFFF];
    let nans = Tensor::from_vec(bits.map(f32::from_bits).to_vec(), &[6]);
    let bits = [0x7FF0_0000_0000_0001, 0xFFF0_0000_0000_0001, 0x7FF0_0000_1FFF_FFFF];
    let wide = Tensor::from_vec(bits.map(f64::from_bits).to_vec(), &[3]);
    for to in [F64, F32, F16, BF16] {
        holds(&nans.to(to), to, &["nan"; 6].join(" "));
        holds(&wide.to(to), to, "nan nan nan");
        let long = wide.view(&[3, 1]).expand(&[3, 11]).reshape(&[33]);
        holds(&long.to(to), to, &["nan"; 33].join(" "));
    }
}

#[test]
fn a09_sums_of_bytes_and_masks_widen() {
    holds(&filled(&[5000], 1.0, U8).copy().sum(), I64, "5000");
    holds(&filled(&[320], 1.0, Bool).copy().sum(), I64, "320");
    holds(&list("100 100 100", U8).prod_dims(&[], false), I64, "1000000");
    holds(&list("200 200 200", U8).cumsum(0), I64, "200 400 600");
    // Over each dimension, through views, of nothing, and of i32.
    for dtype in [U8, Bool, I32] {
        let x = filled(&[300, 2], 1.0, dtype);
        for x in [x.clone(), x.copy(), x.transpose(0, 1).copy().transpose(0, 1)] {
            holds(&x.sum_dims(&[0], false), I64, "300 300");
            holds(&x.sum_dims(&[0, 1], true), I64, "600");
            holds(&x.transpose(0, 1).sum_dims(&[-1], true), I64, "300 300");
            holds(&x.cumsum(0).select(0, 299), I64, "300 300");
            holds(&x.prod_dims(&[0], false), I64, "1 1");
        }
        holds(&filled(&[0], 1.0, dtype).sum(), I64, "0");
        holds(&filled(&[0, 2], 1.0, dtype).prod_dims(&[0], false), I64, "1 1");
        holds(&filled(&[3], 1.0, dtype).max_dims(&[0], false), dtype, "1");
    }
    holds(&list("2147483647 2147483647 2147483647", I32).sum(), I64, "6442450941");
    holds(&list("2147483647 2", I32).prod_dims(&[0], false), I64, "4294967294");
    holds(&Tensor::arange(1000).lt(&Tensor::scalar(320.0)).sum(), I64, "320");
    // Elementwise arithmetic keeps the type and wraps around.
    holds(&list("200 3 16", U8).add(&list("100 5 16", U8)), U8, "44 8 32");
    holds(&list("3 16", U8).mul(&list("100 16", U8)).sub(&list("45 1", U8)), U8, "255 255");
    holds(&list("2147483647", I32).add_scalar(1), I32, "-2147483648");
    holds(&list("-9223372036854775808", I64).neg(), I64, "-9223372036854775808");
}

#[test]
fn a11_three_integer_divisions() {
    for dtype in [I64, I32] {
        let (a, b) = (list("7 -7 7 -7", dtype), list("2 2 -2 -2", dtype));
        holds(&a.div(&b), F32, "3.5 -3.5 -3.5 3.5");
        holds(&a.floor_divide(&b), dtype, "3 -4 -4 3");
        holds(&a.trunc_divide(&b), dtype, "3 -3 -3 3");
        holds(&a.remainder(&b), dtype, "1 1 -1 -1");
        holds(&a.floor_divide(&list("-2", dtype)), dtype, "-4 3 -4 3");
        holds(&a.view(&[2, 2]).transpose(0, 1).floor_divide(&b.view(&[2, 2])), dtype, "3 3 3 3");
    }
    for dtype in FLOATS {
        let (a, b) = (list("7 -7 7 -7 0.5 -0.5", dtype), list("2 2 -2 -2 2 2", dtype));
        holds(&a.floor_divide(&b), dtype, "3 -4 -4 3 0 -1");
        holds(&a.trunc_divide(&b), dtype, "3 -3 -3 3 0 -0");
        holds(&a.remainder(&b), dtype, "1 1 -1 -1 0.5 1.5");
    }
    let (a, b) = (list("7 200 255", U8), list("2 3 255", U8));
    holds(&a.div(&b), F32, "3.5 66.666664 1");
    holds(&a.floor_divide(&b), U8, "3 66 1");
    holds(&a.remainder(&b), U8, "1 2 0");
    // Not by way of a floating-point type: 2^53 + 1 is no f64.
    let large = list("9007199254740993 -9007199254740993 9223372036854775807", I64);
    is(&large.floor_divide(&list("1", I64)), &large);
    holds(&large.remainder(&list("2", I64)), I64, "1 1 1");
    holds(&list("7 -7", I64).floor_divide(&list("2", F32)), F32, "3 -4");
    holds(&list("7 -7", I32).floor_divide(&list("2 2", I64)), I64, "3 -4");
    holds(&list("1 1 0", Bool).div(&list("1 0 1", Bool)), F32, "1 inf 0");
}

type Call = fn(&Tensor, &Tensor) -> Tensor;
const WHOLE: [(&str, Call); 3] = [
    ("floor_divide", Tensor::floor_divide),
    ("trunc_divide", Tensor::trunc_divide),
    ("remainder", Tensor::remainder),
];

#[test]
fn a13_integer_division_by_zero_fails_cleanly() {
    let floats = list("1 0 -1", F32);
    holds(&floats.div(&list("0 0 0", F32)), F32, "inf nan -inf");
    for (name, call) in WHOLE {
        for dtype in [I64, I32, U8] {
            let operands = [format!("{dtype} [1]"), format!("{dtype} [1]")];
            let refusal = refused(|| call(&list("1", dtype), &list("0", dtype)));
            assert_eq!((refusal.op, refusal.operands), (name, operands.to_vec()));
            // In a row, in a column, without dimensions, beside another type, expanded.
            let (x, zero) = (list("1 2 3 4 5 6", dtype).view(&[2, 3]), list("0", dtype));
            let wrong = [list("1 0 2", dtype), list("3 0", dtype).view(&[2, 1]), zero.select(0, 0)];
            for y in wrong.iter().chain([&list("1 2 0", U8), &zero.expand(&[2, 3])]) {
                let refusal: Misuse = refused(|| call(&x, y));
                assert_eq!((refusal.op, &refusal.operands[1]), (name, &y.brief()));
            }
            assert_eq!(call(&x.narrow(0, 0, 0), &list("0 0 0", dtype)).shape(), [0, 3]);
            let want = if dtype == U8 { "inf nan nan" } else { "inf nan -inf" };
            holds(&floats.to(dtype).div(&list("0 0 0", F32)), F32, want);
        }
        // PyTorch's: IEEE for floating-point types, and the remainder by 0 is NaN.
        let want = if name == "remainder" { "nan nan nan" } else { "inf nan -inf" };
        for dtype in FLOATS {
            holds(&call(&floats.to(dtype), &list("0", dtype)), dtype, want);
        }
    }
    holds(&list("1 0 -1", I64).div(&list("0 0 0", I64)), F32, "inf nan -inf");
}

/// The one quotient that does not fit wraps around, as the engine says; nothing stops the process.
#[test]
fn a13_the_lowest_integer_divided_by_minus_one() {
    for (dtype, lowest) in [(I64, "-9223372036854775808"), (I32, "-2147483648")] {
        let (x, y) = (list(lowest, dtype), list("-1", dtype));
        holds(&x.floor_divide(&y), dtype, lowest);
        holds(&x.trunc_divide(&y), dtype, lowest);
        holds(&x.remainder(&y), dtype, "0");
        assert_eq!(x.expand(&[33]).floor_divide(&y).shape(), [33]);
    }
}

#[test]
fn a15_nan_propagates() {
    for dtype in FLOATS {
        let (x, y) = (list("1 nan 3", dtype), list("nan 1 nan", dtype));
        holds(&x.max_dims(&[], false), dtype, "nan");
        holds(&x.min_dims(&[], false), dtype, "nan");
        holds(&x.argmax(0), I64, "1");
        holds(&x.argmin(0), I64, "1");
        holds(&x.clamp(0, 2), dtype, "1 nan 2");
        holds(&x.relu(), dtype, "1 nan 3");
        holds(&x.maximum(&list("0", dtype)), dtype, "1 nan 3");
        holds(&x.cummax(0).0, dtype, "1 nan nan");
        holds(&x.sort(0).0, dtype, "1 3 nan");
        holds(&y.argmax(0), I64, "0");
        holds(&list("0 0", dtype).clamp_min(&list("nan 1", dtype)), dtype, "nan 1");
        for (values, first) in [(x, "1"), (y, "0")] {
            let padded = filled(&[1000], 0.5, dtype).copy();
            padded.narrow(0, 0, 3).copy_(&values);
            holds(&padded.argmax(0), I64, first);
            holds(&padded.argmin(0), I64, first);
            holds(&padded.max_dims(&[], false), dtype, "nan");
            holds(&padded.min_dims(&[0], false), dtype, "nan");
        }
    }
}

/// One NaN at each place of short and long rows, in rows, in columns and repeated.
#[test]
fn a15_nan_at_every_place_of_every_layout() {
    for n in [1, 2, 5, 8, 9, 33, 130] {
        for at in 0..n {
            let x = filled(&[n], 0.5, F32).copy();
            x.select(0, at as isize).fill_(NAN);
            let row = x.expand(&[2, n]);
            let want = Tensor::from_vec(vec![at as i64; 2], &[2]);
            for (x, dim) in [(row.clone(), 1), (row.copy(), 1), (row.transpose(0, 1).copy(), 0)] {
                is(&x.argmax(dim), &want);
                is(&x.argmin(dim), &want);
                let dims = [dim];
                let all = [x.max_dims(&dims, false), x.min_dims(&dims, false)];
                let more = [x.sum_dims(&dims, false), x.mean_dims(&dims, false)];
                let rest = [x.prod_dims(&dims, false), x.cummax(dim).0.select(dim, -1)];
                let last = [x.sort(dim).0.select(dim, -1), x.softmax(dim).select(dim, 0)];
                for y in all.iter().chain(&more).chain(&rest).chain(&last) {
                    holds(y, F32, "nan nan");
                }
            }
            let zero = Tensor::scalar(0.0);
            let both = [x.maximum(&zero), zero.maximum(&x), x.minimum(&zero), zero.minimum(&x)];
            let more = [x.relu(), x.clamp(0, 1), x.clamp_min(&zero), x.neg(), x.tanh()];
            for y in both.into_iter().chain(more) {
                let nan: Vec<bool> = y.to_vec::<f32>().iter().map(|y| y.is_nan()).collect();
                assert!((0..n).all(|i| nan[i] == (i == at)), "{at} of {n}: {y}");
            }
        }
    }
}

/// The bound is NaN, several are, and what comes after one. Values of PyTorch 2.9.1.
#[test]
fn a15_more_of_its_kind() {
    holds(&list("1 5", F32).clamp(NAN, 2.0), F32, "nan nan");
    holds(&list("1 5", F32).clamp(0.0, NAN), F32, "nan nan");
    holds(&list("nan 2 0", F32).clamp_min(&list("1 nan 1", F32)), F32, "nan nan 1");
    let (values, places) = list("1 nan 5 nan 2", F32).cummax(0);
    holds(&values, F32, "1 nan nan nan nan");
    holds(&places, I64, "0 1 1 3 3");
    let (values, places) = list("nan 1 nan -1", F64).sort(0);
    holds(&values, F64, "-1 1 nan nan");
    holds(&places, I64, "3 1 0 2");
    let table = list("1 nan nan 2 nan 3", F32).view(&[3, 2]);
    holds(&table.argmax(0), I64, "1 0");
    holds(&table.argmin(1), I64, "1 0 0");
    holds(&list("nan -inf inf", F16).max_dims(&[0], false), F16, "nan");
    let (x, y) = (list("nan 1 nan", F32), list("nan nan 1", F32));
    holds(&x.eq(&y), Bool, "0 0 0");
    holds(&x.ne(&y), Bool, "1 1 1");
    holds(&x.le(&y), Bool, "0 0 0");
}

#[test]
fn a17_floats_to_integers() {
    holds(&list("2.7 -2.7 0.99 -0.99 2147483648", F32).to(I64), I64, "2 -2 0 0 2147483648");
    for (value, want) in [("-1", "0"), ("300", "255"), ("nan", "0"), ("1e10", "255")] {
        for n in [1, 4, 33] {
            let x = list(value, F32).expand(&[n]);
            for x in [x.clone(), x.copy(), x.to(F64), x.to(BF16)] {
                holds(&x.to(U8), U8, &vec![want; n].join(" "));
            }
        }
    }
    // Integers wrap around instead, whatever the length.
    for n in [1, 4, 33] {
        let x = list("-1 300 256 1000000", I64).view(&[4, 1]).expand(&[4, n]);
        let y = list("255 44 0 64", U8).view(&[4, 1]).expand(&[4, n]);
        is(&x.to(U8), &y);
        is(&x.to(I32).to(U8), &y);
    }
    // In place and by a fill the rule is the same.
    let bytes = list("1 2 3 4", U8);
    bytes.copy_(&list("-1 300 nan 2.7", F32));
    holds(&bytes, U8, "0 255 0 2");
}

#[test]
fn a19_floats_to_bool() {
    holds(&list("0.5 -0 nan 0 inf 1e-45", F32).to(Bool), Bool, "1 0 1 0 1 1");
    holds(&list("1", Bool).add(&list("1", Bool)), Bool, "1");
    holds(&list("1 0", Bool).to(F16), F16, "1 0");
    holds(&list("5e-324 -5e-324 0.1 -0", F64).to(Bool), Bool, "1 1 1 0");
    holds(&list("6e-8 -6e-8 -0 nan", F16).to(Bool), Bool, "1 1 0 1");
    holds(&list("1e-40 -inf 0", BF16).to(Bool), Bool, "1 1 0");
    // Nor by way of the low byte.
    holds(&list("256 65536 4294967296 0 -1", I64).to(Bool), Bool, "1 1 1 0 1");
    holds(&list("256 -65536", I32).to(Bool), Bool, "1 1");
    let (a, b) = (list("1 1 0 0", Bool), list("1 0 1 0", Bool));
    holds(&a.add(&b), Bool, "1 1 1 0");
    holds(&a.mul(&b), Bool, "1 0 0 0");
    holds(&a.maximum(&b), Bool, "1 1 1 0");
    holds(&a.lt(&b), Bool, "0 0 1 0");
    assert_eq!(refused(|| a.sub(&b)).op, "sub");
    assert_eq!(refused(|| a.neg()).op, "neg");
    for dtype in ["f64", "f32", "f16", "bf16", "i64", "i32", "u8"].map(named) {
        holds(&a.to(dtype), dtype, "1 1 0 0");
        holds(&a.add(&list("2", dtype)), dtype, "3 3 2 2");
    }
    let long = list("0.5 -0 nan", F32).view(&[3, 1]).expand(&[3, 33]).reshape(&[99]);
    holds(&long.to(Bool).sum(), I64, "66");
}
