//! The cases of `unary.cu`, `binary.cu`, `compare.cu`, `cast.cu`, `move.cu`, `fill.cu`,
//! `in_place.cu`, `optimizer.cu` and `random.cu`: one thread an element.

use engine_room::nn::Parameter;
use engine_room::optim::{AdamW, Optimizer, Sgd};
use engine_room::rng::Generator;
use engine_room::{DType, Tensor};

use super::case::Case;
use super::operands::{GPU, Operands, SIDE, backward};

/// Reads and writes `f32`.
const fn unary(kernel: &'static str, call: fn(&Operands)) -> Case {
    Case::each(kernel, 8, call)
}

/// Reads two and writes one.
const fn binary(kernel: &'static str, call: fn(&Operands)) -> Case {
    Case::each(kernel, 12, call)
}

pub const UNARY: &[Case] = &[
    unary("neg_f32", |o| drop(o.x.neg())),
    unary("abs_f32", |o| drop(o.x.abs())),
    unary("sign_f32", |o| drop(o.x.sign())),
    unary("bitwise_not_i32", |o| drop(o.integers[0].bitwise_not())),
    unary("sqrt_f32", |o| drop(o.x.sqrt())),
    unary("rsqrt_f32", |o| drop(o.x.rsqrt())),
    unary("reciprocal_f32", |o| drop(o.x.reciprocal())),
    unary("exp_f32", |o| drop(o.x.exp())),
    unary("exp2_f32", |o| drop(o.x.exp2())),
    unary("expm1_f32", |o| drop(o.x.expm1())),
    unary("log_f32", |o| drop(o.x.log())),
    unary("log2_f32", |o| drop(o.x.log2())),
    unary("log1p_f32", |o| drop(o.x.log1p())),
    unary("sin_f32", |o| drop(o.x.sin())),
    unary("cos_f32", |o| drop(o.x.cos())),
    unary("tanh_f32", |o| drop(o.x.tanh())),
    unary("erf_f32", |o| drop(o.x.erf())),
    unary("floor_f32", |o| drop(o.x.floor())),
    unary("ceil_f32", |o| drop(o.x.ceil())),
    unary("round_f32", |o| drop(o.x.round())),
    unary("trunc_f32", |o| drop(o.x.trunc())),
    unary("sigmoid_f32", |o| drop(o.x.sigmoid())),
    unary("logsigmoid_f32", |o| drop(o.x.logsigmoid())),
    unary("silu_f32", |o| drop(o.x.silu())),
    unary("gelu_f32", |o| drop(o.x.gelu())),
    unary("gelu_tanh_f32", |o| drop(o.x.gelu_tanh())),
    unary("leaky_relu_f32", |o| drop(o.x.leaky_relu(0.1))),
    unary("softplus_f32", |o| drop(o.x.softplus(1.0, 20.0))),
    unary("add_scalar_f32", |o| drop(o.x.add_scalar(2.5))),
    unary("mul_scalar_f32", |o| drop(o.x.mul_scalar(2.5))),
    unary("div_scalar_f32", |o| drop(o.x.div_scalar(2.5))),
    unary("clamp_min_f32", |o| drop(o.x.clamp(0.8, 1.2))),
    unary("clamp_max_f32", |o| drop(o.x.clamp(0.8, 1.2))),
    unary("pow_scalar_f32", |o| drop(o.x.pow_scalar(1.7))),
];

pub const BINARY: &[Case] = &[
    binary("add_f32", |o| drop(o.x.add(&o.y))),
    // A row for all rows: its 2 KiB are read once.
    unary("add_f32", |o| drop(o.x.add(&o.weight))).and(4 * SIDE).of("x and one row"),
    binary("add_f32", |o| drop(o.x.add(&o.y.transpose(0, 1)))).of("x and y^T"),
    binary("sub_f32", |o| drop(o.x.sub(&o.y))),
    binary("mul_f32", |o| drop(o.x.mul(&o.y))),
    binary("div_f32", |o| drop(o.x.div(&o.y))),
    binary("maximum_f32", |o| drop(o.x.maximum(&o.y))),
    binary("minimum_f32", |o| drop(o.x.minimum(&o.y))),
    binary("floor_divide_f32", |o| drop(o.x.floor_divide(&o.y))),
    binary("trunc_divide_f32", |o| drop(o.x.trunc_divide(&o.y))),
    binary("remainder_f32", |o| drop(o.x.remainder(&o.y))),
    binary("pow_f32", |o| drop(o.x.pow(&o.y))),
    binary("bitwise_and_i32", |o| drop(o.integers[0].bitwise_and(&o.integers[1]))),
    binary("bitwise_or_i32", |o| drop(o.integers[0].bitwise_or(&o.integers[1]))),
    binary("bitwise_xor_i32", |o| drop(o.integers[0].bitwise_xor(&o.integers[1]))),
    binary("threshold_backward_f32", |o| backward(&o.x, &o.y, Tensor::relu)),
    binary("gelu_backward_f32", |o| backward(&o.x, &o.y, Tensor::gelu)),
    binary("gelu_tanh_backward_f32", |o| backward(&o.x, &o.y, Tensor::gelu_tanh)),
    binary("silu_backward_f32", |o| backward(&o.x, &o.y, Tensor::silu)),
];

pub const COMPARE: &[Case] = &[
    Case::each("eq_f32", 9, |o| drop(o.x.eq(&o.y))),
    Case::each("ne_f32", 9, |o| drop(o.x.ne(&o.y))),
    Case::each("lt_f32", 9, |o| drop(o.x.lt(&o.y))),
    Case::each("le_f32", 9, |o| drop(o.x.le(&o.y))),
];

pub const CAST: &[Case] = &[
    Case::each("to_f32", 6, |o| drop(o.half.to(DType::F32))).of("f16"),
    Case::each("to_f16", 6, |o| drop(o.x.to(DType::F16))),
    Case::each("to_bf16", 6, |o| drop(o.x.to(DType::BF16))),
    Case::each("to_f64", 12, |o| drop(o.x.to(DType::F64))),
    Case::each("to_i64", 12, |o| drop(o.x.to(DType::I64))),
    Case::each("to_i32", 8, |o| drop(o.x.to(DType::I32))),
    Case::each("to_u8", 5, |o| drop(o.x.to(DType::U8))),
    Case::each("to_bool", 5, |o| drop(o.x.to(DType::Bool))),
];

pub const MOVE: &[Case] = &[
    unary("copy_b4", |o| drop(o.x.copy())),
    unary("copy_b4", |o| drop(o.x.transpose(0, 1).copy())).of("x^T"),
    unary("copy_b4", |o| drop(o.x.flip(&[1]))).of("rows backwards (flip)"),
    Case::each("where_b4", 9, |o| drop(Tensor::where_cond(&o.mask, &o.x, &o.y)))
        .of("random condition"),
];

pub const FILL: &[Case] = &[
    Case::each("fill_b4", 4, |_| drop(Tensor::full_on(&[SIDE, SIDE], 1.5, DType::F32, GPU))),
    Case::each("arange_f32", 4, |_| drop(Tensor::arange_on(SIDE * SIDE, DType::F32, GPU))),
];

pub const IN_PLACE: &[Case] = &[
    binary("add__f32", |o| o.x.copy().add_(&o.y, 0.5)),
    binary("mul__f32", |o| o.x.copy().mul_(&o.y)),
    unary("copy__b4", |o| o.x.copy().copy_(&o.y)),
    // Half of the elements are written.
    Case::each("masked_fill__b4", 3, |o| o.x.copy().masked_fill_(&o.mask, 0.0)).of("random mask"),
];

/// One step, for a gradient of y.
fn step(param: &Tensor, grad: &Tensor, optimizer: impl Fn(Vec<Parameter>) -> Box<dyn Optimizer>) {
    let parameter = Parameter::new(param.copy());
    parameter.get().mul(grad).sum().backward();
    optimizer(vec![parameter]).step();
}

fn adamw(param: &Tensor, grad: &Tensor) {
    step(param, grad, |params| Box::new(AdamW::new(params, 0.01)));
}

fn sgd(param: &Tensor, grad: &Tensor) {
    step(param, grad, |params| Box::new(Sgd::new(params, 0.01).momentum(0.9)));
}

pub const OPTIMIZER: &[Case] = &[
    Case::each("adamw_step_f32", 28, |o| adamw(&o.x, &o.y)),
    // The parameter is written and its f32 copy read and written, like the two lists of state.
    Case::each("adamw_step_wide_f16", 28, |o| adamw(&o.half, &o.half)).of("f16, state in f32"),
    Case::each("sgd_step_f32", 20, |o| sgd(&o.x, &o.y)).of("with momentum"),
    Case::each("sgd_step_wide_f16", 20, |o| sgd(&o.half, &o.half)).of("f16, momentum in f32"),
];

pub const RANDOM: &[Case] = &[
    Case::each("uniform", 4, |_| {
        drop(Tensor::rand_on(&[SIDE, SIDE], GPU, &mut Generator::new(1)));
    }),
    Case::each("keep", 1, |o| drop(o.x.dropout(0.1, true, &mut Generator::new(1)))),
];
