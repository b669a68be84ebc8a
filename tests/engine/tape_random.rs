//! Random events: whatever a program does, the costs of its faults fit into its time.

use engine_room::Device;
use engine_room::driver::{HostMemory, Route};
use engine_room::profiler::Call;
use engine_room::rng::Generator;

use crate::tape::Tape;

const TO_DEVICE: Route = Route::ToDevice(HostMemory::Pageable);
const TO_HOST: Route = Route::ToHost(HostMemory::Pageable);

/// Whatever happens, no nanosecond is counted twice.
#[test]
fn costs_together_are_at_most_the_time() {
    for seed in 0..300 {
        let mut rng = Generator::new(seed);
        let mut tape = Tape::new();
        let devices = 1 + rng.below(2);
        let mut now = [0; 2];
        let mut free = [[0; 2]; 2];
        for _ in 0..1 + rng.below(40) {
            let thread = rng.below(2);
            let mut wait = |most: usize| rng.below(most) as u64;
            let (start, call, length) = (now[thread] + wait(10), wait(8), wait(30));
            let (device, stream) = (wait(devices) as usize, wait(2) as usize);
            let begin = free[device][stream].max(start) + wait(6);
            let (what, end) = (wait(9), begin + length);
            let calls = (start, start + call);
            now[thread] = calls.1;
            let gpu = Device::Cuda(device);
            let tape = tape.thread(thread).stream(stream);
            match what {
                0 => drop(tape.call(Call::Alloc, calls)),
                1 => drop(tape.call(Call::Synchronize, calls)),
                2 => drop(tape.call(Call::Free, calls)),
                3 => drop(tape.hidden_copy(64, calls)),
                4 => drop(tape.hidden_copy(64, calls).kernel(gpu, calls, (begin, end))),
                5 => drop(tape.copy_of(gpu, TO_DEVICE, 1 << 20, calls, (begin, end))),
                6 => drop(tape.copy_of(gpu, TO_HOST, 4, calls, (begin, end))),
                _ => drop(tape.kernel(gpu, calls, (begin, end))),
            }
            if what > 3 {
                free[device][stream] = end;
            }
        }
        let diagnosis = tape.diagnosis();
        let costs: u64 = diagnosis.findings.iter().map(|it| it.cost_ns).sum();
        assert!(costs <= diagnosis.profiled_ns, "seed {seed}: {costs} ns\n{diagnosis}");
    }
}
