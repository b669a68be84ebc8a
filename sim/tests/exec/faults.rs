//! One faulty kernel for each kind of finding about global memory: which line, block and thread,
//! which address, what is near it; and what becomes of everything else.

use engine_room_sim::exec::{Finding, Kind};

use crate::rig::{Arg, Rig, by_hand, int, ints, only, words, zeros};

/// The faulty kernels, optimised.
pub const WRONG: &str = include_str!("wrong_o3.ptx");

/// The line of `wrong.cu` that has a text.
#[track_caller]
pub fn line(text: &str) -> u32 {
    let source = include_str!("wrong.cu");
    let mut found = (1..).zip(source.lines()).filter(|(_, line)| line.contains(text));
    let (line, _) = found.next().expect("the line is there");
    assert_eq!(found.next(), None, "two lines have `{text}`");
    line
}

/// Whether a finding is of a kind, at the line of `wrong.cu` that has a text, first in a thread of
/// the only block, and in so many.
#[track_caller]
pub fn is(finding: &Finding, kind: Kind, text: &str, thread: u32, threads: u64) {
    let place = (finding.places[0].file.as_str(), finding.places[0].line);
    assert_eq!((finding.kind, place), (kind, ("wrong.cu", line(text))), "{finding}");
    let (block, thread) = ([0; 3], [thread, 0, 0]);
    assert_eq!((finding.block, finding.thread, finding.threads), (block, thread, threads));
}

/// A store of `x[first + i * by]` by 32 threads, `x` having `size` bytes between two buffers that
/// must stay as they are; what `x` then holds, how far from it the address was, and the finding.
#[track_caller]
fn store(size: usize, first: i32, by: i32) -> (Vec<i32>, i64, Finding) {
    let mut rig = Rig::new("wrong.ptx", WRONG);
    let guard = [0x5a; 4096];
    let before = rig.buffer(&guard);
    let x = rig.buffer(&vec![0; size]);
    let after = rig.buffer(&guard);
    let (_, report) = rig.run("store", (1, 32), &[Arg::At(x), int(first), int(by)]);
    assert_eq!((rig.bytes(before, 4096), rig.bytes(after, 4096)), (guard.into(), guard.into()));
    let finding = only(report);
    let offset = finding.address.expect("it has an address").wrapping_sub(x) as i64;
    let near = format!("the nearest allocation has {size} bytes at {x:#x}");
    assert!(finding.message.contains(&near), "{finding}");
    let say = format!("a write of 4 bytes of global memory at {:#x}: ", finding.address.unwrap());
    assert!(finding.message.starts_with(&say), "{finding}");
    (words(&rig.bytes(x, size)), offset, finding)
}

const STORE: &str = "x[first + (int)(blockIdx.x";

#[test]
fn beyond_the_end() {
    let (x, offset, finding) = store(120, 0, 1);
    is(&finding, Kind::OutOfBounds, STORE, 30, 2);
    assert_eq!(offset, 120);
    assert!(finding.message.ends_with(", which ends 0 bytes before"), "{finding}");
    assert_eq!(x, [7; 30], "the other lanes write");
    assert_eq!(finding.places.len(), 1);
}

#[test]
fn before_the_start() {
    let (x, offset, finding) = store(128, -3, 1);
    is(&finding, Kind::OutOfBounds, STORE, 0, 3);
    assert_eq!(offset, -12);
    assert!(finding.message.ends_with(", which begins 12 bytes later"), "{finding}");
    let mut want = [7; 32];
    want[29..].fill(0);
    assert_eq!(x, want);
}

/// A gap lies between allocations, so what is a little too far is in none.
#[test]
fn in_the_gap_to_the_next_buffer() {
    let (_, offset, finding) = store(128, 0, 5);
    // Threads 0 to 6 write words 0 to 30.
    is(&finding, Kind::OutOfBounds, STORE, 7, 25);
    assert_eq!(offset, 140);
    assert!(finding.message.ends_with(", which ends 12 bytes before"), "{finding}");
}

#[test]
fn far_away() {
    let mut rig = Rig::new("wrong.ptx", WRONG);
    let x = rig.buffer(&[0; 128]);
    for (by, distance) in [(1 << 24, 1u64 << 26), (i32::MAX / 31, 4 * (i32::MAX / 31) as u64)] {
        let (_, report) = rig.run("store", (1, 32), &[Arg::At(x), int(0), int(by)]);
        let finding = only(report);
        is(&finding, Kind::OutOfBounds, STORE, 1, 31);
        assert_eq!(finding.address, Some(x + distance));
        let ends = format!("which ends {} bytes before", distance - 128);
        assert!(finding.message.ends_with(&ends), "{finding}");
    }
}

/// The first thread of the first block is told, whichever block comes first on the host.
#[test]
fn in_several_blocks() {
    for threads in [1, 2, 4] {
        let mut rig = Rig::new("wrong.ptx", WRONG);
        rig.options.threads = threads;
        // 10 blocks of 64 threads; 300 numbers: block 4 has 44 of 64 threads inside.
        let (buffers, report) = rig.run("store", (10, 64), &[zeros(1200), int(0), int(1)]);
        assert_eq!(words(&buffers[0]), [7; 300]);
        let finding = only(report);
        assert_eq!((finding.block, finding.thread), ([4, 0, 0], [44, 0, 0]));
        assert_eq!(finding.threads, 20 + 5 * 64);
        assert_eq!(finding.kind, Kind::OutOfBounds);
    }
}

#[test]
fn a_read() {
    let mut rig = Rig::new("wrong.ptx", WRONG);
    let (buffers, report) = rig.run("load", (1, 32), &[ints(0..32), ints([-1; 32]), int(10)]);
    let finding = only(report);
    is(&finding, Kind::OutOfBounds, "y[i] = x[first + i]", 22, 10);
    assert!(finding.message.starts_with("a read of 4 bytes of global memory"), "{finding}");
    // The threads that read too far have ended and write nothing.
    let want: Vec<i32> = (10..32).chain([-1; 10]).collect();
    assert_eq!(words(&buffers[1]), want);
}

#[test]
fn a_vector_half_of_which_is_beyond_the_end() {
    let mut rig = Rig::new("wrong.ptx", WRONG);
    let (_, report) = rig.run("quads", (1, 3), &[zeros(40), zeros(48)]);
    let finding = only(report);
    is(&finding, Kind::OutOfBounds, "    y[i] = x[i];", 2, 1);
    assert!(finding.message.starts_with("a read of 16 bytes"), "{finding}");
    assert!(finding.message.ends_with(", which ends after the first 8 of them"), "{finding}");
}

#[test]
fn two_lanes_at_addresses_that_are_not_aligned() {
    for (shift, beyond) in [(2, 2), (1, 1), (7, 3)] {
        let mut rig = Rig::new("wrong.ptx", WRONG);
        let x = rig.buffer(&[1; 128]);
        let (buffers, report) = rig.run("bytes", (1, 16), &[Arg::At(x), zeros(64), int(shift)]);
        let finding = only(report);
        is(&finding, Kind::Misaligned, "y[i] = *(const int *)(x", 5, 2);
        assert_eq!(finding.address, Some(x + 20 + shift as u64));
        let say = format!("which is no multiple of 4: {beyond} beyond one");
        assert!(finding.message.ends_with(&say), "{finding}");
        let mut want = [0x0101_0101; 16];
        (want[5], want[9]) = (0, 0);
        assert_eq!(words(&buffers[0]), want);
    }
}

#[test]
fn what_was_freed() {
    let mut rig = Rig::new("wrong.ptx", WRONG);
    let x = rig.buffer(&[0; 256]);
    rig.device.free(x).unwrap();
    let other = rig.buffer(&[3; 256]);
    let (_, report) = rig.run("store", (1, 32), &[Arg::At(x), int(5), int(1)]);
    let finding = only(report);
    is(&finding, Kind::UseAfterFree, STORE, 0, 32);
    assert_eq!(finding.address, Some(x + 20));
    let say = format!("it was freed; it is 20 bytes into 256 bytes that were allocated at {x:#x}");
    assert!(finding.message.ends_with(&say), "{finding}");
    assert_eq!(rig.bytes(other, 256), [3; 256]);
}

#[test]
fn a_null_pointer() {
    let mut rig = Rig::new("wrong.ptx", WRONG);
    let (_, report) = rig.run("store", (1, 32), &[Arg::At(0), int(3), int(0)]);
    let finding = only(report);
    is(&finding, Kind::OutOfBounds, STORE, 0, 32);
    assert_eq!(finding.address, Some(12));
    let say = "global memory at 0xc (a null pointer): nothing is allocated";
    assert!(!finding.message.contains(say), "the module's table is allocated");
    assert!(finding.message.contains("at 0xc (a null pointer): the nearest"), "{finding}");
}

/// The user's line comes first, then the header's into which the fault was inlined.
#[test]
fn inside_an_inlined_header() {
    let mut rig = Rig::new("wrong.ptx", WRONG);
    let (buffers, report) = rig.run("add", (1, 32), &[zeros(100)]);
    let finding = only(report);
    is(&finding, Kind::OutOfBounds, "GLOBAL add(int *x)", 25, 7);
    let [_, header] = &finding.places[..] else { panic!("{finding}") };
    assert_eq!(header.file, "device_atomic_functions.hpp");
    assert!(finding.message.starts_with("an atomic operation of 4 bytes"), "{finding}");
    assert_eq!(words(&buffers[0]), [1; 25]);
}

/// The innermost line of the user's own comes first, then where it was inlined.
#[test]
fn inside_an_inlined_function() {
    let mut rig = Rig::new("wrong.ptx", WRONG);
    let finding = only(rig.run("inlined", (1, 32), &[zeros(500), zeros(128)]).1);
    is(&finding, Kind::OutOfBounds, "return x[i];  // inlined", 2, 30);
    let lines: Vec<u32> = finding.places.iter().map(|place| place.line).collect();
    assert_eq!(lines, [line("return x[i];  // inlined"), line("y[i] = at(x, 100 * i)")]);
}

#[test]
fn two_lines_are_two_findings() {
    let mut rig = Rig::new("wrong.ptx", WRONG);
    let x = rig.buffer(&[0; 128]);
    let (_, report) = rig.run("two_lines", (1, 32), &[Arg::At(x), int(32)]);
    // Of one block they come in the order of the code, which the compiler chose.
    let [one, other] = &report.findings[..] else { panic!("{:#?}", report.findings) };
    is(one, Kind::OutOfBounds, "x[i] = x[n + i] * 3;", 0, 2);
    assert_eq!(one.address, Some(x + 128));
    is(other, Kind::OutOfBounds, "x[i] = x[-i] + 2;", 29, 3);
    assert_eq!(other.address, Some(x - 4 * 29));
    let mut want = [0; 32];
    want[2..29].fill(3);
    assert_eq!(words(&rig.bytes(x, 128)), want);
}

/// What a thread does after its fault does not happen, what the others do does.
#[test]
fn a_faulty_thread_ends_and_the_others_meet_at_the_barrier() {
    let body = "ld.param.u64 %d0, [a];
        ld.param.u64 %d1, [b];
        mov.u32 %r0, %tid.x;
        mad.wide.u32 %d2, %r0, 4, %d0;
        ld.global.u32 %r1, [%d2];
        bar.sync 0;
        mad.wide.u32 %d3, %r0, 4, %d1;
        st.global.u32 [%d3], 1;
        ret;";
    let mut rig = Rig::new("hand.ptx", &by_hand(body));
    let (buffers, report) = rig.run("k", (1, 96), &[zeros(280), zeros(384)]);
    let finding = only(report);
    assert_eq!((finding.thread, finding.threads), ([70, 0, 0], 26));
    // Line 13 is the first of the body.
    let place = (finding.places[0].file.as_str(), finding.places[0].line);
    assert_eq!(place, ("hand.ptx", 17));
    let want: Vec<i32> = (0..96).map(|i| i32::from(i < 70)).collect();
    assert_eq!(words(&buffers[1]), want);
}

#[test]
fn without_checks_wrong_reads_give_zero_and_wrong_writes_are_dropped() {
    let mut rig = Rig::new("wrong.ptx", WRONG);
    rig.options.check = false;
    let (buffers, report) = rig.run("load", (1, 32), &[ints(1..=32), ints([-1; 32]), int(10)]);
    assert_eq!(report.findings, []);
    let want: Vec<i32> = (11..=32).chain([0; 10]).collect();
    assert_eq!(words(&buffers[1]), want);
    let (buffers, report) = rig.run("store", (1, 32), &[zeros(40), int(0), int(1)]);
    assert_eq!((words(&buffers[0]), report.findings), (vec![7; 10], vec![]));
    let (buffers, report) =
        rig.run("bytes", (1, 16), &[Arg::Buffer(vec![1; 64]), zeros(64), int(2)]);
    let mut want = [0x0101_0101; 16];
    (want[5], want[9]) = (0, 0);
    assert_eq!((words(&buffers[1]), report.findings), (want.to_vec(), vec![]));
    let (buffers, report) = rig.run("add", (1, 32), &[zeros(100)]);
    assert_eq!((words(&buffers[0]), report.findings), (vec![1; 25], vec![]));
}
