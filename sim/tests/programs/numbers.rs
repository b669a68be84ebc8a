//! `numbers.cu`, with the case H09.

use crate::harness::{args, each, line, random};

#[test]
fn arithmetic_of_64_bits() {
    let (mut a, mut b) = (random(1, 96), random(2, 96));
    a[..3].copy_from_slice(&[1 << 63, u64::MAX, 0]);
    b[..3].copy_from_slice(&[u64::MAX, 2, 1]);
    b.iter_mut().skip(3).step_by(2).for_each(|x| *x >>= 40);
    let model = |(&x, &b): (&u64, &u64)| {
        let y = b | 1;
        let (sx, sy) = (x as i64, y as i64);
        let high = (i64::from(x as i32) * i64::from(y as i32)) >> 32 << 32;
        [
            x.wrapping_add(y),
            x.wrapping_sub(y),
            x.wrapping_mul(y),
            ((u128::from(x) * u128::from(y)) >> 64) as u64,
            ((i128::from(sx) * i128::from(sy)) >> 64) as u64,
            x / y,
            x % y,
            sx.wrapping_div(sy) as u64,
            sx.wrapping_rem(sy) as u64,
            high as u64 | ((u64::from(x as u32) * u64::from(y as u32)) >> 32),
        ]
    };
    let right: Vec<u64> = a.iter().zip(&b).flat_map(model).collect();
    each("numbers", |host| {
        let (a, b) = (host.buffer(&a), host.buffer(&b));
        let out = host.buffer(&vec![0_u64; 960]);
        host.launch("wide", line(3, 32), args![a, b, out, 96]);
        assert_eq!(host.read::<u64>(out, 960), right, "{}", host.variant);
    });
}

#[test]
fn arithmetic_of_128_bits() {
    let (mut a, b) = (random(3, 128), random(4, 128));
    a[..4].copy_from_slice(&[u64::MAX, u64::MAX, 0, 0]);
    let number = |x: &[u64]| u128::from(x[1]) << 64 | u128::from(x[0]);
    let right: Vec<u64> = a
        .chunks(2)
        .zip(b.chunks(2))
        .flat_map(|(x, y)| {
            let product = u128::from(x[0]) * u128::from(y[0]);
            let sum = number(x).wrapping_add(number(y));
            let difference = number(x).wrapping_sub(number(y));
            [sum, difference, product].into_iter().flat_map(|x| [x as u64, (x >> 64) as u64])
        })
        .collect();
    each("numbers", |host| {
        let (a, b) = (host.buffer(&a), host.buffer(&b));
        let out = host.buffer(&vec![0_u64; 384]);
        host.launch("longer", line(2, 32), args![a, b, out, 64]);
        assert_eq!(host.read::<u64>(out, 384), right, "{}", host.variant);
    });
}

#[test]
fn modular_powers_and_divisors() {
    const MODULUS: u128 = 4_611_686_018_427_387_847;
    let base: Vec<u64> = random(5, 32).iter().map(|x| x >> 20).collect();
    let exponent: Vec<u64> = random(6, 32).iter().map(|x| x >> 52).collect();
    let power = |(&base, &exponent): (&u64, &u64)| -> u64 {
        (0..exponent).fold(1, |product, _| product * u128::from(base) % MODULUS) as u64
    };
    let divisor = |(&base, &exponent): (&u64, &u64)| {
        (1..=exponent.max(1)).rev().find(|d| base % d == 0 && exponent % d == 0).unwrap_or(base)
    };
    let pairs = || base.iter().zip(&exponent);
    let (powers, divisors): (Vec<u64>, Vec<u64>) =
        (pairs().map(power).collect(), pairs().map(divisor).collect());
    each("numbers", |host| {
        let (base, exponent) = (host.buffer(&base), host.buffer(&exponent));
        let (power, divisor) = (host.buffer(&[0_u64; 32]), host.buffer(&[0_u64; 32]));
        host.launch("powers", line(1, 32), args![base, exponent, power, divisor]);
        assert_eq!(host.read::<u64>(power, 32), powers, "{}", host.variant);
        assert_eq!(host.read::<u64>(divisor, 32), divisors, "{}", host.variant);
    });
}

/// H09: integer division on the device equals the host's.
#[test]
fn floor_division() {
    let a = [7, -7, 7, -7, 1, -1, 0, 6, -6];
    let b = [2, 2, -2, -2, 3, 3, 5, -3, -3];
    each("numbers", |host| {
        let (x, y) = (host.buffer(&a), host.buffer(&b));
        let (quotient, rest) = (host.buffer(&[0_i32; 9]), host.buffer(&[0_i32; 9]));
        host.launch("floor_division", line(1, 9), args![x, y, quotient, rest]);
        let (quotient, rest) = (host.read::<i32>(quotient, 9), host.read::<i32>(rest, 9));
        assert_eq!(quotient, [3, -4, -4, 3, 0, -1, 0, -2, 2], "{}", host.variant);
        assert_eq!(rest, [1, 1, -1, -1, 1, 2, 0, 0, 0], "{}", host.variant);
        assert!((0..9).all(|i| b[i] * quotient[i] + rest[i] == a[i]));
    });
}

#[test]
fn narrow_integers() {
    let a: Vec<i8> = (0..64).map(|i| (i * 37 - 100) as u8 as i8).collect();
    let b: Vec<i16> = random(7, 64).iter().map(|x| *x as i16).collect();
    let model = |(&a, &b): (&i8, &i16)| {
        [
            a.wrapping_mul(3).into(),
            i16::from((i32::from(a) - 100) as u8),
            (i32::from(b) * i32::from(a)) as i16,
            b >> 3,
            (i32::from(b) / i32::from(a | 1)) as i16,
            (b as u16 % 1000) as i16,
            b.wrapping_neg(),
        ]
    };
    let right: Vec<i16> = a.iter().zip(&b).flat_map(model).collect();
    each("numbers", |host| {
        let (a, b) = (host.buffer(&a), host.buffer(&b));
        let out = host.buffer(&vec![0_i16; 448]);
        host.launch("narrow", line(1, 64), args![a, b, out]);
        assert_eq!(host.read::<i16>(out, 448), right, "{}", host.variant);
    });
}

#[test]
fn random_numbers() {
    let model = |i: u32| {
        let mut x = 12345_u32.wrapping_add(i.wrapping_mul(2_654_435_761));
        for _ in 0..10 {
            x ^= x << 13;
            x ^= x >> 17;
            x ^= x << 5;
        }
        let y = u64::from(x).wrapping_mul(6_364_136_223_846_793_005);
        let y = y.wrapping_add(1_442_695_040_888_963_407);
        (x ^ (y >> 33) as u32, (y >> 40) as f32 / 16_777_216.0)
    };
    let (right, floats): (Vec<u32>, Vec<f32>) = (0..256).map(model).unzip();
    each("numbers", |host| {
        let (a, b) = (host.buffer(&[0_u32; 256]), host.buffer(&[0.0_f32; 256]));
        host.launch("noise", line(2, 128), args![12345_u32, a, b]);
        assert_eq!(host.read::<u32>(a, 256), right, "{}", host.variant);
        assert_eq!(host.read::<f32>(b, 256), floats, "{}", host.variant);
    });
}

#[test]
fn checksums() {
    let mut data: Vec<u8> = random(8, 32 * 64).iter().map(|x| *x as u8).collect();
    data[..9].copy_from_slice(b"123456789");
    let crc = |bytes: &[u8]| {
        !bytes.iter().fold(u32::MAX, |crc, byte| {
            (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
                crc >> 1 ^ if crc & 1 != 0 { 0xedb8_8320 } else { 0 }
            })
        })
    };
    assert_eq!(crc(b"123456789"), 0xcbf4_3926, "the check value of CRC-32");
    let right: Vec<u32> = data.chunks(64).map(crc).collect();
    each("numbers", |host| {
        let (from, to) = (host.buffer(&data), host.buffer(&[0_u32; 32]));
        host.launch("checksum", line(1, 32), args![from, to]);
        assert_eq!(host.read::<u32>(to, 32), right, "{}", host.variant);
    });
}

#[test]
fn newton_and_kahan() {
    let data: Vec<f64> = (1..=32).map(|i| f64::from(i * i) * 0.37).collect();
    each("numbers", |host| {
        let from = host.buffer(&data);
        let (roots, sums) = (host.buffer(&[9.0_f64; 32]), host.buffer(&[0.0_f32; 32]));
        host.launch("doubles", line(1, 32), args![from, roots, sums, 1000]);
        for (difference, x) in host.read::<f64>(roots, 32).iter().zip(&data) {
            assert!(difference.abs() <= 4e-16 * x.sqrt(), "{difference}, {}", host.variant);
        }
        assert_eq!(host.read::<f32>(sums, 32), [100.0; 32], "{}", host.variant);
    });
}

/// The neighbours of a result in the four modes, from the exact value's sign of the error.
#[test]
fn roundings() {
    let a = [1.0_f32, 0.1, -3.7, 1e30, 16_777_216.0, 5.5];
    let b = [3.0_f32, 0.2, 1e-9, 7.0, 1.0, -0.3];
    let c = [0.1_f64, 1e-17, -3.3, 1e200, 7.0, 1.0 / 3.0];
    each("numbers", |host| {
        let (x, y, z) = (host.buffer(&a), host.buffer(&b), host.buffer(&c));
        let (out, wide) = (host.buffer(&[0.0_f32; 72]), host.buffer(&[0.0_f64; 24]));
        host.launch("roundings", line(1, 6), args![x, y, out, z, wide]);
        let (found, wide) = (host.read::<f32>(out, 72), host.read::<f64>(wide, 24));
        for i in 0..6 {
            let (x, y, got) = (a[i], b[i], &found[12 * i..][..12]);
            let (sum, product) = (f64::from(x) + f64::from(y), f64::from(x) * f64::from(y));
            let quotient = f64::from(x) / f64::from(y);
            let toward = |found: f32, exact: f64| f64::from(found.abs()) <= exact.abs();
            let nearby = |found: f32, exact: f64| {
                (f64::from(found) - exact).abs() < exact.abs() * 2f64.powi(-23)
            };
            assert_eq!(got[0], x + y, "{}", host.variant);
            assert!(toward(got[1], sum) && f64::from(got[2]) <= sum && f64::from(got[3]) >= sum);
            assert!(toward(got[4], product) && f64::from(got[5]) >= product);
            assert_eq!(got[6], x / y, "{}", host.variant);
            assert!(f64::from(got[7]) <= quotient && nearby(got[7], quotient));
            assert_eq!(got[8], x.mul_add(y, x), "{}", host.variant);
            assert!(f64::from(got[9]) <= product + f64::from(x));
            assert_eq!(got[10], x.abs().sqrt(), "{}", host.variant);
            assert!(
                f64::from(got[11]) >= 1.0 / f64::from(y) && nearby(got[11], 1.0 / f64::from(y))
            );
            let exact = [(1, sum), (2, sum), (3, sum), (4, product), (5, product)];
            assert!(exact.iter().all(|&(k, exact)| nearby(got[k], exact)), "{}", host.variant);
            let (z, got) = (c[i], &wide[4 * i..][..4]);
            assert!(got[0] <= z + 1.0 && got[1] >= z * z && got[2].abs() <= (1.0 / z).abs());
            assert_eq!(got[3], z.mul_add(z, -1.0), "{}", host.variant);
        }
    });
}

#[test]
fn conversions() {
    let data = [0.5_f32, -1.5, 2.5, 3e9, -3e9, 1e20, f32::NAN, 123.75, -0.25, f32::INFINITY];
    each("numbers", |host| {
        let from = host.buffer(&data);
        let (a, b) = (host.buffer(&[0_i32; 40]), host.buffer(&[0_i64; 20]));
        let (c, d) = (host.buffer(&[0.0_f32; 40]), host.buffer(&[0.0_f64; 10]));
        host.launch("conversions", line(1, 10), args![from, a, b, c, d]);
        let (a, b) = (host.read::<i32>(a, 40), host.read::<i64>(b, 20));
        let (c, d) = (host.read::<f32>(c, 40), host.read::<f64>(d, 10));
        for (i, x) in data.into_iter().enumerate() {
            let even = x.round_ties_even() as i32;
            let right = [x as i32, even, x.ceil() as u32 as i32, even];
            assert_eq!(a[4 * i..][..4], right, "{x}, {}", host.variant);
            // To and from 64 bits a NaN becomes the highest bit alone.
            let scaled = (f64::from(x) * 1e10).round_ties_even() as i64;
            let [floor, scaled] =
                [x.floor() as i64, scaled].map(|r| if x.is_nan() { i64::MIN } else { r });
            assert_eq!(b[2 * i..][..2], [floor, scaled], "{x}, {}", host.variant);
            let right = [x.floor(), x.ceil(), x.trunc()];
            let same = |(a, b): (&f32, &f32)| a == b || a.is_nan() && b.is_nan();
            assert!(c[4 * i..][..3].iter().zip(&right).all(same), "{x}, {}", host.variant);
            let whole = f64::from(c[4 * i + 3]);
            assert!(whole.abs() <= (floor as f64).abs(), "{x}, {}", host.variant);
            let right = scaled as f64 + f64::from(x);
            assert!(d[i] == right || x.is_nan() && d[i].is_nan(), "{x}, {}", host.variant);
        }
    });
}
