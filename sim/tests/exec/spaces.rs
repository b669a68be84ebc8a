//! Faults in memory that is not global: shared, local, constant, parameters, the stack.

use engine_room_sim::exec::Kind;

use crate::faults::{WRONG, is};
use crate::rig::{Rig, by_hand, int, only, words, zeros};

#[test]
fn beyond_static_shared_memory() {
    let mut rig = Rig::new("wrong.ptx", WRONG);
    let (buffers, report) = rig.run("tile", (1, 32), &[zeros(128), int(9)]);
    // 64 numbers of its own and 128 bytes of dynamic memory behind them: 96. Thread 11 writes
    // number 99.
    let finding = only(report);
    is(&finding, Kind::OutOfBounds, "own[i * by] = i;", 11, 21);
    assert_eq!(finding.address, Some(4 * 99));
    let say = "a write of 4 bytes of shared memory at 0x18c: the block has 384 bytes";
    assert_eq!(finding.message, say);
    assert_eq!(words(&buffers[0])[11..], [0; 21], "they have ended");
}

#[test]
fn beyond_dynamic_shared_memory() {
    let mut rig = Rig::new("wrong.ptx", WRONG);
    let finding = only(rig.run("dynamic_tile", (1, 34), &[zeros(256), int(1)]).1);
    is(&finding, Kind::OutOfBounds, "y[i] = tiles[i * by];", 32, 2);
    let say = "a read of 4 bytes of shared memory at 0x80: the block has 128 bytes";
    assert_eq!(finding.message, say);
    let finding = only(rig.run("dynamic_tile", (1, 34), &[zeros(256), int(-1)]).1);
    is(&finding, Kind::OutOfBounds, "y[i] = tiles[i * by];", 1, 33);
}

#[test]
fn shared_memory_by_generic_addresses() {
    let body = "mov.u64 %d0, tile;
        cvta.shared.u64 %d0, %d0;
        mov.u32 %r0, %tid.x;
        mad.wide.u32 %d1, %r0, 4096, %d0;
        st.u32 [%d1], %r0;
        ret;";
    let mut rig = Rig::new("hand.ptx", &by_hand(body));
    let (_, report) = rig.run("k", (1, 8), &[zeros(4), zeros(4)]);
    let finding = only(report);
    assert_eq!((finding.kind, finding.thread), (Kind::OutOfBounds, [5, 0, 0]));
    // 16 KiB and the dynamic 128 bytes; thread 4 would be the first beyond the tile.
    assert!(finding.message.contains("shared memory at 0x5000"), "{finding}");
    assert_eq!((finding.places[0].line, finding.threads), (17, 3));
}

#[test]
fn shared_memory_at_addresses_that_are_not_aligned() {
    let body = "mov.u32 %r0, %tid.x;
        mad.lo.u32 %r1, %r0, 6, 0;
        ld.shared.u32 %r2, [%r1];
        ret;";
    let mut rig = Rig::new("hand.ptx", &by_hand(body));
    let finding = only(rig.run("k", (1, 32), &[zeros(4), zeros(4)]).1);
    assert_eq!((finding.kind, finding.thread, finding.threads), (Kind::Misaligned, [1, 0, 0], 16));
    assert_eq!(finding.address, Some(6));
}

#[test]
fn beyond_local_memory() {
    let mut rig = Rig::new("wrong.ptx", WRONG);
    let (_, report) = rig.run("own", (1, 32), &[zeros(128), int(0)]);
    assert_eq!(report.findings, []);
    let finding = only(rig.run("own", (1, 32), &[zeros(128), int(8)]).1);
    is(&finding, Kind::OutOfBounds, "y[i] = values[i * by];", 1, 31);
    assert!(finding.message.contains("local memory at 0x20: the thread has 32 bytes"), "{finding}");
    // A neighbour's local memory is not reached either.
    let finding = only(rig.run("own", (1, 32), &[zeros(128), int(1 << 20)]).1);
    is(&finding, Kind::OutOfBounds, "y[i] = values[i * by];", 1, 31);
}

#[test]
fn beyond_constant_memory() {
    let mut rig = Rig::new("wrong.ptx", WRONG);
    let (buffers, report) = rig.run("fixed", (1, 7), &[zeros(28)]);
    let finding = only(report);
    is(&finding, Kind::OutOfBounds, "y[i] = table[i];", 4, 3);
    assert!(finding.message.starts_with("a read of 4 bytes of constant memory"), "{finding}");
    assert!(finding.message.contains("the nearest allocation has 16 bytes"), "{finding}");
    assert_eq!(words(&buffers[0]), [5, 6, 7, 8, 0, 0, 0]);
}

/// §9.7.9.11: `st` has no `.const`, and parameters of a kernel are read-only (§5.1.6.1).
#[test]
fn what_cannot_be_written() {
    for (name, operands) in [("st.const.u32", "[%d0], %r0"), ("st.param.u64", "[a], %d0")] {
        let body = format!("mov.u32 %r0, 1;\n{name} {operands};\nret;");
        let mut rig = Rig::new("hand.ptx", &by_hand(&body));
        let finding = only(rig.run("k", (1, 1), &[zeros(4), zeros(4)]).1);
        assert_eq!((finding.kind, finding.places[0].line), (Kind::Unsupported, 14));
        assert_eq!(finding.message, format!("`{name}` writes what is read-only"));
    }
}

#[test]
fn beyond_the_parameters() {
    let body = "mov.u64 %d0, a;
        ld.param.u64 %d1, [%d0+16];
        ret;";
    let mut rig = Rig::new("hand.ptx", &by_hand(body));
    let finding = only(rig.run("k", (1, 1), &[zeros(4), zeros(4)]).1);
    assert_eq!((finding.kind, finding.places[0].line), (Kind::OutOfBounds, 14));
    assert!(finding.message.ends_with("parameters at 0x10: there are 16 bytes"), "{finding}");
}

#[test]
fn recursion_without_end() {
    let mut rig = Rig::new("wrong.ptx", WRONG);
    let (buffers, report) = rig.run("deep", (1, 32), &[zeros(128)]);
    let finding = only(report);
    is(&finding, Kind::OutOfBounds, "return n + endless(n + 1) * 2;", 0, 32);
    let say = "the call of _Z7endlessi has no room on the stack: endless recursion?";
    assert_eq!(finding.message, say);
    assert_eq!(words(&buffers[0]), [0; 32]);
}

/// Recursion as deep as the stack allows is no fault: 512 KiB for each thread.
#[test]
fn recursion_with_an_end() {
    let function = ".func (.reg .b32 %back) sum(.reg .b32 %n)
        {
        .reg .pred %p;
        .reg .b32 %less;
        mov.b32 %back, 0;
        setp.eq.u32 %p, %n, 0;
        @%p ret;
        sub.u32 %less, %n, 1;
        call (%back), sum, (%less);
        add.u32 %back, %back, %n;
        ret;
        }
        .visible .entry";
    let body = "ld.param.u64 %d0, [a];
        mov.u32 %r0, %tid.x;
        mad.wide.u32 %d0, %r0, 4, %d0;
        mad.lo.u32 %r0, %r0, 100, 7;
        call (%r1), sum, (%r0);
        st.global.u32 [%d0], %r1;
        ret;";
    let module = by_hand(body).replacen(".visible .entry", function, 1);
    let mut rig = Rig::new("hand.ptx", &module);
    let (buffers, report) = rig.run("k", (1, 32), &[zeros(128), zeros(4)]);
    assert_eq!(report.findings, []);
    let want: Vec<i32> = (0..32).map(|i| (0..=100 * i + 7).sum()).collect();
    assert_eq!(words(&buffers[0]), want);
}

#[test]
fn calls_and_jumps_to_nowhere() {
    let body = "mov.u32 %r0, %tid.x;
        table: .branchtargets one, two;
        brx.idx %r0, table;
        one:
        add.u32 %r1, %r1, 1;
        two:
        ret;";
    let finding =
        only(Rig::new("hand.ptx", &by_hand(body)).run("k", (1, 6), &[zeros(4), zeros(4)]).1);
    assert_eq!((finding.kind, finding.thread, finding.threads), (Kind::OutOfBounds, [2, 0, 0], 4));
    assert_eq!(finding.message, "a jump to an entry of a table that has 2");
    let body = "ld.param.u64 %d0, [a];
        proto: .callprototype _ ();
        call %d0, proto;
        ret;";
    let finding =
        only(Rig::new("hand.ptx", &by_hand(body)).run("k", (1, 6), &[zeros(4), zeros(4)]).1);
    assert_eq!((finding.kind, finding.threads), (Kind::OutOfBounds, 6));
    assert!(finding.message.contains("not to a function with this signature"), "{finding}");
}
