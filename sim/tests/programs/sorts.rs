//! `sorts.cu`.

use crate::harness::{args, each, line, random};

#[test]
fn bitonic() {
    let keys: Vec<i32> = random(1, 1024).iter().map(|x| *x as i32 >> (x % 20)).collect();
    each("sorts", |host| {
        let buffer = host.buffer(&keys);
        host.launch("bitonic", line(4, 256), args![buffer]);
        let found: Vec<i32> = host.read(buffer, 1024);
        for (found, given) in found.chunks(256).zip(keys.chunks(256)) {
            let mut right = given.to_vec();
            right.sort();
            assert_eq!(found, right, "{}", host.variant);
        }
    });
}

#[test]
fn odd_even_transposition() {
    let keys: Vec<f32> = random(2, 101).iter().map(|x| (*x as i32) as f32).collect();
    let mut right = keys.clone();
    right.sort_by(f32::total_cmp);
    each("sorts", |host| {
        let buffer = host.buffer(&keys);
        for step in 0..101 {
            host.launch("odd_even_step", line(2, 32), args![buffer, 101, step % 2]);
        }
        assert_eq!(host.read::<f32>(buffer, 101), right, "{}", host.variant);
    });
}

#[test]
fn insertion_in_local_memory() {
    let keys: Vec<u8> = random(3, 70 * 16).iter().map(|x| *x as u8).collect();
    each("sorts", |host| {
        let buffer = host.buffer(&keys);
        host.launch("insertion", line(3, 32), args![buffer, 70]);
        let found: Vec<u8> = host.read(buffer, keys.len());
        for (found, given) in found.chunks(16).zip(keys.chunks(16)) {
            let mut right = given.to_vec();
            right.sort();
            assert_eq!(found, right, "{}", host.variant);
        }
    });
}

#[test]
fn by_rank() {
    let keys: Vec<f64> = random(4, 200).iter().map(|x| (x % 50) as f64 * 0.37 - 3.0).collect();
    let mut right = keys.clone();
    right.sort_by(f64::total_cmp);
    each("sorts", |host| {
        let (from, to) = (host.buffer(&keys), host.buffer(&[0.0_f64; 200]));
        host.launch("by_rank", line(4, 64), args![from, to, 200]);
        assert_eq!(host.read::<f64>(to, 200), right, "{}", host.variant);
    });
}

#[test]
fn radix() {
    let keys: Vec<u32> = random(5, 512).iter().map(|x| *x as u32).collect();
    let mut right = keys.clone();
    right.sort();
    each("sorts", |host| {
        let buffer = host.buffer(&keys);
        host.launch("radix", line(1, 512), args![buffer]);
        assert_eq!(host.read::<u32>(buffer, 512), right, "{}", host.variant);
    });
}

#[test]
fn quicksort_by_recursion() {
    let keys: Vec<i16> = random(6, 64 * 40).iter().map(|x| *x as i16 % 300).collect();
    each("sorts", |host| {
        let buffer = host.buffer(&keys);
        host.launch("quicksort", line(2, 32), args![buffer, 40]);
        let found: Vec<i16> = host.read(buffer, keys.len());
        for (found, given) in found.chunks(40).zip(keys.chunks(40)) {
            let mut right = given.to_vec();
            right.sort();
            assert_eq!(found, right, "{}", host.variant);
        }
    });
}

#[test]
fn merge_path() {
    let [mut a, mut b] = [7, 8].map(|seed| -> Vec<i64> {
        random(seed, 300).iter().map(|x| *x as i64 % 1000 * 0x1_0000_0000).collect()
    });
    a.sort();
    b.sort();
    let mut right = [a.clone(), b.clone()].concat();
    right.sort();
    each("sorts", |host| {
        let (a, b) = (host.buffer(&a), host.buffer(&b));
        let out = host.buffer(&[0_i64; 600]);
        host.launch("merge", line(5, 128), args![a, b, out, 300]);
        assert_eq!(host.read::<i64>(out, 600), right, "{}", host.variant);
    });
}
