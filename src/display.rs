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
        let values: Vec<String> = match self.dtype() {
            DType::F32 => self.to_vec::<f32>().iter().map(|x| format!("{x:.4}")).collect(),
            DType::I64 => self.to_vec::<i64>().iter().map(|x| x.to_string()).collect(),
        };
        write_block(f, &values, self.shape(), values.len() > THRESHOLD, 1)?;
        write!(f, " {}", self.brief())
    }
}

/// Writes the block of `values` that has the shape `shape`, indented by `depth` on each new line.
fn write_block(
    f: &mut Formatter,
    values: &[String],
    shape: &[usize],
    shorten: bool,
    depth: usize,
) -> fmt::Result {
    let Some((&size, inner)) = shape.split_first() else {
        return f.write_str(&values[0]);
    };
    let width = inner.iter().product::<usize>();
    let separator = match inner {
        [] => ", ".to_string(),
        _ => format!(",\n{}", " ".repeat(depth)),
    };
    let hidden = if shorten && size > 2 * EDGE { EDGE..size - EDGE } else { 0..0 };
    f.write_str("[")?;
    for i in (0..size).filter(|i| !hidden.contains(i) || *i == hidden.start) {
        if i > 0 {
            f.write_str(&separator)?;
        }
        if hidden.contains(&i) {
            f.write_str("...")?;
        } else {
            write_block(f, &values[i * width..(i + 1) * width], inner, shorten, depth + 1)?;
        }
    }
    f.write_str("]")
}
