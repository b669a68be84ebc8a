//! Datasets: examples that are found by their number.

use crate::Tensor;
use crate::error::misuse;

/// Examples, counted from 0. Each is a list of tensors, such as an image and its label.
pub trait Dataset {
    /// How many examples there are.
    fn len(&self) -> usize;

    /// One example.
    fn get(&self, index: usize) -> Vec<Tensor>;

    /// The examples with these numbers as one batch, by default what [`collate`] makes of them
    /// (PyTorch's `__getitems__` and `collate_fn`). Write it anew where there is a faster way.
    fn batch(&self, indices: &[usize]) -> Vec<Tensor> {
        let examples: Vec<Vec<Tensor>> = indices.iter().map(|&index| self.get(index)).collect();
        collate(&examples)
    }

    /// Whether there is no example.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Stacks examples: B images `(8, 8)` and B labels `()` become one tensor `(B, 8, 8)` and one
/// `(B)`. No examples make no tensors.
///
/// # Panics
/// If the examples do not have equally many tensors, or as [`Tensor::stack`]: their shapes and
/// types must agree.
#[track_caller]
pub fn collate(examples: &[Vec<Tensor>]) -> Vec<Tensor> {
    let Some(first) = examples.first() else { return Vec::new() };
    if let Some(other) = examples.iter().find(|example| example.len() != first.len()) {
        let (want, have) = (first.len(), other.len());
        let what = format!("{} examples", examples.len());
        let message = format!("one has {want} tensors and one has {have}; give each as many");
        misuse("collate", &[&what], message);
    }
    let mut batch = Vec::new();
    for part in 0..first.len() {
        let parts: Vec<&Tensor> = examples.iter().map(|example| &example[part]).collect();
        batch.push(Tensor::stack(&parts, 0));
    }
    batch
}

/// A dataset whose examples lie in tensors already, along their first dimension: images
/// `(N, 64)` and labels `(N)`, of which example i is row i of each.
#[derive(Debug, Clone)]
pub struct TensorDataset {
    tensors: Vec<Tensor>,
}

impl TensorDataset {
    /// The rows of these tensors, which are shared and not copied.
    ///
    /// # Panics
    /// If there is no tensor, one without dimensions, or two with different numbers of rows.
    #[track_caller]
    pub fn new(tensors: Vec<Tensor>) -> TensorDataset {
        let rows = |x: &Tensor| x.shape().first().copied();
        let count = tensors.first().and_then(rows);
        if count.is_none() || tensors.iter().any(|x| rows(x) != count) {
            let shapes: Vec<String> = tensors.iter().map(Tensor::brief).collect();
            let message = "needs tensors with equally many rows, one row an example".to_string();
            misuse("TensorDataset", &[&shapes.join(", ")], message);
        }
        TensorDataset { tensors }
    }
}

impl Dataset for TensorDataset {
    fn len(&self) -> usize {
        self.tensors[0].shape()[0]
    }

    fn get(&self, index: usize) -> Vec<Tensor> {
        self.tensors.iter().map(|x| x.select(0, index as isize)).collect()
    }

    /// One gather a tensor in place of one view an example and a stack of them.
    fn batch(&self, indices: &[usize]) -> Vec<Tensor> {
        let rows = indices.iter().map(|&index| index as i64).collect();
        let rows = Tensor::from_vec(rows, &[indices.len()]);
        self.tensors.iter().map(|x| x.index_select(0, &rows)).collect()
    }
}
