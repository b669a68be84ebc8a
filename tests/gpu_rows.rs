//! Reductions, scans, softmax and layer normalisation on a GPU against the CPU.

#[path = "gpu/agree.rs"]
mod agree;

use agree::agree;
use engine_room::rng::Generator;
use engine_room::{DType, Tensor};

/// The types that are computed with, and how exact a result of normal numbers is.
const FLOATS: [(DType, f64); 3] = [(DType::F32, 3e-6), (DType::F16, 1e-3), (DType::BF16, 8e-3)];
const INTEGERS: [DType; 4] = [DType::I64, DType::I32, DType::U8, DType::Bool];

/// Lengths at the limits of a warp, of a short row and of a block.
const LENGTHS: [usize; 9] = [1, 2, 31, 32, 33, 255, 1023, 1025, 4100];

fn normal(shape: &[usize], dtype: DType, generator: &mut Generator) -> Tensor {
    Tensor::randn(shape, generator).to(dtype)
}

/// Small integers with many equal ones.
fn integers(shape: &[usize], dtype: DType, generator: &mut Generator) -> Tensor {
    let low = if dtype == DType::U8 || dtype == DType::Bool { 0 } else { -9 };
    Tensor::randint(low, if dtype == DType::Bool { 2 } else { 10 }, shape, generator).to(dtype)
}

/// Numbers in which each seventh is the value.
fn with(value: f32, shape: &[usize], generator: &mut Generator) -> Tensor {
    let numbers = Tensor::randn(shape, generator).to_vec::<f32>();
    let mixed = numbers.into_iter().enumerate().map(|(i, x)| if i % 7 == 3 { value } else { x });
    Tensor::from_vec(mixed.collect(), shape)
}

/// Every reduction to floating-point numbers, over some dimensions.
type Reduction = (&'static str, fn(&Tensor, &[isize]) -> Tensor);
const REDUCTIONS: [Reduction; 9] = [
    ("sum", |x, dims| x.sum_dims(dims, false)),
    ("max", |x, dims| x.max_dims(dims, false)),
    ("min", |x, dims| x.min_dims(dims, false)),
    ("norm 1", |x, dims| x.norm_dims(1.0, dims, false)),
    ("norm 2", |x, dims| x.norm_dims(2.0, dims, false)),
    ("norm inf", |x, dims| x.norm_dims(f64::INFINITY, dims, false)),
    ("var", |x, dims| x.var_dims(dims, false, 0)),
    ("std", |x, dims| x.std_dims(dims, false, 1)),
    ("logsumexp", |x, dims| x.logsumexp(dims, false)),
];

#[test]
fn rows_and_columns_of_all_lengths() {
    let mut generator = Generator::new(811);
    for (name, reduce) in REDUCTIONS {
        for (i, &len) in LENGTHS.iter().enumerate() {
            let (dtype, tolerance) = FLOATS[i % 3];
            let x = normal(&[5, len], dtype, &mut generator);
            agree(name, std::slice::from_ref(&x), tolerance, |x| reduce(&x[0], &[1]));
            agree(name, &[x], tolerance, |x| reduce(&x[0].transpose(0, 1), &[0]));
            let x = normal(&[len, 37], dtype, &mut generator);
            agree(name, &[x], tolerance, |x| reduce(&x[0], &[0]));
        }
    }
}
