//! Choosing elements by what they are: masks of triangles, the largest ones, those that differ.

use crate::Tensor;
use crate::dtype::{DType, Scalar, with_element};
use crate::ops::index::check_index;
use crate::ops::{expect_dim, expect_one_device, refuse};

impl Tensor {
    /// A matrix, or a batch of them, with 0 above the `diagonal`-th diagonal; 0 is the main one,
    /// and positive ones lie above it.
    ///
    /// # Panics
    /// If x has fewer than two dimensions.
    #[track_caller]
    pub fn tril(&self, diagonal: isize) -> Tensor {
        let (columns, on_diagonal) = self.columns("tril", diagonal);
        self.masked_fill(&columns.gt(&on_diagonal), 0)
    }

    /// As [`tril`](Tensor::tril), with 0 below the diagonal.
    ///
    /// # Panics
    /// If x has fewer than two dimensions.
    #[track_caller]
    pub fn triu(&self, diagonal: isize) -> Tensor {
        let (columns, on_diagonal) = self.columns("triu", diagonal);
        self.masked_fill(&columns.lt(&on_diagonal), 0)
    }

    /// The numbers of the columns, and in which column each row meets the diagonal: `(C), (R, 1)`.
    #[track_caller]
    fn columns(&self, op: &'static str, diagonal: isize) -> (Tensor, Tensor) {
        let &[.., rows, columns] = self.shape() else {
            refuse(op, &[self], "needs a matrix, or a batch of them".to_string())
        };
        let meets = Tensor::arange_on(rows, DType::I64, self.device()).add_scalar(diagonal as i64);
        (Tensor::arange_on(columns, DType::I64, self.device()), meets.unsqueeze(-1))
    }

    /// A row of 0 with one 1, at the place that each label (`i64`) says: `(B) → (B, classes)`.
    ///
    /// # Panics
    /// If a label is not one of 0 to classes − 1.
    #[track_caller]
    pub fn one_hot(&self, classes: usize) -> Tensor {
        if self.dtype() != DType::I64 {
            refuse("one_hot", &[self], "the labels must be i64".to_string());
        }
        let wrong = |label: &i64| !(0..classes as i64).contains(label);
        if let Some(wrong) = self.to_vec::<i64>().into_iter().find(wrong) {
            let message = format!("label {wrong} is not one of 0..{classes}");
            refuse("one_hot", &[self], message);
        }
        let shape = [self.shape(), &[classes]].concat();
        let index = self.unsqueeze(-1);
        let ones = Tensor::full_on(index.shape(), 1, DType::I64, self.device());
        Tensor::full_on(&shape, 0, DType::I64, self.device()).scatter_add(-1, &index, &ones)
    }

    /// The `count` largest elements along `dim`, or the smallest, in order, and where (`i64`) they
    /// are. The gradient goes to these elements.
    ///
    /// # Panics
    /// If the dimension has not as many.
    #[track_caller]
    pub fn topk(&self, count: usize, dim: isize, largest: bool) -> (Tensor, Tensor) {
        let dim = expect_dim("topk", self, dim) as isize;
        let size = self.shape().get(dim as usize).copied().unwrap_or(0);
        if count > size {
            let message = format!("there are only {size} elements along dimension {dim}");
            refuse("topk", &[self], message);
        }
        let (_, order) = self.detach().sort(dim);
        let index = match largest {
            true => order.narrow(dim, size - count, count).flip(&[dim]),
            false => order.narrow(dim, 0, count).contiguous(),
        };
        (self.gather(dim, &index), index)
    }

    /// Where (`i64`) the elements along `dim` stand in ascending order; NaN last.
    ///
    /// # Panics
    /// If there is no such dimension.
    #[track_caller]
    pub fn argsort(&self, dim: isize) -> Tensor {
        self.detach().sort(dim).1
    }

    /// The indices (`i64`) of all elements that are not 0, one row each: `(count, rank)`.
    #[track_caller]
    pub fn nonzero(&self) -> Tensor {
        let mask = self.detach().to(DType::Bool).to_vec::<bool>();
        let shape = self.shape();
        let mut rows = Vec::new();
        let mut count = 0;
        for place in (0..mask.len()).filter(|&place| mask[place]) {
            let mut step = mask.len();
            for &size in shape {
                step /= size;
                rows.push((place / step % size) as i64);
            }
            count += 1;
        }
        Tensor::from_vec(rows, &[count, shape.len()]).to(self.device())
    }

    /// The elements at which the mask holds, in a list.
    ///
    /// # Panics
    /// If the mask is not `bool` or has another shape.
    #[track_caller]
    pub fn masked_select(&self, mask: &Tensor) -> Tensor {
        if mask.dtype() != DType::Bool || mask.shape() != self.shape() {
            let message = "the mask must be bool and have x's shape".to_string();
            refuse("masked_select", &[self, mask], message);
        }
        let held = mask.to_vec::<bool>();
        let places: Vec<i64> =
            (0..held.len()).filter(|&place| held[place]).map(|place| place as i64).collect();
        let count = places.len();
        self.take(&Tensor::from_vec(places, &[count]).to(self.device()))
    }

    /// The different elements in ascending order, for each element the place of its equal among
    /// them, and how often each comes. NaN differs from every NaN. No gradient.
    #[track_caller]
    pub fn unique(&self) -> (Tensor, Tensor, Tensor) {
        let flat = self.detach().reshape(&[-1]);
        let (sorted, order) = flat.sort(0);
        let order = order.to_vec::<i64>();
        let (first, values) = with_element!(self.dtype(), T => {
            let sorted = sorted.to_vec::<T>();
            let new = |i: usize| i == 0 || sorted[i] != sorted[i - 1];
            let first: Vec<bool> = (0..sorted.len()).map(new).collect();
            let kept = sorted.iter().zip(&first).filter(|(_, first)| **first).map(|(x, _)| *x);
            let kept: Vec<T> = kept.collect();
            let count = kept.len();
            (first, Tensor::from_vec(kept, &[count]))
        });
        let mut inverse = vec![0i64; order.len()];
        let mut counts: Vec<i64> = Vec::new();
        for (&place, first) in order.iter().zip(first) {
            if first {
                counts.push(0);
            }
            let class = counts.len() - 1;
            counts[class] += 1;
            inverse[place as usize] = class as i64;
        }
        let kinds = counts.len();
        let (inverse, counts) =
            (Tensor::from_vec(inverse, self.shape()), Tensor::from_vec(counts, &[kinds]));
        let there = self.device();
        (values.to(there), inverse.to(there), counts.to(there))
    }

    /// How often each of 0 to `least` − 1, and on up to the largest element, comes in a list of
    /// integers that are not negative (`i64`).
    ///
    /// # Panics
    /// If x is not a list of `i64`, or one is negative.
    #[track_caller]
    pub fn bincount(&self, least: usize) -> Tensor {
        if self.dtype() != DType::I64 || self.shape().len() != 1 {
            refuse("bincount", &[self], "needs a list of i64".to_string());
        }
        let values = self.to_vec::<i64>();
        if let Some(negative) = values.iter().find(|x| **x < 0) {
            refuse("bincount", &[self], format!("{negative} is negative and cannot be counted"));
        }
        let size = values.iter().max().map_or(0, |&most| most as usize + 1).max(least);
        let mut counts = vec![0i64; size];
        values.iter().for_each(|&x| counts[x as usize] += 1);
        Tensor::from_vec(counts, &[size]).to(self.device())
    }

    /// A copy of x with `y[index[i, j], j] = src[i, j]` for `dim` 0, and so on. Of equal indices
    /// the last one wins.
    ///
    /// # Panics
    /// As [`scatter_add`](Tensor::scatter_add).
    #[track_caller]
    pub fn scatter(&self, dim: isize, index: &Tensor, src: &Tensor) -> Tensor {
        expect_one_device("scatter", &[self, index, src]);
        let at = expect_dim("scatter", self, dim);
        if index.shape() != src.shape() || index.dtype() != DType::I64 {
            let message = "the index must be i64 and have the shape of the source".to_string();
            refuse("scatter", &[self, index, src], message);
        }
        let places = self.places_along("scatter", at, index);
        let out = self.copy();
        out.put_(&places, src, false);
        out
    }

    /// As [`scatter`](Tensor::scatter) with one number for every place.
    ///
    /// # Panics
    /// As [`scatter`](Tensor::scatter).
    #[track_caller]
    pub fn scatter_scalar(&self, dim: isize, index: &Tensor, value: impl Into<Scalar>) -> Tensor {
        let src = Tensor::full_on(index.shape(), value, self.dtype(), self.device());
        self.scatter(dim, index, &src)
    }

    /// For each element of an index: the place, in x's logical order, that it means along `dim`.
    #[track_caller]
    fn places_along(&self, op: &'static str, dim: usize, index: &Tensor) -> Tensor {
        check_index(op, self, dim, index);
        let every = Tensor::arange_on(self.numel(), DType::I64, self.device());
        every.view(self.shape()).gather(dim as isize, index)
    }
}
