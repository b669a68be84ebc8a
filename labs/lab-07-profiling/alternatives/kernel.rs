//! Other right ways to say what bounds a kernel: 7.5.

use super::super::kernel::{Bound, Counts, Numbers, Roofs, Verdict};
use super::{Other, other};

pub fn alternatives() -> Vec<Other> {
    vec![
        other("7.5", "by intensity and ridge", |table| table.bound = by_intensity),
        other("7.5", "the larger share", |table| table.bound = larger_share),
        other("7.5", "whole numbers", |table| table.bound = whole_numbers),
    ]
}

fn peak(counts: &Counts, roofs: &Roofs) -> u64 {
    if counts.numbers == Numbers::F16 { roofs.f16_flops_per_s } else { roofs.f32_flops_per_s }
}

/// Operations a byte against the ridge, and what was attained of that roof.
fn by_intensity(counts: &Counts, roofs: &Roofs) -> Verdict {
    if counts.device_ns < counts.calls * roofs.launch_ns {
        let share = counts.device_ns as f64 / (counts.calls * roofs.launch_ns) as f64;
        return Verdict { bound: Bound::Launches, share };
    }
    let (peak, bandwidth) = (peak(counts, roofs) as f64, roofs.bytes_per_s as f64);
    let seconds = counts.device_ns as f64 / 1e9;
    let is_memory =
        counts.bytes > 0 && counts.flops as f64 / (counts.bytes as f64) < peak / bandwidth;
    let (bound, share) = match is_memory {
        true => (Bound::Memory, counts.bytes as f64 / seconds / bandwidth),
        false => (Bound::Arithmetic, counts.flops as f64 / seconds / peak),
    };
    Verdict { bound: if share < 0.5 { Bound::Neither } else { bound }, share }
}

/// Call by call, without an early return.
fn larger_share(counts: &Counts, roofs: &Roofs) -> Verdict {
    let of_call = |n: u64| n as f64 / counts.calls as f64;
    let call = of_call(counts.device_ns);
    let arithmetic = of_call(counts.flops) / call * 1e9 / peak(counts, roofs) as f64;
    let memory = of_call(counts.bytes) / call * 1e9 / roofs.bytes_per_s as f64;
    let launches = call / roofs.launch_ns as f64;
    match () {
        _ if launches < 1.0 => Verdict { bound: Bound::Launches, share: launches },
        _ if arithmetic < 0.5 && memory < 0.5 => {
            Verdict { bound: Bound::Neither, share: arithmetic.max(memory) }
        }
        _ if memory > arithmetic => Verdict { bound: Bound::Memory, share: memory },
        _ => Verdict { bound: Bound::Arithmetic, share: arithmetic },
    }
}

/// Compared in `u128`, and divided once.
fn whole_numbers(counts: &Counts, roofs: &Roofs) -> Verdict {
    let wide = u128::from;
    let verdict = |bound, part: u128, of: u128| Verdict { bound, share: part as f64 / of as f64 };
    let (taken, asked) = (wide(counts.device_ns), wide(counts.calls) * wide(roofs.launch_ns));
    if taken < asked {
        return verdict(Bound::Launches, taken, asked);
    }
    let peak = wide(peak(counts, roofs));
    let (flops, bytes) = (wide(counts.flops) * 1_000_000_000, wide(counts.bytes) * 1_000_000_000);
    let bandwidth = wide(roofs.bytes_per_s);
    if bytes * peak > flops * bandwidth {
        let near = 2 * bytes >= taken * bandwidth;
        return verdict(
            if near { Bound::Memory } else { Bound::Neither },
            bytes,
            taken * bandwidth,
        );
    }
    let near = 2 * flops >= taken * peak;
    verdict(if near { Bound::Arithmetic } else { Bound::Neither }, flops, taken * peak)
}
