//! Other right layers and lists of parameters: 4.1 and 4.2.

use engine_room::Tensor;
use engine_room::nn::{Linear, Module, Parameter, init};
use engine_room::rng::Generator;

use super::super::module_tree::ModuleTree;
use super::{Other, other};

type Named = Vec<(String, Parameter)>;

pub fn alternatives() -> Vec<Other> {
    vec![
        other("4.1", "number by number", |table| {
            table.linear_new = number_by_number;
            table.linear_forward = through_linear;
        }),
        other("4.1", "kaiming_uniform_, bias first", |table| {
            table.linear_new = with_init;
            table.linear_forward = flattened;
        }),
        other("4.1", "the engine's own", |table| {
            table.linear_new = Linear::new;
            table.linear_forward = |layer, x| layer.forward(x);
        }),
        other("4.2", "with a stack", |table| table.named_parameters = with_a_stack),
        other("4.2", "handed down", |table| {
            table.named_parameters = |module| {
                let mut found = Vec::new();
                handed_down(module, "", &mut found);
                found
            };
        }),
    ]
}

fn number_by_number(
    inputs: usize,
    outputs: usize,
    bias: bool,
    generator: &mut Generator,
) -> Linear {
    let k = 1.0 / inputs as f32;
    let mut draw = |shape: &[usize]| {
        let numel = shape.iter().product();
        let values = (0..numel).map(|_| (generator.uniform() - 0.5) * 2.0 * k.sqrt()).collect();
        Parameter::new(Tensor::from_vec(values, shape))
    };
    let weight = draw(&[outputs, inputs]);
    let bias = if bias { Some(draw(&[outputs])) } else { None };
    Linear { weight, bias }
}

fn with_init(inputs: usize, outputs: usize, bias: bool, generator: &mut Generator) -> Linear {
    let bias = bias.then(|| {
        let values = Tensor::zeros(&[outputs]);
        let bound = (inputs as f32).powf(-0.5);
        init::uniform_(&values, -bound, bound, generator);
        Parameter::new(values)
    });
    let weight = Parameter::new(Tensor::zeros(&[outputs, inputs]));
    init::kaiming_uniform_(&weight.get(), 5f32.sqrt(), generator);
    Linear { weight, bias }
}

fn through_linear(layer: &Linear, x: &Tensor) -> Tensor {
    x.linear(&layer.weight.get(), layer.bias.as_ref().map(Parameter::get).as_ref())
}

/// All leading dimensions as one, and then apart again.
fn flattened(layer: &Linear, x: &Tensor) -> Tensor {
    let weight = layer.weight.get();
    let [outputs, inputs] = [weight.shape()[0], weight.shape()[1]];
    let rows = x.numel() / inputs;
    let y = weight.matmul(&x.reshape(&[rows, inputs]).transpose(0, 1)).transpose(0, 1);
    let mut shape = x.shape().to_vec();
    shape[x.shape().len() - 1] = outputs;
    let y = y.reshape(&shape);
    if let Some(bias) = &layer.bias { bias.get().add(&y) } else { y }
}

fn with_a_stack(module: &ModuleTree) -> Named {
    let mut found: Named = Vec::new();
    let mut stack = vec![(String::new(), module)];
    while let Some((prefix, module)) = stack.pop() {
        for (name, parameter) in &module.parameters {
            if found.iter().all(|(_, other)| !other.is(parameter)) {
                found.push((prefix.clone() + name, parameter.clone()));
            }
        }
        for (name, child) in module.children.iter().rev() {
            stack.push((prefix.clone() + name + ".", child));
        }
    }
    found
}

fn handed_down(module: &ModuleTree, prefix: &str, found: &mut Named) {
    for (name, parameter) in &module.parameters {
        let known = found.iter().any(|(_, other)| other.is(parameter));
        if !known {
            found.push((format!("{prefix}{name}"), parameter.clone()));
        }
    }
    for (name, child) in &module.children {
        handed_down(child, &format!("{prefix}{name}."), found);
    }
}
