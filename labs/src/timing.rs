//! How long a call takes, for measured output.

use std::time::Instant;

/// The shortest time of `repeats` calls after one that is not counted, in seconds: what the machine
/// can do. Whatever else it does can only make a call longer.
pub fn shortest_seconds(repeats: usize, f: impl FnMut()) -> f64 {
    times(repeats, f).into_iter().fold(f64::INFINITY, f64::min)
}

/// The median time of `repeats` calls after one that is not counted, in seconds.
pub fn median_seconds(repeats: usize, f: impl FnMut()) -> f64 {
    let mut times = times(repeats, f);
    times.sort_by(f64::total_cmp);
    times[repeats / 2]
}

fn times(repeats: usize, mut f: impl FnMut()) -> Vec<f64> {
    f();
    let time = |_| {
        let start = Instant::now();
        f();
        start.elapsed().as_secs_f64()
    };
    (0..repeats).map(time).collect()
}
