//! 4.6: the loss of a linear classifier and its gradient by their formulas, in `f64`.

/// Images and labels as plain numbers.
#[derive(Debug, Clone)]
pub struct Examples {
    /// Row by row.
    pub images: Vec<f32>,
    /// One a row.
    pub labels: Vec<i64>,
}

/// The mean loss, and its gradient with respect to weight and bias.
pub struct Sloped {
    /// Mean cross-entropy.
    pub loss: f64,
    /// Of the weight, row by row, and of the bias.
    pub gradient: [Vec<f64>; 2],
}

/// Mean cross-entropy of softmax(x · wᵀ + b), for a weight `(classes, pixels)` and a bias.
pub fn sloped(weights: &[Vec<f32>], examples: &Examples) -> Sloped {
    let (weight, bias) = (&weights[0], &weights[1]);
    let (classes, pixels) = (bias.len(), weight.len() / bias.len());
    let rows = examples.labels.len() as f64;
    let mut result = Sloped { loss: 0.0, gradient: [vec![0.0; weight.len()], vec![0.0; classes]] };
    for (image, &label) in examples.images.chunks(pixels).zip(&examples.labels) {
        let score = |class: usize| {
            let row = &weight[class * pixels..(class + 1) * pixels];
            let products = row.iter().zip(image).map(|(w, x)| f64::from(*w) * f64::from(*x));
            products.sum::<f64>() + f64::from(bias[class])
        };
        let scores: Vec<f64> = (0..classes).map(score).collect();
        let sum: f64 = scores.iter().map(|score| score.exp()).sum();
        result.loss += (sum.ln() - scores[label as usize]) / rows;
        for (class, score) in scores.iter().enumerate() {
            let target = f64::from(u8::from(class == label as usize));
            let d = (score.exp() / sum - target) / rows;
            result.gradient[1][class] += d;
            for (at, x) in image.iter().enumerate() {
                result.gradient[0][class * pixels + at] += d * f64::from(*x);
            }
        }
    }
    result
}
