//! How a tensor prints: nested lists, long dimensions shortened, then dtype and shape.

use std::fmt::{self, Display, Formatter};

use crate::dtype::DType;
use crate::tensor::Tensor;

/// Tensors of more elements than this are shortened, as in PyTorch.
const THRESHOLD: usize = 1000;
/// Entries shown at each end of a shortened dimension.
const EDGE: usize = 3;

impl Display for Tensor {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        write_block(f, &self.detach(), self.numel() > THRESHOLD, 1)?;
        write!(f, " {}", self.brief())
    }
}

/// Writes a tensor, indented by `depth` on each new line. Only what is shown is read.
fn write_block(f: &mut Formatter, x: &Tensor, shorten: bool, depth: usize) -> fmt::Result {
    let Some((&size, inner)) = x.shape().split_first() else {
        return match x.dtype() {
            DType::F32 => write!(f, "{:.4}", x.item()),
            DType::I64 => write!(f, "{}", x.to_vec::<i64>()[0]),
        };
    };
    let separator = match inner {
        [] => ", ".to_string(),
        _ => format!(",\n{}", " ".repeat(depth)),
    };
    let hidden = if shorten && size > 2 * EDGE { EDGE..size - EDGE } else { size..size };
    f.write_str("[")?;
    for i in (0..hidden.start).chain(hidden.end..size) {
        if i > 0 {
            f.write_str(&separator)?;
        }
        if i == hidden.end {
            write!(f, "...{separator}")?;
        }
        write_block(f, &x.select(0, i as isize), shorten, depth + 1)?;
    }
    f.write_str("]")
}
