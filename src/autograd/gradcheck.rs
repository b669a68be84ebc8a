//! The gradient check: compares what `backward` says with what a small step shows.

use std::fmt;

use crate::Tensor;
use crate::dtype::DType;
use crate::rng::Generator;

/// The element at which the two gradients differ most, relative to the tolerance.
#[derive(Debug, Clone, PartialEq)]
pub struct GradcheckError {
    /// Which input, counted from 0.
    pub input: usize,
    /// Which element of it, in logical order.
    pub element: usize,
    /// The gradient by `backward`.
    pub analytic: f64,
    /// The gradient by central differences.
    pub numeric: f64,
}

impl fmt::Display for GradcheckError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let GradcheckError { input, element, analytic, numeric } = self;
        write!(
            f,
            "gradient of input {input}, element {element}: backward says {analytic}, a small step \
             shows {numeric}"
        )
    }
}

impl std::error::Error for GradcheckError {}

/// Checks the gradient of `f` at `inputs` against central differences
/// (f(x + ε) − f(x − ε)) / 2ε, which cost two calls of `f` an element.
///
/// A result with several elements is weighted with fixed random numbers, so that each of its
/// elements counts and none cancels another. The two gradients may differ by
/// `tolerance` · (1 + |numeric|). The error of the formula grows with ε² and that of the rounding
/// with 1/ε: in `f32` a step ε of 1e-2 and a tolerance of 1e-2 balance them, and in `f64` a step of
/// 1e-6 and a tolerance of 1e-7. Integer inputs are left alone.
///
/// # Errors
/// The worst element, if it is out of tolerance; a NaN always is.
pub fn gradcheck(
    f: impl Fn(&[Tensor]) -> Tensor,
    inputs: &[Tensor],
    epsilon: f64,
    tolerance: f64,
) -> Result<(), GradcheckError> {
    let leaves: Vec<Tensor> = inputs.iter().map(leaf).collect();
    let y = f(&leaves);
    let dy = Tensor::rand(y.shape(), &mut Generator::new(0)).add_scalar(0.5).to(y.dtype());
    y.backward_with(&dy);
    let dy = values(&dy);
    let mut worst: Option<(f64, GradcheckError)> = None;
    for (input, x) in inputs.iter().enumerate().filter(|(_, x)| x.dtype().is_floating_point()) {
        let analytic = values(&leaves[input].grad().unwrap_or(x.zeros_like()));
        for (element, &analytic) in analytic.iter().enumerate() {
            let step = |by: f64| f(&replaced(inputs, input, nudged(x, element, by)));
            let numeric = difference(&step(epsilon), &step(-epsilon), &dy) / (2.0 * epsilon);
            let excess = (analytic - numeric).abs() / (tolerance * (1.0 + numeric.abs()));
            let excess = if excess.is_nan() { f64::INFINITY } else { excess };
            if excess > worst.as_ref().map_or(1.0, |(most, _)| *most) {
                worst = Some((excess, GradcheckError { input, element, analytic, numeric }));
            }
        }
    }
    worst.map_or(Ok(()), |(_, error)| Err(error))
}

/// A copy that asks for a gradient, if its type can have one.
fn leaf(x: &Tensor) -> Tensor {
    let copy = x.detach().copy();
    if x.dtype().is_floating_point() { copy.requires_grad_(true) } else { copy }
}

/// Σ dy · (a − b), summed in `f64`.
fn difference(a: &Tensor, b: &Tensor, dy: &[f64]) -> f64 {
    let (a, b) = (values(a), values(b));
    a.iter().zip(&b).zip(dy).map(|((a, b), dy)| (a - b) * dy).sum()
}

fn values(x: &Tensor) -> Vec<f64> {
    x.detach().to(DType::F64).to_vec()
}

/// `x` with one element moved by `by`.
fn nudged(x: &Tensor, element: usize, by: f64) -> Tensor {
    let mut values = values(x);
    values[element] += by;
    Tensor::from_vec(values, x.shape()).to(x.dtype())
}

fn replaced(inputs: &[Tensor], i: usize, by: Tensor) -> Vec<Tensor> {
    let mut inputs: Vec<Tensor> = inputs.iter().map(Tensor::detach).collect();
    inputs[i] = by;
    inputs
}
