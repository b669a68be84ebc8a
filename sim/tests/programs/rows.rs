//! `rows.cu`: kernels of a network, with the cases H05 and H07. Fast mathematics has larger errors.

use crate::harness::{Host, args, each, exact_floats, line, near, random, space};

/// The bound on relative errors of functions that fast mathematics approximates.
fn bound(host: &Host) -> f64 {
    if host.variant == "fast" { 2e-4 } else { 3e-6 }
}

/// H07: the softmax of a slice of a wider matrix.
#[test]
fn softmax() {
    let data = exact_floats(1, 7 * 80);
    let right = |i: usize| {
        let row = data[i / 70 * 80..][..70].iter().map(|x| f64::from(*x).exp());
        f64::from(data[i / 70 * 80 + i % 70]).exp() / row.sum::<f64>()
    };
    let slice = [0.0_f32, 1.0, 2.0, 100.0, 3.0, 1.0, 0.0, -100.0];
    let of_slice = [
        0.09003057317038046,
        0.24472847105479764,
        0.6652409557748218,
        0.8437947344813395,
        0.11419519938459449,
        0.04201006613406605,
    ];
    each("rows", |host| {
        let (from, to) = (host.buffer(&data), host.buffer(&[0.0_f32; 490]));
        let shape = space([2, 1, 1], [32, 4, 1]);
        host.launch("softmax", shape, args![from, to, 7, 70, 80]);
        near(&host.read(to, 490), (0..490).map(right), 1e-6, host.variant);
        let from = host.buffer(&slice);
        host.launch("softmax", shape, args![from, to, 2, 3, 4]);
        near(&host.read(to, 6), of_slice, 1e-6, host.variant);
    });
}

#[test]
fn layer_norm() {
    let (data, gain) = (exact_floats(2, 5 * 200), exact_floats(3, 200));
    let right = |i: usize| {
        let row = || data[i / 200 * 200..][..200].iter().map(|x| f64::from(*x));
        let mean = row().sum::<f64>() / 200.0;
        let variance = row().map(|x| (x - mean).powi(2)).sum::<f64>() / 200.0;
        (f64::from(data[i]) - mean) / (variance + 1e-5).sqrt() * f64::from(gain[i % 200])
    };
    each("rows", |host| {
        let (from, gain) = (host.buffer(&data), host.buffer(&gain));
        let to = host.buffer(&[0.0_f32; 1000]);
        host.launch("layer_norm", line(5, 128), args![from, gain, to, 200]);
        near(&host.read(to, 1000), (0..1000).map(right), 1e-5, host.variant);
    });
}

/// H05: grid-stride loops with fewer threads than elements.
#[test]
fn every_shape_of_launch_gives_the_same() {
    let x: Vec<f32> = (0..1000).map(|i| i as f32).collect();
    each("rows", |host| {
        for (blocks, threads) in [(1, 1), (1, 32), (2, 128), (4, 256), (100, 32)] {
            let (from, to) = (host.buffer(&x), host.buffer(&[0.0_f32; 1000]));
            let sum = host.buffer(&[0.0_f64]);
            host.launch("doubled", line(blocks, threads), args![from, to, sum, 1000]);
            assert_eq!(host.read::<f32>(to, 1000)[999], 1998.0, "{}", host.variant);
            assert_eq!(host.read::<f64>(sum, 1), [999_000.0], "{}", host.variant);
        }
    });
}

#[test]
fn activations() {
    let data = exact_floats(4, 200);
    let right = |x: &f32| {
        let x = f64::from(*x);
        [
            0.5 * x * (1.0 + libm::erf(x * std::f64::consts::FRAC_1_SQRT_2)),
            x.tanh(),
            x / (1.0 + (-x).exp()),
            (-x.abs()).exp().ln_1p() + x.max(0.0),
            (x.abs() + 0.5).powf(1.7),
            x.sin(),
            (3.0 * x).cos(),
            x.cbrt(),
        ]
    };
    each("rows", |host| {
        let (from, to) = (host.buffer(&data), host.buffer(&[0.0_f32; 1600]));
        host.launch("activations", line(2, 128), args![from, to, 200]);
        let bound = if host.variant == "fast" { 1e-3 } else { bound(host) };
        near(&host.read(to, 1600), data.iter().flat_map(right), bound, host.variant);
    });
}

#[test]
fn functions_of_doubles() {
    let data: Vec<f64> = exact_floats(5, 100).into_iter().map(f64::from).collect();
    let right =
        |x: &f64| [x.exp(), (x.abs() + 1.0).ln(), (10.0 * x).sin(), x.tanh(), 2.5_f64.powf(*x)];
    each("rows", |host| {
        let (from, to) = (host.buffer(&data), host.buffer(&[0.0_f64; 500]));
        host.launch("precise", line(1, 128), args![from, to, 100]);
        let found: Vec<f64> = host.read(to, 500);
        for (found, right) in found.iter().zip(data.iter().flat_map(right)) {
            let error = (found - right).abs() / right.abs().max(1.0);
            assert!(error <= 1e-14, "{found}, not {right}: {}", host.variant);
        }
    });
}

#[test]
fn embeddings() {
    let weight = exact_floats(6, 11 * 40);
    let index: Vec<i64> = random(7, 30).iter().map(|x| (x % 11) as i64).collect();
    let grad = exact_floats(8, 30 * 40);
    let rows: Vec<f32> =
        index.iter().flat_map(|row| &weight[*row as usize * 40..][..40]).copied().collect();
    let mut sums = vec![0.0_f32; 11 * 40];
    for (i, g) in grad.iter().enumerate() {
        sums[index[i / 40] as usize * 40 + i % 40] += g;
    }
    each("rows", |host| {
        let (weight, at) = (host.buffer(&weight), host.buffer(&index));
        let out = host.buffer(&vec![0.0_f32; 1200]);
        host.launch("embed", line(30, 32), args![weight, at, out, 40]);
        assert_eq!(host.read::<f32>(out, 1200), rows, "{}", host.variant);
        let (grad, back) = (host.buffer(&grad), host.buffer(&vec![0.0_f32; 440]));
        host.launch("embed_backward", line(30, 32), args![grad, at, back, 40]);
        assert_eq!(host.read::<f32>(back, 440), sums, "{}", host.variant);
    });
}

#[test]
fn adamw() {
    let (p, g) = (exact_floats(9, 100), exact_floats(10, 100));
    let right = |step: i32| {
        let (mut m, mut v) = (vec![0.0_f64; 100], vec![0.0_f64; 100]);
        let mut p: Vec<f64> = p.iter().copied().map(f64::from).collect();
        for step in 1..=step {
            for i in 0..100 {
                let g = f64::from(g[i]);
                m[i] = 0.9 * m[i] + 0.1 * g;
                v[i] = 0.999 * v[i] + 0.001 * g * g;
                let mean = m[i] / (1.0 - 0.9_f64.powi(step));
                let spread = v[i] / (1.0 - 0.999_f64.powi(step));
                p[i] -= 0.01 * (mean / (spread.sqrt() + 1e-8) + 0.01 * p[i]);
            }
        }
        p
    };
    each("rows", |host| {
        let (p, g) = (host.buffer(&p), host.buffer(&g));
        let (m, v) = (host.buffer(&[0.0_f32; 100]), host.buffer(&[0.0_f32; 100]));
        for step in 1..=5 {
            host.launch("adamw", line(1, 128), args![p, g, m, v, 0.01_f32, step, 100]);
        }
        near(&host.read(p, 100), right(5), 1e-4, host.variant);
    });
}
