//! 4.1: the numbers that a new layer holds, by shape, bounds and distribution, and its product.

use engine_room::nn::{Linear, Parameter};
use engine_room::rng::Generator;
use engine_room::{DType, Tensor};
use grading::diagnosis::key;
use grading::{Check, Diagnosis, Idea};

use super::Implementation;
use super::draws::{Drawn, judge};

/// 4.1
pub fn linear(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let mut rng = check.rng();
    for (inputs, outputs) in [(3, 5), (5, 3), (4, 4), (1, 2), (7, 1)] {
        for bias in [true, false] {
            shapes(imp, check, inputs, outputs, bias)?;
        }
    }
    let wide = 4_000 + rng.below(200);
    let sizes = [(7 + rng.below(3), wide), (wide, 3), (1, wide + 1), (2, wide - 1)];
    for (inputs, outputs) in sizes {
        numbers(imp, check, inputs, outputs)?;
    }
    streams(imp, check)?;
    for bias in [false, true] {
        for shape in [&[2, 3][..], &[4, 4], &[3], &[1, 3], &[2, 1, 5], &[2, 3, 2, 4], &[0, 3]] {
            product(imp, check, &mut rng, shape, bias)?;
        }
    }
    recorded(imp, check, &mut rng)
}

fn called(inputs: usize, outputs: usize, bias: bool) -> String {
    format!("linear_new(inputs {inputs}, outputs {outputs}, bias {bias}, a generator)")
}

fn shapes(
    imp: &Implementation,
    check: &mut Check,
    inputs: usize,
    outputs: usize,
    bias: bool,
) -> Result<(), Diagnosis> {
    let called = called(inputs, outputs, bias);
    let mut generator = Generator::new(check.seed());
    let layer =
        check.call(called.as_str(), || (imp.linear_new)(inputs, outputs, bias, &mut generator))?;
    let shape = |parameter: &Parameter| parameter.get().shape().to_vec();
    let exchanged =
        Idea { key: "4.1-shape-exchanged", thought: EXCHANGED, value: vec![inputs, outputs] };
    let want = vec![outputs, inputs];
    check.equal("shape of weight", &called, &shape(&layer.weight), &want, &[exchanged])?;
    for parameter in [Some(&layer.weight), layer.bias.as_ref()].into_iter().flatten() {
        check.equal("dtype", &called, &parameter.get().dtype(), &DType::F32, &[])?;
    }
    let got = layer.bias.as_ref().map(shape);
    let unasked = Idea { key: "4.1-bias-unasked", thought: UNASKED, value: Some(vec![outputs]) };
    check.equal("shape of bias", &called, &got, &bias.then(|| vec![outputs]), &[unasked])
}

/// Thousands of numbers at a time.
fn numbers(
    imp: &Implementation,
    check: &mut Check,
    inputs: usize,
    outputs: usize,
) -> Result<(), Diagnosis> {
    let called = called(inputs, outputs, true);
    let mut generator = Generator::new(check.seed() + inputs as u64);
    let layer =
        check.call(called.as_str(), || (imp.linear_new)(inputs, outputs, true, &mut generator))?;
    let values = |parameter: &Parameter| parameter.get().to_vec::<f32>();
    let weight = values(&layer.weight);
    let bias = layer.bias.as_ref().map(values).unwrap_or_default();
    let drawn = |what, values| Drawn { called: &called, what, inputs, outputs, values };
    judge(&drawn("weight", &weight))?;
    if bias.len() >= 4_000 {
        judge(&drawn("bias", &bias))?;
    }
    Ok(())
}

/// Two layers of one generator differ, and what the generator is decides what they hold.
fn streams(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let called = "linear_new(inputs 6, outputs 5, bias true, a generator), several times";
    let seed = check.seed();
    let layer = |check: &mut Check, generator: &mut Generator| {
        check.call(called, || held(&(imp.linear_new)(6, 5, true, generator)))
    };
    let (mut one, mut same, mut other) =
        (Generator::new(seed), Generator::new(seed), Generator::new(seed + 1));
    let (first, second) = (layer(check, &mut one)?, layer(check, &mut one)?);
    let (again, elsewhere) = (layer(check, &mut same)?, layer(check, &mut other)?);
    let mut sorted = first.clone();
    sorted.sort_by(f32::total_cmp);
    let (key, got, thought) = match () {
        () if first == second || first == elsewhere => {
            ("4.1-own-generator", "the same numbers", OWN)
        }
        () if first != again => (key::WRONG_VALUE, "other numbers from the same seed", ""),
        () if sorted.windows(2).any(|pair| pair[0] == pair[1]) => {
            (key::WRONG_VALUE, "numbers that occur twice in a layer", "")
        }
        () => return Ok(()),
    };
    let expected = "numbers that come from the generator, each drawn anew";
    Err(Diagnosis::new(key).called(called).got(got).expected(expected).thought(thought))
}

fn held(layer: &Linear) -> Vec<f32> {
    let parameters = [Some(&layer.weight), layer.bias.as_ref()];
    parameters.into_iter().flatten().flat_map(|p| p.get().to_vec::<f32>()).collect()
}

/// Numbers with one decimal, so that a product can be checked by hand.
fn decimals(rng: &mut Generator, shape: &[usize]) -> Tensor {
    let numel = shape.iter().product();
    let values = (0..numel).map(|_| (rng.normal() * 10.0).round() / 10.0 + 0.1).collect();
    Tensor::from_vec(values, shape)
}

/// x of this shape times a layer.
fn product(
    imp: &Implementation,
    check: &mut Check,
    rng: &mut Generator,
    shape: &[usize],
    bias: bool,
) -> Result<(), Diagnosis> {
    let inputs = shape[shape.len() - 1];
    // As many outputs as inputs: there a product without the transpose has the right shape.
    let outputs = if inputs == 4 { 4 } else { inputs + 2 };
    let (x, w) = (decimals(rng, shape), decimals(rng, &[outputs, inputs]));
    let b = decimals(rng, &[outputs]);
    let layer =
        Linear { weight: Parameter::new(w.copy()), bias: bias.then(|| Parameter::new(b.copy())) };
    let what = if bias { "with a bias" } else { "without a bias" };
    let called = format!("linear_forward(a layer {:?} {what}, x {shape:?})", w.shape());
    let inputs_shown = [("weight", &w), ("x", &x), ("bias", &b)];
    let shown = if bias { &inputs_shown[..] } else { &inputs_shown[..2] };
    let called = grading::with_inputs(&called, shown);
    let y = check.call(called.as_str(), || (imp.linear_forward)(&layer, &x));
    let y = y.map_err(of_a_panic)?;
    let out = [&shape[..shape.len() - 1], &[outputs]].concat();
    let tensor = |values: Vec<f64>| {
        Tensor::from_vec(values.iter().map(|&value| value as f32).collect(), &out)
    };
    let [x, w, b] = [&x, &w, &b].map(|t| t.to_vec::<f32>());
    let by = |weight: &dyn Fn(usize, usize) -> f32, offset: f64| -> Vec<f64> {
        let rows = x.chunks(inputs);
        let one = |row: &[f32], o: usize| -> f64 {
            let products = (0..inputs).map(|i| f64::from(row[i]) * f64::from(weight(o, i)));
            products.sum::<f64>() + offset * f64::from(b[o])
        };
        rows.flat_map(|row| (0..outputs).map(|o| one(row, o)).collect::<Vec<f64>>()).collect()
    };
    let right = |o: usize, i: usize| w[o * inputs + i];
    let exchanged = |o: usize, i: usize| w[i * outputs + o];
    let own = f64::from(u8::from(bias));
    let idea = |key, thought, value| Idea { key, thought, value };
    let ideas = [
        idea("4.1-bias-forgotten", FORGOTTEN, tensor(by(&right, 0.0))),
        idea("4.1-not-transposed", UNTURNED, tensor(by(&exchanged, own))),
    ];
    check.tensor("y", &called, &y, &tensor(by(&right, own)), 1e-5, &ideas)
}

/// A product whose sizes do not fit is a weight that was not transposed.
fn of_a_panic(panic: Diagnosis) -> Diagnosis {
    let reasons =
        [("None", "4.1-bias-unwrapped", UNWRAPPED), ("matmul", "4.1-not-transposed", UNTURNED)];
    match reasons.into_iter().find(|(word, ..)| panic.got.contains(word)) {
        Some((_, key, thought)) if panic.key == key::PANICKED => {
            Diagnosis { key: key.to_owned(), ..panic }.thought(thought)
        }
        _ => panic,
    }
}

/// A backward pass reaches weight and bias.
fn recorded(imp: &Implementation, check: &mut Check, rng: &mut Generator) -> Result<(), Diagnosis> {
    let layer = Linear {
        weight: Parameter::new(decimals(rng, &[2, 3])),
        bias: Some(Parameter::new(decimals(rng, &[2]))),
    };
    let called = "linear_forward(a layer [2, 3] with a bias, x [4, 3]), then backward";
    let x = decimals(rng, &[4, 3]);
    let y = check.call(called, || (imp.linear_forward)(&layer, &x))?;
    let reached = y.requires_grad() && {
        y.sum().backward();
        let has = |p: &Parameter| p.get().grad().is_some();
        has(&layer.weight) && layer.bias.as_ref().is_some_and(has)
    };
    check.require(reached, || {
        Diagnosis::new("4.1-not-recorded")
            .called(called)
            .got("a parameter of the layer has no gradient")
            .expected("a gradient for weight and bias")
            .thought(UNRECORDED)
    })
}

const EXCHANGED: &str = "The sizes are exchanged. A row of the weight belongs to one output and \
    holds one number for each input: (outputs, inputs). Checkpoints of PyTorch hold it so.";
const UNASKED: &str = "A bias was made, and none was asked for. `bias: None` is a layer without.";
const OWN: &str = "The layer does not draw from the generator that it is given, or draws from a \
    copy of it. Two layers that begin alike compute alike and learn alike: all but one of them \
    are wasted. Pass `generator` on, and it moves on with every number.";
const FORGOTTEN: &str = "That is the product without the bias. It is added to every row.";
const UNTURNED: &str = "The weight was multiplied as it lies. Its rows are the outputs, \
    (outputs, inputs), and the product needs the inputs first: `weight.transpose(0, 1)`. In a \
    square layer the shapes fit without it, and the numbers are wrong.";
const UNWRAPPED: &str = "The layer has no bias, and the code takes it for granted. Ask with \
    `match &layer.bias`.";
const UNRECORDED: &str = "The result does not depend on the parameters any more, as far as the \
    graph knows: the numbers were taken out of their tensors, or `detach` or `no_grad` was used. \
    Compute with the engine's operations on `parameter.get()`.";
