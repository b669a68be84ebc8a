//! The embedding layer.

use crate::Tensor;
use crate::autograd::no_grad;
use crate::error::misuse;
use crate::nn::{Module, Parameter, Parts};
use crate::rng::Generator;

/// A table with one row of numbers for each token: integers `(..) → (.., width)`.
pub struct Embedding {
    /// The table: `(count, width)`.
    pub weight: Parameter,
    padding_idx: Option<i64>,
}

impl Embedding {
    /// A table of `count` rows, with PyTorch's initialisation: normal with standard deviation 1.
    pub fn new(count: usize, width: usize, generator: &mut Generator) -> Embedding {
        let weight = Tensor::randn(&[count, width], generator);
        Embedding { weight: Parameter::new(weight), padding_idx: None }
    }

    /// The same with a row for what is no token: it becomes 0 and gets no gradient. It is counted
    /// from the end if negative.
    ///
    /// # Panics
    /// If there is no such row.
    #[track_caller]
    pub fn padding_idx(self, row: i64) -> Embedding {
        let table = self.weight.get().detach();
        let count = table.shape()[0] as i64;
        if !(-count..count).contains(&row) {
            let message = format!("the table has {count} rows; row {row} is none of them");
            misuse("padding_idx", &[&table.brief()], message);
        }
        no_grad(|| table.select(0, row as isize).zero_());
        Embedding { padding_idx: Some(row), ..self }
    }
}

impl Module for Embedding {
    fn parts(&self) -> Parts<'_> {
        Parts::new().parameter("weight", &self.weight)
    }

    /// x: integers `(..)` → `(.., width)`.
    fn forward(&self, x: &Tensor) -> Tensor {
        self.weight.get().embedding(x, self.padding_idx)
    }
}
