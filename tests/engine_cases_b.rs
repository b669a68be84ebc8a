//! Given cases B01 to B09, views, offsets, broadcasting: real reports about PyTorch-like libraries
//! with a definite right answer, named by id. Beside each, more inputs of its kind. Numbers without
//! a word of explanation are the case's, or follow from the definition.

#[path = "engine/refused.rs"]
mod refused;

use engine_room::{DType, Tensor, bf16};
use refused::refused;

const END: isize = isize::MAX;
type Call = fn(&Tensor, &Tensor) -> Tensor;

/// 0, 1, 2 and so on.
fn counting(shape: &[usize]) -> Tensor {
    Tensor::arange(shape.iter().product()).reshape(shape)
}

fn rows<const N: usize, const M: usize>(values: [[f32; M]; N]) -> Tensor {
    Tensor::from_vec(values.concat(), &[N, M])
}

fn indices(values: &[i64]) -> Tensor {
    Tensor::from_vec(values.to_vec(), &[values.len()])
}

fn mask(values: &[bool], shape: &[usize]) -> Tensor {
    Tensor::from_vec(values.to_vec(), shape)
}

#[track_caller]
fn holds(got: &Tensor, want: &[f32]) {
    assert_eq!(got.to_vec::<f32>(), want);
}

#[test]
fn b01_reshape_after_transpose_reads_in_logical_order() {
    let x = counting(&[3, 4]).transpose(0, 1);
    let want = [0.0, 4.0, 8.0, 1.0, 5.0, 9.0, 2.0, 6.0, 10.0, 3.0, 7.0, 11.0];
    holds(&x.reshape(&[12]), &want);
    holds(&x.contiguous().reshape(&[-1]), &want);
    assert!(refused(|| x.view(&[12])).message.contains("strides"));
    holds(&x.copy().view(&[12]), &want);
    holds(&x.view(&[2, 2, 3]), &want);
    for dtype in DType::ALL {
        let cast = x.copy().to(dtype);
        let flat = counting(&[3, 4]).to(dtype).transpose(0, 1).reshape(&[2, -1]);
        assert_eq!(flat.to_string(), cast.view(&[2, 6]).to_string());
    }
}

/// Other orders, other shapes, and what reads without a reshape.
#[test]
fn b01_more_of_its_kind() {
    let x = counting(&[2, 3, 4]).permute(&[2, 0, 1]);
    // Element (c, a, b) lies at 12a + 4b + c.
    let place = |i: u16| 12 * (i / 3 % 2) + 4 * (i % 3) + i / 6;
    let want: Vec<f32> = (0..24).map(|i| place(i).into()).collect();
    for y in [x.reshape(&[24]), x.reshape(&[6, -1]), x.reshape(&[2, 2, 3, 2]), x.contiguous()] {
        holds(&y, &want);
    }
    holds(&x.add_scalar(1.0).add_scalar(-1.0).view(&[24]), &want);
    assert_eq!(refused(|| x.view(&[8, 3])).op, "view");
    holds(&x.view(&[4, 6]), &want);
    holds(&x.view(&[2, 2, 2, 3]).select(0, 1), &want[12..]);
    let wide = counting(&[2, 1]).expand(&[2, 3]);
    holds(&wide.reshape(&[6]), &[0.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
    holds(&wide.transpose(0, 1).reshape(&[-1]), &[0.0, 1.0, 0.0, 1.0, 0.0, 1.0]);
    assert_eq!(refused(|| wide.view(&[6])).op, "view");
    let part = counting(&[4, 4]).narrow(1, 1, 2);
    holds(&part.reshape(&[8]), &[1.0, 2.0, 5.0, 6.0, 9.0, 10.0, 13.0, 14.0]);
    assert_eq!(refused(|| part.view(&[8])).op, "view");
    assert_eq!(counting(&[3, 0]).transpose(0, 1).view(&[0]).shape(), [0]);
}

#[test]
fn b03_the_offset_survives_a_reshape_of_a_slice() {
    let x = counting(&[10]);
    let one = x.slice(0, 2, END, 10).reshape(&[1, -1]);
    holds(&one, &[2.0]);
    assert_eq!(one.shape(), [1, 1]);
    holds(&x.slice(0, 1, END, 3).reshape(&[3, 1]), &[1.0, 4.0, 7.0]);
    let part = counting(&[4, 6]).slice(0, 1, 3, 1).slice(1, 1, END, 2);
    holds(&part.reshape(&[6]), &[7.0, 9.0, 11.0, 13.0, 15.0, 17.0]);
}

#[test]
fn b03_more_of_its_kind() {
    let x = counting(&[10]);
    holds(&x.slice(0, -1, END, 1).reshape::<usize>(&[]), &[9.0]);
    holds(&x.slice(0, -3, -1, 5).reshape(&[1, 1, 1]), &[7.0]);
    holds(&x.narrow(0, 9, 1).contiguous(), &[9.0]);
    holds(&x.slice(0, 3, END, 4).contiguous().view(&[2, 1]), &[3.0, 7.0]);
    let table = counting(&[4, 6]);
    holds(&table.select(1, 4).reshape(&[2, 2]), &[4.0, 10.0, 16.0, 22.0]);
    holds(&table.select(0, 2).view(&[3, 2]).select(1, 1), &[13.0, 15.0, 17.0]);
    holds(
        &table.slice(0, 1, END, 2).transpose(0, 1).reshape(&[12]).narrow(0, 8, 4),
        &[10.0, 22.0, 11.0, 23.0],
    );
    holds(&table.narrow(0, 3, 1).narrow(1, 5, 1).view::<usize>(&[]).expand(&[2]), &[23.0; 2]);
    holds(&table.unfold(1, 2, 3).select(0, 1).reshape(&[-1]), &[6.0, 7.0, 9.0, 10.0]);
    let last = table.narrow(0, 3, 1).to(DType::BF16).narrow(1, 4, 2).reshape(&[2]);
    assert_eq!(last.to_vec::<bf16>(), [22.0, 23.0].map(bf16::from_f32));
    let whole = table.to(DType::I64).slice(0, 2, END, 1).slice(1, 1, END, 3);
    assert_eq!(whole.reshape(&[-1]).to_vec::<i64>(), [13, 16, 19, 22]);
    assert_eq!(whole.sum().item_as::<i64>(), 70);
    assert_eq!((whole.storage_offset(), whole.numel()), (13, 4));
}

#[test]
fn b05_matmul_with_a_broadcast_batch() {
    let (l, r) = (rows([[1.0, 2.0], [3.0, 4.0]]), counting(&[2, 2, 2]));
    let wide = l.expand(&[2, 2, 2]);
    let left = [4.0, 7.0, 8.0, 15.0, 16.0, 19.0, 36.0, 43.0];
    let right = [3.0, 4.0, 11.0, 16.0, 19.0, 28.0, 27.0, 40.0];
    for l in [wide.clone(), wide.copy(), l.clone(), l.unsqueeze(0)] {
        holds(&l.matmul(&r), &left);
        holds(&r.matmul(&l), &right);
        let back = l.transpose(-1, -2);
        holds(&r.transpose(1, 2).matmul(&back).transpose(1, 2), &left);
        for dtype in [DType::F64, DType::F16, DType::I64, DType::U8] {
            holds(&l.to(dtype).matmul(&r.to(dtype)).to(DType::F32), &left);
        }
    }
    let ones = Tensor::ones(&[1, 32, 32]).expand(&[32, 32, 32]);
    let full = Tensor::ones(&[32, 32, 32]);
    for product in [ones.matmul(&full), full.matmul(&ones), ones.matmul(&ones)] {
        assert_eq!(product.shape(), [32, 32, 32]);
        holds(&product, &[32.0; 32 * 32 * 32]);
    }
    // PyTorch's gradients: summed over the batch that shared the matrix.
    let (l, r) = (l.requires_grad_(true), r.copy().requires_grad_(true));
    l.expand(&[2, 2, 2]).matmul(&r).sum().backward();
    r.matmul(&l).sum().backward();
    holds(&l.grad().expect("dl"), &[22.0, 30.0, 26.0, 34.0]);
    holds(&r.grad().expect("dr"), &[7.0, 11.0, 9.0, 13.0, 7.0, 11.0, 9.0, 13.0]);
}

/// Batches that stretch on both sides, vectors, and rows of one number. Values of PyTorch 2.9.1.
#[test]
fn b05_more_of_its_kind() {
    let product = counting(&[2, 1, 1, 3]).matmul(&counting(&[3, 3, 1]));
    assert_eq!(product.shape(), [2, 3, 1, 1]);
    holds(&product, &[5.0, 14.0, 23.0, 14.0, 50.0, 86.0]);
    let (a, b) = (counting(&[2, 1, 2, 3]), counting(&[3, 4]));
    let want = [
        20.0, 23.0, 26.0, 29.0, 56.0, 68.0, 80.0, 92.0, 92.0, 113.0, 134.0, 155.0, 128.0, 158.0,
        188.0, 218.0,
    ];
    holds(&a.matmul(&b), &want);
    assert_eq!(a.matmul(&b).shape(), [2, 1, 2, 4]);
    let v = counting(&[3]);
    holds(&v.matmul(&counting(&[2, 3, 2])), &[10.0, 13.0, 28.0, 31.0]);
    holds(&counting(&[2, 2, 3]).matmul(&v), &[5.0, 14.0, 23.0, 32.0]);
    holds(&v.matmul(&v), &[5.0]);
    let row = rows([[1.0, 2.0]]).expand(&[3, 2]);
    holds(&row.matmul(&counting(&[2, 2])), &[4.0, 7.0, 4.0, 7.0, 4.0, 7.0]);
    let one = Tensor::ones(&[1, 1]).expand(&[32, 32]);
    holds(&one.matmul(&one.transpose(0, 1)), &[32.0; 1024]);
    let wrong = [([2, 1, 3], [3, 3, 2]), ([2, 2, 3], [2, 2, 3]), ([2, 2, 3], [3, 3, 2])];
    for (a, b) in wrong {
        assert_eq!(refused(|| Tensor::ones(&a).matmul(&Tensor::ones(&b))).op, "matmul");
    }
}

#[test]
fn b07_masked_fill_of_a_broadcast_tensor() {
    let x = rows([[1.0, 2.0], [3.0, 4.0]]);
    let mask = mask(&[true, false, false, true], &[2, 1, 2]);
    let wide = x.expand(&[2, 2, 2]);
    let want = [0.0, 2.0, 0.0, 4.0, 1.0, 0.0, 3.0, 0.0];
    holds(&wide.masked_fill(&mask, 0), &want);
    // The out-of-place form broadcasts x too, as in PyTorch.
    holds(&x.masked_fill(&mask, 0), &want);
    let refusal = refused(|| wide.masked_fill_(&mask, 0));
    assert_eq!((refusal.op, &refusal.operands[0][..]), ("masked_fill_", "f32 [2, 2, 2]"));
    assert_eq!(refused(|| x.masked_fill_(&mask, 0)).op, "masked_fill_");
    holds(&x, &[1.0, 2.0, 3.0, 4.0]);
    let own = wide.copy();
    own.masked_fill_(&mask, 0);
    holds(&own, &want);
}

/// Every change in place of a tensor that shows an element twice; nothing is written.
#[test]
fn b07_no_change_in_place_of_what_shows_an_element_twice() {
    let x = counting(&[2, 2]);
    let windows = counting(&[2, 3]).unfold(1, 2, 1);
    let targets = [
        x.expand(&[2, 2, 2]),
        x.expand(&[2, 2, 2]).transpose(0, 2),
        windows.clone(),
        x.select(0, 1).view(&[2, 1, 1]).expand(&[2, 2, 2]).permute(&[1, 0, 2]),
    ];
    for wide in &targets {
        let before = wide.to_vec::<f32>();
        let (other, mask) = (Tensor::ones(&[2, 2, 2]), mask(&[true; 8], &[2, 2, 2]));
        let first = indices(&[0]);
        assert_eq!(refused(|| wide.fill_(5.0)).op, "fill_");
        assert_eq!(refused(|| wide.zero_()).op, "zero_");
        assert_eq!(refused(|| wide.add_(&other, 1.0)).op, "add_");
        assert_eq!(refused(|| wide.mul_(&other)).op, "mul_");
        assert_eq!(refused(|| wide.copy_(&other)).op, "copy_");
        assert_eq!(refused(|| wide.masked_fill_(&mask, 5.0)).op, "masked_fill_");
        assert_eq!(refused(|| wide.put_(&first, &Tensor::ones(&[1]), true)).op, "put_");
        refused(|| wide.index_put_(&[Some(&first)], &Tensor::ones(&[2]), false));
        holds(wide, &before);
    }
    // A stretched dimension of size 1 or 0 shows nothing twice, and a copy is a tensor of its own.
    x.view(&[1, 4]).expand(&[1, 4]).add_(&Tensor::ones(&[4]), 1.0);
    Tensor::ones(&[1]).expand(&[0]).fill_(5.0);
    let own = targets[0].copy();
    own.zero_();
    holds(&x, &[1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn b09_zero_against_1_broadcasts_to_0() {
    let calls: [Call; 6] =
        [Tensor::add, Tensor::div, Tensor::maximum, Tensor::lt, Tensor::remainder, |a, b| {
            Tensor::where_cond(&a.gt(b), a, b)
        }];
    let cases: [(&[usize], &[usize], &[usize]); 8] = [
        (&[2, 0], &[2, 1], &[2, 0]),
        (&[0], &[1], &[0]),
        (&[0, 1], &[1, 1], &[0, 1]),
        (&[0, 5], &[1, 5], &[0, 5]),
        (&[1, 0], &[1, 1, 1], &[1, 1, 0]),
        (&[], &[0, 3], &[0, 3]),
        (&[0, 1], &[1, 0], &[0, 0]),
        (&[3, 1, 2], &[0, 1], &[3, 0, 2]),
    ];
    for call in calls {
        for dtype in [DType::F32, DType::F16, DType::I64] {
            let shape = |a: &[usize], b: &[usize]| {
                call(&Tensor::ones(a).to(dtype), &Tensor::ones(b).to(dtype)).shape().to_vec()
            };
            for (a, b, want) in cases {
                assert_eq!((shape(a, b), shape(b, a)), (want.to_vec(), want.to_vec()));
            }
            let wrong: [(&[usize], &[usize]); 4] =
                [(&[0], &[2, 2]), (&[2, 1], &[0, 1]), (&[2, 1], &[0, 2]), (&[0], &[3])];
            for (a, b) in wrong {
                let refusal = refused(|| shape(a, b));
                let brief = |shape: &[usize]| format!("{dtype} {shape:?}");
                assert_eq!(refusal.operands, [brief(a), brief(b)], "{refusal}");
                refused(|| shape(b, a));
            }
        }
    }
}

/// Zero sizes elsewhere. Values of PyTorch 2.9.1.
#[test]
fn b09_nothing_reduced_scanned_or_changed() {
    let (flat, tall) = (Tensor::zeros(&[2, 0]), Tensor::zeros(&[0, 3]));
    holds(&flat.sum_dims(&[1], false), &[0.0; 2]);
    holds(&flat.prod_dims(&[1], true), &[1.0; 2]);
    assert!(tall.mean_dims(&[0], false).to_vec::<f32>().iter().all(|x| x.is_nan()));
    assert_eq!(tall.sum_dims(&[1], false).shape(), [0]);
    assert_eq!(tall.max_dims(&[1], true).shape(), [0, 1]);
    assert_eq!(tall.argmax(1).shape(), [0]);
    assert_eq!(refused(|| tall.max_dims(&[0], false)).op, "max");
    assert_eq!(refused(|| tall.argmin(0)).op, "argmin");
    assert_eq!(refused(|| flat.min_dims(&[], false)).op, "min");
    for dim in [0, 1] {
        let same = [tall.cumsum(dim), tall.cummax(dim).0, tall.sort(dim).1, tall.softmax(dim)];
        let more = [tall.flip(&[dim]), tall.log_softmax(dim), tall.exp(), tall.to(DType::I64)];
        same.iter().chain(&more).for_each(|y| assert_eq!(y.shape(), [0, 3]));
    }
    assert_eq!(tall.transpose(0, 1).reshape(&[-1, 3]).shape(), [0, 3]);
    assert_eq!(refused(|| tall.reshape(&[-1, 0])).op, "reshape");
    assert_eq!(refused(|| tall.reshape(&[1])).op, "reshape");
    tall.add_(&Tensor::ones(&[1, 3]), 1.0);
    tall.copy_(&Tensor::ones(&[]));
    assert_eq!(refused(|| tall.add_(&Tensor::ones(&[2, 3]), 1.0)).op, "add_");
    assert_eq!(refused(|| flat.select(1, 0)).op, "select");
    assert_eq!(flat.slice(1, 0, 5, 2).shape(), [2, 0]);
    let leaf = Tensor::ones(&[2, 1]).requires_grad_(true);
    leaf.mul(&flat).sum().backward();
    holds(&leaf.grad().expect("a gradient"), &[0.0; 2]);
}
