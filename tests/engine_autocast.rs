//! Autocast against PyTorch 2.9.1 (golden/autocast.json, made by make_autocast.py), against casts
//! written by hand, and in bytes.
//!
//! The memory counters belong to the process, so each test takes a lock before it makes a tensor.

#[path = "engine/close.rs"]
mod close;
#[path = "engine/refused.rs"]
mod refused;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use close::difference;
use engine_room::amp::{AUTOCAST_OPS, Policy, autocast, autocast_disabled, autocast_dtype};
use engine_room::autograd::{Ctx, Op, apply};
use engine_room::memory::{Role, bytes_by_role, memory_allocated};
use engine_room::rng::Generator;
use engine_room::{Attention, DType, Device, OPS, OpRow, Tensor, no_grad};
use refused::refused;
use serde_json::Value;

const HALVES: [DType; 2] = [DType::BF16, DType::F16];

fn golden() -> Value {
    serde_json::from_str(include_str!("golden/autocast.json")).expect("the golden file is JSON")
}

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

/// The type of this name.
fn named(name: &str) -> DType {
    let dtype = DType::ALL.into_iter().find(|dtype| dtype.to_string() == name);
    dtype.unwrap_or_else(|| panic!("no type {name}"))
}

fn uniform(shape: &[usize], generator: &mut Generator) -> Tensor {
    Tensor::rand(shape, generator).add_scalar(-0.5)
}

fn same(a: &Tensor, b: &Tensor) -> bool {
    let bits = |x: &Tensor| x.to(DType::F64).to_vec::<f64>().into_iter().map(f64::to_bits);
    a.dtype() == b.dtype() && a.shape() == b.shape() && bits(a).eq(bits(b))
}

/// The operands of a row, with the floating-point ones in these types and as leaves.
fn operands(row: &OpRow, types: &str, generator: &mut Generator) -> Vec<Tensor> {
    let mut types = types.split_whitespace().map(named);
    let converted = |x: Tensor| match x.dtype().is_floating_point() {
        true => x.to(types.next().expect("a type for each")).detach().requires_grad_(true),
        false => x,
    };
    (row.sample)(generator).into_iter().map(converted).collect()
}

/// What is wrong with the types of one call, if PyTorch accepts it and gives `want`.
fn fault(row: &OpRow, half: DType, types: &str, want: &str) -> Option<String> {
    let x = operands(row, types, &mut Generator::new(3));
    let y = autocast(half, || (row.call)(&x));
    if y.dtype().to_string() != want {
        return Some(format!("{} under {half} of {types}: {} and not {want}", row.name, y.dtype()));
    }
    if row.has_gradient {
        y.backward_with(&y.detach());
    }
    let wrong = |x: &&Tensor| x.grad().is_some_and(|gradient| gradient.dtype() != x.dtype());
    let wrong = x.iter().find(wrong)?;
    Some(format!("{} under {half} of {types}: a gradient of {} is not", row.name, wrong.brief()))
}

#[test]
fn each_operation_gives_the_type_that_it_gives_under_the_autocast_of_cuda() {
    let _alone = alone();
    let golden = golden();
    let (mut faults, mut calls) = (Vec::new(), 0);
    for row in OPS {
        let Some(types) = golden["types"][row.name].as_object() else {
            let without = ["copy_", "threshold_backward"].contains(&row.name);
            assert!(without, "make_autocast.py needs a row for {}", row.name);
            continue;
        };
        for half in HALVES {
            let of_half = types.get(&half.to_string()).and_then(Value::as_object);
            for (operands, want) in of_half.into_iter().flatten() {
                let want = want.as_str().expect("a type");
                if want != "refused" {
                    faults.extend(fault(row, half, operands, want));
                    calls += 1;
                }
            }
        }
    }
    assert!(calls > 800, "only {calls} calls");
    assert!(faults.is_empty(), "{} of {calls}:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn every_row_names_an_operation_and_none_twice() {
    let names: Vec<&str> = AUTOCAST_OPS.iter().map(|(name, _)| *name).collect();
    for (at, name) in names.iter().enumerate() {
        assert!(OPS.iter().any(|row| row.name == *name), "{name} is no operation");
        assert!(!names[..at].contains(name), "{name} stands there twice");
    }
}

/// `F64` and integers are left alone, whatever the operation.
#[test]
fn what_is_not_a_short_float_stays_what_it_is() {
    let _alone = alone();
    for &(name, policy) in AUTOCAST_OPS.iter().filter(|(_, policy)| *policy != Policy::Widest) {
        let row = OPS.iter().find(|row| row.name == name).expect("an operation");
        let x = operands(row, &"f64 ".repeat(4), &mut Generator::new(5));
        let y = autocast(DType::BF16, || (row.call)(&x));
        assert!(same(&y, &(row.call)(&x)), "{name}, {policy:?}");
    }
    let counts = Tensor::from_vec(vec![1i64, 2, 3, 4], &[2, 2]);
    let (sum, product) = autocast(DType::F16, || (counts.sum(), counts.matmul(&counts)));
    assert_eq!((sum.dtype(), product.dtype()), (DType::I64, DType::I64));
}

/// The parameters of two layers, an input and a target.
struct Network {
    x: Tensor,
    targets: Tensor,
    parameters: [Tensor; 4],
}

impl Network {
    fn given(golden: &Value) -> Network {
        let numbers = |name: &str| numbers(&golden["given"][name]).into_iter().map(|x| x as f32);
        let tensor = |name: &str, shape: &[usize]| Tensor::from_vec(numbers(name).collect(), shape);
        let leaf = |name: &str, shape: &[usize]| tensor(name, shape).requires_grad_(true);
        let targets = numbers("targets").map(|target| target as i64).collect();
        Network {
            x: tensor("x", &[16, 12]),
            targets: Tensor::from_vec(targets, &[16]),
            parameters: [
                leaf("w1", &[12, 24]),
                leaf("b1", &[24]),
                leaf("w2", &[24, 5]),
                leaf("b2", &[5]),
            ],
        }
    }

    /// Logits and loss.
    fn run(&self) -> [Tensor; 2] {
        let [w1, b1, w2, b2] = &self.parameters;
        let logits = self.x.matmul(w1).add(b1).relu().matmul(w2).add(b2);
        let loss = logits.cross_entropy(&self.targets);
        [logits, loss]
    }

    /// The same with every cast written by hand.
    fn run_by_hand(&self, half: DType) -> [Tensor; 2] {
        let [w1, b1, w2, b2] = &self.parameters;
        let hidden = self.x.to(half).matmul(&w1.to(half)).to(DType::F32).add(b1).relu();
        let logits = hidden.to(half).matmul(&w2.to(half)).to(DType::F32).add(b2);
        let loss = logits.cross_entropy(&self.targets);
        [logits, loss]
    }

    /// The gradients of the loss.
    fn gradients(&self, loss: &Tensor) -> Vec<Tensor> {
        self.parameters.iter().for_each(Tensor::zero_grad);
        loss.backward();
        self.parameters.iter().map(|p| p.grad().expect("a gradient")).collect()
    }
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(|x| x.as_f64().expect("a number")).collect()
}

/// Both add up in `f32` and round to the half type at the same places, so little is left of it.
#[test]
fn two_layers_compute_what_they_do_in_pytorch() {
    let _alone = alone();
    let golden = &golden()["network"];
    let network = Network::given(golden);
    for half in HALVES {
        let want = &golden["runs"][half.to_string()];
        let [logits, loss] = autocast(half, || network.run());
        let gradients = network.gradients(&loss);
        let close = |what: &str, got: &Tensor, want: &[f64]| {
            assert_eq!(difference(&got.to_vec::<f32>(), want, 1e-6), None, "{what}, {half}");
        };
        close("logits", &logits, &numbers(&want["logits"]));
        close("loss", &loss, &[want["loss"].as_f64().expect("a number")]);
        for (gradient, name) in gradients.iter().zip(["w1", "b1", "w2", "b2"]) {
            close(name, gradient, &numbers(&want["gradients"][name]));
        }
        // The half type shows: what is compared is not all within the tolerance anyway.
        let full = numbers(&golden["runs"]["f32"]["logits"]);
        assert!(difference(&logits.to_vec::<f32>(), &full, 1e-4).is_some(), "{half}");
    }
}

#[test]
fn the_bits_are_those_of_casts_written_by_hand() {
    let _alone = alone();
    let network = Network::given(&golden()["network"]);
    for half in HALVES {
        let hand = network.run_by_hand(half);
        let of_hand = network.gradients(&hand[1]);
        let outside = autocast(half, || network.run());
        assert!(outside.iter().zip(&hand).all(|(a, b)| same(a, b)), "{half}");
        let inside = autocast(half, || network.gradients(&network.run()[1]));
        for gradients in [network.gradients(&outside[1]), inside] {
            assert!(gradients.iter().zip(&of_hand).all(|(a, b)| same(a, b)), "{half}");
        }
    }
}

/// The type that a product of two `f32` matrices has here and now.
fn product() -> DType {
    let x = Tensor::ones(&[2, 2]);
    x.matmul(&x).dtype()
}

#[test]
fn regions_nest_and_end_also_by_a_panic() {
    let _alone = alone();
    assert_eq!((product(), autocast_dtype()), (DType::F32, None));
    autocast(DType::BF16, || {
        assert_eq!((product(), autocast_dtype()), (DType::BF16, Some(DType::BF16)));
        autocast(DType::F16, || assert_eq!(product(), DType::F16));
        autocast_disabled(|| {
            assert_eq!((product(), autocast_dtype()), (DType::F32, None));
            autocast(DType::F16, || assert_eq!(product(), DType::F16));
            assert_eq!(product(), DType::F32);
        });
        let unwound = catch_unwind(|| autocast(DType::F16, || panic!("inside")));
        assert!(unwound.is_err());
        assert_eq!(product(), DType::BF16);
        let elsewhere = std::thread::spawn(product).join().expect("no panic");
        assert_eq!(elsewhere, DType::F32, "another thread");
    });
    let weight = Tensor::ones(&[2, 2]).requires_grad_(true);
    let before = live();
    let wrong = Tensor::ones(&[3, 3]);
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        autocast(DType::BF16, || weight.matmul(&weight).matmul(&wrong))
    }));
    assert!(unwound.is_err());
    drop((unwound, wrong));
    assert_eq!((product(), live()), (DType::F32, before), "casts of a panicking region");
}

#[test]
fn misuse_is_refused_where_it_stands() {
    let _alone = alone();
    for dtype in [DType::F32, DType::F64, DType::I64] {
        let misuse = refused(|| autocast(dtype, || ()));
        assert!(misuse.at.contains("engine_autocast.rs"), "{misuse}");
    }
    let (a, b) = (Tensor::ones(&[2, 3]), Tensor::ones(&[2, 3]));
    let misuse = refused(|| autocast(DType::BF16, || a.matmul(&b)));
    assert!(misuse.at.contains("engine_autocast.rs"), "{misuse}");
    assert_eq!(misuse.operands, ["bf16 [2, 3]", "bf16 [2, 3]"]);
}

/// An operation of one's own, whose passes multiply.
struct Squared;

impl Op<1> for Squared {
    fn name(&self) -> &'static str {
        "squared"
    }

    fn forward(&self, ctx: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        ctx.save(x);
        x.matmul(x)
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        let turned = ctx.saved(0).transpose(0, 1);
        [Some(dy.matmul(&turned).add(&turned.matmul(dy)))]
    }
}

#[test]
fn the_passes_of_an_operation_get_what_they_hand_over() {
    let _alone = alone();
    let mut generator = Generator::new(11);
    let x = uniform(&[4, 4], &mut generator).requires_grad_(true);
    let y = autocast(DType::BF16, || apply(Squared, [&x]));
    assert!(same(&y, &x.matmul(&x)));
    autocast(DType::BF16, || y.backward_with(&y.detach()));
    assert_eq!(x.grad().map(|gradient| gradient.dtype()), Some(DType::F32));
    let [q, k, v] = [0; 3].map(|_| uniform(&[2, 5, 4], &mut generator));
    let attend = |[q, k, v]: [&Tensor; 3]| {
        q.scaled_dot_product_attention(k, v, Attention { causal: true, ..Attention::default() })
    };
    let lowered = [&q, &k, &v].map(|x| x.to(DType::BF16));
    let want = attend(lowered.each_ref());
    assert!(same(&autocast(DType::BF16, || attend([&q, &k, &v])), &want), "products inside f32");
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
