//! For the tests of the table of operations: operands of each type, lying in each way.

use engine_room::{DType, Tensor};

/// How an operand lies in its storage. The numbers are the same in each.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Lying {
    Packed,
    /// The last dimension lies first.
    Transposed,
    /// Every second element, from the third on, of a larger storage.
    Sliced,
    /// With a dimension in front that is repeated and then taken away.
    Expanded,
}

pub const LAYOUTS: [Lying; 4] = [Lying::Packed, Lying::Transposed, Lying::Sliced, Lying::Expanded];

/// A tensor with these numbers that lies so; on the same device, and in the graph.
pub fn laid(x: &Tensor, lying: Lying) -> Tensor {
    let shape = x.shape().to_vec();
    match lying {
        Lying::Packed => x.copy(),
        Lying::Transposed if shape.len() < 2 => x.copy(),
        Lying::Transposed => x.transpose(0, -1).copy().transpose(0, -1),
        Lying::Sliced => {
            let mut wide = vec![2 * x.numel() + 2];
            let flat = Tensor::full_on(&wide, 0, x.dtype(), x.device());
            let part = flat.slice(0, 2, wide.remove(0) as isize, 2);
            part.copy_(&x.reshape(&[-1]));
            part.view(&shape)
        }
        Lying::Expanded => x.copy().unsqueeze(0).expand(&[&[3], &shape[..]].concat()).select(0, 1),
    }
}

/// Those of the operands that are floating-point as `dtype`.
pub fn typed(inputs: &[Tensor], dtype: DType) -> Vec<Tensor> {
    let typed = |x: &Tensor| if x.dtype().is_floating_point() { x.to(dtype) } else { x.clone() };
    inputs.iter().map(typed).collect()
}
