//! `teams.cu`.

use crate::harness::{args, each, line, random};

fn small(seed: u64, count: usize) -> Vec<i32> {
    random(seed, count).iter().map(|x| (x % 100) as i32).collect()
}

#[test]
fn tiles_of_a_cooperative_group() {
    let data = small(1, 256);
    let right: Vec<i32> = data.chunks(8).map(|tile| tile.iter().sum()).collect();
    each("teams", |host| {
        let (from, to) = (host.buffer(&data), host.buffer(&[0_i32; 32]));
        host.launch("tiles", line(2, 128), args![from, to]);
        assert_eq!(host.read::<i32>(to, 32), right, "{}", host.variant);
    });
}

#[test]
fn lanes_that_are_together() {
    let data = small(2, 128);
    let mut right: Vec<i32> = data.iter().copied().filter(|x| x % 3 == 0).collect();
    right.sort();
    each("teams", |host| {
        let (from, to) = (host.buffer(&data), host.buffer(&[0_i32; 128]));
        let count = host.buffer(&[0_i32]);
        host.launch("together", line(1, 128), args![from, to, count]);
        let kept = host.read::<i32>(count, 1)[0] as usize;
        let mut found: Vec<i32> = host.read(to, kept);
        found.sort();
        assert_eq!(found, right, "{}", host.variant);
    });
}

#[test]
fn producers_and_consumers() {
    let data = small(3, 640);
    let right: Vec<i32> = (0..640).map(|i| data[i / 64 * 64 + 63 - i % 64] * 3 + 1).collect();
    each("teams", |host| {
        let (from, to) = (host.buffer(&data), host.buffer(&[0_i32; 640]));
        host.launch("pipeline", line(1, 128), args![from, to, 10]);
        assert_eq!(host.read::<i32>(to, 640), right, "{}", host.variant);
    });
}

#[test]
fn barriers_that_vote() {
    let mut data = small(4, 96);
    data[7] = 99;
    let count = data.iter().filter(|x| **x > 50).count() as i32;
    each("teams", |host| {
        let (from, to) = (host.buffer(&data), host.buffer(&[0_i32; 96]));
        host.launch("votes", line(1, 96), args![from, to]);
        assert_eq!(host.read::<i32>(to, 96), [100 * count + 11; 96], "{}", host.variant);
    });
}

#[test]
fn barriers_of_a_warp() {
    let data = small(5, 128);
    let right: Vec<i32> = data.iter().map(|x| 2 * x).collect();
    each("teams", |host| {
        let (from, to) = (host.buffer(&data), host.buffer(&[0_i32; 128]));
        host.launch("neighbours", line(1, 128), args![from, to]);
        assert_eq!(host.read::<i32>(to, 128), right, "{}", host.variant);
    });
}

#[test]
fn halves_of_a_warp() {
    let data = small(6, 64);
    let mut right = Vec::new();
    for t in 0..64_usize {
        let (warp, lane) = (&data[t / 32 * 32..][..32], t % 32);
        let sum: i32 = warp[..16].iter().sum();
        let most = *warp[16..].iter().max().unwrap();
        let value = |lane: usize| if lane < 16 { sum } else { most };
        let up = if lane % 8 < 4 { lane } else { lane - 4 };
        let down = if lane % 16 < 13 { lane + 3 } else { lane };
        let other = value(if lane < 16 { 31 } else { 0 });
        right.extend([value(lane), other, value(up), down as i32]);
    }
    each("teams", |host| {
        let (from, to) = (host.buffer(&data), host.buffer(&[0_i32; 256]));
        host.launch("halves", line(1, 64), args![from, to]);
        assert_eq!(host.read::<i32>(to, 256), right, "{}", host.variant);
    });
}

#[test]
fn a_lock() {
    each("teams", |host| {
        let (lock, counter) = (host.buffer(&[0_i32]), host.buffer(&[0_i32]));
        host.launch("locked", line(8, 32), args![lock, counter, 25]);
        assert_eq!(host.read::<i32>(counter, 1), [200], "{}", host.variant);
    });
}

#[test]
fn warps_that_wait_for_each_other() {
    each("teams", |host| {
        let (flag, out) = (host.buffer(&[0_i32]), host.buffer(&[0_i32; 8]));
        host.launch("relay", line(1, 256), args![flag, out]);
        assert_eq!(host.read::<i32>(out, 8), [0, 1, 4, 9, 16, 25, 36, 49], "{}", host.variant);
    });
}

#[test]
fn clocks() {
    let right: Vec<i64> =
        (0..32).flat_map(|t| [1, (0..100).map(|i: i64| i ^ t).sum::<i64>()]).collect();
    each("teams", |host| {
        let out = host.buffer(&[0_i64; 64]);
        host.launch("clocks", line(1, 32), args![out]);
        assert_eq!(host.read::<i64>(out, 64), right, "{}", host.variant);
    });
}
