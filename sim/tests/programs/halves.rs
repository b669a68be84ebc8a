//! `halves.cu`, against the crate `half`.

use crate::harness::{args, each, line, random};
use half::{bf16, f16};

/// Numbers of moderate size.
fn halves(seed: u64, count: usize) -> Vec<f16> {
    random(seed, count).iter().map(|x| f16::from_f64((x % 4001) as f64 / 400.0 - 5.0)).collect()
}

fn bits(data: &[f16]) -> Vec<u16> {
    data.iter().map(|x| x.to_bits()).collect()
}

#[test]
fn axpy() {
    let (a, x, y) = (f16::from_f32(1.7), halves(1, 200), halves(2, 200));
    let fused = |(x, y): (&f16, &f16)| {
        // Exact in f64: products have 22 bits, and these sums fewer than 53.
        f16::from_f64(a.to_f64() * x.to_f64() + y.to_f64()).to_bits()
    };
    let twice = |(x, y): (&f16, &f16)| (a * *x + *y).to_bits();
    let fused: Vec<u16> = x.iter().zip(&y).map(fused).collect();
    let twice: Vec<u16> = x.iter().zip(&y).map(twice).collect();
    each("halves", |host| {
        let (from, to) = (host.buffer(&bits(&x)), host.buffer(&bits(&y)));
        host.launch("axpy", line(2, 128), args![a, from, to, 200]);
        assert_eq!(host.read::<u16>(to, 200), fused, "{}", host.variant);
        let to = host.buffer(&bits(&y));
        host.launch("axpy_pairs", line(1, 128), args![a, from, to, 100]);
        assert_eq!(host.read::<u16>(to, 200), twice, "{}", host.variant);
    });
}

#[test]
fn dot() {
    let (x, y) = (halves(3, 300), halves(4, 300));
    let right: f64 = x.iter().zip(&y).map(|(x, y)| x.to_f64() * y.to_f64()).sum();
    each("halves", |host| {
        let (a, b) = (host.buffer(&bits(&x)), host.buffer(&bits(&y)));
        let out = host.buffer(&[0.0_f32]);
        host.launch("dot", line(1, 32), args![a, b, out, 300]);
        let found = f64::from(host.read::<f32>(out, 1)[0]);
        assert!((found - right).abs() < 1e-3, "{found}, not {right}: {}", host.variant);
    });
}

#[test]
fn brain_floats() {
    let x: Vec<u16> = halves(5, 100).iter().map(|x| bf16::from_f32(x.to_f32()).to_bits()).collect();
    let y: Vec<f32> = halves(6, 100).iter().map(|y| y.to_f32() * 1e3).collect();
    let product = |(x, y): (&u16, &f32)| bf16::from_f32(bf16::from_bits(*x).to_f32() * y);
    let right: Vec<u16> = x.iter().zip(&y).map(|pair| product(pair).to_bits()).collect();
    each("halves", |host| {
        let (x, y) = (host.buffer(&x), host.buffer(&y));
        let out = host.buffer(&[0_u16; 100]);
        host.launch("brain", line(1, 128), args![x, y, out, 100]);
        assert_eq!(host.read::<u16>(out, 100), right, "{}", host.variant);
    });
}

#[test]
fn comparisons() {
    let (mut x, mut y) = (halves(7, 64), halves(8, 64));
    x[0] = f16::NAN;
    y[1] = f16::NAN;
    (x[2], y[2]) = (f16::from_f32(500.0), f16::from_f32(-2.5));
    x[3] = y[3];
    let model = |(x, y): (&f16, &f16)| {
        let chosen = if x.to_f32() > 100.0 { y } else { x };
        let whole = chosen.to_f32().round_ties_even() as i32;
        i32::from(x < y) + 2 * i32::from(x == y) + 4 * i32::from(x.is_nan()) + 8 * whole
    };
    let right: Vec<i32> = x.iter().zip(&y).map(model).collect();
    let least: Vec<f32> = x.iter().zip(&y).map(|(x, y)| x.to_f32().min(y.to_f32())).collect();
    each("halves", |host| {
        let (a, b) = (host.buffer(&bits(&x)), host.buffer(&bits(&y)));
        let (low, out) = (host.buffer(&[0_u16; 64]), host.buffer(&[0_i32; 64]));
        host.launch("compare", line(1, 64), args![a, b, low, out, 64]);
        assert_eq!(host.read::<i32>(out, 64), right, "{}", host.variant);
        let low: Vec<u16> = host.read(low, 64);
        let low: Vec<f32> = low.iter().map(|bits| f16::from_bits(*bits).to_f32()).collect();
        assert_eq!(low, least, "{}", host.variant);
    });
}

#[test]
fn functions() {
    let x = halves(9, 64);
    each("halves", |host| {
        let (from, to) = (host.buffer(&bits(&x)), host.buffer(&[0_u16; 192]));
        host.launch("functions", line(1, 64), args![from, to, 64]);
        let found: Vec<u16> = host.read(to, 192);
        for (x, found) in x.iter().zip(found.chunks(3)) {
            let x = x.to_f64();
            let right = [x.exp(), x.abs().sqrt(), x / 3.0];
            for (found, right) in found.iter().zip(right) {
                let found = f16::from_bits(*found).to_f64();
                let bound = 2e-3 * right.abs() + 1e-4;
                assert!((found - right).abs() <= bound, "{x}: {found}, {}", host.variant);
            }
        }
    });
}
