//! Conflicts between the banks of shared memory: an n-way one counts n - 1 (passes beyond the first
//! of each request). Word `w` is in bank `w % 32`. Accesses of 8 and 16 bytes a lane are made by
//! half and quarter warps, each of which has its passes.

use crate::rig::counted;

/// The conflicts of one warp's access to `tile`, `stride` bytes further from lane to lane.
#[track_caller]
fn conflicts(instruction: &str, stride: u32) -> u64 {
    let counters = counted(
        &format!(
            "mov.u32 %r0, %tid.x;
            setp.lt.u32 %p0, %r0, 16;
            setp.lt.u32 %p1, %r0, 2;
            mov.u32 %r1, tile;
            mad.lo.u32 %r1, %r0, {stride}, %r1;
            {instruction}
            ret;"
        ),
        32,
    );
    assert_eq!(counters.shared_requests, 1, "{instruction}");
    assert_eq!(counters.global_load_requests + counters.global_store_requests, 0);
    counters.shared_bank_conflicts
}

#[test]
fn words() {
    for (columns, ways) in [
        (0, 1),   // one word for all: a broadcast
        (1, 1),   // a row: each bank once
        (2, 2),   // 16 banks, each twice
        (3, 1),   // odd: each bank once
        (4, 4),   // 8 banks
        (8, 8),   // 4 banks
        (16, 16), // 2 banks
        (32, 32), // a column of 32: one bank
        (33, 1),  // a padded column
        (34, 2),  // as 2
        (64, 32), // one bank
        (96, 32), // one bank
    ] {
        let stride = 4 * columns;
        assert_eq!(conflicts("ld.shared.f32 %f0, [%r1];", stride), ways - 1, "load, {columns}");
        assert_eq!(conflicts("st.shared.f32 [%r1], %f0;", stride), ways - 1, "store, {columns}");
        // Where the rows begin does not matter.
        assert_eq!(conflicts("ld.shared.f32 %f0, [%r1+12];", stride), ways - 1, "{columns}");
    }
}

#[test]
fn double_words() {
    // By half warp.
    for (doubles, extra) in [
        (0, 0),   // a broadcast of two words
        (1, 0),   // a half warp reads 32 words one after the other
        (2, 1),   // 16 lanes, 4 words apart: 8 places in a row of banks, each twice
        (4, 3),   // 4 places, each four times
        (16, 15), // one place
        (32, 15), // a column of 32
        (33, 0),  // a padded one: lane i is in banks 2i and 2i + 1
    ] {
        let stride = 8 * doubles;
        assert_eq!(conflicts("ld.shared.f64 %g0, [%r1];", stride), 2 * extra, "load, {doubles}");
        assert_eq!(conflicts("st.shared.f64 [%r1], %g0;", stride), 2 * extra, "store, {doubles}");
        let pair = "ld.shared.v2.f32 {%f0, %f1}, [%r1];";
        assert_eq!(conflicts(pair, stride), 2 * extra, "pair, {doubles}");
    }
}

#[test]
fn quadruple_words() {
    // By quarter warp.
    for (quads, extra) in [
        (0, 0), // a broadcast of four words
        (1, 0), // a quarter warp reads 32 words one after the other
        (2, 1), // 8 lanes, 8 words apart: 4 places in a row of banks, each twice
        (4, 3), // 2 places, each four times
        (8, 7), // one place
        (9, 0), // padded: lane i is in banks 4i to 4i + 3
    ] {
        let stride = 16 * quads;
        let load = "ld.shared.v4.f32 {%f0, %f1, %f2, %f3}, [%r1];";
        assert_eq!(conflicts(load, stride), 4 * extra, "load, {quads}");
        let store = "st.shared.v4.f32 [%r1], {%f0, %f1, %f2, %f3};";
        assert_eq!(conflicts(store, stride), 4 * extra, "store, {quads}");
        let doubles = "ld.shared.v2.f64 {%g0, %g1}, [%r1];";
        assert_eq!(conflicts(doubles, stride), 4 * extra, "doubles, {quads}");
    }
}

#[test]
fn bytes_and_half_words() {
    // Lanes in the same word are served together.
    assert_eq!(conflicts("ld.shared.u8 %r2, [%r1];", 1), 0);
    assert_eq!(conflicts("ld.shared.u16 %h0, [%r1];", 2), 0);
    assert_eq!(conflicts("st.shared.u8 [%r1], %r0;", 128), 31);
    // Words 0, 8, 16 ..: 32 words in four banks.
    assert_eq!(conflicts("ld.shared.u16 %h0, [%r1];", 32), 7);
}

#[test]
fn lanes_that_are_switched_off_conflict_with_nobody() {
    assert_eq!(conflicts("@%p0 ld.shared.f32 %f0, [%r1];", 128), 15);
    assert_eq!(conflicts("@!%p0 ld.shared.f32 %f0, [%r1];", 128), 15);
    assert_eq!(conflicts("@%p0 ld.shared.f64 %g0, [%r1];", 256), 15);
    // Two lanes: 31 words apart, and 32.
    assert_eq!(conflicts("@%p1 ld.shared.f32 %f0, [%r1];", 124), 0);
    assert_eq!(conflicts("@%p1 ld.shared.f32 %f0, [%r1];", 128), 1);
}

#[test]
fn generic_addresses_of_shared_memory_conflict_too() {
    let by = |stride: u32| {
        let body = format!(
            "mov.u32 %r0, %tid.x;
            mov.u64 %d0, tile;
            cvta.shared.u64 %d0, %d0;
            mad.wide.u32 %d0, %r0, {stride}, %d0;
            ld.f32 %f0, [%d0];
            ret;"
        );
        let counters = counted(&body, 32);
        (counters.shared_requests, counters.shared_bank_conflicts, counters.global_load_requests)
    };
    assert_eq!(by(4), (1, 0, 0));
    assert_eq!(by(16), (1, 3, 0));
    assert_eq!(by(128), (1, 31, 0));
}

#[test]
fn a_transpose_conflicts_without_padding_only() {
    // A warp writes 32 rows of a tile, then reads 32 columns: 32 requests of 32 ways each.
    for (columns, conflicts) in [(32, 32 * 31), (33, 0)] {
        let body = format!(
            "mov.u32 %r0, %tid.x;
            mov.u32 %r1, tile;
            mov.u32 %r2, 0;
            again:
            mad.lo.u32 %r3, %r2, {columns}, %r0;
            mad.lo.u32 %r3, %r3, 4, %r1;
            st.shared.u32 [%r3], %r3;
            mad.lo.u32 %r3, %r0, {columns}, %r2;
            mad.lo.u32 %r3, %r3, 4, %r1;
            ld.shared.u32 %r4, [%r3];
            add.u32 %r2, %r2, 1;
            setp.lt.u32 %p0, %r2, 32;
            @%p0 bra again;
            ret;"
        );
        let counters = counted(&body, 32);
        assert_eq!((counters.shared_requests, counters.shared_bank_conflicts), (64, conflicts));
    }
}
