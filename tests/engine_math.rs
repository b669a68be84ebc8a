//! The functions in `f32` against `f64`, over a dense sample of all bit patterns; and the same bits
//! whatever the layout, the size and the number of threads.

use std::env;
use std::process::Command;

use engine_room::rng::Generator;
use engine_room::{DType, Tensor};

/// Every 4,099th bit pattern (a prime, so that all exponents and all low bits come up), and those
/// around which functions go over into infinity, into 0 or out of the subnormal numbers.
fn sample() -> Vec<f32> {
    let dense = (0..=u32::MAX).step_by(4099).map(f32::from_bits);
    let edges = [0.0, 1.0, 88.7, 88.8, 103.9, 104.0, 127.9, 128.0, 149.0, 150.0, 1e-38, 1e-45, 9.0];
    let around = edges.into_iter().flat_map(|x: f32| {
        (0..40).flat_map(move |i| {
            let bits = x.to_bits().saturating_add(i).saturating_sub(20);
            [f32::from_bits(bits), -f32::from_bits(bits)]
        })
    });
    dense.chain(around).chain([f32::INFINITY, f32::NEG_INFINITY, f32::NAN]).collect()
}

/// The distance of two numbers in units in the last place of the right one.
fn units(got: f32, want: f64) -> f64 {
    let rounded = want as f32;
    if got.is_nan() || rounded.is_nan() {
        return if got.is_nan() && rounded.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if got == rounded {
        return 0.0;
    }
    let size = rounded.abs().min(f32::MAX);
    let unit = f64::from(f32::from_bits(size.to_bits() + 1).min(f32::MAX)) - f64::from(size);
    (f64::from(got) - want).abs() / unit.max(f64::from(f32::from_bits(1)))
}

#[test]
fn functions_are_within_two_units() {
    type Pair = (&'static str, fn(&Tensor) -> Tensor, fn(f64) -> f64);
    let functions: [Pair; 13] =
        [
            ("exp", Tensor::exp, f64::exp),
            ("exp2", Tensor::exp2, f64::exp2),
            ("expm1", Tensor::expm1, f64::exp_m1),
            ("log", Tensor::log, f64::ln),
            ("log2", Tensor::log2, f64::log2),
            ("log1p", Tensor::log1p, f64::ln_1p),
            ("sin", Tensor::sin, f64::sin),
            ("cos", Tensor::cos, f64::cos),
            ("tanh", Tensor::tanh, f64::tanh),
            ("sqrt", Tensor::sqrt, f64::sqrt),
            ("rsqrt", Tensor::rsqrt, |x| 1.0 / x.sqrt()),
            ("reciprocal", Tensor::reciprocal, |x| 1.0 / x),
            // Below -88.7 it is 0, as its documentation says.
            ("sigmoid", Tensor::sigmoid, |x| {
                if x < -88.7 { f64::NAN } else { 1.0 / (1.0 + (-x).exp()) }
            }),
        ];
    let values = sample();
    let x = Tensor::from_vec(values.clone(), &[values.len()]);
    for (name, function, reference) in functions {
        let got = function(&x).to_vec::<f32>();
        let checked = values.iter().zip(got).filter(|(x, _)| name != "sigmoid" || **x >= -88.7);
        let errors = checked.map(|(&x, got)| (units(got, reference(f64::from(x))), x));
        let worst =
            errors.fold((0.0, 0.0), |worst, this| if this.0 > worst.0 { this } else { worst });
        println!("{name}: {:.3} units at {:e}", worst.0, worst.1);
        assert!(worst.0 <= 2.0, "{name}: {:.3} units at {:e}", worst.0, worst.1);
    }
}

/// erf against its power series, which converges fast up to 3, where it is 0.99998.
#[test]
fn erf_is_within_two_units() {
    let series = |x: f64| {
        let (mut term, mut sum) = (x, x);
        for n in 1..80 {
            term *= -x * x / f64::from(n);
            sum += term / f64::from(2 * n + 1);
        }
        sum * std::f64::consts::FRAC_2_SQRT_PI
    };
    let values: Vec<f32> = (-3000..=3000).map(|i| i as f32 * 0.001).collect();
    let got = Tensor::from_vec(values.clone(), &[values.len()]).erf().to_vec::<f32>();
    for (&x, got) in values.iter().zip(got) {
        assert!(units(got, series(f64::from(x))) <= 2.0, "erf({x}) is {got}");
    }
}

/// What PyTorch 2.9.1 gives for -0 and 0, on its CPU: `torch.tanh(torch.tensor([-0.0, 0.0]))`.
#[test]
fn the_sign_of_zero_is_kept() {
    type Named = (&'static str, fn(&Tensor) -> Tensor);
    let zeros = Tensor::from_vec(vec![-0.0_f32, 0.0], &[2]);
    let odd: [Named; 13] = [
        ("floor", Tensor::floor),
        ("ceil", Tensor::ceil),
        ("round", Tensor::round),
        ("trunc", Tensor::trunc),
        ("sqrt", Tensor::sqrt),
        ("sin", Tensor::sin),
        ("tanh", Tensor::tanh),
        ("expm1", Tensor::expm1),
        ("log1p", Tensor::log1p),
        ("silu", Tensor::silu),
        ("erf", Tensor::erf),
        ("gelu", Tensor::gelu),
        ("reciprocal", |x| x.reciprocal().reciprocal()),
    ];
    for (name, function) in odd {
        let bits: Vec<u32> = function(&zeros).to_vec::<f32>().iter().map(|y| y.to_bits()).collect();
        assert_eq!(bits, [0x8000_0000, 0], "{name}(-0) and {name}(0)");
    }
    let even: [Named; 3] =
        [("abs", Tensor::abs), ("sign", Tensor::sign), ("square", Tensor::square)];
    for (name, function) in even {
        let bits: Vec<u32> = function(&zeros).to_vec::<f32>().iter().map(|y| y.to_bits()).collect();
        assert_eq!(bits, [0, 0], "{name}(-0) and {name}(0)");
    }
}

#[test]
fn layouts_and_sizes_change_no_bit() {
    let x = Tensor::randn(&[300, 700], &mut Generator::new(3));
    let functions: [fn(&Tensor) -> Tensor; 5] =
        [Tensor::exp, Tensor::tanh, Tensor::gelu, Tensor::sin, |x| x.mul(x).add(x)];
    for function in functions {
        let whole = function(&x).to_vec::<f32>();
        let turned = function(&x.transpose(0, 1)).transpose(0, 1).to_vec::<f32>();
        let row = function(&x.select(0, 17)).to_vec::<f32>();
        let spaced = function(&x.slice(1, 0, 700, 3)).to_vec::<f32>();
        assert!(whole == turned && whole[17 * 700..18 * 700] == row);
        let every_third: Vec<f32> =
            whole.chunks(700).flat_map(|row| row.iter().step_by(3).copied()).collect();
        assert_eq!(spaced, every_third);
    }
}

/// Bits of what depends on how work is split, if anything does.
fn digest() -> String {
    let mut rng = Generator::new(9);
    let (a, b) = (Tensor::randn(&[600, 700], &mut rng), Tensor::randn(&[700, 500], &mut rng));
    let w = Tensor::randn(&[700], &mut rng);
    let results = [
        a.matmul(&b),
        a.sum(),
        a.sum_dims(&[0], false),
        a.sum_dims(&[1], false),
        a.softmax(-1),
        a.layer_norm(&[700], Some(&w), Some(&w), 1e-5),
        a.exp().add(&w),
        a.transpose(0, 1).contiguous(),
        a.to(DType::BF16).mul(&a.to(DType::BF16)).to(DType::F32),
    ];
    let bits = results.iter().flat_map(|x| x.to_vec::<f32>()).map(f32::to_bits);
    // FNV-1a.
    let hash = bits.fold(0xcbf2_9ce4_8422_2325u64, |hash, bits| {
        (hash ^ u64::from(bits)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("digest {hash:016x}")
}

const CHILD: &str = "ENGINE_MATH_CHILD";

#[test]
fn the_number_of_threads_changes_no_bit() {
    if env::var_os(CHILD).is_some() {
        println!("{}", digest());
        return;
    }
    let with = |threads: &str| {
        let this = env::current_exe().expect("the test knows its file");
        let mut child = Command::new(this);
        child.args(["the_number_of_threads_changes_no_bit", "--exact", "--nocapture"]);
        let output = child.env(CHILD, "1").env("RAYON_NUM_THREADS", threads).output();
        let output = String::from_utf8_lossy(&output.expect("it starts").stdout).into_owned();
        let start = output.find("digest ").expect("the child prints its digest");
        output[start..start + 23].to_string()
    };
    let alone = with("1");
    assert_eq!([with("2"), with("4")], [alone.clone(), alone]);
}
