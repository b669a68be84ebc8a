//! Misuse: every public call that can be wrong is refused with the operation, the operands, a
//! sentence and the caller's own line, and the process goes on.

#[path = "engine/refused.rs"]
mod refused;

use std::panic::{Location, catch_unwind};

use engine_room::rng::Generator;
use engine_room::{Misuse, Tensor, inference_mode, no_grad};
use refused::refused;

/// A wrong call, what its refusal must begin with and say, and the line of the call.
struct Wrong {
    call: Box<dyn Fn()>,
    begins: &'static str,
    says: &'static str,
    line: u32,
}

/// One line of a table, so that its line is that of the call in it.
#[track_caller]
fn wrong<T: 'static>(begins: &'static str, says: &'static str, call: fn() -> T) -> Wrong {
    Wrong { call: Box::new(move || drop(call())), begins, says, line: Location::caller().line() }
}

fn x() -> Tensor {
    Tensor::ones(&[2, 3])
}

fn leaf() -> Tensor {
    x().requires_grad_(true)
}

fn i64s(values: &[i64]) -> Tensor {
    Tensor::from_vec(values.to_vec(), &[values.len()])
}

fn i() -> Tensor {
    i64s(&[0, 1])
}

fn bad() -> Tensor {
    i64s(&[0, 4])
}

fn y() -> Tensor {
    Tensor::ones(&[4])
}

#[track_caller]
fn check(table: &[Wrong]) {
    for Wrong { call, begins, says, line } in table {
        let refusal = refused(call);
        let shown = refusal.to_string();
        assert!(shown.starts_with(begins), "{shown:?} does not begin with {begins:?}");
        assert!(refusal.message.contains(says), "{shown:?} does not say {says:?}");
        assert_eq!(refusal.at, format!("{}:{line}", file!()), "the line of {begins}");
        let plain = shown.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        assert!(plain && !shown.contains("  "), "{shown:?}");
    }
}

#[test]
fn types_without_a_meaning_are_refused() {
    check(&[
        wrong("neg(bool [2]): ", "no negative", || b().neg()),
        wrong("relu(bool [2]): ", "no number", || b().relu()),
        wrong("sub(bool [2], bool [2]): ", "no number", || b().sub(&b())),
        wrong("floor_divide(bool [2], bool [2]): ", "no number", || b().floor_divide(&b())),
        wrong("trunc_divide(bool [2], bool [2]): ", "no number", || b().trunc_divide(&b())),
        wrong("remainder(bool [2], bool [2]): ", "no number", || b().remainder(&b())),
        wrong("matmul(bool [2], bool [2]): ", "not bool", || b().matmul(&b())),
        wrong("matmul(f32 [2, 3], i64 [2]): ", "one type", || x().matmul(&i())),
        wrong("mean(i64 [2]): ", "floating-point", || i().mean()),
        wrong("mean(bool [2]): ", "floating-point", || b().mean_dims(&[0], false)),
        wrong("softmax(i64 [2]): ", "floating-point", || i().softmax(0)),
        wrong("log_softmax(i64 [2]): ", "floating-point", || i().log_softmax(0)),
        wrong("gather(f32 [2, 3], f32 [2, 3]): ", "i64", || x().gather(1, &x())),
        wrong("cross_entropy(i64 [2]): ", "floating-point", || i().cross_entropy(&i())),
        wrong("floor_divide(i64 [2], i64 []): ", "by 0", || i().floor_divide(&none())),
        wrong("trunc_divide(i64 [2], i64 []): ", "by 0", || i().trunc_divide(&none())),
        wrong("remainder(i64 [2], i64 []): ", "by 0", || i().remainder(&none())),
        wrong("where(i64 [2], bool [2], bool [2]): ", "bool", || mixed(&i(), &b())),
        wrong("masked_fill(f32 [2, 3], f32 [2, 3]): ", "bool", || x().masked_fill(&x(), 0)),
        wrong("masked_fill_(f32 [2, 3], f32 [2, 3]): ", "bool", || x().masked_fill_(&x(), 0)),
        wrong("add_(i64 [2], f32 []): ", "f32", || i().add_(&Tensor::scalar(0.5), 1)),
        wrong("add_(i64 [2], i64 [2]): ", "0.5", || i().add_(&i(), 0.5)),
        wrong("mul_(bool [2], i64 [2]): ", "i64", || b().mul_(&i())),
        wrong("to_vec(i64 [2]): ", "f32", || i().to_vec::<f32>()),
        wrong("to_vec(f32 [2, 3]): ", "i64", || x().to_vec::<i64>()),
        wrong("item(f32 [2, 3]): ", "one element", || x().item()),
        wrong("to_vec(i64 [1]): ", "f32", || i64s(&[3]).item()),
    ]);
}

#[track_caller]
fn mixed(condition: &Tensor, x: &Tensor) -> Tensor {
    Tensor::where_cond(condition, x, x)
}

fn b() -> Tensor {
    Tensor::from_vec(vec![true, false], &[2])
}

/// The number 0 as an integer.
fn none() -> Tensor {
    Tensor::from_vec(vec![0i64], &[])
}

#[test]
fn shapes_that_do_not_fit_are_refused() {
    check(&[
        wrong("from_vec(3 values): ", "has 4", || Tensor::from_vec(vec![0.0f32; 3], &[2, 2])),
        wrong("shape([1, 1, 1, 1, 1, 1, 1, 1, 1]): ", "at most 8", || Tensor::zeros(&[1; 9])),
        wrong("shape([1, 1, 1, 1, 1, 1, 1, 1, 1]): ", "not 9", || Tensor::ones(&[1; 9])),
        wrong("shape([1, 1, 1, 1, 1, 1, 1, 1, 1]): ", "not 9", || Tensor::full(&[1; 9], 0.5)),
        wrong("shape([1, 1, 1, 1, 1, 1, 1, 1, 1]): ", "not 9", || x().reshape(&[1; 9])),
        wrong("shape([0, 0, 0, 0, 0, 0, 0, 0, 0]): ", "not 9", || random(&[0; 9])),
        wrong("add(f32 [2, 3], f32 [4]): ", "broadcast", || x().add(&y())),
        wrong("sub(f32 [2, 3], f32 [4]): ", "broadcast", || x().sub(&y())),
        wrong("mul(f32 [2, 3], f32 [4]): ", "broadcast", || x().mul(&y())),
        wrong("div(f32 [2, 3], f32 [4]): ", "broadcast", || x().div(&y())),
        wrong("add(f32 [2, 3], f32 [4]): ", "broadcast", || &x() + &y()),
        wrong("sub(f32 [2, 3], f32 [4]): ", "broadcast", || &x() - &y()),
        wrong("mul(f32 [2, 3], f32 [4]): ", "broadcast", || &x() * &y()),
        wrong("div(f32 [2, 3], f32 [4]): ", "broadcast", || &x() / &y()),
        wrong("matmul(f32 [2, 3], f32 [2, 3]): ", "3 columns", || x().matmul(&x())),
        wrong("matmul(f32 [2, 3], f32 [4]): ", "4 rows", || x().matmul(&y())),
        wrong("reshape(f32 [2, 3]): ", "6 elements", || x().reshape(&[4])),
        wrong("expand(f32 [2, 3]): ", "[2, 4]", || x().expand(&[2, 4])),
        wrong("expand(f32 [2, 3]): ", "[3]", || x().expand(&[3])),
        wrong("add_(f32 [2, 3], f32 [4]): ", "does not broadcast", || x().add_(&y(), 1.0)),
        wrong("gather(f32 [2, 3], i64 [2]): ", "dimensions", || x().gather(0, &i())),
        wrong("gather(f32 [2, 3], f32 [2, 3]): ", "i64", || x().gather(0, &x())),
        wrong("gather(f32 [4], i64 [2]): ", "index 4", || y().gather(0, &bad())),
        wrong("gather(f32 [], i64 [2]): ", "dimensions", || Tensor::scalar(1.0).gather(0, &i())),
        wrong("scatter_add(f32 [4], i64 [2], ", "one shape", || y().scatter_add(0, &i(), &y())),
        wrong("cross_entropy(f32 [4], i64 [2]): ", "(B, C)", || y().cross_entropy(&i())),
        wrong("cross_entropy(f32 [2, 3], f32 [4]): ", "(B, C)", || x().cross_entropy(&y())),
        wrong("cross_entropy(f32 [2, 3], i64 [1]): ", "2 rows", || x().cross_entropy(&i64s(&[0]))),
        wrong("cross_entropy(f32 [2, 3], i64 [2]): ", "target 4", || x().cross_entropy(&bad())),
    ]);
}

#[test]
fn views_that_do_not_exist_are_refused() {
    const NINE: [usize; 9] = [1, 1, 1, 1, 1, 1, 1, 2, 3];
    check(&[
        wrong("view(f32 [3, 2]): ", "copy", || x().transpose(0, 1).view(&[6])),
        wrong("view(f32 [2, 3]): ", "6 elements", || x().view(&[7])),
        wrong("shape([1, 1, 1, 1, 1, 1, 1, 2, 3]): ", "at most 8", || x().expand(&NINE)),
        wrong("unfold(f32 [1, 1, 1, 1, 1, 1, 1, 1]): ", "no room", || eight().unfold(7, 1, 1)),
        wrong("permute(f32 [2, 3]): ", "[0, 0]", || x().permute(&[0, 0])),
        wrong("permute(f32 [2, 3]): ", "2 dimensions", || x().permute(&[0])),
        wrong("permute(f32 [2, 3]): ", "no dimension 2", || x().permute(&[0, 2])),
        wrong("narrow(f32 [2, 3]): ", "has 3", || x().narrow(1, 1, usize::MAX)),
        wrong("slice(f32 [2, 3]): ", "positive", || x().slice(0, 0, 2, 0)),
        wrong("select(f32 [2, 3]): ", "no element -3", || x().select(0, -3)),
        wrong("select(f32 []): ", "no parts", || Tensor::scalar(1.0).select(0, 0)),
        wrong("unfold(f32 [2, 3]): ", "windows of 4", || x().unfold(1, 4, 1)),
        wrong("unfold(f32 [2, 3]): ", "at least 1", || x().unfold(1, 2, 0)),
        wrong("flip(f32 [2, 3]): ", "twice", || x().flip(&[1, -1])),
        wrong("flip(f32 [2, 3]): ", "no dimension 2", || x().flip(&[2])),
        wrong("squeeze(f32 [2, 3]): ", "no dimension 2", || x().squeeze(2)),
        wrong("unsqueeze(f32 [2, 3]): ", "-3 to 2", || x().unsqueeze(3)),
    ]);
}

fn eight() -> Tensor {
    Tensor::ones(&[1; 8])
}

#[track_caller]
fn random(shape: &[usize]) -> Tensor {
    Tensor::rand(shape, &mut Generator::new(0))
}

#[test]
fn dimensions_that_do_not_exist_are_refused() {
    check(&[
        wrong("transpose(f32 [2, 3]): ", "no dimension 2", || x().transpose(0, 2)),
        wrong("transpose(f32 [2, 3]): ", "-2 to 1", || x().transpose(-3, 0)),
        wrong("sum(f32 [2, 3]): ", "no dimension 2", || x().sum_dims(&[2], false)),
        wrong("sum(f32 [2, 3]): ", "twice", || x().sum_dims(&[1, -1], false)),
        wrong("mean(f32 [2, 3]): ", "no dimension 2", || x().mean_dims(&[2], false)),
        wrong("max(f32 [2, 3]): ", "no dimension -3", || x().max_dims(&[-3], false)),
        wrong("max(f32 [2, 0]): ", "no elements", || Tensor::ones(&[2, 0]).max_dims(&[1], true)),
        wrong("argmax(f32 [2, 3]): ", "no dimension 2", || x().argmax(2)),
        wrong("argmax(f32 [2, 0]): ", "no elements", || Tensor::ones(&[2, 0]).argmax(1)),
        wrong("softmax(f32 [2, 3]): ", "no dimension 2", || x().softmax(2)),
        wrong("log_softmax(f32 [2, 3]): ", "no dimension 2", || x().log_softmax(2)),
        wrong("gather(f32 [2, 3]): ", "no dimension 2", || x().gather(2, &i())),
        wrong("scatter_add(f32 [2, 3]): ", "no dimension", || x().scatter_add(2, &i(), &x())),
    ]);
}

#[test]
fn wrong_uses_of_autograd_are_refused() {
    check(&[
        wrong("requires_grad_(i64 [2]): ", "floating-point", || i().requires_grad_(true)),
        wrong("requires_grad_(f32 [2, 3]): ", "leaf", || leaf().exp().requires_grad_(false)),
        wrong("requires_grad_(f32 [2, 3]): ", "inference", || inference().requires_grad_(true)),
        wrong("backward(f32 [2, 3]): ", "requires a gradient", || x().backward()),
        wrong("backward(f32 [2, 3]): ", "single number", || leaf().backward()),
        wrong("backward(f32 [2, 3]): ", "single number", || leaf().backward_retain_graph()),
        wrong("backward(f32 [2, 3], f32 [4]): ", "shape", || leaf().backward_with(&y())),
        wrong("backward(f32 [2, 3], i64 [2, 3]): ", "type", || leaf().backward_with(&i64_x())),
        wrong("add_(f32 [2, 3], f32 [2, 3]): ", "no_grad", || leaf().add_(&x(), 1.0)),
        wrong("mul_(f32 [3], f32 [3]): ", "no_grad", || leaf().select(0, 1).mul_(&y3())),
        wrong("copy_(f32 [3], f32 [3]): ", "nothing was recorded", || unrecorded().copy_(&y3())),
        wrong("add_(f32 [3], f32 [3]): ", "scattered", || repeated().add_(&leaf().select(0, 0), 1)),
        wrong("copy_(f32 [3], f32 [3]): ", "different places", || shifted(&y())),
        wrong("fill_(f32 [2, 3]): ", "no_grad", || leaf().fill_(1.0)),
        wrong("fill_(f32 [4, 2, 3]): ", "copy", || x().expand(&[4, 2, 3]).fill_(1.0)),
        wrong("fill_(f32 [2, 3]): ", "inference mode", || inference().fill_(1.0)),
        wrong("fill_(f32 [3, 2]): ", "copy", || y().unfold(0, 2, 1).fill_(1.0)),
    ]);
}

/// Moves the numbers of four one place down, within one storage.
#[track_caller]
fn shifted(y: &Tensor) {
    y.narrow(0, 0, 3).copy_(&y.narrow(0, 1, 3))
}

fn y3() -> Tensor {
    Tensor::ones(&[3])
}

/// A view that was made while nothing was recorded, of a result that belongs to a graph.
fn unrecorded() -> Tensor {
    let y = leaf().mul_scalar(2.0);
    no_grad(|| y.select(0, 1))
}

/// A row of a tensor of its own that shows one row twice.
fn repeated() -> Tensor {
    Tensor::ones(&[1, 3]).expand(&[2, 3]).detach().select(0, 1)
}

fn inference() -> Tensor {
    inference_mode(x)
}

fn i64_x() -> Tensor {
    Tensor::from_vec(vec![1i64; 6], &[2, 3])
}

/// Sizes whose product does not fit into a `usize` must not wrap around: that would read and write
/// out of bounds.
#[test]
fn sizes_that_overflow_are_refused() {
    let half = 1usize << 32;
    refused(|| Tensor::from_vec(Vec::<f32>::new(), &[half, half]));
    refused(|| Tensor::zeros(&[half, half, 2]));
    refused(|| Tensor::zeros(&[0]).reshape(&[half, half]));
    let one = Tensor::ones(&[1, 1]);
    refused(|| one.expand(&[half, half]).exp());
    refused(|| one.expand(&[half, half + 1]).sum());
    // Rows times columns is 32 after wrapping around, and no operand has too many elements.
    let (tall, wide) = (one.expand(&[(1_usize << 59) + 1, 1]), one.expand(&[1, 32]));
    refused(|| tall.matmul(&wide));
    assert_eq!(Tensor::zeros(&[0, usize::MAX]).numel(), 0);
}

#[test]
fn a_storage_conflict_names_both_and_nothing_waits() {
    let x = Tensor::arange(1000);
    let reading = x.storage().read("checkpoint");
    let elsewhere = |call: fn(&Tensor)| {
        let x = x.clone();
        std::thread::spawn(move || refused(|| call(&x))).join().expect("a refusal")
    };
    for refusal in [
        elsewhere(|x| x.fill_(1.0)),
        elsewhere(|x| x.reshape(&[10, 100]).fill_(1.0)),
        refused(|| x.fill_(1.0)),
    ] {
        assert_eq!(refusal.op, "fill_");
        assert!(refusal.message.contains("checkpoint"), "{refusal}");
        assert_eq!(refusal.operands, ["f32 storage of 4000 bytes"]);
    }
    assert_eq!(x.exp().numel(), 1000, "readers do not disturb one another");
    // Of several readers, the one that is still there is named, not the one that came last.
    let refusal = refused(|| x.fill_(1.0));
    assert!(refusal.message.contains("checkpoint"), "{refusal}");
    drop(reading);
    x.fill_(1.0);
    assert_eq!(
        (x.sum().item(), x.storage().version()),
        (1000.0, 1),
        "refused writes count nothing"
    );

    let writing = x.storage().write("update");
    for refusal in
        [elsewhere(|x| drop(x.exp())), refused(|| x.to_vec::<f32>()), refused(|| x.fill_(0.0))]
    {
        assert!(refusal.message.contains("update"), "{refusal}");
    }
    drop(writing);
    assert_eq!(x.exp().numel(), 1000);
}

/// A panic while writing must not leave the storage locked.
#[test]
fn a_panic_under_a_guard_gives_the_storage_back() {
    let x = Tensor::zeros(&[3]);
    let inner = x.clone();
    let writer = std::thread::spawn(move || {
        let _writing = inner.storage().write("update");
        panic!("in the middle of an update");
    });
    assert!(writer.join().is_err());
    x.fill_(2.0);
    assert_eq!(x.to_vec::<f32>(), [2.0; 3]);
}

#[test]
fn other_panics_stay_what_they_are() {
    let payload = catch_unwind(|| panic!("of the learner")).expect_err("a panic");
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"of the learner"));
    let a = refused(|| x().item());
    assert_eq!(a.clone(), a);
    let Misuse { op, operands, message, .. } = a;
    assert_eq!((op, operands), ("item", vec!["f32 [2, 3]".to_string()]));
    assert!(!message.is_empty());
}
