//! The dictionary of chapter 00: each line of PyTorch beside the engine's, run.
//!
//! The chapter's table is compared with the text of this file, so a name that it shows compiles.

use engine_room::memory::{max_memory_allocated, memory_allocated};
use engine_room::rng::Generator;
use engine_room::{DType, Device, Tensor, no_grad};

/// A line of PyTorch, and what the engine's counterpart gives: shape and numbers.
#[derive(Clone)]
pub struct Row {
    pub python: &'static str,
    pub shape: Vec<usize>,
    pub numbers: Vec<f64>,
}

/// What can be compared with PyTorch's result; a single number has no shape.
trait Shown {
    fn shown(self) -> (Vec<usize>, Vec<f64>);
}

impl Shown for Tensor {
    fn shown(self) -> (Vec<usize>, Vec<f64>) {
        (self.shape().to_vec(), self.detach().to(DType::F64).to_vec())
    }
}

impl Shown for &[usize] {
    fn shown(self) -> (Vec<usize>, Vec<f64>) {
        (vec![self.len()], self.iter().map(|&x| x as f64).collect())
    }
}

impl Shown for Vec<f32> {
    fn shown(self) -> (Vec<usize>, Vec<f64>) {
        (vec![self.len()], self.into_iter().map(f64::from).collect())
    }
}

impl Shown for bool {
    fn shown(self) -> (Vec<usize>, Vec<f64>) {
        (Vec::new(), vec![f64::from(u8::from(self))])
    }
}

impl Shown for usize {
    fn shown(self) -> (Vec<usize>, Vec<f64>) {
        (Vec::new(), vec![self as f64])
    }
}

impl Shown for u64 {
    fn shown(self) -> (Vec<usize>, Vec<f64>) {
        (Vec::new(), vec![self as f64])
    }
}

impl Shown for f32 {
    fn shown(self) -> (Vec<usize>, Vec<f64>) {
        (Vec::new(), vec![f64::from(self)])
    }
}

fn row(python: &'static str, value: impl Shown) -> Row {
    let (shape, numbers) = value.shown();
    Row { python, shape, numbers }
}

/// A row whose result is not compared: it changes something, or differs from system to system.
fn done<T>(python: &'static str, run: impl FnOnce() -> T) -> Row {
    run();
    Row { python, shape: Vec::new(), numbers: Vec::new() }
}

/// Every row of the chapter's table, in its order.
pub fn rows() -> Vec<Row> {
    let x = Tensor::arange(6).reshape(&[2, 3]);
    let y = Tensor::ones(&[2, 3]);
    [making(), looking(&x), computing(x.clone(), y), training(x), counting()].concat()
}

fn making() -> Vec<Row> {
    let mut generator = Generator::new(0);
    vec![
        row("torch.zeros(2, 3)", Tensor::zeros(&[2, 3])),
        row("torch.tensor([1., 2.])", Tensor::from_vec(vec![1.0f32, 2.0], &[2])),
        row("torch.arange(6.)", Tensor::arange(6)),
        row("torch.randn(2, 3).shape", Tensor::randn(&[2, 3], &mut generator).shape()),
    ]
}

fn looking(x: &Tensor) -> Vec<Row> {
    vec![
        row("x.shape", x.shape()),
        row("x.stride()", x.strides()),
        row("x.dtype == torch.float32", x.dtype() == DType::F32),
        row("x.element_size()", x.dtype().size()),
        row("x.nbytes", x.nbytes()),
        row("x.is_contiguous()", x.is_contiguous()),
        row("x.flatten().tolist()", x.to_vec::<f32>()),
        row("x.sum().item()", x.sum().item()),
    ]
}

fn computing(x: Tensor, y: Tensor) -> Vec<Row> {
    vec![
        row("x + y", x.add(&y)),
        row("x * 2", x.mul_scalar(2)),
        row("x @ y.T", x.matmul(&y.transpose(0, 1))),
        row("x.sum(dim=1, keepdim=True)", x.sum_dims(&[1], true)),
        row("x.view(-1)", x.view(&[-1])),
        row("x[0]", x.select(0, 0)),
        row("x[:, 1:3]", x.narrow(1, 1, 2)),
        row("torch.cat([x, y], dim=0)", Tensor::cat(&[&x, &y], 0)),
        row("x.clone()", x.copy()),
        row("x.to(torch.bfloat16)", x.to(DType::BF16)),
        row("x.to('cpu')", x.to(Device::Cpu)),
    ]
}

fn training(x: Tensor) -> Vec<Row> {
    let w = Tensor::ones(&[3, 2]).requires_grad_(true);
    let targets = Tensor::from_vec(vec![0i64, 1], &[2]);
    let logits = x.matmul(&w);
    let loss = logits.cross_entropy(&targets);
    vec![
        row("torch.ones(3, 2).requires_grad_()", Tensor::ones(&[3, 2]).requires_grad_(true)),
        row("F.cross_entropy(logits, targets)", logits.cross_entropy(&targets)),
        done("loss.backward()", || loss.backward()),
        row("w.grad", w.grad().unwrap()),
        done("with torch.no_grad(): w.sub_(w.grad)", || no_grad(|| w.add_(&w.grad().unwrap(), -1))),
        done("w.grad = None", || w.zero_grad()),
        row("w.detach()", w.detach()),
    ]
}

fn counting() -> Vec<Row> {
    vec![
        done("torch.cuda.memory_allocated()", || memory_allocated(Device::Cpu)),
        done("torch.cuda.max_memory_allocated()", || max_memory_allocated(Device::Cpu)),
    ]
}
