//! Reductions, scans, products, layers and losses against PyTorch 2.9.1: golden/layers.json.

#[path = "engine/golden.rs"]
mod golden;
#[path = "engine/refused.rs"]
mod refused;

use engine_room::autograd::{Graph, gradcheck};
use engine_room::rng::Generator;
use engine_room::{Attention, CrossEntropy, DType, OPS, Reduction, Tensor};
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
    let norm =
        |weight, bias| x[0].layer_norm(&args.sizes("shape"), weight, bias, args.number("eps"));
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
        "dropout" => x[0].dropout(args.number("p"), args.flag("train"), &mut Generator::new(0)),
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
    let direction = far.grad().expect("a gradient").to_vec::<f32>();
    assert!((direction[0] - 0.6).abs() < 1e-6 && (direction[1] + 0.8).abs() < 1e-6);
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

#[test]
fn what_layers_save() {
    let mut rng = Generator::new(8);
    let mut leaf = |shape: &[usize]| Tensor::rand(shape, &mut rng).requires_grad_(true);
    let (x, w, b) = (leaf(&[4, 8, 16]), leaf(&[16]), leaf(&[16]));
    let y = x.layer_norm(&[16], Some(&w), Some(&b), 1e-5);
    assert_eq!(Graph::of(&y).activation_bytes(), 2 * 32 * 4, "mean and rstd of each row");
    let y = x.rms_norm(&[16], Some(&w), 1e-5);
    assert_eq!(Graph::of(&y).activation_bytes(), 32 * 4, "rstd of each row");
    let (q, k, v) = (leaf(&[2, 64, 4]), leaf(&[2, 64, 4]), leaf(&[2, 64, 4]));
    let options = Attention { causal: true, ..Attention::default() };
    let y = q.scaled_dot_product_attention(&k, &v, options);
    assert_eq!(Graph::of(&y).activation_bytes(), 2 * 64 * 4, "one number a query");
    let y = x.dropout(0.5, true, &mut Generator::new(1));
    assert_eq!(Graph::of(&y).activation_bytes(), 4 * 8 * 16, "one byte an element");
}

/// A linear layer keeps its input if the weight needs it and the weight if the input does: not its
/// result, which can therefore be changed in place.
#[test]
fn what_a_linear_layer_saves() {
    let mut rng = Generator::new(8);
    let mut rand = |shape: &[usize]| Tensor::rand(shape, &mut rng);
    let (x, w, b) = (rand(&[2, 3, 4]), rand(&[5, 4]), rand(&[5]));
    let saved = |y: &Tensor| Graph::of(y).saved_bytes();
    assert_eq!(saved(&x.linear(&w, Some(&b.clone().requires_grad_(true)))), 0);
    let (w, hidden) = (w.requires_grad_(true), x.mul_scalar(2));
    assert_eq!(saved(&hidden.linear(&w, Some(&b))), 24 * 4);
    let x = x.requires_grad_(true);
    let y = x.linear(&w, Some(&b));
    y.add_(&Tensor::ones(&[5]), 0.5);
    y.mul_(&y.detach().copy());
    y.sum().backward();
    let z = x.matmul(&w.transpose(0, 1)).add(&b).add_scalar(0.5);
    assert!(close_enough(&y, &z.square()));
    let want = z.matmul(&w);
    assert!(close_enough(&x.grad().expect("a gradient"), &want));
}

fn close_enough(got: &Tensor, want: &Tensor) -> bool {
    got.detach().sub(&want.detach()).norm(f64::INFINITY).item() < 1e-5
}

#[test]
fn a_linear_layer_in_every_type() {
    for dtype in
        [DType::F64, DType::F32, DType::F16, DType::BF16, DType::I64, DType::I32, DType::U8]
    {
        let x = Tensor::from_vec(vec![1i64, 2, 3, 4], &[2, 2]).to(dtype);
        let b = Tensor::from_vec(vec![5i64, 7], &[2]).to(dtype);
        let y = x.linear(&x, Some(&b));
        assert_eq!((y.dtype(), y.to(DType::I64).to_vec()), (dtype, vec![10i64, 18, 16, 32]));
    }
}

/// Each call is refused on behalf of its operation, says why, and names a line of this file.
#[track_caller]
fn all_refused(calls: &[(&str, &str, &dyn Fn() -> Tensor)]) {
    for (op, says, call) in calls {
        let refusal = refused(call);
        assert_eq!(refusal.op, *op, "{refusal}");
        assert!(refusal.message.contains(says), "{refusal} does not say {says:?}");
        assert!(refusal.at.starts_with(file!()), "{refusal}: {}", refusal.at);
    }
}

fn x() -> Tensor {
    Tensor::ones(&[2, 3])
}

fn square() -> Tensor {
    Tensor::ones(&[2, 2])
}

fn ints() -> Tensor {
    Tensor::from_vec(vec![0i64, 1], &[2])
}

#[test]
fn misuse_of_reductions_and_products_is_refused() {
    let empty = || Tensor::ones(&[2, 0]);
    all_refused(&[
        ("var", "floating-point", &|| ints().var()),
        ("std", "twice", &|| x().std_dims(&[0, 0], false, 1)),
        ("norm", "floating-point", &|| ints().norm(2.0)),
        ("norm", "1, 2 or infinity", &|| x().norm(3.0)),
        ("norm", "no elements", &|| empty().norm_dims(f64::INFINITY, &[1], false)),
        ("logsumexp", "no dimension 2", &|| x().logsumexp(&[2], false)),
        ("max", "no elements", &|| empty().max()),
        ("min", "no elements", &|| empty().amin(&[1], false)),
        ("max", "empty dimension", &|| empty().max_along(1, false).0),
        ("min", "no dimension", &|| x().min_along(3, false).0),
        ("argmax", "empty", &|| empty().argmax_all()),
        ("argmin", "empty", &|| empty().argmin_all()),
        ("cumprod", "no dimension", &|| x().cumprod(2)),
        ("cummin", "no dimension", &|| x().cummin(-3).0),
        ("any", "twice", &|| x().any_dims(&[1, -1], false)),
        ("bmm", "3 and 3", &|| x().bmm(&x())),
        ("bmm", "one size", &|| Tensor::ones(&[1, 2, 3]).bmm(&Tensor::ones(&[2, 3, 2]))),
        ("mv", "2 and 1", &|| x().mv(&x())),
        ("dot", "1 and 1", &|| x().dot(&x())),
        ("outer", "1 and 1", &|| x().outer(&ints())),
        ("addmm", "broadcast", &|| x().addmm(&square(), &square(), 1, 1)),
        ("matmul", "columns", &|| x().addmm(&square(), &Tensor::ones(&[3, 3]), 1, 1)),
    ]);
}

#[test]
fn misuse_of_layers_and_losses_is_refused() {
    let masked = |mask: &Tensor, causal| {
        let options = Attention { mask: Some(mask), causal, scale: None };
        x().scaled_dot_product_attention(&x(), &x(), options)
    };
    let narrow = || x().scaled_dot_product_attention(&square(), &x(), Attention::default());
    let smooth = |s| CrossEntropy { label_smoothing: s, ..CrossEntropy::default() };
    let weight = Tensor::ones(&[2]);
    let weighted = CrossEntropy { weight: Some(&weight), ..CrossEntropy::default() };
    all_refused(&[
        ("linear", "two dimensions", &|| x().linear(&Tensor::ones(&[3]), None)),
        ("linear", "must be 2", &|| x().linear(&square(), None)),
        ("linear", "must be 3", &|| Tensor::scalar(1.0).linear(&x(), None)),
        ("linear", "[2], one for each", &|| square().linear(&square(), Some(&square()))),
        ("linear", "one type", &|| square().linear(&square().to(DType::F64), None)),
        ("linear", "one type", &|| square().linear(&square(), Some(&ints()))),
        ("layer_norm", "last dimensions", &|| x().layer_norm(&[2], None, None, 1e-5)),
        ("layer_norm", "weight and bias", &|| x().layer_norm(&[3], Some(&weight), None, 1e-5)),
        ("rms_norm", "floating-point", &|| ints().rms_norm(&[2], None, 1e-5)),
        ("dropout", "probability", &|| x().dropout(1.5, true, &mut Generator::new(0))),
        ("embedding", "not in 0..1", &|| Tensor::ones(&[1, 3]).embedding(&ints(), None)),
        ("embedding", "names none", &|| x().embedding(&ints(), Some(2))),
        ("embedding", "i64 or i32", &|| x().embedding(&x(), None)),
        ("scaled_dot_product_attention", "as wide", &narrow),
        ("scaled_dot_product_attention", "not both", &|| masked(&square(), true)),
        ("scaled_dot_product_attention", "broadcast to [2, 2]", &|| masked(&x(), false)),
        ("cross_entropy", "not from 0 to 1", &|| x().cross_entropy_with(&ints(), smooth(1.5))),
        ("cross_entropy", "[3]", &|| x().cross_entropy_with(&ints(), weighted)),
        ("cross_entropy", "ignored", &|| square().cross_entropy(&ints().mul_scalar(-4))),
        ("nll_loss", "no smoothing", &|| x().nll_loss(&ints(), smooth(0.1))),
        ("mse_loss", "one shape", &|| x().mse_loss(&Tensor::ones(&[3]), Reduction::Mean)),
        ("huber_loss", "not positive", &|| x().huber_loss(&x(), 0.0, Reduction::Mean)),
        ("smooth_l1_loss", "negative", &|| x().smooth_l1_loss(&x(), -1.0, Reduction::Mean)),
        ("bce_with_logits", "floating", &|| x().bce_with_logits(&ints(), None, Reduction::Sum)),
    ]);
}

#[test]
fn short_forms_of_reductions() {
    let x = Tensor::from_vec(vec![2.0f32, 3.0, 0.0, 7.0], &[4]);
    assert_eq!((x.prod().item(), x.max().item(), x.min().item()), (0.0, 7.0, 0.0));
    assert_eq!((x.any().item_as::<bool>(), x.all().item_as::<bool>()), (true, false));
    assert_eq!((x.norm(1.0).item(), x.std().item()), (12.0, x.var().item().sqrt()));
    let (variance, mean) = x.var_mean(&[0], true, 0);
    assert_eq!((variance.to_vec::<f32>(), mean.to_vec::<f32>()), (vec![6.5], vec![3.0]));
    let none = Tensor::zeros(&[0]);
    assert_eq!((none.any().item_as::<bool>(), none.all().item_as::<bool>()), (false, true));
}

/// In `f64` a small step shows seven digits of a gradient.
#[test]
fn gradients_agree_with_finite_differences_in_f64() {
    for row in OPS.iter().filter(|row| row.has_gradient && row.name != "to") {
        let inputs = (row.sample)(&mut Generator::new(2));
        let wide = |x: &Tensor| {
            if x.dtype().is_floating_point() { x.to(DType::F64) } else { x.clone() }
        };
        let inputs: Vec<Tensor> = inputs.iter().map(wide).collect();
        if let Err(error) = gradcheck(row.call, &inputs, 1e-6, 1e-7) {
            panic!("{}: {error}", row.name);
        }
    }
}
