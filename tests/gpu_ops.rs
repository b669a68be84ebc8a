//! Every operation of the table on the GPU, in every type and layout that it takes, against the
//! CPU: results and gradients. What the simulated GPU finds wrong with a kernel's memory is an
//! error of the launch, and fails the row. Named in .ci/run.

#[path = "gpu/agree.rs"]
mod agree;
#[path = "engine/laid.rs"]
mod laid;

use std::panic::{AssertUnwindSafe, catch_unwind};

use agree::{difference, gpu};
use engine_room::rng::Generator;
use engine_room::{DType, Device, Error, Misuse, OPS, OpRow, Tensor};
use laid::{LAYOUTS, Lying, laid, typed};

const SEED: u64 = 41;
const FLOATS: [DType; 3] = [DType::F32, DType::F16, DType::BF16];

/// Within what part of the largest number of a result both devices agree: a few units in the last
/// place. Some operations are chains of others, each of which rounds to a half type; a last bit
/// that differs in the first one goes through the others.
fn tolerance(dtype: DType) -> f64 {
    match dtype {
        DType::F32 => 4e-6,
        DType::F16 => 4e-3,
        _ => 3e-2,
    }
}

/// The row's result on a device, and the gradients of the inputs that have one. The gradient of
/// the result is made of fixed numbers, so that each of its elements counts.
fn results(row: &OpRow, inputs: &[Tensor], device: Device, lying: Lying) -> Vec<Tensor> {
    let leaf = |x: &Tensor| {
        let x = x.to(device).copy();
        if row.has_gradient && x.dtype().is_floating_point() { x.requires_grad_(true) } else { x }
    };
    let leaves: Vec<Tensor> = inputs.iter().map(leaf).collect();
    let operands: Vec<Tensor> = leaves.iter().map(|x| laid(x, lying)).collect();
    let y = (row.call)(&operands);
    assert_eq!(y.device(), device, "the result is on another device");
    let mut results = vec![y.detach()];
    if row.has_gradient {
        let dy = Tensor::rand(y.shape(), &mut Generator::new(0)).add_scalar(0.5);
        y.backward_with(&dy.to(y.dtype()).to(device));
        results.extend(leaves.iter().filter_map(|x| x.grad()));
    }
    results
}

/// What is wrong with a row in one type and layout, if anything.
fn fault(row: &OpRow, inputs: &[Tensor], dtype: DType, lying: Lying) -> Option<String> {
    let inputs = typed(inputs, dtype);
    let want = results(row, &inputs, Device::Cpu, lying);
    let there = catch_unwind(AssertUnwindSafe(|| results(row, &inputs, gpu(), lying)));
    let got = match there {
        Ok(got) => got,
        Err(payload) => {
            let misuse = payload.downcast_ref::<Misuse>().map(Misuse::to_string);
            let error = || payload.downcast_ref::<Error>().map(Error::to_string);
            let text = || payload.downcast_ref::<String>().cloned();
            return Some(misuse.or_else(error).or_else(text).unwrap_or("a panic".to_string()));
        }
    };
    if got.len() != want.len() {
        return Some(format!("{} gradients instead of {}", got.len() - 1, want.len() - 1));
    }
    let differing = |(i, (got, want)): (usize, (&Tensor, &Tensor))| {
        let what = if i == 0 { "the result".to_string() } else { format!("gradient {i}") };
        Some(format!("{what}: {}", difference(got, want, tolerance(dtype))?))
    };
    got.iter().zip(&want).enumerate().find_map(differing)
}

#[test]
fn every_operation_in_every_type_and_layout() {
    println!("seed {SEED}");
    let (mut wrong, mut run) = (Vec::new(), 0);
    for row in OPS {
        let inputs = (row.sample)(&mut Generator::new(SEED));
        for dtype in FLOATS {
            for lying in LAYOUTS {
                run += 1;
                if let Some(fault) = fault(row, &inputs, dtype, lying) {
                    wrong.push(format!("{} in {dtype}, {lying:?}: {fault}", row.name));
                    break;
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {run}:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(run, 12 * OPS.len());
}
