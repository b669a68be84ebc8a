//! Random inputs of the checks, and right answers that are computed without the engine.

use engine_room::Tensor;
use engine_room::rng::Generator;

/// How an input lies in memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Lie {
    /// In logical order.
    Packed,
    /// As a view whose first and last dimensions were exchanged.
    Transposed,
}

/// Normal random numbers with one decimal, none of them 0, so that a result can be checked by hand;
/// one of them twice as large as it came, so that no sum is symmetric.
pub fn random(rng: &mut Generator, shape: &[usize], lie: Lie) -> Tensor {
    let numel = shape.iter().product();
    let one_decimal = |x: f32| if x.abs() < 0.1 { 0.1 } else { (x * 10.0).round() / 10.0 };
    let mut values: Vec<f32> = (0..numel).map(|_| one_decimal(rng.normal())).collect();
    if let Some(last) = values.last_mut() {
        *last *= 2.0;
    }
    laid(values, shape, lie)
}

/// A tensor with these values in logical order that lies in memory as asked for.
pub fn laid(values: Vec<f32>, shape: &[usize], lie: Lie) -> Tensor {
    let tensor = Tensor::from_vec(values, shape);
    match lie {
        Lie::Transposed if shape.len() > 1 => tensor.transpose(0, -1).copy().transpose(0, -1),
        _ => tensor,
    }
}

/// A row-major matrix in `f64`: the checks' own arithmetic.
pub struct Matrix {
    /// Rows and columns.
    pub size: [usize; 2],
    /// Row by row.
    pub values: Vec<f64>,
}

impl Matrix {
    /// The elements of a tensor with two dimensions.
    pub fn of(tensor: &Tensor) -> Matrix {
        let values = tensor.to_vec::<f32>().into_iter().map(f64::from).collect();
        Matrix { size: [tensor.shape()[0], tensor.shape()[1]], values }
    }

    /// The product, by its definition.
    pub fn times(&self, other: &Matrix) -> Matrix {
        let ([m, k], n) = (self.size, other.size[1]);
        let mut values = vec![0.0; m * n];
        for i in 0..m {
            for j in 0..n {
                for l in 0..k {
                    values[i * n + j] += self.values[i * k + l] * other.values[l * n + j];
                }
            }
        }
        Matrix { size: [m, n], values }
    }

    /// Rows as columns.
    pub fn transposed(&self) -> Matrix {
        let [m, n] = self.size;
        let mut values = vec![0.0; m * n];
        for i in 0..m {
            for j in 0..n {
                values[j * m + i] = self.values[i * n + j];
            }
        }
        Matrix { size: [n, m], values }
    }

    /// The same numbers, row by row, with other rows.
    pub fn reshaped(&self) -> Matrix {
        let [m, n] = self.size;
        Matrix { size: [n, m], values: self.values.clone() }
    }

    /// As a tensor.
    pub fn tensor(&self) -> Tensor {
        Tensor::from_vec(self.values.iter().map(|&x| x as f32).collect(), &self.size)
    }
}
