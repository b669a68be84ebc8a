//! `counting.cu`, with the case H03.

use crate::harness::{args, each, line, random};

fn counts<T: Copy + Into<u64>>(keys: &[T], bins: usize) -> Vec<u32> {
    let mut counts = vec![0; bins];
    keys.iter().for_each(|key| counts[(*key).into() as usize] += 1);
    counts
}

#[test]
fn histogram() {
    let data: Vec<u8> = random(1, 5000).iter().map(|x| (x % 251 * (x >> 60) / 15) as u8).collect();
    each("counting", |host| {
        let (from, bins) = (host.buffer(&data), host.buffer(&[0_u32; 256]));
        host.launch("histogram", line(6, 128), args![from, bins, 5000]);
        assert_eq!(host.read::<u32>(bins, 256), counts(&data, 256), "{}", host.variant);
    });
}

#[test]
fn weighted_histogram() {
    let keys: Vec<u32> = random(2, 1000).iter().map(|x| (x % 10) as u32).collect();
    let weights: Vec<f32> = random(3, 1000).iter().map(|x| (x % 64) as f32 / 4.0).collect();
    let mut right = [0.0_f64; 10];
    keys.iter().zip(&weights).for_each(|(key, w)| right[*key as usize] += f64::from(*w));
    each("counting", |host| {
        let (keys, weights) = (host.buffer(&keys), host.buffer(&weights));
        let (sums, small) = (host.buffer(&[0.0_f64; 10]), host.buffer(&[0.0_f32; 10]));
        host.launch("weighted", line(8, 128), args![keys, weights, sums, small, 1000]);
        assert_eq!(host.read::<f64>(sums, 10), right, "{}", host.variant);
        assert_eq!(host.read::<f32>(small, 10), right.map(|x| x as f32), "{}", host.variant);
    });
}

#[test]
fn atomics() {
    let n = 1024_i64;
    let xor = |shift: u32| (0..n as u64).fold(0, |word, i| word ^ i << shift);
    each("counting", |host| {
        let a = host.buffer(&[0_i32, 0, 0, 0, -1, 0]);
        let b = host.buffer(&[u32::MAX, 0, 0, 0, 0, 0]);
        let c = host.buffer(&[0_u64, 0, u64::MAX, 0, 0]);
        let d = host.buffer(&[0_i64, i64::MIN]);
        host.launch("atomics", line(8, 128), args![a, b, c, d]);
        let mut found: Vec<i32> = host.read(a, 6);
        assert!((0..1024).contains(&found[4]), "{}", host.variant);
        found[4] = 0;
        let sum = (n * (n - 1) / 2) as i32;
        assert_eq!(found, [sum, -sum, -1023, 999, 0, 1023], "{}", host.variant);
        let right = [0xffff_0000, 0xf_ffff, xor(0) as u32, 24, 100 - 24, 4_000_001_023];
        assert_eq!(host.read::<u32>(b, 6), right, "{}", host.variant);
        let right = [1024 << 33, 1023 << 40, u64::MAX - 1023, u64::MAX, xor(32)];
        assert_eq!(host.read::<u64>(c, 5), right, "{}", host.variant);
        assert_eq!(host.read::<i64>(d, 2), [-(1023 << 35), 1018], "{}", host.variant);
    });
}

#[test]
fn compare_and_swap() {
    let data: Vec<f32> = random(4, 512).iter().map(|x| (x % 100_000) as f32 / 7.0).collect();
    let right = data.iter().copied().fold(0.0, f32::max);
    each("counting", |host| {
        let from = host.buffer(&data);
        let (greatest, product) = (host.buffer(&[0.0_f32]), host.buffer(&[3.0_f64]));
        host.launch("by_swap", line(4, 128), args![from, greatest, product]);
        assert_eq!(host.read::<f32>(greatest, 1), [right], "{}", host.variant);
        assert_eq!(host.read::<f64>(product, 1), [3.0], "{}", host.variant);
    });
}

/// H03: argmax beyond the first block, and ties, which go to the smallest index.
#[test]
fn argmax_beyond_the_first_block() {
    let with = |n: usize, base: f32, set: &[(usize, f32)]| {
        let mut x = vec![base; n];
        set.iter().for_each(|&(at, value)| x[at] = value);
        x
    };
    let cases = [
        (with(5000, 0.0, &[(4321, 1.0)]), 4321),
        (with(5000, 0.0, &[(1500, 2.0), (300, 2.0), (4999, 2.0)]), 300),
        (with(3000, 7.0, &[]), 0),
        ((0..2000).map(|i| -1.0 / (i + 1) as f32).collect(), 1999),
        (with(5000, 0.0, &[(3000, f32::NAN), (10, 9.0)]), 3000),
    ];
    each("counting", |host| {
        for (x, right) in &cases {
            let (from, best) = (host.buffer(x), host.buffer(&[0_u64]));
            host.launch("argmax", line(7, 256), args![from, x.len() as i32, best]);
            let found = u32::MAX - host.read::<u64>(best, 1)[0] as u32;
            assert_eq!(found, *right, "{}", host.variant);
        }
    });
}

#[test]
fn matches_of_a_warp() {
    let keys: Vec<u32> = random(5, 512).iter().map(|x| (x % 9) as u32).collect();
    each("counting", |host| {
        let (from, bins) = (host.buffer(&keys), host.buffer(&[0_u32; 9]));
        host.launch("matched", line(4, 128), args![from, bins]);
        assert_eq!(host.read::<u32>(bins, 9), counts(&keys, 9), "{}", host.variant);
    });
}

/// What `bits` computes for the word of one thread.
fn bits_of(x: u64, i: u32) -> [u64; 10] {
    let (low, high) = (x as u32, (x >> 32) as u32);
    let ffs = |x: u64| if x == 0 { 0 } else { x.trailing_zeros() + 1 };
    let thousands = |a: u32, b: u32| u64::from(a * 1000 + b);
    let bytes = x.to_le_bytes();
    let permuted = u32::from_le_bytes([bytes[5], bytes[7], bytes[1], bytes[3]]);
    let n = i & 63;
    [
        thousands(x.count_ones(), low.count_ones()),
        thousands(x.leading_zeros(), low.leading_zeros()),
        x.reverse_bits(),
        thousands(ffs(x), ffs(low.into())),
        low.reverse_bits().into(),
        permuted.into(),
        (x << (i & 31) >> 32) as u32 as u64,
        u64::from((x >> (i & 31)) as u32),
        u64::from(low & high | !low & i) | x >> 5 ^ x << 3,
        (x >> n).wrapping_add(((x as i64) >> n) as u64).wrapping_add(x << n),
    ]
}

#[test]
fn bits_of_words() {
    let mut data = random(6, 100);
    data[..4].copy_from_slice(&[0, 1, u64::MAX, 1 << 63]);
    let right: Vec<u64> = (0..).zip(&data).flat_map(|(i, x)| bits_of(*x, i)).collect();
    each("counting", |host| {
        let (from, to) = (host.buffer(&data), host.buffer(&vec![0_u64; 1000]));
        host.launch("bits", line(1, 128), args![from, to, 100]);
        assert_eq!(host.read::<u64>(to, 1000), right, "{}", host.variant);
    });
}

#[test]
fn counters_of_16_bits() {
    let data: Vec<u16> = random(7, 3000).iter().map(|x| (x % 3) as u16).collect();
    let right = data.windows(2).filter(|pair| pair[0] != pair[1]).count() as u16;
    each("counting", |host| {
        let (from, to) = (host.buffer(&data), host.buffer(&[0_u16; 2]));
        host.launch("changes", line(1, 64), args![from, to, 3000]);
        assert_eq!(host.read::<u16>(to, 2), [right, 0], "{}", host.variant);
    });
}
