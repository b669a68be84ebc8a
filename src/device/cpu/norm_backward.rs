//! The backward pass of layer normalisation and RMSNorm, one row after the other.

use crate::device::View;
use crate::device::cpu::elements;
use crate::device::cpu::norm::factors;
use crate::device::cpu::parallel::{CHUNK, Loop, share, vectorized};
use crate::device::cpu::softmax::{bring, sum_of, sum_of_pairs};
use crate::dtype::{Arithmetic, Element, Float};
use crate::layout::{inner_row, rows};
use crate::memory::filled;
use crate::storage::Storage;

const OP: &str = "layer_norm";

/// The gradients of x, weight and bias of the kernel `layer_norm` from dy and each row's moments:
/// dx = r · (dn − mean(dn) − n · mean(dn · n)) with dn = dy · weight and n = (x − mean) · r,
/// dweight = Σ dy · n and dbias = Σ dy over the rows. The rows are summed in bands of a fixed size,
/// and the bands one after the other.
pub fn layer_norm_backward<T: Element<Compute: Float>>(
    [x, dy]: [View; 2],
    [mean, rstd]: [View; 2],
    weight: Option<View>,
    centred: bool,
) -> [Storage; 3] {
    let (reads, moments) =
        ([x, dy].map(|x| x.storage.read(OP)), [mean, rstd].map(factors::<T::Compute>));
    let (x_values, dy_values) = (elements::<T>(&reads[0]), elements::<T>(&reads[1]));
    let weight = weight.map(factors::<T>);
    let ((len, x_step), (_, dy_step)) = (inner_row(x.layout), inner_row(dy.layout));
    let starts: Vec<[usize; 2]> = rows([x.layout, dy.layout]).collect();
    let many = CHUNK.div_ceil(len.max(1));
    let mut dx = filled(T::default(), starts.len() * len);
    let bands = starts.len().div_ceil(many);
    let mut sums = filled(T::Compute::default(), bands * 2 * len);
    let outs = dx.chunks_mut((many * len).max(1)).zip(sums.chunks_mut((2 * len).max(1)));
    share(outs.enumerate(), starts.len() * len, |(band, (dx, sums))| {
        let mut room = vec![T::Compute::default(); 2 * len];
        let (n, dn) = room.split_at_mut(len);
        let (dweight, dbias) = sums.split_at_mut(len);
        for (i, dx) in dx.chunks_mut(len.max(1)).enumerate() {
            let row = band * many + i;
            bring(&x_values[starts[row][0]..], x_step, n);
            bring(&dy_values[starts[row][1]..], dy_step, dn);
            let (mean, rstd) = (moments[0][row], moments[1][row]);
            let weight = weight.as_deref();
            vectorized(RowBackward { n, dn, mean, rstd, weight, centred, dweight, dbias });
            dx.iter_mut().zip(&*dn).for_each(|(dx, &x)| *dx = T::of_compute(x));
        }
    });
    let total = |half: usize| {
        let mut total = filled(T::Compute::default(), len);
        for sums in sums.chunks((2 * len).max(1)) {
            let band = &sums[half * len..(half + 1) * len];
            total.iter_mut().zip(band).for_each(|(total, &x)| *total = total.add(x));
        }
        Storage::new(total.into_iter().map(T::of_compute).collect::<Vec<T>>())
    };
    [Storage::new(dx), total(0), total(1)]
}

/// One row: x becomes n, dy becomes dx, and the sums over the rows grow.
struct RowBackward<'a, C> {
    n: &'a mut [C],
    dn: &'a mut [C],
    mean: C,
    rstd: C,
    weight: Option<&'a [C]>,
    centred: bool,
    dweight: &'a mut [C],
    dbias: &'a mut [C],
}

impl<C: Float> Loop for RowBackward<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (n, dn) = (self.n, self.dn);
        for x in n.iter_mut() {
            *x = x.sub(self.mean).mul(self.rstd);
        }
        for ((sum, &dy), &n) in self.dweight.iter_mut().zip(&*dn).zip(&*n) {
            *sum = sum.add(dy.mul(n));
        }
        for (sum, &dy) in self.dbias.iter_mut().zip(&*dn) {
            *sum = sum.add(dy);
        }
        if let Some(weight) = self.weight {
            dn.iter_mut().zip(weight).for_each(|(dn, &weight)| *dn = dn.mul(weight));
        }
        let count = n.len() as f64;
        let number = |x: f64| C::from_scalar(x.into());
        let mean = number(if self.centred { sum_of(dn, |x| x) / count } else { 0.0 });
        let along = number(sum_of_pairs(dn, n, C::mul) / count);
        for (dn, &n) in dn.iter_mut().zip(&*n) {
            *dn = dn.sub(mean).sub(n.mul(along)).mul(self.rstd);
        }
    }
}
