//! Reductions, scans, products, layers and losses against PyTorch 2.9.1: golden/layers.json.

#[path = "engine/golden.rs"]
mod golden;
#[path = "engine/refused.rs"]
mod refused;

use engine_room::rng::Generator;
use engine_room::{Attention, CrossEntropy, DType, Reduction, Tensor};
use golden::{Args, cases, check, unknown};
use refused::refused;

fn call(op: &str, x: &[Tensor], args: Args) -> Tensor {
    let dims = || args.dims("dims");
    let keep = || args.flag("keepdim");
    match op {
        "var" => x[0].var_dims(&dims(), keep(), args.int("correction")),
        "std" => x[0].std_dims(&dims(), keep(), args.int("correction")),
        "norm" => x[0].norm_dims(args.number("p"), &dims(), keep()),
        "logsumexp" => x[0].logsumexp(&dims(), keep()),
        "amax" => x[0].amax(&dims(), keep()),
        "amin" => x[0].amin(&dims(), keep()),
        "any" => x[0].any_dims(&dims(), keep()),
        "all" => x[0].all_dims(&dims(), keep()),
        "count_nonzero" => x[0].count_nonzero(&dims()),
        "prod" => x[0].prod_dims(&dims(), keep()),
        "max_along" => x[0].max_along(args.dim("dim"), keep()).0,
        "max_along_index" => x[0].max_along(args.dim("dim"), keep()).1,
        "min_along" => x[0].min_along(args.dim("dim"), keep()).0,
        "min_along_index" => x[0].min_along(args.dim("dim"), keep()).1,
        "argmax" => x[0].argmax(args.dim("dim")),
        "argmin" => x[0].argmin(args.dim("dim")),
        "argmax_all" => x[0].argmax_all(),
        "argmin_all" => x[0].argmin_all(),
        "max" => x[0].max(),
        "min" => x[0].min(),
        "cumprod" => x[0].cumprod(args.dim("dim")),
        "cummax" => x[0].cummax(args.dim("dim")).0,
        "cummax_index" => x[0].cummax(args.dim("dim")).1,
        "cummin" => x[0].cummin(args.dim("dim")).0,
        "cummin_index" => x[0].cummin(args.dim("dim")).1,
        "bmm" => x[0].bmm(&x[1]),
        "mv" => x[0].mv(&x[1]),
        "dot" => x[0].dot(&x[1]),
        "outer" => x[0].outer(&x[1]),
        "addmm" => x[0].addmm(&x[1], &x[2], args.number("beta"), args.number("alpha")),
        "addmm_without" => Tensor::scalar(f32::NAN).addmm(&x[0], &x[1], 0, 1),
        _ => layer(op, x, args),
    }
}

fn layer(op: &str, x: &[Tensor], args: Args) -> Tensor {
    let norm = |weight, bias| {
        x[0].layer_norm(&args.sizes("shape"), weight, bias, args.number("eps"))
    };
    match op {
        "layer_norm" => norm(x.get(1), x.get(2)),
        "layer_norm_weight" => norm(x.get(1), None),
        "layer_norm_bias" => norm(None, x.get(1)),
        "rms_norm" => x[0].rms_norm(&args.sizes("shape"), x.get(1), args.number("eps")),
        "scaled_dot_product_attention" => {
            let options = Attention {
                mask: x.get(3),
                causal: args.has("causal"),
                scale: args.has("scale").then(|| args.number("scale")),
            };
            x[0].scaled_dot_product_attention(&x[1], &x[2], options)
        }
        "dropout" => {
            x[0].dropout(args.number("p"), args.flag("train"), &mut Generator::new(0))
        }
        "embedding" => {
            let padding = args.has("padding").then(|| args.int("padding"));
            x[0].embedding(&x[1], padding)
        }
        _ => loss(op, x, args),
    }
}

/// The numbers of a list as a tensor.
fn list(args: Args, name: &str) -> Option<Tensor> {
    let value = &args.0[name];
    let numbers = |list: &[serde_json::Value]| {
        list.iter().map(|x| x.as_f64().expect("a number") as f32).collect::<Vec<f32>>()
    };
    match value.as_array() {
        Some(entries) => Some(Tensor::from_vec(numbers(entries), &[entries.len()])),
        None => value.as_f64().map(|x| Tensor::scalar(x as f32)),
    }
}

fn loss(op: &str, x: &[Tensor], args: Args) -> Tensor {
    let reduction = match args.word("reduction") {
        "none" => Reduction::None,
        "sum" => Reduction::Sum,
        _ => Reduction::Mean,
    };
    let weight = list(args, "weight");
    let targets = x.get(1).cloned().unwrap_or_else(|| x[0].detach().zeros_like());
    let options = CrossEntropy {
        weight: weight.as_ref(),
        ignore_index: if args.has("ignore") { args.int("ignore") } else { -100 },
        label_smoothing: if args.has("smoothing") { args.number("smoothing") } else { 0.0 },
        reduction,
    };
    match op {
        "cross_entropy" => x[0].cross_entropy_with(&targets, options),
        "nll_loss" => x[0].nll_loss(&targets, options),
        "mse_loss" | "mse_loss_of_0" => x[0].mse_loss(&targets, reduction),
        "l1_loss" | "l1_loss_of_0" => x[0].l1_loss(&targets, reduction),
        "huber_loss" | "huber_loss_of_0" => {
            x[0].huber_loss(&targets, args.number("delta"), reduction)
        }
        "smooth_l1_loss" | "smooth_l1_loss_of_0" => {
            x[0].smooth_l1_loss(&targets, args.number("beta"), reduction)
        }
        "bce_with_logits" => match x.len() {
            1 => x[0].bce_with_logits(&x[0].detach().zeros_like(), None, reduction),
            _ => x[0].bce_with_logits(&targets, weight.as_ref(), reduction),
        },
        _ => unknown(op),
    }
}

#[test]
fn every_case_agrees_with_pytorch() {
    let cases = cases(include_str!("golden/layers.json"));
    assert!(cases.len() >= 700, "only {} cases", cases.len());
    check(&cases, call);
}

/// What PyTorch gets by rounding only: a square that is no f32, a row of one number.
#[test]
fn where_pytorch_rounds() {
    let far = Tensor::from_vec(vec![3e30f32, -4e30], &[2]).requires_grad_(true);
    let norm = far.norm(2.0);
    norm.backward();
    assert_eq!(norm.item(), 5e30);
    assert_eq!(far.grad().expect("a gradient").to_vec::<f32>(), [0.6, -0.8]);
    let one = Tensor::from_vec(vec![3.0f32, -2.0], &[2, 1]).requires_grad_(true);
    let y = one.layer_norm(&[1], None, None, 1e-5);
    y.sum().backward();
    assert_eq!(y.to_vec::<f32>(), [0.0; 2]);
    assert_eq!(one.grad().expect("a gradient").to_vec::<f32>(), [0.0; 2]);
}

#[test]
fn half_types_are_computed_wider() {
    // 600 squared is no f16, and neither is the sum of 100,000 ones.
    let x = Tensor::full(&[100], 600.0).to(DType::F16);
    assert_eq!(x.norm(2.0).to(DType::F32).item(), 6000.0);
    assert_eq!(x.rms_norm(&[100], None, 0.0).to(DType::F32).to_vec::<f32>(), [1.0; 100]);
    let mixed = Tensor::from_vec(vec![-600.0f32, 600.0], &[2]).to(DType::F16);
    assert_eq!(mixed.std_dims(&[0], false, 0).to(DType::F32).item(), 600.0);
    assert_eq!(mixed.layer_norm(&[2], None, None, 0.0).to(DType::F32).to_vec::<f32>(), [-1.0, 1.0]);
    let logits = Tensor::full(&[100_000], 1.0).to(DType::F16);
    let difference = logits.logsumexp(&[0], false).to(DType::F32).item() - 12.512925;
    assert!(difference.abs() < 0.01, "{difference}");
}

#[test]
fn dropout_keeps_the_mean_and_its_mask() {
    let mut rng = Generator::new(5);
    let x = Tensor::ones(&[100, 100]).requires_grad_(true);
    let y = x.dropout(0.25, true, &mut rng);
    let kept = y.to_vec::<f32>().iter().filter(|&&y| y != 0.0).count();
    assert!((7300..7700).contains(&kept), "{kept} of 10,000");
    assert!(y.to_vec::<f32>().iter().all(|&y| y == 0.0 || y == 4.0 / 3.0));
    y.sum().backward();
    assert_eq!(x.grad().expect("a gradient").to_vec::<f32>(), y.to_vec::<f32>());
    let again = x.dropout(0.25, true, &mut rng);
    assert_ne!(again.to_vec::<f32>(), y.to_vec::<f32>(), "the stream goes on");
    let same = x.dropout(0.25, true, &mut Generator::new(5));
    assert_eq!(same.to_vec::<f32>(), y.to_vec::<f32>());
}

/// The bytes that a graph holds beside its inputs, which cost nothing more.
fn saved_bytes(y: &Tensor, inputs: &[&Tensor]) -> u64 {
    let graph = Graph::of(y);
    let tensors = graph.nodes().iter().flat_map(|node| &node.saved);
    let own = |address: u64| !inputs.iter().any(|x| x.storage().address() == address);
    let mut seen = BTreeMap::new();
    for saved in tensors.filter(|saved| own(saved.address)) {
        seen.insert(saved.address, saved.bytes);
    }
    seen.values().sum()
}

#[test]
fn what_layers_save() {
    let mut rng = Generator::new(8);
    let mut leaf = |shape: &[usize]| Tensor::rand(shape, &mut rng).requires_grad_(true);
    let (x, w, b) = (leaf(&[4, 8, 16]), leaf(&[16]), leaf(&[16]));
    let y = x.layer_norm(&[16], Some(&w), Some(&b), 1e-5);
    assert_eq!(saved_bytes(&y, &[&x, &w, &b]), 2 * 32 * 4, "mean and rstd of each row");
    let y = x.rms_norm(&[16], Some(&w), 1e-5);
    assert_eq!(saved_bytes(&y, &[&x, &w]), 32 * 4, "rstd of each row");
    let (q, k, v) = (leaf(&[2, 64, 4]), leaf(&[2, 64, 4]), leaf(&[2, 64, 4]));
    let options = Attention { causal: true, ..Attention::default() };
    let y = q.scaled_dot_product_attention(&k, &v, options);
    assert_eq!(saved_bytes(&y, &[&q, &k, &v]), 2 * 64 * 4, "one number a query");
    let y = x.dropout(0.5, true, &mut Generator::new(1));
    assert_eq!(saved_bytes(&y, &[&x]), 4 * 8 * 16, "one byte an element");
}
