//! Modules: what the tree finds, what layers begin with, and what they refuse.

#[path = "engine/moments.rs"]
mod moments;
#[path = "engine/refused.rs"]
mod refused;

use engine_room::memory::{Role, bytes_by_role};
use engine_room::nn::{
    BatchNorm1d, Dropout, Embedding, Gpt, GptConfig, LayerNorm, Linear, Mlp, Module,
    MultiHeadAttention, Parameter, Parts, Relu, RmsNorm, Sequential,
};
use engine_room::rng::{self, Generator};
use engine_room::{DType, Device, Tensor};
use moments::{expect_normal, expect_uniform};
use refused::refused;

/// x + scale · relu(linear(x)).
struct Residual {
    linear: Linear,
    scale: Parameter,
}

impl Module for Residual {
    fn parts(&self) -> Parts<'_> {
        Parts::new().module("linear", &self.linear).parameter("scale", &self.scale)
    }

    fn forward(&self, x: &Tensor) -> Tensor {
        let y = self.linear.call("linear", x).relu();
        x.add(&y.mul(&self.scale.get()))
    }
}

fn residual(width: usize) -> Residual {
    let linear = Linear::new(width, width, true, &mut Generator::new(1));
    Residual { linear, scale: Parameter::new(Tensor::full(&[], 0.5)) }
}

/// The text of the first block of code or of output in the doc comments of a file.
fn example(source: &str) -> String {
    let docs = source.lines().filter_map(|line| line.strip_prefix("///"));
    let docs = docs.map(|line| line.strip_prefix(' ').unwrap_or(line));
    let block = docs.skip_while(|line| !line.starts_with("```")).skip(1);
    block.take_while(|line| !line.starts_with("```")).map(|line| format!("{line}\n")).collect()
}

#[test]
fn the_documentation_shows_this_layer() {
    let shown = example(include_str!("../src/nn/module.rs"));
    assert!(shown.starts_with("/// x + scale"), "{shown}");
    assert!(include_str!("engine_nn.rs").contains(&shown), "{shown}");
    let layer = residual(2);
    layer.linear.weight.set(Tensor::from_vec(vec![1.0f32, 0.0, 0.0, 1.0], &[2, 2]));
    layer.linear.bias.as_ref().expect("a bias").set(Tensor::zeros(&[2]));
    let y = layer.forward(&Tensor::from_vec(vec![4.0f32, -4.0], &[2]));
    assert_eq!(y.to_vec::<f32>(), [6.0, -4.0]);
}

#[test]
fn the_documentation_shows_this_summary() {
    let tokens = Embedding::new(256, 32, &mut Generator::new(0));
    let head = Linear { weight: tokens.weight.clone(), bias: None };
    let norm = LayerNorm::new(&[32]);
    let _ = norm.bias.get().requires_grad_(false);
    let model = Sequential::new().append(tokens).append(residual(32)).append(norm).append(head);
    let summary = model.summary().to_string();
    let shown = example(include_str!("../src/nn/summary.rs"));
    assert_eq!(shown, summary, "put this into src/nn/summary.rs:\n{summary}");
}

#[test]
fn a_summary_counts_buffers_and_names_types_and_places() {
    let norm = BatchNorm1d::new(3);
    norm.to_dtype(DType::F16);
    let text = norm.summary().to_string();
    let has = |line: &str| text.lines().any(|found| found.split_whitespace().eq(line.split(' ')));
    assert!(has("running_var f16 [3] 3 6 buffer"), "{text}");
    assert!(has("num_batches_tracked i64 [] 1 8 buffer"), "{text}");
    assert!(has("buffers: 7 numbers, 20 bytes"), "{text}");
    let boxed: Box<dyn Module> = Box::new(residual(2));
    boxed.to_device(Device::Sim(40));
    let text = boxed.summary().to_string();
    assert!(text.starts_with("Residual ") && text.contains("f32 [2, 2] on sim:40"), "{text}");
}

#[test]
fn apply_visits_children_before_parents() {
    let gpt = Gpt::new(&small(1, false), &mut Generator::new(0));
    let mut visited = Vec::new();
    gpt.apply(&mut |name, module| visited.push(format!("{name}:{}", module.type_name())));
    // The order of torch.nn.Module.apply on the same tree.
    let want = "tokens:Embedding positions:Embedding dropout:Dropout blocks.0.norm1:LayerNorm \
        blocks.0.self_attn.qkv:Linear blocks.0.self_attn.out_proj:Linear \
        blocks.0.self_attn:MultiHeadAttention blocks.0.norm2:LayerNorm blocks.0.linear1:Linear \
        blocks.0.linear2:Linear blocks.0.dropout:Dropout blocks.0:TransformerBlock norm:LayerNorm \
        head:Linear :Gpt";
    assert_eq!(visited, want.split_whitespace().collect::<Vec<_>>());
}

#[test]
fn layers_begin_as_in_pytorch() {
    println!("seed 29");
    let mut rng = Generator::new(29);
    let linear = Linear::new(400, 900, true, &mut rng);
    let bound = 1.0 / 400f64.sqrt();
    expect_uniform(&linear.weight.get(), -bound, bound);
    expect_uniform(&linear.bias.as_ref().expect("a bias").get(), -bound, bound);
    expect_normal(&Embedding::new(300, 100, &mut rng).weight.get(), 0.0, 1.0);
    let padded = Embedding::new(300, 100, &mut rng).padding_idx(-1).weight.get();
    assert!(padded.select(0, 299).to_vec::<f32>().iter().all(|&x| x == 0.0));
    assert!(padded.is_leaf() && padded.requires_grad());
    let attention = MultiHeadAttention::new(128, 4, true, &mut rng);
    // Xavier's bound for 128 inputs and three times as many outputs.
    let bound = (6.0f64 / (4.0 * 128.0)).sqrt();
    expect_uniform(&attention.qkv.weight.get(), -bound, bound);
    let bound = 1.0 / 128f64.sqrt();
    expect_uniform(&attention.out_proj.weight.get(), -bound, bound);
    for projection in [&attention.qkv, &attention.out_proj] {
        let bias = projection.bias.as_ref().expect("a bias").get();
        assert!(bias.to_vec::<f32>().iter().all(|&x| x == 0.0));
    }
}

fn small(layers: usize, tied: bool) -> GptConfig {
    GptConfig { vocab: 130, context: 64, width: 64, layers, heads: 4, dropout: 0.1, tied }
}

#[test]
fn a_gpt_begins_as_gpt_2() {
    println!("seed 31");
    let gpt = Gpt::new(&small(8, false), &mut Generator::new(31));
    for (name, parameter) in gpt.named_parameters() {
        let x = parameter.get();
        let all = |value: f32| x.to_vec::<f32>().iter().all(|&x| x == value);
        match &name[name.len().saturating_sub(12)..] {
            // 0.02 / √(2 · 8)
            "_proj.weight" | "near2.weight" => expect_normal(&x, 0.0, 0.005),
            end if end.ends_with("bias") => assert!(all(0.0), "{name}"),
            end if end.contains("norm") => assert!(all(1.0), "{name}"),
            _ => expect_normal(&x, 0.0, 0.02),
        }
    }
}

/// GPT-2's count: 12 · width² + 13 · width for each block, tables, and the last norm.
#[test]
fn a_gpt_has_as_many_parameters_as_gpt_2() {
    let count = |tied| Gpt::new(&small(3, tied), &mut Generator::new(0)).num_parameters();
    let blocks = 3 * (12 * 64 * 64 + 13 * 64);
    let tables = 130 * 64 + 64 * 64;
    assert_eq!(count(true), tables + blocks + 2 * 64);
    assert_eq!(count(false), tables + blocks + 2 * 64 + 130 * 64);
}

#[test]
fn a_gpt_sees_only_what_came_before() {
    let gpt = Gpt::new(&small(2, true), &mut Generator::new(5));
    gpt.eval();
    let (mut tokens, time) = (vec![7i64, 3, 99, 5, 0, 129], 6);
    let logits = |tokens: &[i64]| gpt.forward(&Tensor::from_vec(tokens.to_vec(), &[1, time]));
    let before = logits(&tokens);
    tokens[3] = 8;
    let after = logits(&tokens);
    let place = |y: &Tensor, i| y.select(1, i).to_vec::<f32>();
    for i in 0..time as isize {
        assert_eq!(place(&before, i) == place(&after, i), i < 3, "place {i}");
    }
}

/// Logits of a fresh model are at most about 1; a bf16 keeps 8 bits, an f16 11.
#[test]
fn a_gpt_computes_in_half_types() {
    let tokens = Tensor::randint(0, 130, &[2, 9], &mut Generator::new(1));
    let logits = |dtype| {
        let gpt = Gpt::new(&small(2, true), &mut Generator::new(5));
        gpt.eval();
        gpt.to_dtype(dtype);
        let y = gpt.forward(&tokens);
        assert_eq!(y.dtype(), dtype);
        y.to(DType::F64).sum().backward();
        let complete = |x: Parameter| x.get().grad().is_some_and(|grad| grad.dtype() == dtype);
        assert!(gpt.parameters().into_iter().all(complete));
        y.detach().to(DType::F64)
    };
    let exact = logits(DType::F64);
    for (dtype, within) in [(DType::F32, 1e-6), (DType::F16, 2e-3), (DType::BF16, 2e-2)] {
        let off = logits(dtype).sub(&exact).norm(f64::INFINITY).item_as::<f64>();
        assert!(off < within, "{dtype}: {off}");
    }
}

#[test]
fn dropout_draws_from_the_threads_generator() {
    let gpt = Gpt::new(&small(1, true), &mut Generator::new(5));
    let tokens = Tensor::from_vec(vec![1i64, 2, 3], &[1, 3]);
    let run = |seed| {
        rng::manual_seed(seed);
        (gpt.forward(&tokens).to_vec::<f32>(), rng::get_state())
    };
    let (first, state) = run(1);
    assert_eq!(state.drawn, 3 * 3 * 64, "after the embeddings and for either term of the block");
    assert!(run(1).0 == first && run(2).0 != first);
    gpt.eval();
    let (quiet, state) = run(1);
    assert!(quiet == run(2).0 && quiet != first && state.drawn == 0);
}

#[test]
fn a_model_that_moves_takes_everybody_along() {
    let device = Device::Sim(41);
    let model = Sequential::new()
        .append(Linear::new(3, 4, true, &mut Generator::new(0)))
        .append(BatchNorm1d::new(4))
        .append(Linear { weight: Parameter::new(Tensor::ones(&[2, 4])), bias: None });
    let _ = model.parameters()[4].get().requires_grad_(false);
    // What an optimizer holds.
    let handles = model.parameters();
    let numbers = || {
        let parameters = handles.iter().map(Parameter::get);
        let buffers = model.named_buffers().into_iter().map(|(_, buffer)| buffer.get());
        parameters.chain(buffers).collect::<Vec<Tensor>>()
    };
    let values = || numbers().iter().map(|x| x.to(DType::F64).to_vec()).collect::<Vec<Vec<f64>>>();
    let before = values();
    let asks = |x: &Parameter| x.get().requires_grad();
    model.to_device(device);
    assert!(numbers().iter().all(|x| x.device() == device && x.is_leaf()));
    assert!(handles.iter().map(asks).eq([true, true, true, true, false]));
    let bytes = bytes_by_role(device);
    let parameters = bytes.iter().find(|(role, _)| *role == Role::Parameter).expect("a role").1;
    assert_eq!(parameters, 5 * 512, "a block for each; a frozen one is a parameter, too");
    let there = handles[0].get().data_ptr();
    model.to_device(device);
    assert_eq!(handles[0].get().data_ptr(), there, "what is there stays as it is");
    model.to_device(Device::Cpu);
    assert!(bytes_by_role(device).iter().all(|&(_, bytes)| bytes == 0));
    assert_eq!(values(), before);
    for dtype in [DType::F64, DType::BF16] {
        model.to_dtype(dtype);
        let types: Vec<DType> = numbers().iter().map(Tensor::dtype).collect();
        assert_eq!(types, [vec![dtype; 7], vec![DType::I64]].concat(), "counts stay integers");
        assert_eq!(model.forward(&Tensor::ones(&[2, 3]).to(dtype)).dtype(), dtype);
    }
}

#[test]
fn gradients_are_dropped_or_zeroed() {
    let model = Mlp::new(&[3, 4, 2], &mut Generator::new(0));
    model.forward(&Tensor::ones(&[5, 3])).sum().backward();
    let handle = model.parameters()[0].clone();
    model.zero_grad(false);
    let zeros = handle.get().grad().expect("zeros").to_vec::<f32>();
    assert_eq!(zeros, [0.0; 12]);
    model.zero_grad(true);
    assert!(model.parameters().iter().all(|parameter| parameter.get().grad().is_none()));
    model.zero_grad(false);
    assert!(handle.get().grad().is_none(), "nothing to fill");
}

/// Each call is refused on behalf of `op`, says why, and names a line of this file.
#[track_caller]
fn expect_refusal<T>(op: &str, says: &str, call: impl FnOnce() -> T) {
    let refusal = refused(call);
    assert_eq!(refusal.op, op, "{refusal}");
    assert!(refusal.message.contains(says), "{refusal} does not say {says:?}");
    assert!(refusal.at.starts_with(file!()), "{refusal}: {}", refusal.at);
}

#[test]
fn wrong_shapes_are_refused_with_the_layers_sizes() {
    let mut rng = Generator::new(0);
    let x = Tensor::ones(&[2, 5]);
    let linear = Linear::new(4, 3, true, &mut rng);
    expect_refusal("Linear::forward", "makes (.., 3) of (.., 4)", || linear.forward(&x));
    expect_refusal("Linear::forward", "must be 4", || linear.forward(&Tensor::scalar(1.0)));
    let mlp = Mlp::new(&[4, 3], &mut rng);
    expect_refusal("Linear::forward", "must be 4", || mlp.forward(&x));
    let norm = LayerNorm::new(&[2, 4]);
    expect_refusal("LayerNorm::forward", "must be [2, 4]", || norm.forward(&x));
    let norm = RmsNorm::new(&[4]);
    expect_refusal("RmsNorm::forward", "must be [4]", || norm.forward(&x));
    let norm = BatchNorm1d::new(4);
    expect_refusal("BatchNorm1d::forward", "(N, 4) or (N, 4, L)", || norm.forward(&x));
    let attention = MultiHeadAttention::new(4, 2, false, &mut rng);
    expect_refusal("MultiHeadAttention::forward", "(batch, time, 4)", || attention.forward(&x));
    let table = Embedding::new(3, 2, &mut rng);
    let tokens = |token| Tensor::from_vec(vec![token], &[1, 1]);
    expect_refusal("embedding", "index 3 is not in 0..3", || table.forward(&tokens(3)));
    let gpt = Gpt::new(&small(1, true), &mut rng);
    let long = Tensor::full_on(&[1, 65], 0, DType::I64, Device::Cpu);
    expect_refusal("Gpt::forward", "time at most 64", || gpt.forward(&long));
    expect_refusal("Gpt::forward", "integers below 130", || gpt.forward(&x));
    expect_refusal("embedding", "index -1 is not in 0..130", || gpt.forward(&tokens(-1)));
    let whole = || Dropout::new(0.5).forward(&tokens(1));
    expect_refusal("dropout", "floating-point", whole);
    let stack = Sequential::new().append(Relu).append(linear);
    let deep = refused(|| stack.forward(&x));
    assert!(deep.message.contains("makes (.., 3) of (.., 4)"), "{deep}");
}

#[test]
fn wrong_sizes_are_refused_when_a_layer_is_made() {
    let attention = || MultiHeadAttention::new(6, 4, true, &mut Generator::new(0));
    expect_refusal("MultiHeadAttention::new", "multiple of the number of heads", attention);
    let none = || Mlp::new(&[3], &mut Generator::new(0));
    expect_refusal("Mlp::new", "two sizes", none);
    let padding = || Embedding::new(3, 2, &mut Generator::new(0)).padding_idx(3);
    expect_refusal("padding_idx", "3 rows", padding);
    let dropout =
        || Gpt::new(&GptConfig { dropout: 2.0, ..small(1, true) }, &mut Generator::new(0));
    expect_refusal("Dropout::new", "no probability", dropout);
    let integers = || Mlp::new(&[3, 2], &mut Generator::new(0)).to_dtype(DType::I64);
    expect_refusal("to_dtype", "floating-point", integers);
    let other = || Linear::new(2, 2, false, &mut Generator::new(0)).weight.set(Tensor::ones(&[2]));
    expect_refusal("set", "keeps its shape", other);
}
