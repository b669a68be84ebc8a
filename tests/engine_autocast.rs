//! Autocast against PyTorch 2.9.1 (golden/autocast.json, made by make_autocast.py), and against
//! casts written by hand.

#[path = "engine/close.rs"]
mod close;
#[path = "engine/refused.rs"]
mod refused;

use std::panic::catch_unwind;

use close::difference;
use engine_room::amp::{AUTOCAST_OPS, Policy, autocast, autocast_disabled, autocast_dtype};
use engine_room::autograd::{Ctx, Op, apply, apply_in_place};
use engine_room::rng::Generator;
use engine_room::{Attention, CrossEntropy, DType, OPS, OpRow, Reduction, Tensor};
use refused::refused;
use serde_json::Value;

const HALVES: [DType; 2] = [DType::BF16, DType::F16];

fn golden() -> Value {
    serde_json::from_str(include_str!("golden/autocast.json")).expect("the golden file is JSON")
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
}

#[test]
fn misuse_is_refused_where_it_stands() {
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

/// The same in place.
struct SquaredInPlace;

impl Op<1> for SquaredInPlace {
    fn name(&self) -> &'static str {
        "squared_"
    }

    fn forward(&self, _: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        x.copy_(&x.matmul(x));
        x.clone()
    }

    fn backward(&self, _: &Ctx, _: &Tensor) -> [Option<Tensor>; 1] {
        [None]
    }
}

#[test]
fn the_passes_of_an_operation_get_what_they_hand_over() {
    let mut generator = Generator::new(11);
    let x = uniform(&[4, 4], &mut generator).requires_grad_(true);
    let y = autocast(DType::BF16, || apply(Squared, [&x]));
    assert!(same(&y, &x.matmul(&x)));
    autocast(DType::BF16, || y.backward_with(&y.detach()));
    assert_eq!(x.grad().map(|gradient| gradient.dtype()), Some(DType::F32));
    let z = x.detach().copy();
    autocast(DType::BF16, || apply_in_place(SquaredInPlace, [&z]));
    assert!(same(&z, &y));
    let [q, k, v] = [0; 3].map(|_| uniform(&[2, 5, 4], &mut generator));
    let attend = |[q, k, v]: [&Tensor; 3]| {
        q.scaled_dot_product_attention(k, v, Attention { causal: true, ..Attention::default() })
    };
    let lowered = [&q, &k, &v].map(|x| x.to(DType::BF16));
    let want = attend(lowered.each_ref());
    assert!(same(&autocast(DType::BF16, || attend([&q, &k, &v])), &want), "products inside f32");
}

/// Operands and options that the table of operations does not vary.
#[test]
fn every_operand_is_converted() {
    let mut generator = Generator::new(19);
    let [bias, a, b] = [[4, 4]; 3].map(|shape| uniform(&shape, &mut generator));
    let [low_bias, low_a, low_b] = [&bias, &a, &b].map(|x| x.to(DType::F16));
    let sum = autocast(DType::F16, || bias.addmm(&a, &b, 0.5, 2));
    assert!(same(&sum, &low_bias.addmm(&low_a, &low_b, 0.5, 2)));
    let targets = Tensor::from_vec(vec![0i64, 3, 1, 3], &[4]);
    let weight = Tensor::rand(&[4], &mut generator);
    let options = CrossEntropy { weight: Some(&weight), ..CrossEntropy::default() };
    let wide = low_a.to(DType::F32);
    let loss = autocast(DType::F16, || low_a.cross_entropy_with(&targets, options));
    assert!(same(&loss, &wide.cross_entropy_with(&targets, options)));
    let loss = autocast(DType::F16, || low_a.nll_loss(&targets, options));
    assert!(same(&loss, &wide.nll_loss(&targets, options)));
    let shares = low_b.softmax(-1);
    let loss = autocast(DType::F16, || low_a.cross_entropy(&shares));
    assert!(same(&loss, &wide.cross_entropy(&shares.to(DType::F32))));
    let distance = autocast(DType::F16, || low_a.l1_loss(&low_b, Reduction::None));
    assert_eq!(distance.dtype(), DType::F32);
    // The mean of squares of an f16 does not overflow on the way.
    let large = Tensor::full(&[4], 60_000.0).to(DType::F16);
    let weight = Tensor::ones(&[4]);
    let normal = autocast(DType::F16, || large.rms_norm(&[4], Some(&weight), 1e-5));
    assert!(same(&normal, &weight.to(DType::F16)));
}
