//! The cases of `index.cu` and `place.cu`, where an index decides what is read or written, and of
//! `attention.cu`.

use engine_room::{Attention, Tensor};

use super::case::Case;
use super::operands::{HEADS, Operands, SIDE, leaf};

pub const INDEX: &[Case] = &[
    Case::each("gather_b4", 8, |o| drop(o.x.index_select(0, &o.rows)))
        .and(8 * SIDE)
        .of("whole rows (index_select)"),
    Case::each("gather_b4", 16, |o| drop(o.x.gather(1, &o.in_rows))).of("any order in each row"),
    Case::each("scatter_add_f32", 12, |o| drop(o.x.index_add(0, &o.rows, &o.y)))
        .and(8 * SIDE)
        .of("whole rows (index_add)"),
    Case::each("scatter_add_f32", 20, |o| drop(o.x.scatter_add(1, &o.in_rows, &o.y)))
        .of("any order in each row"),
];

fn put(o: &Operands) {
    o.x.copy().put_(&o.places, &o.y, false);
}

pub const PLACE: &[Case] = &[
    Case::each("take_b4", 16, |o| drop(o.x.take(&o.places))).of("any order"),
    Case::each("put_clear", 12, put).of("any order"),
    Case::each("put_claim", 16, put).of("any order"),
    Case::each("put_b4", 20, put).of("any order"),
    Case::each("put_add_f32", 20, |o| o.x.copy().put_(&o.places, &o.y, true)).of("any order"),
];

fn attention([q, k, v, dy]: &[Tensor; 4]) {
    let [q, k, v] = [q, k, v].map(leaf);
    q.scaled_dot_product_attention(&k, &v, Attention::default()).backward_with(dy);
}

fn narrow(o: &Operands) {
    attention(&o.heads[0]);
}

fn wide(o: &Operands) {
    attention(&o.heads[1]);
}

/// Reads or writes so many tensors of the heads, and a number for each query so many times.
const fn heads(
    kernel: &'static str,
    call: fn(&Operands),
    tensors: usize,
    numbers: usize,
    [count, rows, width]: [usize; 3],
) -> Case {
    let queries = count * rows;
    let bytes = 4 * queries * (tensors * width + numbers);
    Case::each(kernel, 0, call).sized(queries * width, bytes)
}

pub const ATTENTION: &[Case] = &[
    heads("attention_64_f32", narrow, 4, 1, HEADS[0]).of("8 x 256 x 64"),
    heads("attention_dq_64_f32", narrow, 5, 2, HEADS[0]).of("8 x 256 x 64"),
    heads("attention_dkv_64_f32", narrow, 6, 2, HEADS[0]).of("8 x 256 x 64"),
    heads("attention_128_f32", wide, 4, 1, HEADS[1]).of("4 x 256 x 128"),
    heads("attention_dq_128_f32", wide, 5, 2, HEADS[1]).of("4 x 256 x 128"),
    heads("attention_dkv_128_f32", wide, 6, 2, HEADS[1]).of("4 x 256 x 128"),
];
