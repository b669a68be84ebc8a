//! Comparisons: they give `bool`, and have no gradient.
//!
//! Two types are compared in their common one. A number that does not fit into it is refused:
//! PyTorch compares a `u8` with the low 8 bits of -1 and finds it smaller than that.

use crate::Tensor;
use crate::device::Compare;
use crate::dtype::Scalar;
use crate::ops::binary::broadcast_pair;
use crate::ops::scalar::beside;
use crate::profiler;

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

    /// Where x = c, as `bool`; false where one is NaN.
    ///
    /// # Panics
    /// If c does not fit into the type in which the two are compared.
    #[track_caller]
    pub fn eq_scalar(&self, c: impl Into<Scalar>) -> Tensor {
        let (x, c) = beside("eq_scalar", self, c.into());
        x.eq(&c)
    }

    /// Where x ≠ c, as `bool`; true where one is NaN.
    ///
    /// # Panics
    /// If c does not fit into the type in which the two are compared.
    #[track_caller]
    pub fn ne_scalar(&self, c: impl Into<Scalar>) -> Tensor {
        let (x, c) = beside("ne_scalar", self, c.into());
        x.ne(&c)
    }

    /// Where x < c, as `bool`; false where one is NaN.
    ///
    /// # Panics
    /// If c does not fit into the type in which the two are compared.
    #[track_caller]
    pub fn lt_scalar(&self, c: impl Into<Scalar>) -> Tensor {
        let (x, c) = beside("lt_scalar", self, c.into());
        x.lt(&c)
    }

    /// Where x ≤ c, as `bool`; false where one is NaN.
    ///
    /// # Panics
    /// If c does not fit into the type in which the two are compared.
    #[track_caller]
    pub fn le_scalar(&self, c: impl Into<Scalar>) -> Tensor {
        let (x, c) = beside("le_scalar", self, c.into());
        x.le(&c)
    }

    /// Where x > c, as `bool`; false where one is NaN.
    ///
    /// # Panics
    /// If c does not fit into the type in which the two are compared.
    #[track_caller]
    pub fn gt_scalar(&self, c: impl Into<Scalar>) -> Tensor {
        let (x, c) = beside("gt_scalar", self, c.into());
        x.gt(&c)
    }

    /// Where x ≥ c, as `bool`; false where one is NaN.
    ///
    /// # Panics
    /// If c does not fit into the type in which the two are compared.
    #[track_caller]
    pub fn ge_scalar(&self, c: impl Into<Scalar>) -> Tensor {
        let (x, c) = beside("ge_scalar", self, c.into());
        x.ge(&c)
    }
}

/// f(a, b) of two tensors of one shape and type.
#[track_caller]
fn compare(f: Compare, a: &Tensor, b: &Tensor) -> Tensor {
    let _span = profiler::unrecorded(f.name());
    Tensor::packed(a.device().backend().compare(f, a.view_of(), b.view_of()), a.shape())
}
