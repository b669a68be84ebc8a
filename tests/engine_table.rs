//! Every operation of the table, in every floating-point type and layout: the result is that of the
//! packed `f64` operands, rounded; its type and shape are right; and its gradient is, in `f64`.

#[path = "engine/laid.rs"]
mod laid;

use engine_room::autograd::gradcheck;
use engine_room::rng::Generator;
use engine_room::{DType, OPS, OpRow, Tensor};
use laid::{LAYOUTS, Lying, laid, typed};

const SEED: u64 = 41;
const FLOATS: [DType; 4] = [DType::F64, DType::F32, DType::F16, DType::BF16];

fn prepared(inputs: &[Tensor], dtype: DType, lying: Lying) -> Vec<Tensor> {
    typed(inputs, dtype).iter().map(|x| laid(x, lying)).collect()
}

/// Half a unit in the last place of a number of size 1, with room for some operations.
fn tolerance(dtype: DType) -> f64 {
    match dtype {
        DType::F64 => 1e-12,
        DType::F32 => 4e-6,
        DType::F16 => 1.0 / 256.0,
        _ => 1.0 / 32.0,
    }
}

fn numbers(x: &Tensor) -> Vec<f64> {
    x.detach().to(DType::F64).to_vec()
}

/// What is wrong with a row in one type and layout, if anything.
fn fault(row: &OpRow, inputs: &[Tensor], dtype: DType, lying: Lying) -> Option<String> {
    let rounded = prepared(inputs, dtype, Lying::Packed);
    let want = (row.call)(&prepared(&rounded, DType::F64, Lying::Packed));
    let got = (row.call)(&prepared(inputs, dtype, lying));
    let same_type = (row.call)(&rounded).dtype();
    if got.shape() != want.shape() || got.dtype() != same_type {
        return Some(format!("{} instead of {:?} in {same_type}", got.brief(), want.shape()));
    }
    if got.dtype().is_floating_point() != want.dtype().is_floating_point() {
        return Some(format!("{} where f64 gives {}", got.dtype(), want.dtype()));
    }
    let scale = numbers(&want).iter().fold(1.0f64, |most, x| most.max(x.abs()));
    let pairs = numbers(&got).into_iter().zip(numbers(&want)).enumerate();
    let far = |(a, b): (f64, f64)| !(a == b || (a - b).abs() <= tolerance(dtype) * scale);
    let (at, pair) = pairs.into_iter().find(|(_, pair)| far(*pair))?;
    Some(format!("element {at} is {} instead of {}", pair.0, pair.1))
}

/// Rows whose result jumps where a rounded operand lies on the other side of a step, so that a
/// half type may give another whole number.
const STEPS: &str = "floor ceil round trunc sign floor_divide floor_divide_scalar trunc_divide \
                     trunc_divide_scalar remainder remainder_scalar argmax argmin dropout";

#[test]
fn every_operation_in_every_type_and_layout() {
    println!("seed {SEED}");
    let (mut wrong, mut run) = (Vec::new(), 0);
    for row in OPS {
        let inputs = (row.sample)(&mut Generator::new(SEED));
        for dtype in FLOATS {
            let narrow = matches!(dtype, DType::F16 | DType::BF16);
            if row.name == "to" || (narrow && STEPS.split_whitespace().any(|step| step == row.name))
            {
                continue;
            }
            for lying in LAYOUTS {
                run += 1;
                if let Some(fault) = fault(row, &inputs, dtype, lying) {
                    wrong.push(format!("{} in {dtype}, {lying:?}: {fault}", row.name));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {run}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(run > 16 * OPS.len() - 400, "only {run} combinations for {} rows", OPS.len());
}

#[test]
fn gradients_of_every_operation_in_every_layout() {
    println!("seed {SEED}");
    let mut wrong = Vec::new();
    for row in OPS.iter().filter(|row| row.has_gradient && row.name != "to") {
        let inputs = (row.sample)(&mut Generator::new(SEED));
        for lying in LAYOUTS {
            let call = |x: &[Tensor]| {
                // The layout is made of recorded views and copies, so that leaves stay leaves.
                let x: Vec<Tensor> = x.iter().map(|x| laid(x, lying)).collect();
                (row.call)(&x)
            };
            let inputs = prepared(&inputs, DType::F64, Lying::Packed);
            if let Err(error) = gradcheck(call, &inputs, 1e-6, 1e-6) {
                wrong.push(format!("{}, {lying:?}: {error}", row.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Operands without elements, and numbers without dimensions, go through every elementwise row of
/// one operand.
#[test]
fn nothing_and_single_numbers_go_through() {
    let one_operand = |row: &&OpRow| (row.sample)(&mut Generator::new(SEED)).len() == 1;
    let mut tried = 0;
    for row in OPS.iter().filter(one_operand) {
        let same = |x: &Tensor| {
            let y = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                (row.call)(std::slice::from_ref(x))
            }));
            y.ok().map(|y| y.shape().to_vec())
        };
        let sample = &(row.sample)(&mut Generator::new(SEED))[0];
        let elementwise = (row.call)(std::slice::from_ref(sample)).shape() == sample.shape();
        let named = ["softmax", "log_softmax", "transpose", "flip", "cumsum", "roll", "sort"];
        if !elementwise || named.contains(&row.name) || row.name.ends_with('_') {
            continue;
        }
        for shape in [&[][..], &[0], &[2, 0, 3]] {
            let x = Tensor::full_on(shape, 0.75, sample.dtype(), sample.device());
            if let Some(got) = same(&x) {
                assert_eq!(got, shape, "{}", row.name);
                tried += 1;
            }
        }
    }
    assert!(tried > 60, "only {tried} calls went through");
}
