//! Wrong layers and wrong lists of parameters: 4.1 and 4.2.

use engine_room::Tensor;
use engine_room::nn::{Linear, Parameter, init};
use engine_room::rng::Generator;

use super::super::module_tree::ModuleTree;
use super::super::solution;
use super::{Wrong, wrong};

type Named = Vec<(String, Parameter)>;

pub fn mistakes() -> Vec<Wrong> {
    let mut all = vec![
        new("4.1-shape-exchanged", "(inputs, outputs)", |inputs, outputs, bias, generator| {
            let layer = solution::linear_new(inputs, outputs, bias, generator);
            Linear { weight: Parameter::new(layer.weight.get().detach().transpose(0, 1)), ..layer }
        }),
        new("4.1-bias-unasked", "always a bias", |inputs, outputs, _, generator| {
            solution::linear_new(inputs, outputs, true, generator)
        }),
        new("4.1-bound-of-outputs", "fan_out", |inputs, outputs, bias, generator| {
            within(inputs, outputs, bias, generator, |_, outputs| 1.0 / outputs.sqrt())
        }),
        new("4.1-no-root", "1 / inputs", |inputs, outputs, bias, generator| {
            within(inputs, outputs, bias, generator, |inputs, _| 1.0 / inputs)
        }),
        new("4.1-integer-root", "isqrt", |inputs, outputs, bias, generator| {
            within(inputs, outputs, bias, generator, |inputs, _| 1.0 / inputs.sqrt().floor())
        }),
        new("4.1-kaiming-of-relu", "a = 0", |inputs, outputs, bias, generator| {
            within(inputs, outputs, bias, generator, |inputs, _| (6.0 / inputs).sqrt())
        }),
        new("4.1-a-is-five", "a = 5", |inputs, outputs, bias, generator| {
            within(inputs, outputs, bias, generator, |inputs, _| (6.0 / (26.0 * inputs)).sqrt())
        }),
        new("4.1-one-sided", "from 0 on", |inputs, outputs, bias, generator| {
            let bound = 1.0 / (inputs as f32).sqrt();
            let draw = |shape: &[usize], generator: &mut Generator| {
                Parameter::new(Tensor::rand(shape, generator).mul_scalar(bound))
            };
            let weight = draw(&[outputs, inputs], generator);
            Linear { weight, bias: bias.then(|| draw(&[outputs], generator)) }
        }),
        new("4.1-normal", "normal numbers", |inputs, outputs, bias, generator| {
            let draw = |shape: &[usize], generator: &mut Generator| {
                let scale = 1.0 / (inputs as f32).sqrt();
                Parameter::new(Tensor::randn(shape, generator).mul_scalar(scale))
            };
            let weight = draw(&[outputs, inputs], generator);
            Linear { weight, bias: bias.then(|| draw(&[outputs], generator)) }
        }),
    ];
    all.extend(more_layers());
    all.extend(products());
    all.extend(lists());
    all
}

fn more_layers() -> Vec<Wrong> {
    vec![
        new("4.1-zeros", "a bias of zeros", |inputs, outputs, bias, generator| {
            let layer = solution::linear_new(inputs, outputs, false, generator);
            let zeros = || Parameter::new(Tensor::zeros(&[outputs]));
            Linear { bias: bias.then(zeros), ..layer }
        }),
        new("4.1-repeated", "one row for all outputs", |inputs, outputs, bias, generator| {
            let layer = solution::linear_new(inputs, outputs, bias, generator);
            let row = layer.weight.get().detach().narrow(0, 0, 1);
            let weight = Tensor::zeros(&[outputs, inputs]).add(&row);
            Linear { weight: Parameter::new(weight), ..layer }
        }),
        new("4.1-own-generator", "Generator::new(0)", |inputs, outputs, bias, _| {
            solution::linear_new(inputs, outputs, bias, &mut Generator::new(0))
        }),
    ]
}

fn products() -> Vec<Wrong> {
    vec![
        forward("4.1-not-transposed", "x times w", |layer, x| {
            let y = x.matmul(&layer.weight.get());
            layer.bias.as_ref().map_or(y.clone(), |bias| y.add(&bias.get()))
        }),
        forward("4.1-bias-forgotten", "no bias", |layer, x| {
            x.matmul(&layer.weight.get().transpose(0, 1))
        }),
        forward("4.1-bias-unwrapped", "a bias for sure", |layer, x| {
            let bias = layer.bias.as_ref().unwrap().get();
            x.matmul(&layer.weight.get().transpose(0, 1)).add(&bias)
        }),
        forward("4.1-not-recorded", "in no_grad", |layer, x| {
            engine_room::no_grad(|| solution::linear_forward(layer, x))
        }),
    ]
}

fn lists() -> Vec<Wrong> {
    vec![
        list("4.2-listed-twice", "every name", |module| every(module, "")),
        list("4.2-no-names-of-children", "without a prefix", |module| {
            let mut found = module.parameters.clone();
            module.children.iter().for_each(|(_, child)| found.extend(every_short(child)));
            once(found)
        }),
        list("4.2-own-only", "not recursive", |module| once(module.parameters.clone())),
        list("4.2-children-first", "children first", |module| once(children_first(module, ""))),
        list("4.2-sorted", "sorted by name", |module| {
            let mut found = solution::named_parameters(module);
            found.sort_by(|a, b| a.0.cmp(&b.0));
            found
        }),
        list("4.2-frozen-left-out", "only what is trained", |module| {
            let mut found = solution::named_parameters(module);
            found.retain(|(_, parameter)| parameter.get().requires_grad());
            found
        }),
        list("4.2-equal-numbers", "compares numbers", |module| {
            let mut kept: Named = Vec::new();
            for (name, parameter) in every(module, "") {
                let numbers = |p: &Parameter| p.get().to_vec::<f32>();
                if !kept.iter().any(|(_, other)| numbers(other) == numbers(&parameter)) {
                    kept.push((name, parameter));
                }
            }
            kept
        }),
        list("4.2-once-in-each-module", "looks within a module", within_modules),
        list("4.2-copied", "copies of the parameters", |module| {
            let copied =
                |(name, p): (String, Parameter)| (name, Parameter::new(p.get().detach().copy()));
            solution::named_parameters(module).into_iter().map(copied).collect()
        }),
    ]
}

fn new(
    diagnosis: &'static str,
    name: &'static str,
    f: fn(usize, usize, bool, &mut Generator) -> Linear,
) -> Wrong {
    wrong("4.1", diagnosis, name, |table| table.linear_new = f)
}

fn forward(
    diagnosis: &'static str,
    name: &'static str,
    f: fn(&Linear, &Tensor) -> Tensor,
) -> Wrong {
    wrong("4.1", diagnosis, name, |table| table.linear_forward = f)
}

fn list(diagnosis: &'static str, name: &'static str, f: fn(&ModuleTree) -> Named) -> Wrong {
    wrong("4.2", diagnosis, name, |table| table.named_parameters = f)
}

fn uniform(shape: &[usize], bound: f32, generator: &mut Generator) -> Parameter {
    let values = Tensor::zeros(shape);
    init::uniform_(&values, -bound, bound, generator);
    Parameter::new(values)
}

/// A layer with all numbers within another bound.
fn within(
    inputs: usize,
    outputs: usize,
    bias: bool,
    generator: &mut Generator,
    bound: fn(f32, f32) -> f32,
) -> Linear {
    let bound = bound(inputs as f32, outputs as f32);
    let weight = uniform(&[outputs, inputs], bound, generator);
    Linear { weight, bias: bias.then(|| uniform(&[outputs], bound, generator)) }
}

fn every(module: &ModuleTree, prefix: &str) -> Named {
    let own = module.parameters.iter();
    let mut found: Named = own.map(|(name, p)| (format!("{prefix}{name}"), p.clone())).collect();
    for (name, child) in &module.children {
        found.extend(every(child, &format!("{prefix}{name}.")));
    }
    found
}

fn every_short(module: &ModuleTree) -> Named {
    let mut found = module.parameters.clone();
    module.children.iter().for_each(|(_, child)| found.extend(every_short(child)));
    found
}

fn once(all: Named) -> Named {
    let mut kept: Named = Vec::new();
    for (name, parameter) in all {
        if !kept.iter().any(|(_, other)| other.is(&parameter)) {
            kept.push((name, parameter));
        }
    }
    kept
}

fn children_first(module: &ModuleTree, prefix: &str) -> Named {
    let mut found = Vec::new();
    for (name, child) in &module.children {
        found.extend(children_first(child, &format!("{prefix}{name}.")));
    }
    let own = module.parameters.iter();
    found.extend(own.map(|(name, p)| (format!("{prefix}{name}"), p.clone())));
    found
}

fn within_modules(module: &ModuleTree) -> Named {
    let mut found = once(module.parameters.clone());
    for (name, child) in &module.children {
        let inner = within_modules(child).into_iter();
        found.extend(inner.map(|(inner, parameter)| (format!("{name}.{inner}"), parameter)));
    }
    found
}
