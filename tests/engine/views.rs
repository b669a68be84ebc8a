//! For the engine's tests: each view as a copy, element by element, from its definition.

use crate::naive::Naive;

impl Naive {
    pub fn permute(&self, order: &[usize]) -> Naive {
        let shape: Vec<usize> = order.iter().map(|&dim| self.shape[dim]).collect();
        Naive::from_fn(&shape, |index| {
            let mut own = vec![0; index.len()];
            order.iter().zip(index).for_each(|(&dim, &i)| own[dim] = i);
            self.at(&own)
        })
    }

    pub fn expand(&self, shape: &[usize]) -> Naive {
        let added = shape.len() - self.shape.len();
        Naive::from_fn(shape, |index| {
            let kept = index[added..].iter().zip(&self.shape);
            self.at(&kept.map(|(&i, &size)| if size == 1 { 0 } else { i }).collect::<Vec<_>>())
        })
    }

    /// `x[start:end:step]` as Python has it, for positions within the dimension.
    pub fn slice(&self, dim: usize, start: usize, end: usize, step: usize) -> Naive {
        let places: Vec<usize> = (start..end).step_by(step).collect();
        let mut shape = self.shape.clone();
        shape[dim] = places.len();
        Naive::from_fn(&shape, |index| {
            let mut own = index.to_vec();
            own[dim] = places[index[dim]];
            self.at(&own)
        })
    }

    pub fn flip(&self, dims: &[usize]) -> Naive {
        Naive::from_fn(&self.shape, |index| {
            let mut own = index.to_vec();
            dims.iter().for_each(|&dim| own[dim] = self.shape[dim] - 1 - index[dim]);
            self.at(&own)
        })
    }

    pub fn select(&self, dim: usize, place: usize) -> Naive {
        let mut shape = self.shape.clone();
        shape.remove(dim);
        Naive::from_fn(&shape, |index| {
            let mut own = index.to_vec();
            own.insert(dim, place);
            self.at(&own)
        })
    }

    /// Windows that begin at each multiple of `step` and fit.
    pub fn unfold(&self, dim: usize, size: usize, step: usize) -> Naive {
        let fits = |&start: &usize| start + size <= self.shape[dim];
        let starts: Vec<usize> = (0..).step_by(step).take_while(fits).collect();
        let mut shape = self.shape.clone();
        shape[dim] = starts.len();
        shape.push(size);
        Naive::from_fn(&shape, |index| {
            let (&within, outer) = index.split_last().expect("the new dimension");
            let mut own = outer.to_vec();
            own[dim] = starts[outer[dim]] + within;
            self.at(&own)
        })
    }
}
