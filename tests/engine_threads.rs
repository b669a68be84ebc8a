//! Threads that share a storage: each read and write succeeds or is refused with both operations
//! named, and nothing ever waits.
//!
//! Small under Miri, which looks for data races and misused memory while these run:
//! `cargo +nightly miri test -p engine-room-tests --test engine_threads`.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::channel;
use std::thread;

use engine_room::rng::Generator;
use engine_room::{Device, Misuse, Tensor, memory, no_grad};

const ROUNDS: usize = if cfg!(miri) { 30 } else { 2_000 };

/// What a call was refused with, if it was.
fn outcome(call: impl FnOnce()) -> Option<Misuse> {
    let payload = catch_unwind(AssertUnwindSafe(call)).err()?;
    Some(*payload.downcast::<Misuse>().expect("a panic of the engine is a Misuse"))
}

#[test]
fn a_writer_is_refused_while_another_thread_reads() {
    let x = Tensor::arange(12).reshape(&[3, 4]);
    let (held, hold) = channel();
    let (done, finish) = channel::<()>();
    let view = x.transpose(0, 1);
    let reader = thread::spawn(move || {
        let _reading = view.storage().read("checkpoint");
        held.send(()).expect("the test waits for it");
        finish.recv().expect("the test says when");
    });
    hold.recv().expect("the reader holds the storage");
    assert_eq!(x.sum().item(), 66.0, "readers do not exclude one another");
    let refusal = outcome(|| x.select(0, 1).fill_(5)).expect("it must be refused");
    assert_eq!(refusal.op, "fill_");
    assert!(refusal.message.contains("checkpoint"), "{refusal}");
    done.send(()).expect("the reader waits for it");
    reader.join().expect("the reader ends");
    x.select(0, 1).fill_(5);
    assert_eq!(x.sum().item(), 66.0 - 22.0 + 20.0);
}

#[test]
fn a_reader_is_refused_while_another_thread_writes() {
    let x = Tensor::zeros(&[4]);
    let (held, hold) = channel();
    let (done, finish) = channel::<()>();
    let view = x.narrow(0, 1, 2);
    let writer = thread::spawn(move || {
        let _writing = view.storage().write("update");
        held.send(()).expect("the test waits for it");
        finish.recv().expect("the test says when");
    });
    hold.recv().expect("the writer holds the storage");
    for (op, refusal) in [
        ("exp", outcome(|| drop(x.exp()))),
        ("to_vec", outcome(|| drop(x.to_vec::<f32>()))),
        ("zero_", outcome(|| x.zero_())),
    ] {
        let refusal = refusal.expect("it must be refused");
        assert_eq!(refusal.op, op);
        assert!(refusal.message.contains("update"), "{refusal}");
    }
    done.send(()).expect("the writer waits for it");
    writer.join().expect("the writer ends");
    assert_eq!(x.exp().to_vec::<f32>(), [1.0; 4]);
}

/// Four threads, each with views of its own: what goes through is whole, and what does not names
/// two operations that were really under way.
#[test]
fn random_reads_and_writes_succeed_or_name_both_operations() {
    let before = memory::memory_allocated(Device::Cpu);
    let x = Tensor::zeros(&[8, 8]);
    let work = |seed: u64, x: Tensor| {
        move || {
            let mut rng = Generator::new(seed);
            let (mut through, mut refused) = (0, Vec::new());
            for _ in 0..ROUNDS {
                let row = x.select(rng.below(2) as isize, rng.below(8) as isize);
                let kind = rng.below(5);
                let call = || match kind {
                    0 => no_grad(|| row.fill_(3)),
                    1 => no_grad(|| row.mul_(&Tensor::scalar(1.0))),
                    2 => drop(row.exp()),
                    3 => drop(row.sum()),
                    _ => drop(row.contiguous()),
                };
                match outcome(call) {
                    None => through += 1,
                    Some(refusal) => refused.push(refusal),
                }
            }
            (through, refused)
        }
    };
    let threads: Vec<_> = (0..4).map(|seed| thread::spawn(work(seed, x.clone()))).collect();
    let ops = BTreeSet::from(["fill_", "mul_", "exp", "reduce", "copy", "another operation"]);
    let mut through = 0;
    for thread in threads {
        let (whole, refused) = thread.join().expect("no thread dies");
        assert_eq!(whole + refused.len(), ROUNDS);
        through += whole;
        for refusal in refused {
            let named = |op: &&&str| refusal.message.contains(&format!("that {op} is"));
            assert!(ops.contains(refusal.op), "{refusal}");
            assert!(ops.iter().any(|op| named(&op)), "{refusal}");
        }
    }
    assert!(through > 0, "not every call can have met another one");
    assert!(x.to_vec::<f32>().iter().all(|&x| x == 0.0 || x == 3.0));
    drop(x);
    if !cfg!(miri) {
        assert!(
            memory::memory_allocated(Device::Cpu) <= before + 4096,
            "the rest is of other tests"
        );
    }
}
