//! Elementwise operations against PyTorch 2.9.1: the cases of golden/elementwise.json.

#[path = "engine/golden.rs"]
mod golden;
#[path = "engine/refused.rs"]
mod refused;

use engine_room::autograd::gradcheck;
use engine_room::rng::Generator;
use engine_room::{DType, OPS, Scalar, Tensor};
use golden::{Args, cases, check, unknown};
use refused::refused;

fn call(op: &str, x: &[Tensor], args: Args) -> Tensor {
    match x {
        [x] if args.has("scalar") => beside_a_number(op, x, scalar(args, "scalar")),
        [x] => of_one(op, x, args),
        [a, b] => of_two(op, a, b),
        _ => x[1].masked_fill_tensor(&x[0], &x[2]),
    }
}

/// A number as the file has it: whole ones without a point.
fn scalar(args: Args, name: &str) -> Scalar {
    args.0[name].as_i64().map_or_else(|| args.number(name).into(), Scalar::from)
}

fn of_one(op: &str, x: &Tensor, args: Args) -> Tensor {
    match op {
        "abs" => x.abs(),
        "sign" => x.sign(),
        "sqrt" => x.sqrt(),
        "rsqrt" => x.rsqrt(),
        "reciprocal" => x.reciprocal(),
        "square" => x.square(),
        "exp" => x.exp(),
        "exp2" => x.exp2(),
        "expm1" => x.expm1(),
        "log" => x.log(),
        "log2" => x.log2(),
        "log1p" => x.log1p(),
        "sin" => x.sin(),
        "cos" => x.cos(),
        "tanh" => x.tanh(),
        "erf" => x.erf(),
        "sigmoid" => x.sigmoid(),
        "logsigmoid" => x.logsigmoid(),
        "silu" => x.silu(),
        "gelu" => x.gelu(),
        "gelu_tanh" => x.gelu_tanh(),
        "relu" => x.relu(),
        "leaky_relu" => x.leaky_relu(args.number("slope")),
        "softplus" => x.softplus(args.number("beta"), args.number("threshold")),
        "floor" => x.floor(),
        "ceil" => x.ceil(),
        "round" => x.round(),
        "trunc" => x.trunc(),
        "clamp" => x.clamp(scalar(args, "min"), scalar(args, "max")),
        "bitwise_not" => x.bitwise_not(),
        "logical_not" => x.logical_not(),
        "isnan" => x.isnan(),
        "isinf" => x.isinf(),
        "isfinite" => x.isfinite(),
        _ => unknown(op),
    }
}

fn beside_a_number(op: &str, x: &Tensor, c: Scalar) -> Tensor {
    match op {
        "add_scalar" => x.add_scalar(c),
        "sub_scalar" => x.sub_scalar(c),
        "mul_scalar" => x.mul_scalar(c),
        "div_scalar" => x.div_scalar(c),
        "pow_scalar" => x.pow_scalar(c),
        "floor_divide_scalar" => x.floor_divide_scalar(c),
        "trunc_divide_scalar" => x.trunc_divide_scalar(c),
        "remainder_scalar" => x.remainder_scalar(c),
        "maximum_scalar" => x.maximum_scalar(c),
        "minimum_scalar" => x.minimum_scalar(c),
        "clamp_min_scalar" => x.clamp_min_scalar(c),
        "clamp_max_scalar" => x.clamp_max_scalar(c),
        "eq_scalar" => x.eq_scalar(c),
        "ne_scalar" => x.ne_scalar(c),
        "lt_scalar" => x.lt_scalar(c),
        "le_scalar" => x.le_scalar(c),
        "gt_scalar" => x.gt_scalar(c),
        "ge_scalar" => x.ge_scalar(c),
        _ => unknown(op),
    }
}

fn of_two(op: &str, a: &Tensor, b: &Tensor) -> Tensor {
    match op {
        "pow" => a.pow(b),
        "floor_divide" => a.floor_divide(b),
        "trunc_divide" => a.trunc_divide(b),
        "remainder" => a.remainder(b),
        "clamp_min" => a.clamp_min(b),
        "clamp_max" => a.clamp_max(b),
        "eq" => a.eq(b),
        "ne" => a.ne(b),
        "lt" => a.lt(b),
        "le" => a.le(b),
        "gt" => a.gt(b),
        "ge" => a.ge(b),
        "logical_and" => a.logical_and(b),
        "logical_or" => a.logical_or(b),
        "logical_xor" => a.logical_xor(b),
        "bitwise_and" => a.bitwise_and(b),
        "bitwise_or" => a.bitwise_or(b),
        "bitwise_xor" => a.bitwise_xor(b),
        // Only the gradient of relu calls it; the table has it under its name.
        "threshold_backward" => {
            let row = OPS.iter().find(|row| row.name == op).expect("a row");
            (row.call)(&[a.clone(), b.clone()])
        }
        _ => unknown(op),
    }
}

#[test]
fn every_case_agrees_with_pytorch() {
    let cases = cases(include_str!("golden/elementwise.json"));
    assert!(cases.len() >= 500, "only {} cases", cases.len());
    check(&cases, call);
}

fn values(x: &Tensor) -> Vec<f64> {
    x.detach().to(DType::F64).to_vec()
}

/// What is no number, does not fit or has no answer is refused, under the name of the method and
/// with the line of the caller.
#[test]
fn misuse_is_refused_where_it_happens() {
    let (mask, whole) = (Tensor::from_vec(vec![true, false], &[2]), Tensor::arange(2));
    let whole = whole.to(DType::I64);
    let bytes = whole.to(DType::U8);
    let x = Tensor::ones(&[2]);
    let calls: [(&str, &dyn Fn() -> Tensor); 17] = [
        ("abs", &|| mask.abs()),
        ("relu", &|| mask.relu()),
        ("floor", &|| mask.floor()),
        ("pow", &|| mask.pow(&mask)),
        ("pow_scalar", &|| whole.pow_scalar(-1)),
        ("pow_scalar", &|| bytes.pow_scalar(300)),
        ("sub_scalar", &|| mask.sub_scalar(1)),
        ("sub_scalar", &|| x.sub_scalar(true)),
        ("gelu", &|| whole.gelu()),
        ("silu", &|| whole.silu()),
        ("softplus", &|| mask.softplus(1.0, 20.0)),
        ("bitwise_and", &|| x.bitwise_and(&whole)),
        ("bitwise_not", &|| x.bitwise_not()),
        ("lt_scalar", &|| bytes.lt_scalar(-1)),
        ("floor_divide", &|| whole.floor_divide_scalar(0)),
        ("logical_and", &|| Tensor::ones(&[3]).logical_and(&x)),
        ("masked_fill", &|| x.masked_fill_tensor(&mask, &x)),
    ];
    for (op, call) in calls {
        let refusal = refused(call);
        assert_eq!(refusal.op, op);
        assert!(refusal.at.contains("engine_elementwise.rs"), "{op} at {}", refusal.at);
    }
}

/// Gradients in `f64`, where a small step shows eight digits of them.
#[test]
fn gradients_agree_with_finite_differences_in_f64() {
    let mut checked = 0;
    let names = cases(include_str!("golden/elementwise.json"));
    let is_here = |name: &str| names.iter().any(|case| case["op"] == name);
    for row in OPS.iter().filter(|row| row.has_gradient && is_here(row.name)) {
        for seed in 0..3 {
            let double =
                |x: &Tensor| if x.dtype() == DType::F32 { x.to(DType::F64) } else { x.clone() };
            let inputs: Vec<Tensor> =
                (row.sample)(&mut Generator::new(seed)).iter().map(double).collect();
            if let Err(error) = gradcheck(row.call, &inputs, 1e-6, 1e-7) {
                panic!("{} with seed {seed}: {error}", row.name);
            }
            checked += 1;
        }
    }
    assert!(checked > 100, "only {checked}");
}

/// The half types are computed in `f32` and rounded once.
#[test]
fn half_types_are_rounded_once() {
    let x = Tensor::rand(&[3, 40], &mut Generator::new(8)).mul_scalar(4.0).add_scalar(-2.0);
    let calls: [fn(&Tensor) -> Tensor; 24] = [
        Tensor::abs,
        Tensor::sqrt,
        Tensor::rsqrt,
        Tensor::reciprocal,
        Tensor::square,
        Tensor::exp2,
        Tensor::expm1,
        Tensor::log2,
        Tensor::log1p,
        Tensor::sin,
        Tensor::cos,
        Tensor::tanh,
        Tensor::erf,
        Tensor::sigmoid,
        Tensor::logsigmoid,
        Tensor::silu,
        Tensor::gelu,
        Tensor::gelu_tanh,
        |x| x.softplus(1.0, 20.0),
        |x| x.leaky_relu(0.25),
        |x| x.pow_scalar(1.5),
        |x| x.pow(x),
        |x| x.remainder_scalar(0.5),
        Tensor::round,
    ];
    for dtype in [DType::F16, DType::BF16] {
        let half = x.to(dtype);
        for (at, call) in calls.iter().enumerate() {
            let (got, want) = (call(&half), call(&half.to(DType::F32)).to(dtype));
            assert_eq!(got.dtype(), dtype, "{at}");
            let same = |(a, b): (&f64, &f64)| a == b || (a.is_nan() && b.is_nan());
            assert!(values(&got).iter().zip(&values(&want)).all(same), "{at} in {dtype}");
        }
    }
}

/// A bound, a slope or an exponent of infinity or beyond the type is none.
#[test]
fn bounds_beyond_a_type_do_not_bind() {
    let half = Tensor::from_vec(vec![-70000.0f32, 1.5, 70000.0], &[3]).to(DType::F16);
    half.clone().requires_grad_(true);
    let y = half.clamp(-1e6, 1e6);
    y.backward_with(&Tensor::ones(&[3]).to(DType::F16));
    assert_eq!(values(&y), [f64::NEG_INFINITY, 1.5, f64::INFINITY]);
    assert_eq!(values(&half.grad().expect("a gradient")), [1.0; 3]);
    let bytes = Tensor::arange(3).to(DType::U8);
    assert_eq!(values(&bytes.clamp_min_scalar(-5)), [0.0, 1.0, 2.0]);
    assert_eq!(values(&bytes.clamp_max_scalar(1000)), [0.0, 1.0, 2.0]);
    assert_eq!(values(&bytes.clamp_max_scalar(1)), [0.0, 1.0, 1.0]);
}

/// The narrower integers do what `i64` does, and keep the low bits of it.
#[test]
fn integers_of_every_type_agree() {
    let a = Tensor::from_vec(vec![0i64, 1, 2, 3, 7, 100, 127, 5], &[2, 4]);
    let b = Tensor::from_vec(vec![3i64, 8, 1, 30], &[4]);
    let calls: [fn(&Tensor, &Tensor) -> Tensor; 12] = [
        |a, _| a.abs(),
        |a, b| a.sub(b).mul(a),
        |a, _| a.sign(),
        |a, _| a.floor(),
        |a, _| a.square(),
        |a, _| a.pow_scalar(5),
        |a, b| a.pow(b),
        |a, b| a.bitwise_and(b),
        |a, b| a.bitwise_or(b),
        |a, b| a.bitwise_xor(b).bitwise_not(),
        |a, _| a.maximum_scalar(5).sub_scalar(9),
        |a, b| a.logical_xor(b).to(a.dtype()).add(&a.gt_scalar(5)),
    ];
    for dtype in [DType::I32, DType::U8] {
        for (at, call) in calls.iter().enumerate() {
            let (got, want) = (call(&a.to(dtype), &b.to(dtype)), call(&a, &b).to(dtype));
            assert_eq!((got.dtype(), values(&got)), (dtype, values(&want)), "{at}");
        }
    }
    let lowest = Tensor::from_vec(vec![i32::MIN, -1], &[2]);
    assert_eq!(lowest.abs().to_vec::<i32>(), [i32::MIN, 1]);
    assert_eq!(lowest.sign().to_vec::<i32>(), [-1, -1]);
}
