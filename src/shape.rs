//! Shapes: lists of sizes, and the rule by which two of them broadcast.

use std::fmt;
use std::ops::{Deref, DerefMut};

use crate::error::misuse;

/// The most dimensions a tensor can have. A fixed bound keeps shapes off the heap.
pub const MAX_DIMS: usize = 8;

/// A short list of sizes or strides, one a dimension, that lives on the stack.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Dims {
    len: usize,
    values: [usize; MAX_DIMS],
}

impl Dims {
    /// A copy of `values`, or `None` if there are more than [`MAX_DIMS`].
    pub fn try_new(values: &[usize]) -> Option<Dims> {
        let mut dims = Dims { len: values.len(), values: [0; MAX_DIMS] };
        dims.values.get_mut(..values.len())?.copy_from_slice(values);
        Some(dims)
    }

    /// A copy of `values`.
    ///
    /// # Panics
    /// If there are more than [`MAX_DIMS`].
    #[track_caller]
    pub fn new(values: &[usize]) -> Dims {
        let Some(dims) = Dims::try_new(values) else {
            let shown = format!("{values:?}");
            let message =
                format!("a tensor has at most {MAX_DIMS} dimensions, not {}", values.len());
            misuse("shape", &[&shown], message)
        };
        dims
    }

    /// The list with `value` appended.
    ///
    /// # Panics
    /// If there are [`MAX_DIMS`] already.
    #[track_caller]
    pub fn with(&self, value: usize) -> Dims {
        Dims::new(&[&self[..], &[value]].concat())
    }

    /// The list without its entry number `dim`.
    pub(crate) fn without(&self, dim: usize) -> Dims {
        let mut out = *self;
        out.values.copy_within(dim + 1..self.len, dim);
        out.first(self.len - 1)
    }

    /// The first `len` entries.
    pub(crate) fn first(&self, len: usize) -> Dims {
        let mut out = Dims { len, ..*self };
        // Two lists are equal if all their values are, those behind the end too.
        out.values[len..].fill(0);
        out
    }

    /// The number of elements of a tensor of this shape; 1 for no dimensions at all.
    ///
    /// # Panics
    /// If they are more than memory could ever hold.
    #[track_caller]
    pub fn numel(&self) -> usize {
        let Some(numel) = self.checked_numel() else {
            let shown = format!("{self:?}");
            let message = "these are more elements than memory can hold; check the sizes";
            misuse("shape", &[&shown], message.to_string())
        };
        numel
    }

    /// As [`numel`](Dims::numel); `None` if their bytes could not be counted. A product that
    /// wrapped around would be a small number, and kernels would write beyond it.
    pub fn checked_numel(&self) -> Option<usize> {
        if self.contains(&0) {
            return Some(0);
        }
        let numel = self.iter().try_fold(1usize, |numel, &size| numel.checked_mul(size))?;
        (numel <= isize::MAX as usize / size_of::<i64>()).then_some(numel)
    }
}

impl Deref for Dims {
    type Target = [usize];

    fn deref(&self) -> &[usize] {
        &self.values[..self.len]
    }
}

impl DerefMut for Dims {
    fn deref_mut(&mut self) -> &mut [usize] {
        &mut self.values[..self.len]
    }
}

impl fmt::Debug for Dims {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{:?}", &**self)
    }
}

/// A size in a shape that is asked for. −1 stands for a size that follows from the tensor.
pub trait Size: Copy {
    /// The size; `None` for −1, and an error for anything below.
    fn given(self) -> Result<Option<usize>, i64>;
}

impl Size for usize {
    fn given(self) -> Result<Option<usize>, i64> {
        Ok(Some(self))
    }
}

macro_rules! signed_size {
    ($($T:ty),*) => {$(
        impl Size for $T {
            fn given(self) -> Result<Option<usize>, i64> {
                match self {
                    -1 => Ok(None),
                    size => usize::try_from(size).map(Some).map_err(|_| size as i64),
                }
            }
        }
    )*};
}
signed_size!(i32, i64, isize);

/// The sizes of a shape that is asked for, `None` where −1 stands.
///
/// # Panics
/// If there are more than [`MAX_DIMS`], or one is below −1.
#[track_caller]
pub(crate) fn given_sizes<S: Size>(op: &'static str, shape: &[S]) -> Vec<Option<usize>> {
    let mut sizes = Vec::with_capacity(shape.len());
    // A loop: the caller's line would be lost in a closure.
    for size in shape {
        match size.given() {
            Ok(size) => sizes.push(size),
            Err(size) => {
                let message = "a size is not negative, but for -1, which stands for one that \
                               follows from the others";
                misuse(op, &[&size], message.to_string())
            }
        }
    }
    sizes
}

/// The shape of an elementwise operation on `a` and `b`, or `None` if they do not broadcast.
///
/// Shapes are aligned at their last dimension. Each pair of sizes must be equal, or one of them 1,
/// and the other one is taken; so 0 against 1 is 0. A missing dimension counts as 1.
/// Source: NumPy, "General broadcasting rules".
pub fn broadcast(a: &[usize], b: &[usize]) -> Option<Dims> {
    let rank = a.len().max(b.len());
    let size = |shape: &[usize], dim: usize| {
        let missing = rank - shape.len();
        if dim < missing { 1 } else { shape[dim - missing] }
    };
    let mut out = Dims::try_new(&[0; MAX_DIMS][..rank])?;
    for dim in 0..rank {
        out[dim] = match (size(a, dim), size(b, dim)) {
            (x, y) if x == y => x,
            (1, y) => y,
            (x, 1) => x,
            _ => return None,
        };
    }
    Some(out)
}

/// Counts a dimension from the front: −1 is the last one. `None` if there is no such dimension.
pub fn normalize_dim(dim: isize, rank: usize) -> Option<usize> {
    let from_front = if dim < 0 { dim + rank as isize } else { dim };
    (0..rank as isize).contains(&from_front).then_some(from_front as usize)
}
