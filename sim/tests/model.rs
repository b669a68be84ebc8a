//! The L2 cache and the modelled time, against what is counted and reckoned by hand.

#[path = "model/rig.rs"]
mod rig;

use engine_room_sim::gpu::Gpu;
use rig::Rig;

#[test]
fn show() {
    for gpu in Gpu::ALL {
        for n in [512u32] {
            let rig = Rig::new(gpu, &[u64::from(4 * n * n); 3]);
            for (k, t) in [("matmul_naive", 16), ("matmul_tiled", 16), ("matmul_registers", 64)] {
                let start = std::time::Instant::now();
                let r = rig.run(k, [n / t; 2], [16; 2], &[n as i32]);
                println!(
                    "{gpu} {k} {n} {} ns dram {} {:?} {:?} host {:?}",
                    r.modelled_ns,
                    r.counters.dram_bytes,
                    r.model.occupancy,
                    r.model.parts,
                    start.elapsed()
                );
            }
            let rig = Rig::new(gpu, &[u64::from(4 * n * n); 2]);
            for k in ["turn_conflicts", "turn_padded"] {
                let r = rig.run(k, [n / 32; 2], [32, 8], &[n as i32]);
                println!(
                    "{gpu} {k} {n} {} ns dram {} {:?}",
                    r.modelled_ns, r.counters.dram_bytes, r.model.parts
                );
            }
        }
    }
    let rig = Rig::new(Gpu::T4, &[32 << 20, 32 << 20]);
    for s in [1, 2, 4, 8, 32] {
        let r = rig.line("stride", 1024, &[s]);
        println!("stride {s}: {} {} {:?}", r.counters.dram_bytes, r.modelled_ns, r.model.parts);
    }
    let r = rig.line("copy", 32768, &[]);
    println!(
        "copy: {} {} {:?} {}",
        r.counters.dram_bytes,
        r.modelled_ns,
        r.model.parts,
        (64u64 << 20) as f64 / 320.0
    );
}
