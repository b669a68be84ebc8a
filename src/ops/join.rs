//! Joining tensors, cutting them up, and repeating them.
//!
//! A joined tensor is written part by part: each part is copied into a view of it, and that change
//! in place is recorded, so the gradient of a part is a part of the gradient.

use crate::Tensor;
use crate::device::Device;
use crate::dtype::DType;
use crate::ops::{expect_dim, expect_one_device, refuse, result_type};

impl Tensor {
    /// The tensors one behind the other along `dim`, in their common type. They agree in all other
    /// dimensions; a list without elements is skipped among others, as in PyTorch.
    ///
    /// # Panics
    /// If there are none, or the shapes do not fit.
    #[track_caller]
    pub fn cat(parts: &[&Tensor], dim: isize) -> Tensor {
        let rank = parts.iter().map(|part| part.shape().len()).max().unwrap_or(0);
        let skipped = |part: &Tensor| rank > 1 && part.shape() == [0];
        let parts: Vec<&Tensor> = parts.iter().copied().filter(|part| !skipped(part)).collect();
        let Some(first) = parts.first() else {
            let none = Tensor::zeros(&[0]);
            refuse("cat", &[&none], "there is nothing to join".to_string())
        };
        expect_one_device("cat", &parts);
        if first.shape().is_empty() {
            let message = "a tensor without dimensions has no end to join at; stack makes one";
            refuse("cat", &parts, message.to_string());
        }
        let dim = expect_dim("cat", first, dim);
        for part in &parts {
            let sizes = part.shape().iter().zip(first.shape()).enumerate();
            let fits = part.shape().len() == first.shape().len()
                && sizes.into_iter().all(|(d, (own, want))| d == dim || own == want);
            if !fits {
                let message = format!("all dimensions but {dim} must have equal sizes");
                refuse("cat", &[first, part], message);
            }
        }
        let mut shape = first.shape().to_vec();
        shape[dim] = parts.iter().map(|part| part.shape()[dim]).sum();
        written(&shape, dim, &parts, result_type(&parts))
    }

    /// Tensors of one shape as the slices of a new dimension in front of `dim`; −1 puts it last.
    ///
    /// # Panics
    /// If there are none, or their shapes differ.
    #[track_caller]
    pub fn stack(parts: &[&Tensor], dim: isize) -> Tensor {
        let mut slices = Vec::new();
        for part in parts {
            if part.shape() != parts[0].shape() {
                refuse("stack", &[parts[0], part], "all must have one shape".to_string());
            }
            slices.push(part.unsqueeze(dim));
        }
        let rank = parts.first().map_or(0, |part| part.shape().len()) as isize;
        Tensor::cat(&slices.iter().collect::<Vec<_>>(), if dim < 0 { dim + rank + 1 } else { dim })
    }

    /// Views of neighbouring parts of a dimension, of the given sizes.
    ///
    /// # Panics
    /// If the sizes are not those of the whole dimension.
    #[track_caller]
    pub fn split(&self, sizes: &[usize], dim: isize) -> Vec<Tensor> {
        let at = expect_dim("split", self, dim);
        let whole = self.shape().get(at).copied().unwrap_or(0);
        if sizes.iter().sum::<usize>() != whole {
            let message = format!("the sizes {sizes:?} do not add up to {whole}");
            refuse("split", &[self], message);
        }
        let mut start = 0;
        let mut parts = Vec::new();
        for &size in sizes {
            parts.push(self.narrow(dim, start, size));
            start += size;
        }
        parts
    }

    /// Views of `count` neighbouring parts of a dimension, of one size but for the last; fewer if
    /// the dimension has not as many elements, as in PyTorch.
    ///
    /// # Panics
    /// If `count` is 0 or there is no such dimension.
    #[track_caller]
    pub fn chunk(&self, count: usize, dim: isize) -> Vec<Tensor> {
        let at = expect_dim("chunk", self, dim);
        if count == 0 || self.shape().is_empty() {
            let message = "needs at least one chunk, and a dimension to cut".to_string();
            refuse("chunk", &[self], message);
        }
        let whole = self.shape()[at];
        let size = whole.div_ceil(count);
        if size == 0 {
            return vec![self.clone(); count];
        }
        let sizes: Vec<usize> =
            (0..whole).step_by(size).map(|start| size.min(whole - start)).collect();
        self.split(&sizes, dim)
    }

    /// The tensor copied `counts[i]` times along dimension i; further counts in front add
    /// dimensions.
    ///
    /// # Panics
    /// If there are fewer counts than dimensions.
    #[track_caller]
    pub fn repeat(&self, counts: &[usize]) -> Tensor {
        let rank = self.shape().len();
        if counts.len() < rank {
            refuse("repeat", &[self], format!("{} counts for {rank} dimensions", counts.len()));
        }
        let added = counts.len() - rank;
        let mut x = self.reshape(&[&vec![1; added], self.shape()].concat());
        for (dim, &count) in counts.iter().enumerate().filter(|(_, count)| **count != 1) {
            let (shape, at) = (x.shape().to_vec(), dim as isize);
            let mut wide = shape.clone();
            wide.insert(dim, count);
            let mut joined = shape;
            joined[dim] *= count;
            x = x.unsqueeze(at).expand(&wide).reshape(&joined);
        }
        x.copy_if_shared(self)
    }

    /// Each slice of a dimension `count` times, one after the other.
    ///
    /// # Panics
    /// If there is no such dimension.
    #[track_caller]
    pub fn repeat_interleave(&self, count: usize, dim: isize) -> Tensor {
        let at = expect_dim("repeat_interleave", self, dim);
        if self.shape().is_empty() {
            return self.reshape(&[1]).repeat(&[count]);
        }
        let mut wide = self.shape().to_vec();
        wide.insert(at + 1, count);
        let mut joined = self.shape().to_vec();
        joined[at] *= count;
        let y = self.unsqueeze(at as isize + 1).expand(&wide).reshape(&joined);
        y.copy_if_shared(self)
    }

    /// The tensor with neighbouring dimensions `start` to `end`, both included, as one.
    ///
    /// # Panics
    /// If they do not exist or lie the wrong way round.
    #[track_caller]
    pub fn flatten(&self, start: isize, end: isize) -> Tensor {
        if self.shape().is_empty() {
            return self.reshape(&[1]);
        }
        let (start, end) = (expect_dim("flatten", self, start), expect_dim("flatten", self, end));
        if start > end {
            let message = format!("dimension {start} does not come before {end}");
            refuse("flatten", &[self], message);
        }
        let joined = self.shape()[start..=end].iter().product();
        let shape = [&self.shape()[..start], &[joined], &self.shape()[end + 1..]].concat();
        self.reshape(&shape)
    }

    /// The elements of a dimension moved on by `shift`, those that leave the end coming in at the
    /// front.
    ///
    /// # Panics
    /// If there is no such dimension.
    #[track_caller]
    pub fn roll(&self, shift: isize, dim: isize) -> Tensor {
        let at = expect_dim("roll", self, dim);
        let size = self.shape().get(at).copied().unwrap_or(0);
        if size == 0 {
            return self.copy();
        }
        let cut = size - shift.rem_euclid(size as isize) as usize;
        let dim = at as isize;
        Tensor::cat(&[&self.narrow(dim, cut, size - cut), &self.narrow(dim, 0, cut)], dim)
    }

    /// The diagonal matrix with these elements, or the diagonal of a matrix.
    ///
    /// # Panics
    /// If x is neither a list nor a matrix.
    #[track_caller]
    pub fn diag(&self) -> Tensor {
        match *self.shape() {
            [n] => {
                let out = Tensor::full_on(&[n, n], 0, self.dtype(), self.device());
                out.put_(&steps(n, n + 1, self.device()), self, false);
                out
            }
            [rows, columns] => self.take(&steps(rows.min(columns), columns + 1, self.device())),
            _ => refuse("diag", &[self], "needs a list or a matrix".to_string()),
        }
    }

    /// A copy, unless the numbers are this tensor's own already.
    #[track_caller]
    fn copy_if_shared(&self, x: &Tensor) -> Tensor {
        let shared = std::sync::Arc::ptr_eq(self.storage(), x.storage());
        if shared { self.copy() } else { self.clone() }
    }
}

/// The places 0, step, 2 · step, …
#[track_caller]
fn steps(count: usize, step: usize, device: Device) -> Tensor {
    Tensor::arange_on(count, DType::I64, device).mul_scalar(step as i64)
}

/// A fresh tensor into which the parts are copied one behind the other.
#[track_caller]
fn written(shape: &[usize], dim: usize, parts: &[&Tensor], dtype: DType) -> Tensor {
    let out = Tensor::full_on(shape, 0, dtype, parts[0].device());
    let mut start = 0;
    for part in parts {
        let size = part.shape()[dim];
        out.narrow(dim as isize, start, size).copy_(part);
        start += size;
    }
    out
}
