//! `scans.cu`.

use crate::harness::{args, each, exact_floats, line, random};

#[test]
fn inclusive() {
    let data: Vec<i32> = random(1, 768).iter().map(|x| *x as i32 % 1000).collect();
    each("scans", |host| {
        let (from, to) = (host.buffer(&data), host.buffer(&[0_i32; 768]));
        host.launch("inclusive", line(3, 256), args![from, to]);
        let found: Vec<i32> = host.read(to, 768);
        for (found, given) in found.chunks(256).zip(data.chunks(256)) {
            let mut sum = 0;
            let right: Vec<i32> = given
                .iter()
                .map(|x| {
                    sum += x;
                    sum
                })
                .collect();
            assert_eq!(found, right, "{}", host.variant);
        }
    });
}

#[test]
fn exclusive_in_dynamic_shared_memory() {
    let data = random(2, 512);
    let mut sum = 0_u64;
    let right: Vec<u64> = data
        .iter()
        .map(|x| {
            let before = sum;
            sum = sum.wrapping_add(*x);
            before
        })
        .collect();
    each("scans", |host| {
        let buffer = host.buffer(&data);
        host.launch("exclusive", line(1, 256).shared(512 * 8), args![buffer]);
        assert_eq!(host.read::<u64>(buffer, 512), right, "{}", host.variant);
    });
}

#[test]
fn warp_scan() {
    let data: Vec<f64> = exact_floats(3, 128).into_iter().map(f64::from).collect();
    each("scans", |host| {
        let (from, to) = (host.buffer(&data), host.buffer(&[0.0_f64; 128]));
        host.launch("warp_scan", line(2, 64), args![from, to]);
        let found: Vec<f64> = host.read(to, 128);
        for (i, found) in found.iter().enumerate() {
            let right: f64 = data[i / 32 * 32..=i].iter().sum();
            assert_eq!(*found, right, "{}, {i}", host.variant);
        }
    });
}

#[test]
fn segmented() {
    let data: Vec<i32> = random(4, 128).iter().map(|x| *x as i32 % 100).collect();
    let flags: Vec<u8> = random(5, 128).iter().map(|x| u8::from(x % 7 == 0)).collect();
    let mut sum = 0;
    let right: Vec<i32> = data
        .iter()
        .zip(&flags)
        .map(|(x, flag)| {
            sum = if *flag == 1 { *x } else { sum + x };
            sum
        })
        .collect();
    each("scans", |host| {
        let (data, flags) = (host.buffer(&data), host.buffer(&flags));
        let out = host.buffer(&[0_i32; 128]);
        host.launch("segmented", line(1, 128), args![data, flags, out]);
        assert_eq!(host.read::<i32>(out, 128), right, "{}", host.variant);
    });
}

#[test]
fn compaction() {
    let data = exact_floats(6, 1000);
    let mut right: Vec<f32> = data.iter().copied().filter(|x| *x > 1.5).collect();
    right.sort_by(f32::total_cmp);
    each("scans", |host| {
        let (from, to) = (host.buffer(&data), host.buffer(&[0.0_f32; 1000]));
        let count = host.buffer(&[0_u32]);
        host.launch("compact", line(8, 128), args![from, to, count, 1000, 1.5_f32]);
        let kept = host.read::<u32>(count, 1)[0] as usize;
        let mut found: Vec<f32> = host.read(to, kept);
        found.sort_by(f32::total_cmp);
        assert_eq!(found, right, "{}", host.variant);
    });
}

#[test]
fn tree_sum() {
    let data = exact_floats(7, 3001);
    let right: f32 = data.iter().sum();
    each("scans", |host| {
        let (from, to) = (host.buffer(&data), host.buffer(&[0.0_f32; 5]));
        host.launch("tree_sum", line(5, 128), args![from, to, 3001]);
        assert_eq!(host.read::<f32>(to, 5).iter().sum::<f32>(), right, "{}", host.variant);
    });
}

#[test]
fn shuffle_sum() {
    let data: Vec<i32> = random(8, 2000).iter().map(|x| *x as i32).collect();
    let right: i64 = data.iter().copied().map(i64::from).sum();
    each("scans", |host| {
        let (from, total) = (host.buffer(&data), host.buffer(&[0_i64]));
        host.launch("shuffle_sum", line(8, 256), args![from, total, 2000]);
        assert_eq!(host.read::<i64>(total, 1), [right], "{}", host.variant);
    });
}

#[test]
fn last_block() {
    let data: Vec<i32> = random(9, 5000).iter().map(|x| *x as i32).collect();
    let right = data.iter().filter(|x| **x % 3 == 0).count() as i32;
    each("scans", |host| {
        let (from, partial) = (host.buffer(&data), host.buffer(&[0_i32; 40]));
        let total = host.buffer(&[-1_i32]);
        // Twice, since the counter of finished blocks goes back to zero by itself.
        for _ in 0..2 {
            host.launch("last_block", line(40, 128), args![from, partial, total, 5000]);
            assert_eq!(host.read::<i32>(total, 1), [right], "{}", host.variant);
        }
    });
}

#[test]
fn warp_votes() {
    let mut data: Vec<i32> = random(10, 96).iter().map(|x| *x as i32 % 90).collect();
    data[32..64].iter_mut().for_each(|x| *x = x.abs() + 5);
    let right: Vec<i32> = data
        .chunks(32)
        .flat_map(|warp| {
            let (least, greatest) = (*warp.iter().min().unwrap(), *warp.iter().max().unwrap());
            let bits = warp.iter().fold(0, |bits, x| bits | x);
            let all = warp.iter().all(|x| *x > 0).into();
            [least, greatest, bits, all, warp.iter().any(|x| *x > 90).into()]
        })
        .collect();
    each("scans", |host| {
        let (from, to) = (host.buffer(&data), host.buffer(&[0_i32; 15]));
        host.launch("warp_votes", line(1, 96), args![from, to]);
        assert_eq!(host.read::<i32>(to, 15), right, "{}", host.variant);
    });
}
