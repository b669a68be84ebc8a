//! The hidden copies of an attention block, call by call.

use engine_room::nn::{Module, MultiHeadAttention};
use engine_room::rng::Generator;
use engine_room::{Attention, DType, Tensor};
use engine_room_labs::cell::thousands;
use engine_room_labs::{Cell, LabArgs, Output, Table};

use crate::attention::{Block, Sizes, attend_with_copies, grouped_attention};
use crate::exercise;
use crate::experiments::hidden;

const TIME: usize = 256;
const HEADS: usize = 12;
const HEAD: usize = 64;
const WIDTH: usize = HEADS * HEAD;

/// Prints the block call by call, then whole blocks.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    let mut generator = Generator::new(args.seed);
    let qkv = |batch: usize, generator: &mut Generator| {
        Tensor::randn(&[batch, TIME, 3 * WIDTH], generator)
    };
    output.say("4 sequences of 256 tokens, 12 heads of 64 numbers, f32:\n");
    let (table, bytes) = by_call(&qkv(4, &mut generator));
    output.table("calls", &table);
    output.prediction("2.b", bytes as f64, "bytes");
    output.say("The same as a whole, by batch:\n");
    let mut table = copies_table();
    for batch in [1, 4] {
        let qkv = qkv(batch, &mut generator);
        table.row(row(batch, "by hand, as above", || by_hand(&qkv, |_, call| call())));
        table.row(row(batch, "scaled_dot_product_attention", || fused(&qkv)));
    }
    output.table("ways", &table);
    output.say("The engine's nn::MultiHeadAttention in training, 4 sequences:\n");
    output.table("training", &training(&mut generator));
    if args.mine {
        mine(output, &mut generator);
    }
    Ok(())
}

fn copies_table() -> Table {
    Table::new()
        .column("batch", "batch", "")
        .column("way", "way", "")
        .column("copies", "copies", "")
        .column("bytes", "copied", "bytes")
}

fn row<T>(batch: usize, way: &str, call: impl FnOnce() -> T) -> [Cell; 4] {
    let (_, copies, bytes) = hidden(call);
    [Cell::Count(batch as u64), way.into(), Cell::Count(copies), Cell::Bytes(bytes)]
}

/// One call of the block, by name.
type Call<'a> = &'a dyn Fn() -> Tensor;

/// The block between its two linear layers, as it is written by hand; `step` makes each call.
fn by_hand(qkv: &Tensor, mut step: impl FnMut(&str, Call) -> Tensor) -> Tensor {
    let batch = qkv.shape()[0];
    let split = [batch, TIME, 3, HEADS, HEAD];
    let heads = step("reshape to (B, T, 3, H, D)", &|| qkv.reshape(&split));
    let heads = step("permute(&[2, 0, 3, 1, 4])", &|| heads.permute(&[2, 0, 3, 1, 4]));
    let q = step("q = select(0, 0)", &|| heads.select(0, 0));
    let (k, v) = (heads.select(0, 1), heads.select(0, 2));
    let kt = step("k.transpose(2, 3)", &|| k.transpose(2, 3));
    let scores = step("q.matmul(&kt)", &|| q.matmul(&kt));
    let p = step("softmax(-1)", &|| scores.mul_scalar(1.0 / (HEAD as f64).sqrt()).softmax(-1));
    let y = step("p.matmul(&v)", &|| p.matmul(&v));
    let y = step("transpose(1, 2)", &|| y.transpose(1, 2));
    step("reshape to (B, T, C)", &|| y.reshape(&[batch, TIME, WIDTH]))
}

/// A row for each call, and the bytes that all of them copy.
fn by_call(qkv: &Tensor) -> (Table, u64) {
    let mut table = Table::new()
        .column("call", "call", "")
        .column("shape", "shape of the result", "")
        .column("strides", "strides", "")
        .column("bytes", "copied", "bytes");
    let mut sum = 0;
    by_hand(qkv, |name, call| {
        let (y, _, bytes) = hidden(call);
        let (shape, strides) = (format!("{:?}", y.shape()), format!("{:?}", y.strides()));
        table.row([name.into(), shape.into(), strides.into(), Cell::Bytes(bytes)]);
        sum += bytes;
        y
    });
    (table, sum)
}

/// The same with the operation that takes any strides.
fn fused(qkv: &Tensor) -> Tensor {
    let batch = qkv.shape()[0];
    let heads = qkv.reshape(&[batch, TIME, 3, HEADS, HEAD]).permute(&[2, 0, 3, 1, 4]);
    let [q, k, v] = [0, 1, 2].map(|i| heads.select(0, i));
    let y = q.scaled_dot_product_attention(&k, &v, Attention::default());
    y.transpose(1, 2).reshape(&[batch, TIME, WIDTH])
}

/// Both passes of the layer.
fn training(generator: &mut Generator) -> Table {
    let layer = MultiHeadAttention::new(WIDTH, HEADS, false, generator);
    let x = Tensor::randn(&[4, TIME, WIDTH], generator).requires_grad_(true);
    let mut table = copies_table();
    let mut loss = None;
    table.row(row(4, "forward", || loss = Some(layer.forward(&x).sum())));
    table.row(row(4, "backward", || loss.take().map(|loss| loss.backward())));
    table
}

/// What the reader's functions copy and foretell.
fn mine(output: &mut Output, generator: &mut Generator) {
    let mut random = |shape: &[usize]| Tensor::randn(shape, generator).mul_scalar(0.05);
    let block =
        Block { heads: HEADS, qkv: random(&[WIDTH, 3 * WIDTH]), out: random(&[WIDTH, WIDTH]) };
    let x = random(&[TIME, 4, WIDTH]);
    output.say("Time first, as in exercise 2.6:\n");
    let mut table = copies_table();
    table.row(row(4, "attend_with_copies", || attend_with_copies(&x, &block)));
    table.row(row(4, "attend, yours", || exercise::attend(&x, &block)));
    output.table("mine", &table);
    let sizes = Sizes {
        batch: 2,
        queries: 40,
        keys: 40,
        heads: 6,
        kv_heads: 2,
        head_width: 16,
        dtype: DType::F32,
    };
    let (q, kv) = (random(&[2, 40, 96]), random(&[2, 40, 32]));
    let (_, _, bytes) = hidden(|| grouped_attention(&q, &kv, &kv, &sizes));
    output.say(&format!(
        "grouped_attention, 2 x 40 tokens, 6 heads of 16 on 2 of keys: your copied_bytes says {}, \
         the counter {}.",
        thousands(exercise::copied_bytes(&sizes)),
        thousands(bytes)
    ));
}
