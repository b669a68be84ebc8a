//! For the engine's tests: a tensor that knows nothing of strides. Its numbers lie in logical
//! order, in `f64`, and operations go by the index of each.

/// A shape and its elements in logical order.
#[derive(Clone, Debug)]
pub struct Naive {
    pub shape: Vec<usize>,
    pub data: Vec<f64>,
}

/// Every index of a shape, in logical order.
pub fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    shape.iter().fold(vec![vec![]], |before, &size| {
        let longer = |index: &Vec<usize>, i| index.iter().copied().chain([i]).collect();
        before.iter().flat_map(|index| (0..size).map(move |i| longer(index, i))).collect()
    })
}

impl Naive {
    pub fn from_fn(shape: &[usize], value: impl Fn(&[usize]) -> f64) -> Naive {
        let data = indices(shape).iter().map(|index| value(index)).collect();
        Naive { shape: shape.to_vec(), data }
    }

    pub fn place(&self, index: &[usize]) -> usize {
        index.iter().zip(&self.shape).fold(0, |at, (i, size)| at * size + i)
    }

    pub fn at(&self, index: &[usize]) -> f64 {
        self.data[self.place(index)]
    }
}
