//! Initialisations: random numbers for parameters, in place and never recorded (PyTorch's
//! `torch.nn.init`).
//!
//! The bounds keep the variance of what flows through a layer near that of what came in. Sources:
//! X. Glorot and Y. Bengio, AISTATS 2010 (Xavier); K. He et al., ICCV 2015 (Kaiming).

use crate::Tensor;
use crate::autograd::no_grad;
use crate::error::misuse;
use crate::rng::Generator;

/// Uniform in [low, high).
///
/// # Panics
/// As [`Tensor::copy_`]; so do all functions here.
#[track_caller]
pub fn uniform_(x: &Tensor, low: f32, high: f32, generator: &mut Generator) {
    fill(x, || low + (high - low) * generator.uniform());
}

/// Normal with this mean and standard deviation.
#[track_caller]
pub fn normal_(x: &Tensor, mean: f32, std: f32, generator: &mut Generator) {
    fill(x, || mean + std * generator.normal());
}

/// Normal, but within `low` and `high`: what falls outside is drawn again.
///
/// # Panics
/// If less than one draw in a thousand could fall inside, as between bounds far from the mean.
#[track_caller]
pub fn trunc_normal_(
    x: &Tensor,
    (mean, std): (f32, f32),
    (low, high): (f32, f32),
    generator: &mut Generator,
) {
    let density = (low.max(mean - 3.0 * std)..=high.min(mean + 3.0 * std)).is_empty();
    if density || high - low < 0.003 * std {
        let what = format!("{low} to {high}");
        let message = format!(
            "numbers of mean {mean} and standard deviation {std} hardly ever fall there; widen \
             the bounds to within 3 standard deviations"
        );
        misuse("trunc_normal_", &[&what], message);
    }
    fill(x, || {
        loop {
            let draw = mean + std * generator.normal();
            if (low..=high).contains(&draw) {
                return draw;
            }
        }
    });
}

/// Uniform in ±√(6 / (fan_in + fan_out)): for layers that are followed by tanh or nothing.
#[track_caller]
pub fn xavier_uniform_(x: &Tensor, generator: &mut Generator) {
    let (fan_in, fan_out) = fans("xavier_uniform_", x);
    let bound = (6.0 / (fan_in + fan_out)).sqrt();
    uniform_(x, -bound, bound, generator);
}

/// Normal with standard deviation √(2 / (fan_in + fan_out)).
#[track_caller]
pub fn xavier_normal_(x: &Tensor, generator: &mut Generator) {
    let (fan_in, fan_out) = fans("xavier_normal_", x);
    normal_(x, 0.0, (2.0 / (fan_in + fan_out)).sqrt(), generator);
}

/// Uniform in ±√(6 / ((1 + a²) · fan_in)), where a is the slope of the activation below 0: 0 for
/// relu. PyTorch's linear layers use a = √5, which is ±1 / √fan_in.
#[track_caller]
pub fn kaiming_uniform_(x: &Tensor, a: f32, generator: &mut Generator) {
    let (fan_in, _) = fans("kaiming_uniform_", x);
    let bound = (6.0 / ((1.0 + a * a) * fan_in)).sqrt();
    uniform_(x, -bound, bound, generator);
}

/// Normal with standard deviation √(2 / ((1 + a²) · fan_in)).
#[track_caller]
pub fn kaiming_normal_(x: &Tensor, a: f32, generator: &mut Generator) {
    let (fan_in, _) = fans("kaiming_normal_", x);
    normal_(x, 0.0, (2.0 / ((1.0 + a * a) * fan_in)).sqrt(), generator);
}

/// How many numbers go into one output of a layer, and how many outputs one number goes into, for
/// weights `(out, in, ..)`: what comes behind is the size of a window.
#[track_caller]
fn fans(op: &'static str, x: &Tensor) -> (f32, f32) {
    let &[outputs, inputs, ref window @ ..] = x.shape() else {
        let message = "needs weights with at least two dimensions, (out, in, ..)".to_string();
        misuse(op, &[&x.brief()], message)
    };
    let window: usize = window.iter().product();
    ((inputs * window) as f32, (outputs * window) as f32)
}

#[track_caller]
fn fill(x: &Tensor, mut draw: impl FnMut() -> f32) {
    let values = Tensor::from_vec((0..x.numel()).map(|_| draw()).collect(), x.shape());
    // Not in a closure: the caller's line would be lost.
    let x = x.detach();
    no_grad(|| x.copy_(&values));
}
