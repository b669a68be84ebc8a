//! 4.4: gradients before and after, and the norm that is returned.

use engine_room::Tensor;
use engine_room::nn::Parameter;
use engine_room::rng::Generator;
use grading::{Check, Death, Diagnosis};

use super::Implementation;
use super::thoughts::{Known, explained};

/// Gradients of a model, some missing, and the largest norm.
type Gradients = Vec<Option<Vec<f32>>>;

/// What a call leaves behind.
#[derive(Clone, PartialEq)]
struct Clipped {
    norm: f64,
    gradients: Vec<Option<Vec<f64>>>,
}

/// A call with what it has left behind.
struct Called {
    called: String,
    gradients: Gradients,
    max_norm: f64,
    result: Clipped,
}

/// 4.4
pub fn clip(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let mut rng = check.rng();
    let mut calls = Vec::new();
    for (gradients, max_norm) in finite(&mut rng) {
        calls.push(call(imp, check, gradients, max_norm)?);
    }
    judge(&calls)?;
    check.if_it_dies(Death::Panicked, "4.4-none-unwrapped", UNWRAPPED);
    for at in 0..3 {
        let mut missing = random(&mut rng, &[3, 4, 2], 2.0);
        missing[at] = None;
        calls.push(call(imp, check, missing, 1.0)?);
    }
    for nothing in [vec![None, None], Vec::new()] {
        calls.push(call(imp, check, nothing, 1.0)?);
    }
    judge(&calls)?;
    let (infinite, nan) = (f32::INFINITY, f32::NAN);
    for bad in [infinite, -infinite, nan] {
        let mut gradients = random(&mut rng, &[3, 2, 4], 1.0);
        if let Some(gradient) = &mut gradients[rng.below(3)] {
            gradient[1] = bad;
        }
        calls.push(call(imp, check, gradients, 1.0)?);
    }
    calls.push(call(imp, check, some(&[&[1.0, nan], &[infinite, 2.0]]), 1.0)?);
    judge(&calls)
}

fn some(lists: &[&[f32]]) -> Gradients {
    lists.iter().map(|list| Some(list.to_vec())).collect()
}

/// Random gradients of about this size, none of whose sums is symmetric.
fn random(rng: &mut Generator, sizes: &[usize], size: f32) -> Gradients {
    let mut number = || rng.normal() * size + 0.01 * size;
    sizes.iter().map(|n| Some((0..*n).map(|_| number()).collect())).collect()
}

/// Gradients without a missing one, each with the largest norm.
fn finite(rng: &mut Generator) -> Vec<(Gradients, f64)> {
    let mut cases = vec![(some(&[&[3.0], &[4.0]]), 1.0), (some(&[&[0.3], &[0.4]]), 1.0)];
    for (size, max_norm) in [(1.0, 1.0), (0.1, 0.5), (1e3, 1.0), (0.02, 10.0), (30.0, 7.5)] {
        cases.push((random(rng, &[4, 1, 7], size), max_norm));
    }
    cases.push((random(rng, &[5], 0.2), 0.25));
    cases.push((some(&[&[3e-6, -4e-6], &[1.2e-5]]), 2e-6));
    cases.push((random(rng, &[3, 2], 1.0), 0.0));
    cases.push((some(&[&[0.0, 0.0], &[0.0]]), 1.0));
    cases.push((random(rng, &[3, 2], 3e25), 1.0));
    cases
}

/// Parameters whose backward pass has left these gradients.
pub fn parameters(gradients: &[Option<Vec<f32>>]) -> Vec<Parameter> {
    let one = |gradient: &Option<Vec<f32>>| {
        let n = gradient.as_ref().map_or(2, Vec::len);
        let parameter = Parameter::new(Tensor::full(&[n], 0.5));
        if let Some(values) = gradient {
            parameter.get().backward_with(&Tensor::from_vec(values.clone(), &[n]));
        }
        parameter
    };
    gradients.iter().map(one).collect()
}

fn call(
    imp: &Implementation,
    check: &mut Check,
    gradients: Gradients,
    max_norm: f64,
) -> Result<Called, Diagnosis> {
    let parameters = parameters(&gradients);
    let called = format!("clip_grad_norm(gradients {}, {max_norm})", words(&gradients));
    let norm = check.call(called.as_str(), || (imp.clip_grad_norm)(&parameters, max_norm))?;
    let wide = |p: &Parameter| {
        let gradient = p.get().grad()?;
        Some(gradient.to_vec::<f32>().into_iter().map(f64::from).collect())
    };
    let result = Clipped { norm, gradients: parameters.iter().map(wide).collect() };
    let weights = parameters.iter().flat_map(|p| p.get().to_vec::<f32>()).collect::<Vec<f32>>();
    check.equal("weights", &called, &weights, &vec![0.5; weights.len()], &[])?;
    Ok(Called { called, gradients, max_norm, result })
}

/// The first call that was wrong, with the thought that explains all of them.
fn judge(calls: &[Called]) -> Result<(), Diagnosis> {
    let thinks = |c: &Called, thought| carried_out(&c.gradients, c.max_norm, thought);
    let agrees = |c: &Called, thought| same(&c.result, &thinks(c, thought));
    let Some(wrong) = calls.iter().find(|call| !agrees(call, Right)) else { return Ok(()) };
    let (key, thought) =
        explained(THOUGHTS, |thought| calls.iter().all(|call| agrees(call, thought)));
    let (got, want) = (&wrong.result, thinks(wrong, Right));
    let words = |result: &Clipped| match close(got.norm, want.norm) {
        true => format!("gradients {}", lists(result)),
        false => format!("norm {}", result.norm),
    };
    let diagnosis = Diagnosis::new(key).called(wrong.called.as_str()).thought(thought);
    Err(diagnosis.got(words(got)).expected(words(&want)))
}

fn lists(result: &Clipped) -> String {
    let one = |list: &Option<Vec<f64>>| list.as_ref().map_or("None".to_owned(), |l| shown(l));
    result.gradients.iter().map(one).collect::<Vec<String>>().join(", ")
}

fn words(gradients: &Gradients) -> String {
    let one = |gradient: &Option<Vec<f32>>| {
        gradient.as_ref().map_or("None".to_owned(), |values| format!("{values:?}"))
    };
    format!("[{}]", gradients.iter().map(one).collect::<Vec<String>>().join(", "))
}

fn shown(values: &[f64]) -> String {
    let one = |value: &f64| format!("{:?}", *value as f32);
    format!("[{}]", values.iter().map(one).collect::<Vec<String>>().join(", "))
}

fn close(a: f64, b: f64) -> bool {
    a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= 2e-6 * b.abs() + 1e-20
}

fn same(a: &Clipped, b: &Clipped) -> bool {
    let lists = |(a, b): (&Option<Vec<f64>>, &Option<Vec<f64>>)| match (a, b) {
        (Some(a), Some(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| close(*a, *b)),
        (None, None) => true,
        _ => false,
    };
    close(a.norm, b.norm) && a.gradients.iter().zip(&b.gradients).all(lists)
}

/// One thing that is thought otherwise.
#[derive(Clone, Copy, PartialEq)]
enum Thought {
    Right,
    EachAlone,
    ScaledUp,
    NoMillionth,
    NotInPlace,
    NormAfter,
    NoRoot,
    EachNumber,
    NarrowSquares,
    NanLost,
    LeftAlone,
}

use Thought::*;

fn carried_out(gradients: &Gradients, max_norm: f64, thought: Thought) -> Clipped {
    let wide = |values: &Vec<f32>| values.iter().map(|&x| f64::from(x)).collect::<Vec<f64>>();
    let mut lists: Vec<Option<Vec<f64>>> =
        gradients.iter().map(|gradient| gradient.as_ref().map(wide)).collect();
    let numbers: Vec<f64> = lists.iter().flatten().flatten().copied().collect();
    let norm = norm_of(&numbers, thought);
    for list in lists.iter_mut().flatten() {
        let own = if thought == EachAlone { norm_of(list, Right) } else { norm };
        for number in list {
            *number = clipped(*number, own, max_norm, thought);
        }
    }
    let after: Vec<f64> = lists.iter().flatten().flatten().copied().collect();
    let norm = if thought == NormAfter { norm_of(&after, Right) } else { norm };
    Clipped { norm, gradients: lists }
}

fn norm_of(numbers: &[f64], thought: Thought) -> f64 {
    let squares: f64 = numbers.iter().map(|x| x * x).sum();
    match thought {
        NoRoot => squares,
        NarrowSquares => {
            let squares: f32 = numbers.iter().map(|&x| x as f32 * x as f32).sum();
            f64::from(squares.sqrt())
        }
        _ => squares.sqrt(),
    }
}

fn clipped(number: f64, norm: f64, max_norm: f64, thought: Thought) -> f64 {
    let millionth = if thought == NoMillionth { 0.0 } else { 1e-6 };
    let factor = max_norm / (norm + millionth);
    let finite = norm.is_finite();
    match thought {
        NotInPlace => number,
        EachNumber => number.clamp(-max_norm, max_norm),
        LeftAlone if !finite => number,
        NanLost if norm.is_nan() => number,
        ScaledUp => number * factor,
        _ if factor >= 1.0 => number,
        _ => number * factor,
    }
}

const UNWRAPPED: &str = "A gradient was taken for granted. A parameter that took no part in the \
    loss, or is frozen, has none: `if let Some(gradient) = parameter.get().grad()`.";

const THOUGHTS: &[Known<Thought>] = &[
    (NotInPlace, "4.4-not-in-place", COPIED),
    (NanLost, "4.4-nan-lost", NAN),
    (LeftAlone, "4.4-not-finite-left-alone", ALONE),
    (EachAlone, "4.4-each-by-itself", EACH),
    (ScaledUp, "4.4-scaled-up", UP),
    (NoMillionth, "4.4-no-millionth", MILLIONTH),
    (NormAfter, "4.4-norm-after", NORM_AFTER),
    (NoRoot, "4.4-no-root", "That is the sum of the squares. The norm is its root."),
    (EachNumber, "4.4-each-number", NUMBER),
    (NarrowSquares, "4.4-squares-in-f32", NARROW),
];

const COPIED: &str = "The gradients are as they were. `mul_scalar` gives a new tensor and leaves \
    its operand alone; `gradient.copy_(&scaled)` puts the numbers into the gradient.";
const NAN: &str = "The norm is NaN, and the gradients stayed as they were: a comparison with NaN \
    is false, and `min` takes the other side. Ask so that NaN multiplies too: PyTorch's factor \
    is NaN there.";
const ALONE: &str = "The norm is not finite, and the gradients were left alone. PyTorch \
    multiplies here as well: by 0 for infinity, by NaN for NaN.";
const EACH: &str = "Each gradient was clipped by its own norm. That turns the direction of the \
    step: a large gradient and a small one come out alike. There is one norm, over all numbers \
    of all gradients.";
const UP: &str = "Small gradients were made larger. The factor is at most 1: what is short \
    enough stays.";
const MILLIONTH: &str = "The norm was used without the 1e-6. With gradients as small as these it \
    can be seen.";
const NORM_AFTER: &str = "The norm after clipping was returned. It is at most max_norm and says \
    nothing; the norm before shows that a training is going wrong.";
const NUMBER: &str = "Each number was cut off at max_norm. That is clipping by value, and it \
    turns the direction of the step. Clipping by norm multiplies all numbers by one factor.";
const NARROW: &str = "The squares were summed in f32, where they overflow from 1.8e19 on. The \
    norm became infinite and the factor 0, though all gradients are finite. Convert to f64 \
    before squaring.";
