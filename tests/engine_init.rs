//! Random tensors and initialisations: their ranges, their moments, and what they refuse.
//!
//! The bounds are PyTorch's formulas, computed here by hand.

#[path = "engine/moments.rs"]
mod moments;
#[path = "engine/refused.rs"]
mod refused;

use engine_room::nn::init;
use engine_room::rng::Generator;
use engine_room::{DType, Tensor};
use moments::{expect_normal, expect_uniform, moments};
use refused::refused;

#[test]
fn initialisations_have_pytorchs_bounds() {
    let mut rng = Generator::new(17);
    println!("seed 17");
    let x = Tensor::zeros(&[300, 200]);
    init::uniform_(&x, -2.0, 3.0, &mut rng);
    expect_uniform(&x, -2.0, 3.0);
    init::normal_(&x, 1.5, 0.02, &mut rng);
    expect_normal(&x, 1.5, 0.02);
    init::xavier_uniform_(&x, &mut rng);
    let bound = (6.0f64 / 500.0).sqrt();
    expect_uniform(&x, -bound, bound);
    init::xavier_normal_(&x, &mut rng);
    expect_normal(&x, 0.0, (2.0f64 / 500.0).sqrt());
    // PyTorch's Linear: a = sqrt(5), which makes the bound 1 / sqrt(fan_in).
    init::kaiming_uniform_(&x, 5f32.sqrt(), &mut rng);
    let bound = 1.0 / 200f64.sqrt();
    expect_uniform(&x, -bound, bound);
    init::kaiming_normal_(&x, 0.0, &mut rng);
    expect_normal(&x, 0.0, (2.0f64 / 200.0).sqrt());
}

/// A window behind (out, in) counts into both fans, as for convolutions.
#[test]
fn windows_count_into_the_fans() {
    let x = Tensor::zeros(&[40, 30, 5, 5]);
    init::xavier_uniform_(&x, &mut Generator::new(3));
    let bound = (6.0f64 / ((40.0 + 30.0) * 25.0)).sqrt();
    expect_uniform(&x, -bound, bound);
}

#[test]
fn a_truncated_normal_stays_within_its_bounds() {
    let x = Tensor::zeros(&[50_000]);
    init::trunc_normal_(&x, (0.0, 1.0), (-2.0, 2.0), &mut Generator::new(5));
    let [least, most, mean, std] = moments(&x);
    assert!((-2.0..-1.98).contains(&least) && (1.98..=2.0).contains(&most), "{least} to {most}");
    // The variance of a standard normal cut at 2: 1 - 2 * 2 * phi(2) / (2 * Phi(2) - 1).
    assert!(mean.abs() < 0.025 && (std - 0.87963).abs() < 0.02, "{mean} and {std}");
    let far = refused(|| init::trunc_normal_(&x, (0.0, 1.0), (9.0, 9.5), &mut Generator::new(0)));
    assert!(far.message.contains("3 standard deviations"), "{far}");
}

/// Parameters ask for a gradient; to initialise one is not recorded, and works through views and
/// in every floating-point type.
#[test]
fn parameters_of_any_type_can_be_initialised() {
    let x = Tensor::zeros(&[4, 6]).requires_grad_(true);
    init::uniform_(&x, 1.0, 2.0, &mut Generator::new(0));
    assert!(x.is_leaf() && x.to_vec::<f32>().iter().all(|x| (1.0..2.0).contains(x)));
    let half = Tensor::zeros(&[4, 6]).to(DType::BF16);
    init::normal_(&half.select(0, 1), 0.0, 1.0, &mut Generator::new(0));
    let values = half.to(DType::F32).to_vec::<f32>();
    assert!(values.iter().enumerate().all(|(i, x)| (*x == 0.0) != (6..12).contains(&i)));
    let flat = Tensor::zeros(&[4]);
    let no_fan = refused(|| init::xavier_normal_(&flat, &mut Generator::new(0)));
    assert!(no_fan.to_string().starts_with("xavier_normal_(f32 [4])"), "{no_fan}");
}

#[test]
fn integers_and_permutations_cover_their_range_evenly() {
    let mut rng = Generator::new(23);
    println!("seed 23");
    let x = Tensor::randint(-3, 4, &[7000], &mut rng);
    assert_eq!((x.dtype(), x.shape()), (DType::I64, &[7000][..]));
    let mut counts = [0; 7];
    x.to_vec::<i64>().iter().for_each(|&x| counts[(x + 3) as usize] += 1);
    // A count of 1,000 expected has the standard deviation 29.3.
    assert!(counts.iter().all(|&count| (824..=1176).contains(&count)), "{counts:?}");
    let none = refused(|| Tensor::randint(2, 2, &[1], &mut Generator::new(0)));
    assert!(none.message.contains("`high` is not one of them"), "{none}");
    let order = Tensor::randperm(100, &mut rng).to_vec::<i64>();
    let mut sorted = order.clone();
    sorted.sort_unstable();
    assert!(sorted.iter().copied().eq(0..100) && order != sorted);
    assert_eq!(Tensor::randperm(0, &mut rng).shape(), [0]);
}
