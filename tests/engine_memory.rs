//! The memory counters, byte by byte: live, peak and by role, and that nothing stays behind.
//!
//! The counters belong to the process, so each test takes a lock before it makes a tensor.

#[path = "engine/custom.rs"]
mod custom;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use custom::{Careless, Counted, Flip, flip};
use engine_room::autograd::{Graph, apply};
use engine_room::memory::{
    HiddenCopies, Role, bytes_by_op_at_peak, bytes_by_role, hidden_copies, max_memory_allocated,
    memory_allocated, reset_hidden_copies, reset_peak_memory_stats,
};
use engine_room::rng::Generator;
use engine_room::{DType, Device, OPS, Tensor, inference_mode, no_grad};

/// One test at a time, from a start without any tensor.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    assert_eq!(live(), 0, "an earlier test has left tensors behind");
    reset_peak_memory_stats(Device::Cpu);
    turn
}

fn live() -> u64 {
    memory_allocated(Device::Cpu)
}

fn peak() -> u64 {
    max_memory_allocated(Device::Cpu)
}

/// Bytes as [other, parameter, gradient, activation, optimizer]; their sum is what is live.
fn roles() -> [u64; 5] {
    let by_role = bytes_by_role(Device::Cpu);
    assert_eq!(by_role.map(|(role, _)| role), Role::ALL);
    assert_eq!(by_role.iter().map(|(_, bytes)| bytes).sum::<u64>(), live());
    by_role.map(|(_, bytes)| bytes)
}

fn parameter(shape: &[usize]) -> Tensor {
    Tensor::ones(shape).requires_grad_(true)
}

/// The gradient of `late` is there long before the walk comes to its end.
#[test]
fn a_gradient_counts_as_one_as_soon_as_it_is_there() {
    let _alone = alone();
    let (early, late) = (parameter(&[1000]), parameter(&[10]));
    let y = early.exp().narrow(0, 0, 10).mul(&late).sum();
    y.backward();
    let at_peak = bytes_by_op_at_peak(Device::Cpu);
    let gradients = at_peak.iter().filter(|it| it.role == Role::Gradient);
    let bytes: Vec<u64> = gradients.map(|it| it.bytes).collect();
    assert_eq!(bytes, [40], "the peak is where the gradient of exp(early) is complete");
}

#[test]
fn an_activation_stays_one_if_its_gradient_is_wanted() {
    let _alone = alone();
    let w = parameter(&[10]);
    let x = Tensor::ones(&[10]);
    let y = x.mul(&w);
    let again = x.detach().requires_grad_(true);
    assert_eq!(roles(), [40, 40, 0, 40, 0], "other, parameter, gradient, activation, optimizer");
    drop((y, again));
}

#[test]
fn live_bytes_are_those_of_distinct_storages() {
    let _alone = alone();
    let x = Tensor::zeros(&[10, 10]);
    let labels = Tensor::from_vec(vec![0i64; 3], &[3]);
    assert_eq!((live(), x.nbytes(), labels.nbytes()), (424, 400, 24));
    let views =
        [x.clone(), x.transpose(0, 1), x.reshape(&[100]), x.detach(), x.expand(&[5, 10, 10])];
    assert_eq!(live(), 424, "a handle and a view cost nothing");
    assert_eq!((views[4].nbytes(), views[4].storage().nbytes()), (2000, 400));
    let copies = [x.copy(), x.transpose(0, 1).reshape(&[100]), x.expand(&[5, 10, 10]).copy()];
    assert_eq!(live(), 424 + 400 + 400 + 2000);
    drop((x, copies));
    assert_eq!(live(), 424, "a view keeps the whole storage");
    drop(views);
    assert_eq!(live(), 24);
    drop((labels, Tensor::zeros(&[0, 7])));
    assert_eq!(live(), 0);
}

#[test]
fn the_peak_stays_until_it_is_reset() {
    let _alone = alone();
    let x = Tensor::zeros(&[100]);
    assert_eq!(peak(), 400);
    drop(x.exp().exp());
    assert_eq!((live(), peak()), (400, 1200), "both results at once, then none");
    let y = x.neg();
    assert_eq!((live(), peak()), (800, 1200));
    reset_peak_memory_stats(Device::Cpu);
    assert_eq!(peak(), 800);
    drop((x, y));
    assert_eq!((live(), peak()), (0, 800));
}

#[test]
fn roles_follow_a_training_step() {
    let _alone = alone();
    let (x, w) = (Tensor::ones(&[8, 4]), parameter(&[4, 2]));
    assert_eq!(roles(), [128, 32, 0, 0, 0]);
    let y = x.matmul(&w);
    assert_eq!(roles(), [64, 32, 0, 128, 0], "x is saved for dw; the parameter stays one");
    let loss = y.tanh().mean();
    assert_eq!(roles(), [64 + 4, 32, 0, 128 + 64, 0], "tanh saves its result");
    loss.backward();
    let [other, parameters, gradients, activations, _] = roles();
    assert_eq!((parameters, gradients), (32, 32));
    assert_eq!(other + activations, 128 + 64 + 4, "the result of tanh went with the graph");
    let momentum = Tensor::zeros(&[4, 2]);
    momentum.storage().set_role(Role::Optimizer);
    assert_eq!(roles()[4], 32);
    no_grad(|| w.add_(&w.grad().expect("a gradient"), -0.1));
    w.zero_grad();
    assert_eq!(roles()[1..3], [32, 0]);
    let w = w.requires_grad_(false);
    assert_eq!(roles()[1], 32, "a frozen parameter is still one");
    drop((x, w, y, loss, momentum));
    assert_eq!(roles(), [0; 5]);
}

#[test]
fn asking_for_no_gradient_changes_no_role_of_others() {
    let _alone = alone();
    let (x, w) = (Tensor::ones(&[4]), parameter(&[4]));
    let y = x.mul(&w);
    let x = x.requires_grad_(false);
    assert_eq!(roles(), [16, 16, 0, 16, 0], "x was no parameter, and the graph still holds it");
    drop((x, y, w));
}

#[test]
fn without_a_graph_nothing_is_kept() {
    let _alone = alone();
    let (x, w) = (Tensor::ones(&[64, 32]), parameter(&[32, 32]));
    let forward = || (0..4).fold(x.clone(), |y, _| y.matmul(&w).relu());
    let start = live();
    let kept = forward();
    let layer = kept.nbytes();
    assert_eq!(live() - start, 4 * layer, "the four results of relu; x is there anyway");
    assert_eq!(Graph::of(&kept).activation_bytes(), 5 * layer, "with x");
    drop(kept);
    assert_eq!(live(), start);
    for mode in [no_grad, inference_mode] as [fn(fn() -> u64) -> u64; 2] {
        assert_eq!(mode(live), start);
    }
    reset_peak_memory_stats(Device::Cpu);
    let kept = no_grad(forward);
    assert_eq!(
        (live() - start, peak() - start),
        (layer, 3 * layer),
        "input, product and relu at once"
    );
    drop(kept);
    drop(inference_mode(forward));
    assert_eq!(live(), start);
}

/// A chain of tanh keeps every result until the walk has passed it.
#[test]
fn backward_frees_as_it_goes() {
    let _alone = alone();
    let x = parameter(&[1000]);
    let chain = || (0..50).fold(x.clone(), |y, _| y.tanh());
    let y = chain();
    assert_eq!(live(), 51 * 4000);
    reset_peak_memory_stats(Device::Cpu);
    y.backward_with(&x.detach());
    assert_eq!(live(), 3 * 4000, "x, its gradient and y");
    let extra = peak() - 51 * 4000;
    assert!(extra <= 5 * 4000, "temporaries of one node at a time, not {extra} bytes");
    drop(y);
    let y = chain();
    y.sum().backward_retain_graph();
    assert_eq!(live(), (1 + 1 + 50) * 4000);
    drop(y);
    assert_eq!(live(), 2 * 4000);
    x.zero_grad();
    assert_eq!(live(), 4000);
}

/// No operation leaves a cycle: a node that holds itself would never be freed.
#[test]
fn every_op_gives_its_memory_back() {
    let _alone = alone();
    for row in OPS {
        for walk in [false, true] {
            let inputs = (row.sample)(&mut Generator::new(3));
            for x in inputs.iter().filter(|x| x.dtype() == DType::F32) {
                x.clone().requires_grad_(true);
            }
            let y = (row.call)(&inputs);
            if walk && row.has_gradient {
                y.backward_with(&Tensor::ones(y.shape()).to(y.dtype()));
            }
            drop((y, inputs));
            assert_eq!(live(), 0, "{} with backward: {walk}", row.name);
        }
    }
    let (x, runs) = (parameter(&[10]), Arc::new(AtomicUsize::new(0)));
    drop(flip(&apply(Counted(runs), [&x, &x])));
    drop(apply(Flip(Some(Tensor::ones(&[10]))), [&x]));
    drop(no_grad(|| flip(&x)));
    for op in [Careless::Unsaved, Careless::Shape] {
        let walk = || apply(op, [&x]).sum().backward();
        assert!(catch_unwind(AssertUnwindSafe(walk)).is_err());
    }
    assert_eq!(live(), 40, "x alone, after panics too");
}

#[test]
fn threads_count_together() {
    let _alone = alone();
    let work = || {
        for n in 1..300 {
            let w = parameter(&[n]);
            w.exp().mul(&w).sum().backward();
        }
    };
    let workers: Vec<_> = (0..4).map(|_| std::thread::spawn(work)).collect();
    workers.into_iter().for_each(|worker| worker.join().expect("no panic"));
    assert_eq!(roles(), [0; 5]);
    assert!(peak() >= 299 * 4 * 3);
}

#[test]
fn hidden_copies_are_counted_under_their_operation() {
    let _turn = alone();
    reset_hidden_copies();
    let x = Tensor::arange(12).reshape(&[3, 4]);
    let turned = x.transpose(0, 1);
    // None of these has anything to copy, or copies because it was asked to.
    let _quiet = [x.contiguous(), x.copy(), turned.copy(), x.reshape(&[12]), x.softmax(1)];
    assert_eq!(hidden_copies(), []);
    let _loud = [turned.reshape(&[12]), turned.reshape(&[2, 6]), turned.contiguous()];
    let (_soft, w) = (x.softmax(0), Tensor::ones(&[5]).requires_grad_(true));
    w.sum().backward();
    let copies = |op, count, bytes| HiddenCopies { op, count, bytes };
    let want = [
        copies("accumulate_grad", 1, 20),
        copies("contiguous", 1, 48),
        copies("reshape", 2, 96),
        copies("softmax", 1, 48),
    ];
    assert_eq!(hidden_copies(), want);
    reset_hidden_copies();
    assert_eq!(hidden_copies(), []);
}
