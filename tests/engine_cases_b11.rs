//! Given cases B11 to B19, zero sizes, index bounds, expand, shared storage, argmax: real reports
//! about PyTorch-like libraries with a definite right answer, named by id. Beside each, more inputs
//! of its kind. Numbers without a word of explanation are the case's, or follow from the
//! definition.

#[path = "engine/refused.rs"]
mod refused;

use std::sync::Arc;

use engine_room::{DType, Tensor};
use refused::refused;

const END: isize = isize::MAX;

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

fn shares(a: &Tensor, b: &Tensor) -> bool {
    Arc::ptr_eq(a.storage(), b.storage())
}

#[test]
fn b11_matmul_with_a_zero_dimension() {
    let shapes: [(&[usize], &[usize], &[usize]); 11] = [
        (&[2, 0], &[0, 3], &[2, 3]),
        (&[0, 4], &[4, 3], &[0, 3]),
        (&[5, 2, 0], &[5, 0, 3], &[5, 2, 3]),
        (&[2, 0], &[0], &[2]),
        (&[3, 4], &[4, 0], &[3, 0]),
        (&[0], &[0, 3], &[3]),
        (&[0], &[0], &[]),
        (&[0, 2, 3], &[1, 3, 4], &[0, 2, 4]),
        (&[2, 0, 3], &[3, 4], &[2, 0, 4]),
        (&[4, 1, 2, 0], &[3, 0, 2], &[4, 3, 2, 2]),
        (&[0, 0], &[0, 0], &[0, 0]),
    ];
    for dtype in [DType::F32, DType::F64, DType::F16, DType::I64, DType::U8] {
        for (a, b, want) in shapes {
            let c = Tensor::ones(a).to(dtype).matmul(&Tensor::ones(b).to(dtype));
            assert_eq!((c.shape(), c.dtype()), (want, dtype));
            assert!(c.to(DType::F64).to_vec::<f64>().iter().all(|&x| x == 0.0));
        }
    }
    let leaf = |shape: &[usize]| Tensor::ones(shape).requires_grad_(true);
    let (a, b) = (leaf(&[2, 0]), leaf(&[3, 0]));
    a.matmul(&b.transpose(0, 1)).sum().backward();
    assert_eq!(a.grad().expect("da").shape(), [2, 0]);
    let (a, b) = (leaf(&[0, 4]), leaf(&[4, 3]));
    a.matmul(&b).sum().backward();
    holds(&b.grad().expect("db"), &[0.0; 12]);
    for (a, b) in [([2, 0], [1, 3]), ([0, 2], [0, 2]), ([2, 1], [0, 3])] {
        assert_eq!(refused(|| Tensor::ones(&a).matmul(&Tensor::ones(&b))).op, "matmul");
    }
}

#[test]
fn b13_index_bounds() {
    let x = counting(&[5]);
    holds(&x.index(&[Some(&indices(&[-1, 0]))]), &[4.0, 0.0]);
    holds(&x.index(&[Some(&indices(&[-5, 4]))]), &[0.0, 4.0]);
    assert_eq!(refused(|| x.index_select(0, &indices(&[-1]))).op, "index_select");
    let src = Tensor::ones(&[2]);
    for bad in [-1, 5, i64::MIN, i64::MAX] {
        let index = indices(&[0, bad]);
        let refusal = refused(|| x.gather(0, &index));
        assert!(refusal.op == "gather" && refusal.message.contains(&bad.to_string()));
        assert_eq!(refused(|| x.scatter_add(0, &index, &src)).op, "scatter_add");
        assert_eq!(refused(|| x.index_select(0, &index)).op, "index_select");
    }
    for bad in [5, -6, i64::MIN, i64::MAX] {
        let index = indices(&[0, bad]);
        let refusal = refused(|| x.index(&[Some(&index)]));
        assert!(refusal.op == "index" && refusal.message.contains(&bad.to_string()));
        assert_eq!(refused(|| x.take(&index)).op, "take");
        assert_eq!(refused(|| x.put_(&index, &src, false)).op, "put_");
        assert_eq!(refused(|| x.index_put_(&[Some(&index)], &src, true)).op, "index_put_");
    }
    assert_eq!(refused(|| x.narrow(0, 3, 3)).op, "narrow");
    assert_eq!(refused(|| x.narrow(0, usize::MAX, 2)).op, "narrow");
    assert_eq!(x.narrow(0, 5, 0).shape(), [0]);
    holds(&x, &[0.0, 1.0, 2.0, 3.0, 4.0]);
}

/// Other dimensions, views, masks, and nothing to index.
#[test]
fn b13_more_of_its_kind() {
    let table = counting(&[3, 4]);
    for (bad, dim) in [(3, 0), (-4, 0), (4, 1), (-5, 1)] {
        let index = indices(&[0, bad]);
        let at: &[Option<&Tensor>] = if dim == 0 { &[Some(&index)] } else { &[None, Some(&index)] };
        assert_eq!(refused(|| table.index(at)).op, "index");
        assert_eq!(refused(|| table.index_select(dim, &index)).op, "index_select");
        assert_eq!(refused(|| table.select(dim, bad as isize)).op, "select");
        assert_eq!(refused(|| table.gather(dim, &index.view(&[1, 2]))).op, "gather");
    }
    // The transposed view has other bounds than the memory.
    let columns = table.transpose(0, 1);
    holds(&columns.index(&[Some(&indices(&[-1])), Some(&indices(&[-1, 0]))]), &[11.0, 3.0]);
    holds(&columns.index_select(0, &indices(&[3])), &[3.0, 7.0, 11.0]);
    assert_eq!(refused(|| columns.index_select(1, &indices(&[3]))).op, "index_select");
    let part = table.narrow(1, 0, 2);
    assert_eq!(refused(|| part.index(&[None, Some(&indices(&[2]))])).op, "index");
    assert_eq!(refused(|| part.take(&indices(&[6]))).op, "take");
    holds(&part.take(&indices(&[-1, 2])), &[9.0, 4.0]);
    let (nothing, empty) = (indices(&[]), Tensor::zeros(&[0]));
    assert_eq!(table.index(&[Some(&nothing)]).shape(), [0, 4]);
    assert_eq!(empty.index(&[Some(&nothing)]).shape(), [0]);
    assert_eq!(table.index_select(1, &nothing).shape(), [3, 0]);
    assert_eq!(refused(|| empty.index(&[Some(&indices(&[0]))])).op, "index");
    assert_eq!(refused(|| empty.take(&indices(&[-1]))).op, "take");
    for wrong in [mask(&[true; 2], &[2]), mask(&[true; 12], &[4, 3]), mask(&[true; 4], &[4])] {
        assert_eq!(refused(|| table.index(&[Some(&wrong)])).op, "index");
    }
    let fractions = Tensor::ones(&[1]);
    assert_eq!(refused(|| table.index(&[Some(&fractions)])).op, "index");
    assert_eq!(refused(|| table.index(&[None, None, Some(&nothing)])).op, "index");
    assert_eq!(refused(|| table.narrow(1, 2, 3)).op, "narrow");
    assert_eq!(table.slice(1, 2, 9, 1).shape(), [3, 2]);
}

#[test]
fn b15_expand_only_adds_dimensions_or_stretches_1() {
    let shape = |from: &[usize], to: &[isize]| Tensor::ones(from).expand(to).shape().to_vec();
    assert_eq!(shape(&[2, 1], &[-1, 4]), [2, 4]);
    assert_eq!(shape(&[1, 2], &[0, 2]), [0, 2]);
    assert_eq!(shape(&[1, 2], &[0, -1]), [0, 2]);
    assert_eq!(shape(&[], &[2, 0, 3]), [2, 0, 3]);
    assert_eq!(shape(&[3], &[2, 1, -1]), [2, 1, 3]);
    assert_eq!(shape(&[0, 1], &[4, -1, 5]), [4, 0, 5]);
    assert_eq!(shape(&[2, 3], &[-1, -1]), [2, 3]);
    assert_eq!(shape(&[], &[]), [0; 0]);
    let wrong: [(&[usize], &[isize]); 15] = [
        (&[2, 3], &[3]),
        (&[2, 3], &[4, 3]),
        (&[2], &[-1, 2]),
        (&[3], &[0]),
        (&[3], &[3, 1]),
        (&[0], &[3]),
        (&[0], &[1]),
        (&[2, 1], &[2]),
        (&[2, 3], &[6]),
        (&[1, 1], &[]),
        (&[], &[-1]),
        (&[2], &[2, -1, 2]),
        (&[1], &[-2]),
        (&[2, 3], &[2, 1]),
        (&[1, 3], &[2, 3, 1]),
    ];
    for (from, to) in wrong {
        assert_eq!(refused(|| shape(from, to)).op, "expand");
    }
    let x = counting(&[3, 1]).expand(&[2, -1, 2]);
    assert_eq!(x.strides(), [0, 1, 0]);
    holds(&x, &[0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 0.0, 0.0, 1.0, 1.0, 2.0, 2.0]);
    holds(&x.transpose(0, 2).select(1, 2), &[2.0; 4]);
}

#[test]
fn b17_which_operations_share_storage() {
    let b = Tensor::zeros(&[2, 3]);
    b.select(0, 1).select(0, 0).fill_(7.0);
    holds(&b, &[0.0, 0.0, 0.0, 7.0, 0.0, 0.0]);
    b.transpose(0, 1).select(0, 2).select(0, 0).fill_(9.0);
    holds(&b, &[0.0, 0.0, 9.0, 7.0, 0.0, 0.0]);
    b.flip(&[0]).select(0, 0).select(0, 0).fill_(100.0);
    holds(&b.select(0, 1).select(0, 0), &[7.0]);
    b.reshape(&[6]).select(0, 1).fill_(5.0);
    holds(&b.select(0, 0).select(0, 1), &[5.0]);
    b.transpose(0, 1).reshape(&[6]).select(0, 0).fill_(77.0);
    holds(&b.select(0, 0).select(0, 0), &[0.0]);
    let b = Tensor::zeros(&[2, 3]);
    b.transpose(0, 1).add_(&counting(&[3, 2]), 1.0);
    holds(&b, &[0.0, 2.0, 4.0, 1.0, 3.0, 5.0]);
    b.reshape(&[6]).add_(&counting(&[6]), 10.0);
    holds(&b, &[0.0, 12.0, 24.0, 31.0, 43.0, 55.0]);
}

/// Each view sees a change of its base, and each copy does not.
#[test]
fn b17_every_view_and_every_copy() {
    let base = || Tensor::zeros(&[2, 3]);
    let views: [fn(&Tensor) -> Tensor; 16] = [
        |x| x.transpose(0, 1),
        |x| x.permute(&[1, 0]),
        |x| x.view(&[3, 2]),
        |x| x.reshape(&[-1]),
        |x| x.narrow(1, 1, 2),
        |x| x.slice(1, 0, END, 2),
        |x| x.select(0, 1),
        |x| x.unsqueeze(0).squeeze(0),
        |x| x.expand(&[4, 2, 3]),
        |x| x.unfold(1, 2, 1),
        |x| x.contiguous(),
        |x| x.to(DType::F32),
        |x| x.detach(),
        |x| x.clone(),
        |x| x.transpose(0, 1).reshape(&[3, 2, 1]),
        |x| x.transpose(0, 1).transpose(0, 1).contiguous().view(&[6]),
    ];
    for (at, view) in views.into_iter().enumerate() {
        let x = base();
        let y = view(&x);
        assert!(shares(&x, &y), "view {at}");
        x.fill_(3.0);
        holds(&y, &vec![3.0; y.numel()]);
    }
    let copies: [fn(&Tensor) -> Tensor; 13] = [
        |x| x.flip(&[0]),
        |x| x.flip(&[]),
        |x| x.copy(),
        |x| x.transpose(0, 1).contiguous(),
        |x| x.transpose(0, 1).reshape(&[6]),
        |x| x.narrow(1, 0, 2).reshape(&[4]),
        |x| x.expand(&[2, 2, 3]).reshape(&[-1]),
        |x| x.to(DType::F64).to(DType::F32),
        |x| x.index(&[Some(&indices(&[0, 1]))]),
        |x| x.index_select(0, &indices(&[0])),
        |x| x.take(&indices(&[0])),
        |x| x.masked_fill(&mask(&[false], &[1]), 1),
        |x| x.clamp(-9, 9),
    ];
    for (at, copy) in copies.into_iter().enumerate() {
        let x = base();
        let y = copy(&x);
        assert!(!shares(&x, &y), "copy {at}");
        y.fill_(3.0);
        holds(&x, &[0.0; 6]);
    }
}

#[test]
fn b19_argmax_counts_along_the_dimension() {
    let m = rows([[0.0, 9.0, 1.0], [5.0, 2.0, 8.0], [7.0, 3.0, 4.0], [1.0, 6.0, 0.0]]);
    let t = m.transpose(0, 1);
    let is = |y: Tensor, want: &[i64]| assert_eq!(y.to_vec::<i64>(), want);
    is(m.select(1, 1).argmax(0), &[0]);
    is(m.argmax(0), &[2, 0, 1]);
    is(t.argmax(1), &[2, 0, 1]);
    is(t.reshape(&[-1]).argmax(0), &[4]);
    is(m.narrow(1, 0, 1).argmax(1), &[0; 4]);
    is(m.view(&[4, 3, 1]).argmax(-1), &[0; 12]);
    // Other scans and reductions, other views. Values of PyTorch 2.9.1.
    is(m.argmin(0), &[0, 1, 3]);
    is(t.argmin(1), &[0, 1, 3]);
    is(m.slice(0, 0, END, 2).argmax(0), &[1, 0, 1]);
    is(m.slice(1, 0, END, 2).argmax(1), &[1, 1, 0, 0]);
    is(m.flip(&[0]).argmax(0), &[1, 3, 2]);
    is(m.select(1, 2).sort(0).1, &[3, 0, 2, 1]);
    is(m.sort(0).1, &[0, 1, 3, 3, 2, 0, 1, 3, 2, 2, 0, 1]);
    is(t.cummax(1).1, &[0, 1, 2, 2, 0, 0, 0, 0, 0, 1, 1, 1]);
    holds(&t.sort(1).0, &[0.0, 1.0, 5.0, 7.0, 2.0, 3.0, 6.0, 9.0, 0.0, 1.0, 4.0, 8.0]);
    holds(&t.cumsum(1).select(1, 3), &[13.0, 20.0, 13.0]);
    holds(&m.select(1, 1).max_dims(&[0], true), &[9.0]);
    let deep = Tensor::from_vec((0..24i64).map(|i| i * 7 % 11).collect(), &[2, 3, 4]);
    is(deep.argmax(1), &[1, 2, 1, 0, 2, 1, 0, 2]);
    is(deep.permute(&[2, 0, 1]).argmax(1), &[1, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0, 1]);
    // Of equal ones the first, also where the stride is 0.
    is(Tensor::ones(&[2, 1]).expand(&[2, 5]).argmax(1), &[0, 0]);
    is(rows([[1.0, 3.0], [3.0, 3.0], [3.0, 1.0]]).argmax(0), &[1, 0]);
    is(Tensor::scalar(2.0).argmax(0), &[0]);
    assert_eq!(m.narrow(0, 1, 1).argmax(0).shape(), [3]);
}
