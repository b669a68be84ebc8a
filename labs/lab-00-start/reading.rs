//! The Rust that is needed to read the engine and to write the exercises, in four functions.

use engine_room::{DType, Tensor};

/// Names, types, loops.
pub fn names() -> f32 {
    let width = 4; // `let` binds a name; the compiler finds the type
    let mut sum = 0.0; // only what is `mut` may change
    for i in 0..width {
        sum += i as f32 / 2.0; // numbers are converted by hand: `i` is an integer
    }
    sum // the last expression, without a semicolon, is the result
}

/// Borrows: `&` lends, and what was handed over without it is gone.
pub fn borrows() -> usize {
    let x = Tensor::arange(6);
    let y = x.reshape(&[2, 3]); // a method call lends `x` by itself
    let z = y.add(&x.reshape(&[2, 3])); // an argument is lent with `&`
    let same = x.clone(); // a second handle on the same numbers, no copy
    drop(x); // `x` is handed over: naming it below would not compile
    same.numel() + z.numel()
}

/// Vectors, slices, closures.
pub fn sizes(shape: &[usize]) -> Vec<usize> {
    let mut kept = Vec::new(); // Python's list, of one type
    for &size in shape {
        if size > 1 {
            kept.push(size);
        }
    }
    let double = |size: usize| 2 * size; // a closure: lambda size: 2 * size
    let doubled: Vec<usize> = kept.iter().map(|&size| double(size)).collect();
    [&kept[..1], &doubled[1..]].concat() // parts of a vector are slices too
}

/// `Option` and `match`: a value that may be missing, and every case of it.
pub fn describe(weight: &Tensor) -> String {
    let kind = match weight.dtype() {
        DType::F32 => "single precision".to_string(),
        DType::F16 | DType::BF16 => "half precision".to_string(),
        other => format!("{other}"), // every other case, under the name `other`
    };
    match weight.grad() {
        Some(grad) => format!("{kind}, gradient {:?}", grad.to_vec::<f32>()),
        None => format!("{kind}, no gradient"),
    }
}
