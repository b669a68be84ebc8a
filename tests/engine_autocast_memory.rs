//! What autocast keeps in memory, byte by byte: casts of parameters, and what a graph saves.
//!
//! The memory counters belong to the process, so each test takes a lock before it makes a tensor.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use engine_room::amp::{autocast, autocast_disabled};
use engine_room::memory::{Role, bytes_by_role, memory_allocated};
use engine_room::rng::Generator;
use engine_room::{DType, Device, Tensor, no_grad};

/// One test at a time, from a start without any tensor.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    assert_eq!(live(), 0, "an earlier test has left tensors behind");
    turn
}

fn live() -> u64 {
    memory_allocated(Device::Cpu)
}

/// What a graph has saved.
fn activations() -> u64 {
    bytes_by_role(Device::Cpu)[Role::Activation as usize].1
}

fn uniform(shape: &[usize], generator: &mut Generator) -> Tensor {
    Tensor::rand(shape, generator).add_scalar(-0.5)
}

#[test]
fn a_parameter_is_lowered_once_in_a_region() {
    let _alone = alone();
    let mut generator = Generator::new(13);
    let weight = uniform(&[30, 30], &mut generator).requires_grad_(true);
    let x = uniform(&[1, 30], &mut generator);
    let lowered = 2 * 30 * 30;
    let start = live();
    autocast(DType::BF16, || {
        let mut results = vec![x.matmul(&weight)];
        let of_result = 2 * 30;
        assert_eq!(live(), start + lowered + 2 * 30 + of_result, "the first x is saved");
        let first = live();
        results.push(results[0].matmul(&weight));
        autocast(DType::BF16, || results.push(results[1].matmul(&weight)));
        autocast_disabled(|| ());
        results.push(results[2].matmul(&weight));
        assert_eq!(live(), first + 3 * of_result);
        let f16 = autocast(DType::F16, || results[3].matmul(&weight));
        assert_eq!(f16.dtype(), DType::F16);
        drop((results, f16));
        assert_eq!(live(), start + 2 * lowered, "both casts are kept until the end");
    });
    assert_eq!(live(), start);
    let frozen = weight.requires_grad_(false);
    autocast(DType::BF16, || {
        drop(x.matmul(&frozen));
        assert_eq!(live(), start, "only what a gradient was asked for is kept");
    });
}

#[test]
fn a_kept_cast_is_neither_stale_nor_cut_off_from_its_parameter() {
    let _alone = alone();
    let weight = Tensor::ones(&[3, 3]).requires_grad_(true);
    let x = Tensor::ones(&[1, 3]);
    autocast(DType::BF16, || {
        let before = x.matmul(&weight);
        no_grad(|| weight.fill_(2));
        let after = x.matmul(&weight);
        assert_eq!(before.to(DType::F32).to_vec::<f32>(), [3.0; 3]);
        assert_eq!(after.to(DType::F32).to_vec::<f32>(), [6.0; 3]);
    });
    autocast(DType::F16, || {
        assert!(!no_grad(|| x.matmul(&weight)).requires_grad());
        let (first, second) = (x.matmul(&weight), x.matmul(&weight));
        first.sum().backward();
        second.sum().backward();
        assert_eq!(weight.grad().map(|gradient| gradient.to_vec::<f32>()), Some(vec![2.0; 9]));
    });
    let handle = Arc::downgrade(weight.storage());
    autocast(DType::BF16, || {
        drop(x.matmul(&weight));
        drop(weight);
        assert!(handle.upgrade().is_none(), "a cast does not hold its parameter");
    });
}

/// Of two layers a graph saves the inputs of both products, and relu's result; in a half type these
/// are half as large, and the lowered weights come on top.
#[test]
fn saved_activations_halve() {
    let _alone = alone();
    let mut generator = Generator::new(17);
    let (rows, width) = (256, 8);
    let x = uniform(&[rows, width], &mut generator).requires_grad_(true);
    let [w1, w2] = [0; 2].map(|_| uniform(&[width, width], &mut generator).requires_grad_(true));
    let run = || x.matmul(&w1).relu().matmul(&w2);
    let (rows, weights) = ((rows * width) as u64, 2 * (width * width) as u64);
    // In f32 x and the weights are saved as the leaves that they are, and no byte is added.
    let full = run();
    assert_eq!(activations(), 4 * rows);
    drop(full);
    let half = autocast(DType::BF16, run);
    assert_eq!(activations(), 2 * (rows + rows + weights));
    drop(half);
    assert_eq!(activations(), 0);
    // Behind a first layer every input is an activation.
    let deep = || (0..6).fold(x.matmul(&w1), |x, _| x.relu().matmul(&w2));
    let full = deep();
    let in_full = activations();
    drop(full);
    let half = autocast(DType::BF16, deep);
    assert_eq!(activations(), in_full / 2 + 2 * (rows + weights));
    drop(half);
}

#[test]
fn a_panic_ends_the_region_and_frees_its_casts() {
    let _alone = alone();
    let weight = Tensor::ones(&[2, 2]).requires_grad_(true);
    let before = live();
    let wrong = Tensor::ones(&[3, 3]);
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        autocast(DType::BF16, || weight.matmul(&weight).matmul(&wrong))
    }));
    assert!(unwound.is_err());
    drop((unwound, wrong));
    assert_eq!(live(), before);
}
