//! Elementwise functions, comparisons and their gradients on a GPU against the CPU.

#[path = "gpu/agree.rs"]
mod agree;
#[path = "gpu/closely.rs"]
mod closely;

use agree::agree;
use closely::{EQUAL, Within, closely};
use engine_room::rng::Generator;
use engine_room::{DType, Tensor};

const FLOATS: [DType; 3] = [DType::F32, DType::F16, DType::BF16];
const INTEGERS: [DType; 3] = [DType::I64, DType::I32, DType::U8];

/// Sizes at the limits of a warp and of a block.
const SIZES: [usize; 7] = [0, 1, 31, 32, 33, 1023, 1025];

/// Of functions whose two versions are each within two units in the last place, in `f32`; rounded
/// to a half type the results are equal or neighbours. The least is a few subnormal numbers, of
/// which the CPU's `exp` and its kin lose some.
fn rounding(dtype: DType) -> Within {
    match dtype {
        DType::F32 => Within { share: 6e-7, least: 1e-37 },
        DType::F16 => Within { share: 1e-3, least: 6e-8 },
        _ => Within { share: 8e-3, least: 1e-37 },
    }
}

/// Where functions change: ties of rounding, limits of the types, signed zeros, infinity, NaN.
const EDGES: [f32; 32] = [
    0.0,
    -0.0,
    0.5,
    -0.5,
    1.0,
    -1.0,
    1.5,
    -1.5,
    2.5,
    -2.5,
    3.0,
    -7.0,
    1e-3,
    -1e-3,
    1e-40,
    -1e-40,
    1e-20,
    -1e-20,
    88.7,
    -88.7,
    20.5,
    -20.5,
    104.0,
    -104.0,
    128.0,
    -149.5,
    1e5,
    3e38,
    -3e38,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
];

/// All edges, then normal numbers of several sizes, in random order.
fn sample(count: usize, generator: &mut Generator) -> Tensor {
    let scales = [1.0, 1.0, 10.0, 0.01, 1000.0];
    let mut values: Vec<f32> = EDGES.to_vec();
    values.extend((EDGES.len()..count).map(|i| generator.normal() * scales[i % scales.len()]));
    let order = generator.permutation(values.len());
    let values = order.into_iter().map(|i| values[i]).take(count).collect();
    Tensor::from_vec(values, &[count])
}

/// Integers of a type: small ones, of both signs if it has them, and those at its ends.
fn integers(count: usize, dtype: DType, generator: &mut Generator) -> Tensor {
    let ends = match dtype {
        DType::I64 => [i64::MIN, i64::MAX],
        DType::I32 => [i32::MIN.into(), i32::MAX.into()],
        _ => [0, 255],
    };
    let low = if dtype == DType::U8 { 0 } else { -9 };
    let mut draw = |i: usize| match i % 5 {
        4 => ends[generator.below(2)],
        _ => low + generator.below(19) as i64,
    };
    Tensor::from_vec((0..count).map(&mut draw).collect(), &[count]).to(dtype)
}

type OfOne = (&'static str, fn(&Tensor) -> Tensor);

const EXACT: [OfOne; 17] = [
    ("neg", Tensor::neg),
    ("abs", Tensor::abs),
    ("sign", Tensor::sign),
    ("sqrt", Tensor::sqrt),
    ("rsqrt", Tensor::rsqrt),
    ("reciprocal", Tensor::reciprocal),
    ("floor", Tensor::floor),
    ("ceil", Tensor::ceil),
    ("round", Tensor::round),
    ("trunc", Tensor::trunc),
    ("relu", Tensor::relu),
    ("leaky_relu", |x| x.leaky_relu(0.01)),
    ("add_scalar", |x| x.add_scalar(0.3)),
    ("mul_scalar", |x| x.mul_scalar(-0.3)),
    ("div_scalar", |x| x.div_scalar(0.3)),
    ("clamp", |x| x.clamp(-1.5, 2.0)),
    ("square", Tensor::square),
];

const ROUNDED: [OfOne; 18] = [
    ("exp", Tensor::exp),
    ("exp2", Tensor::exp2),
    ("expm1", Tensor::expm1),
    ("log", Tensor::log),
    ("log2", Tensor::log2),
    ("log1p", Tensor::log1p),
    ("sin", Tensor::sin),
    ("cos", Tensor::cos),
    ("tanh", Tensor::tanh),
    ("erf", Tensor::erf),
    ("sigmoid", Tensor::sigmoid),
    ("logsigmoid", Tensor::logsigmoid),
    ("silu", Tensor::silu),
    ("softplus", |x| x.softplus(2.0, 20.0)),
    ("pow 2.5", |x| x.pow_scalar(2.5)),
    ("pow -3", |x| x.pow_scalar(-3.0)),
    ("pow 0", |x| x.pow_scalar(0.0)),
    ("rsqrt by pow", |x| x.pow_scalar(-0.5).add(&x.pow_scalar(-1)).add(&x.pow_scalar(-2))),
];

#[test]
fn functions_of_one_float() {
    let mut generator = Generator::new(801);
    for dtype in FLOATS {
        let x = [sample(2000, &mut generator).to(dtype)];
        for (name, f) in EXACT {
            closely(name, &x, EQUAL, |x| f(&x[0]));
        }
        for (name, f) in ROUNDED {
            closely(name, &x, rounding(dtype), |x| f(&x[0]));
        }
        // 1 + erf x loses what is small, so that the least is that of numbers near 1.
        let within = Within { least: 1e-6, ..rounding(dtype) };
        closely("gelu", &x, within, |x| x[0].gelu());
        closely("gelu_tanh", &x, within, |x| x[0].gelu_tanh());
    }
}

#[test]
fn functions_of_one_integer() {
    let mut generator = Generator::new(802);
    let functions: [OfOne; 9] = [
        ("abs", Tensor::abs),
        ("neg", Tensor::neg),
        ("sign", Tensor::sign),
        ("bitwise_not", Tensor::bitwise_not),
        ("add_scalar", |x| x.add_scalar(200)),
        ("mul_scalar", |x| x.mul_scalar(7)),
        ("clamp", |x| x.clamp(3, 100)),
        ("cube", |x| x.pow_scalar(3)),
        ("pow 0", |x| x.pow_scalar(0)),
    ];
    for dtype in INTEGERS {
        let x = [integers(1025, dtype, &mut generator)];
        for (name, f) in functions {
            closely(name, &x, EQUAL, |x| f(&x[0]));
        }
    }
    let x = [Tensor::randint(0, 2, &[77], &mut generator).to(DType::Bool)];
    for c in [false, true] {
        closely("add_scalar", &x, EQUAL, |x| x[0].add_scalar(c));
        closely("mul_scalar", &x, EQUAL, |x| x[0].mul_scalar(c));
    }
    closely("logical_not", &x, EQUAL, |x| x[0].logical_not());
    closely("clamp", &x, EQUAL, |x| x[0].clamp(true, true));
}

type OfTwo = (&'static str, fn(&Tensor, &Tensor) -> Tensor);

const OF_TWO: [OfTwo; 9] = [
    ("add", Tensor::add),
    ("sub", Tensor::sub),
    ("mul", Tensor::mul),
    ("div", Tensor::div),
    ("maximum", Tensor::maximum),
    ("minimum", Tensor::minimum),
    ("floor_divide", Tensor::floor_divide),
    ("trunc_divide", Tensor::trunc_divide),
    ("remainder", Tensor::remainder),
];

const COMPARISONS: [OfTwo; 6] = [
    ("eq", Tensor::eq),
    ("ne", Tensor::ne),
    ("lt", Tensor::lt),
    ("le", Tensor::le),
    ("gt", Tensor::gt),
    ("ge", Tensor::ge),
];

/// Each edge beside each other one, and random pairs.
fn pairs(generator: &mut Generator) -> [Tensor; 2] {
    let edges = Tensor::from_vec(EDGES.to_vec(), &[EDGES.len()]);
    let (rows, columns) = (edges.unsqueeze(1).expand(&[32, 32]), edges.expand(&[32, 32]));
    let random = [sample(1025, generator), sample(1025, generator)];
    [[rows, random[0].clone()], [columns, random[1].clone()]]
        .map(|[all, random]| Tensor::cat(&[&all.reshape(&[1024]), &random], 0))
}

#[test]
fn functions_of_two_floats() {
    let mut generator = Generator::new(803);
    for dtype in FLOATS {
        let x = pairs(&mut generator).map(|x| x.to(dtype));
        for (name, f) in OF_TWO {
            closely(name, &x, EQUAL, |x| f(&x[0], &x[1]));
        }
        closely("pow", &x, rounding(dtype), |x| x[0].pow(&x[1]));
    }
}

#[test]
fn functions_of_two_integers() {
    let mut generator = Generator::new(804);
    for dtype in INTEGERS {
        let x = [0; 2].map(|_| integers(1025, dtype, &mut generator));
        // A divisor of 0 is refused; the quotient of two integers is a float.
        let divisor = x[1].masked_fill(&x[1].eq_scalar(0), 5);
        let divided = [x[0].clone(), divisor];
        for (name, f) in &OF_TWO[6..] {
            closely(name, &divided, EQUAL, |x| f(&x[0], &x[1]));
        }
        for (name, f) in OF_TWO[..6].iter().filter(|row| row.0 != "div") {
            closely(name, &x, EQUAL, |x| f(&x[0], &x[1]));
        }
        let bits: [OfTwo; 4] = [
            ("pow", Tensor::pow),
            ("and", Tensor::bitwise_and),
            ("or", Tensor::bitwise_or),
            ("xor", Tensor::bitwise_xor),
        ];
        for (name, f) in bits {
            closely(name, &x, EQUAL, |x| f(&x[0], &x[1]));
        }
    }
    let x = [0; 2].map(|_| Tensor::randint(0, 2, &[77], &mut generator).to(DType::Bool));
    let of_bool: [OfTwo; 7] = [
        ("add", Tensor::add),
        ("mul", Tensor::mul),
        ("maximum", Tensor::maximum),
        ("minimum", Tensor::minimum),
        ("and", Tensor::logical_and),
        ("or", Tensor::logical_or),
        ("xor", Tensor::logical_xor),
    ];
    for (name, f) in of_bool.into_iter().chain(COMPARISONS) {
        closely(name, &x, EQUAL, |x| f(&x[0], &x[1]));
    }
}

#[test]
fn comparisons() {
    let mut generator = Generator::new(805);
    for (name, f) in COMPARISONS {
        for dtype in [DType::F64].into_iter().chain(FLOATS) {
            let x = pairs(&mut generator).map(|x| x.to(dtype));
            closely(name, &x, EQUAL, |x| f(&x[0], &x[1]));
        }
        for dtype in INTEGERS {
            let x = [0; 2].map(|_| integers(1025, dtype, &mut generator));
            closely(name, &x, EQUAL, |x| f(&x[0], &x[1]));
        }
    }
    let x = [sample(100, &mut generator)];
    closely("isfinite", &x, EQUAL, |x| x[0].isfinite());
    closely("gt_scalar", &x, EQUAL, |x| x[0].gt_scalar(1));
}

/// Two views of the inputs that broadcast.
type Views = fn(&[Tensor]) -> [Tensor; 2];

#[test]
fn every_size_and_view() {
    let mut generator = Generator::new(806);
    for count in SIZES {
        let x = [0; 2].map(|_| sample(count, &mut generator));
        closely("neg", &x, EQUAL, |x| x[0].neg());
        closely("add", &x, EQUAL, |x| x[0].add(&x[1]));
        closely("lt", &x, EQUAL, |x| x[0].lt(&x[1]));
    }
    let x = [[33, 65, 5], [5, 33, 65]].map(|shape| Tensor::randn(&shape, &mut generator));
    let views: [Views; 5] = [
        |x| [x[0].clone(), x[1].permute(&[1, 2, 0])],
        |x| [x[0].slice(1, 3, 65, 2), x[1].permute(&[1, 2, 0]).slice(1, 0, 62, 2)],
        |x| [x[0].clone(), x[1].select(0, 2).unsqueeze(2)],
        |x| [x[0].narrow(1, 5, 1), x[1].narrow(2, 2, 1).transpose(0, 1)],
        |x| [x[0].select(2, 1).transpose(0, 1), x[1].select(1, 1).select(0, 0).unsqueeze(1)],
    ];
    for view in views {
        agree("exp", &x, 1e-6, |x| view(x)[0].exp());
        agree("tanh", &x, 1e-6, |x| view(x)[1].tanh());
        closely("mul", &x, EQUAL, |x| view(x)[0].mul(&view(x)[1]));
        closely("ge", &x, EQUAL, |x| view(x)[0].ge(&view(x)[1]));
    }
    let x = [Tensor::randn(&[2, 3, 2, 3, 2, 3, 2, 3], &mut generator)];
    let turned = |x: &Tensor| x.permute(&[6, 1, 4, 3, 2, 5, 0, 7]).slice(3, 0, 3, 2);
    closely("sub", &x, EQUAL, |x| turned(&x[0]).sub(&x[0].slice(3, 1, 3, 1)));
    closely("neg", &[Tensor::scalar(3.0)], EQUAL, |x| x[0].neg());
}

/// The gradient of x from a given gradient of f(x).
fn gradient(x: &Tensor, dy: &Tensor, f: impl Fn(&Tensor) -> Tensor) -> Tensor {
    let x = x.detach().requires_grad_(true);
    f(&x).backward_with(dy);
    x.grad().expect("it asked for one")
}

#[test]
fn gradients() {
    let mut generator = Generator::new(807);
    let activations: [OfOne; 3] =
        [("gelu", Tensor::gelu), ("gelu_tanh", Tensor::gelu_tanh), ("silu", Tensor::silu)];
    for dtype in FLOATS {
        // Sums of terms of both signs: so the least is that of numbers near 1.
        let within = Within { least: 3e-6, ..rounding(dtype) };
        let x = [0; 2].map(|_| Tensor::randn(&[1025], &mut generator).to(dtype));
        for (name, f) in EXACT.iter().chain(&ROUNDED).chain(&activations) {
            // Near a place where the gradient is infinite, all that is left of x is rounding.
            let positive = |x: &Tensor| x.abs().add_scalar(0.1);
            closely(name, &x, within, |x| gradient(&positive(&x[0]), &x[1], f));
        }
        for (name, f) in activations {
            closely(name, &x, within, |x| gradient(&x[0], &x[1], f));
        }
        for (name, f) in OF_TWO.iter().filter(|row| !row.0.ends_with("_divide")) {
            closely(name, &x, within, |x| gradient(&x[0], &x[1], |a| f(a, &x[1])));
        }
    }
    // 0 times infinity would be NaN.
    let x = Tensor::from_vec(vec![-1.0f32, 0.0, 2.0, f32::NAN], &[4]);
    let dy = Tensor::from_vec(vec![f32::INFINITY, f32::NAN, 3.0, 1.0], &[4]);
    closely("relu", &[x, dy], EQUAL, |x| gradient(&x[0], &x[1], Tensor::relu));
}
