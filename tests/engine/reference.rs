//! For the engine's tests: operations in `f64`, element by element, by their definitions.

use crate::naive::{Naive, indices};

impl Naive {
    /// The element at an index of a larger shape that this one is broadcast to.
    fn broadcast_at(&self, index: &[usize]) -> f64 {
        let own = &index[index.len() - self.shape.len()..];
        let own = own.iter().zip(&self.shape).map(|(&i, &size)| if size == 1 { 0 } else { i });
        self.at(&own.collect::<Vec<_>>())
    }

    pub fn map(&self, f: impl Fn(f64) -> f64) -> Naive {
        Naive::from_fn(&self.shape, |index| f(self.at(index)))
    }

    /// f(a, b), broadcast; `None` if the shapes do not fit.
    pub fn zip(&self, other: &Naive, f: impl Fn(f64, f64) -> f64) -> Option<Naive> {
        let rank = self.shape.len().max(other.shape.len());
        let size = |x: &Naive, dim: usize| {
            (dim + x.shape.len()).checked_sub(rank).map_or(1, |own| x.shape[own])
        };
        let shape: Option<Vec<usize>> = (0..rank)
            .map(|dim| match (size(self, dim), size(other, dim)) {
                (a, 1) => Some(a),
                (a, b) => (a == b || a == 1).then_some(b),
            })
            .collect();
        let at = |index: &[usize]| f(self.broadcast_at(index), other.broadcast_at(index));
        Some(Naive::from_fn(&shape?, at))
    }

    /// `fold` of all elements that differ in `dims` only; these stay with size 1 if `keepdim`.
    pub fn reduce(&self, dims: &[usize], keepdim: bool, fold: impl Fn(&[f64]) -> f64) -> Naive {
        let mut out = Naive { shape: self.shape.clone(), data: Vec::new() };
        dims.iter().for_each(|&dim| out.shape[dim] = 1);
        let mut groups = vec![Vec::new(); out.shape.iter().product()];
        for (mut index, &x) in indices(&self.shape).into_iter().zip(&self.data) {
            dims.iter().for_each(|&dim| index[dim] = 0);
            groups[out.place(&index)].push(x);
        }
        out.data = groups.iter().map(|group| fold(group)).collect();
        if !keepdim {
            let mut dim = 0..out.shape.len();
            out.shape.retain(|_| !dims.contains(&dim.next().expect("as many")));
        }
        out
    }

    pub fn matmul(&self, other: &Naive) -> Naive {
        Naive::from_fn(&[self.shape[0], other.shape[1]], |at| {
            (0..self.shape[1]).map(|k| self.at(&[at[0], k]) * other.at(&[k, at[1]])).sum()
        })
    }

    pub fn gather(&self, dim: usize, index: &Naive) -> Naive {
        Naive::from_fn(&index.shape, |at| self.at(&with(at, dim, index.at(at))))
    }

    pub fn scatter_add(&self, dim: usize, index: &Naive, src: &Naive) -> Naive {
        let mut out = self.clone();
        for at in indices(&index.shape) {
            let to = out.place(&with(&at, dim, index.at(&at)));
            out.data[to] += src.at(&at);
        }
        out
    }
}

/// `at` with `place` in `dim`.
fn with(at: &[usize], dim: usize, place: f64) -> Vec<usize> {
    let mut at = at.to_vec();
    at[dim] = place as usize;
    at
}
