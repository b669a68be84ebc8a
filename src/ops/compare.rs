//! Comparisons: they give `bool`, and have no gradient.

use crate::Tensor;
use crate::device::Compare;
use crate::ops::binary::broadcast_pair;

impl Tensor {
    /// Where a = b, broadcast, as `bool`; false where one is NaN.
    #[track_caller]
    pub fn eq(&self, other: &Tensor) -> Tensor {
        let (a, b) = broadcast_pair("eq", self, other);
        compare(Compare::Eq, &a, &b)
    }

    /// Where a ≠ b, broadcast, as `bool`; true where one is NaN.
    #[track_caller]
    pub fn ne(&self, other: &Tensor) -> Tensor {
        let (a, b) = broadcast_pair("ne", self, other);
        compare(Compare::Ne, &a, &b)
    }

    /// Where a < b, broadcast, as `bool`; false where one is NaN.
    #[track_caller]
    pub fn lt(&self, other: &Tensor) -> Tensor {
        let (a, b) = broadcast_pair("lt", self, other);
        compare(Compare::Lt, &a, &b)
    }

    /// Where a ≤ b, broadcast, as `bool`; false where one is NaN.
    #[track_caller]
    pub fn le(&self, other: &Tensor) -> Tensor {
        let (a, b) = broadcast_pair("le", self, other);
        compare(Compare::Le, &a, &b)
    }

    /// Where a > b, broadcast, as `bool`; false where one is NaN.
    #[track_caller]
    pub fn gt(&self, other: &Tensor) -> Tensor {
        let (a, b) = broadcast_pair("gt", self, other);
        compare(Compare::Gt, &a, &b)
    }

    /// Where a ≥ b, broadcast, as `bool`; false where one is NaN.
    #[track_caller]
    pub fn ge(&self, other: &Tensor) -> Tensor {
        let (a, b) = broadcast_pair("ge", self, other);
        compare(Compare::Ge, &a, &b)
    }
}

/// f(a, b) of two tensors of one shape and type.
fn compare(f: Compare, a: &Tensor, b: &Tensor) -> Tensor {
    Tensor::packed(a.device().backend().compare(f, a.view_of(), b.view_of()), a.shape())
}
