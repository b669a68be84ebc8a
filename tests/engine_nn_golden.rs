//! Modules against PyTorch 2.9.1, forward and backward, with its numbers in their parameters:
//! golden/nn.json.

#[path = "engine/golden.rs"]
mod golden;

use std::collections::{BTreeMap, BTreeSet};

use engine_room::nn::{
    BatchNorm1d, Embedding, Gelu, Gpt, GptConfig, LayerNorm, Linear, Mlp, Module,
    MultiHeadAttention, Relu, RmsNorm, Sequential, Silu, Tanh, TransformerBlock,
};
use engine_room::rng::Generator;
use engine_room::{DType, Tensor};
use golden::{Args, check, compare, tensor, unknown};
use serde_json::Value;

fn file() -> Value {
    serde_json::from_str(include_str!("golden/nn.json")).expect("the golden file is JSON")
}

#[test]
fn linear_agrees_with_pytorch() {
    let file = file();
    let cases = file["cases"].as_array().expect("a list");
    assert!(cases.len() >= 17, "only {} cases", cases.len());
    check(cases, |op, x, _| match op {
        "linear" => x[0].linear(&x[1], x.get(2)),
        _ => unknown(op),
    });
}

/// The module of a case, with numbers of its own.
fn build(case: &Value) -> Box<dyn Module> {
    let (args, rng) = (Args(&case["args"]), &mut Generator::new(1));
    let sizes = if args.has("sizes") { args.sizes("sizes") } else { Vec::new() };
    let eps = args.has("eps").then(|| args.number("eps"));
    match case["module"].as_str().expect("a name") {
        "Linear" => Box::new(Linear::new(sizes[0], sizes[1], args.flag("bias"), rng)),
        "Embedding" => {
            let table = Embedding::new(sizes[0], sizes[1], rng);
            let padding = args.has("padding").then(|| args.int("padding"));
            Box::new(match padding {
                Some(row) => table.padding_idx(row),
                None => table,
            })
        }
        "LayerNorm" => {
            let norm = LayerNorm::new(&sizes);
            Box::new(LayerNorm { eps: eps.unwrap_or(norm.eps), ..norm })
        }
        "RmsNorm" => {
            let norm = RmsNorm::new(&sizes);
            Box::new(RmsNorm { eps: eps.or(norm.eps), ..norm })
        }
        "BatchNorm1d" => {
            let mut norm = BatchNorm1d::new(sizes[0]);
            norm.eps = eps.unwrap_or(norm.eps);
            if args.has("momentum") {
                norm.momentum = args.number("momentum");
            }
            norm.train(args.flag("train"));
            Box::new(norm)
        }
        "MultiHeadAttention" => {
            Box::new(MultiHeadAttention::new(sizes[0], sizes[1], args.flag("causal"), rng))
        }
        _ => model(case, &sizes, rng),
    }
}

fn model(case: &Value, sizes: &[usize], rng: &mut Generator) -> Box<dyn Module> {
    let args = Args(&case["args"]);
    match case["module"].as_str().expect("a name") {
        "TransformerBlock" => {
            Box::new(TransformerBlock::new(sizes[0], sizes[1], args.flag("causal"), 0.0, rng))
        }
        "Mlp" => Box::new(Mlp::new(sizes, rng)),
        "Sequential" => Box::new(
            Sequential::new()
                .append(Linear::new(5, 4, true, rng))
                .append(Relu)
                .append(Linear::new(4, 4, true, rng))
                .append(Gelu)
                .append(LayerNorm::new(&[4]))
                .append(Silu)
                .append(Linear::new(4, 3, false, rng))
                .append(Tanh),
        ),
        "Gpt" => {
            let [vocab, context, width, layers, heads] =
                ["vocab", "context", "width", "layers", "heads"].map(|name| args.size(name));
            let tied = args.flag("tied");
            let config = GptConfig { vocab, context, width, layers, heads, dropout: 0.0, tied };
            Box::new(Gpt::new(&config, rng))
        }
        other => unknown(other),
    }
}

fn entries(value: &Value) -> BTreeMap<&str, &Value> {
    value.as_object().expect("an object").iter().map(|(name, x)| (name.as_str(), x)).collect()
}

/// Puts the numbers of the case into the module; their names must be the same.
fn load(module: &dyn Module, case: &Value) {
    let state = entries(&case["state"]);
    let own: Vec<String> = module.state_dict().names().map(str::to_string).collect();
    let own: BTreeSet<&str> = own.iter().map(String::as_str).collect();
    assert_eq!(own, state.keys().copied().collect(), "{}", case["module"]);
    for (name, parameter) in module.named_parameters() {
        parameter.set(tensor(state[&name[..]]));
    }
    for (name, buffer) in module.named_buffers() {
        buffer.set(tensor(state[&name[..]]));
    }
}

/// What differs in one case.
fn faults(case: &Value) -> Vec<String> {
    let module = build(case);
    load(&module, case);
    let x = tensor(&case["input"]);
    let x = if x.dtype() == DType::F32 { x.requires_grad_(true) } else { x };
    let y = module.forward(&x);
    y.backward_with(&tensor(&case["dy"]));
    let mut found = Vec::new();
    let mut expect = |what: &str, got: Option<Tensor>, want: &Value| match (got, want.is_null()) {
        (Some(got), false) => found.extend(compare(what, &got, case, want)),
        (None, true) => {}
        _ => found.push(format!("{what} is there or not, but should not or should")),
    };
    expect("y", Some(y), &case["output"]);
    expect("dx", x.grad(), &case["input_grad"]);
    let parameters = module.named_parameters();
    assert_eq!(parameters.len(), entries(&case["grads"]).len(), "shared ones are listed once");
    for (name, parameter) in parameters {
        expect(&name, parameter.get().grad(), &case["grads"][&name]);
    }
    for (name, buffer) in module.named_buffers() {
        expect(&name, Some(buffer.get()), &case["buffers"][&name]);
    }
    found
}

#[test]
fn modules_agree_with_pytorch() {
    let file = file();
    let modules = file["modules"].as_array().expect("a list");
    assert!(modules.len() >= 29, "only {} modules", modules.len());
    let mut report = Vec::new();
    for (at, case) in modules.iter().enumerate() {
        let what = format!("module {at}, {} {}", case["module"], case["args"]);
        report.extend(faults(case).iter().map(|fault| format!("{what}: {fault}")));
    }
    assert!(report.is_empty(), "{} faults:\n{}", report.len(), report.join("\n"));
}

/// A factor of 1.001 on one parameter must be found.
#[test]
fn a_planted_fault_is_found() {
    let file = file();
    let modules = file["modules"].as_array().expect("a list");
    let gpt = modules.iter().find(|case| case["module"] == "Gpt").expect("there is one");
    let mut case = gpt.clone();
    let weight = &mut case["state"]["blocks.1.linear2.weight"]["data"][3];
    *weight = (weight.as_f64().expect("a number") * 1.001).into();
    assert!(faults(gpt).is_empty() && !faults(&case).is_empty());
}
