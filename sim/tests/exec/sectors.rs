//! Requests to global memory and the sectors of 32 bytes that they touch. A buffer begins at a
//! multiple of 512, so lane `i` of a request with a stride touches byte `stride * i` and what
//! follows: the sectors in the tables are counted by hand from that.

use engine_room_sim::counters::Counters;

use crate::rig::{Rig, by_hand, counted, zeros};

/// What an instruction counts that accesses `[%d1]`, which is `stride` bytes further in each of
/// the threads.
#[track_caller]
fn strided(instruction: &str, stride: u32, threads: u32) -> Counters {
    let body = format!(
        "ld.param.u64 %d0, [a];
        mov.u32 %r0, %tid.x;
        setp.lt.u32 %p0, %r0, 16;
        mad.wide.u32 %d1, %r0, {stride}, %d0;
        {instruction}
        ret;"
    );
    counted(&body, threads)
}

fn loads(counters: Counters) -> (u64, u64) {
    assert_eq!(counters.global_store_requests + counters.global_store_sectors, 0);
    (counters.global_load_requests, counters.global_load_sectors)
}

fn stores(counters: Counters) -> (u64, u64) {
    assert_eq!(counters.global_load_requests + counters.global_load_sectors, 0);
    (counters.global_store_requests, counters.global_store_sectors)
}

/// Bytes from one lane to the next, bytes from the start of the buffer, sectors of one warp.
const WORDS: [(u32, u32, u64); 12] = [
    (4, 0, 4),     // 128 bytes one after the other
    (4, 4, 5),     // bytes 4 to 131
    (4, 28, 5),    // bytes 28 to 155
    (4, 32, 4),    // bytes 32 to 159
    (8, 0, 8),     // every second word of 256 bytes
    (12, 0, 12),   // one of three words, as in a structure of three
    (16, 0, 16),   // every fourth word: two lanes a sector
    (32, 0, 32),   // every eighth: a sector for each lane
    (128, 0, 32),  // every 32nd
    (1024, 0, 32), // far apart
    (0, 0, 1),     // all the same
    (0, 60, 1),    // the last word of a sector
];

#[test]
fn words_at_a_stride() {
    for (stride, from, sectors) in WORDS {
        let load = strided(&format!("ld.global.f32 %f0, [%d1+{from}];"), stride, 32);
        assert_eq!(loads(load), (1, sectors), "load, stride {stride} from {from}");
        let store = strided(&format!("st.global.u32 [%d1+{from}], %r0;"), stride, 32);
        assert_eq!(stores(store), (1, sectors), "store, stride {stride} from {from}");
        let red = strided(&format!("red.global.add.u32 [%d1+{from}], %r0;"), stride, 32);
        assert_eq!(stores(red), (1, sectors), "reduction, stride {stride} from {from}");
        let atom = strided(&format!("atom.global.max.u32 %r1, [%d1+{from}], %r0;"), stride, 32);
        assert_eq!(stores(atom), (1, sectors), "atomic, stride {stride} from {from}");
    }
}

#[test]
fn numbers_of_other_sizes() {
    for (instruction, stride, sectors) in [
        ("ld.global.u8 %r1, [%d1];", 1, 1),              // 32 bytes
        ("ld.global.u8 %r1, [%d1+1];", 1, 2),            // bytes 1 to 32
        ("ld.global.u8 %r1, [%d1];", 32, 32),            // a sector for each byte
        ("ld.global.u16 %h1, [%d1];", 2, 2),             // 64 bytes
        ("ld.global.f64 %g1, [%d1];", 8, 8),             // 256 bytes
        ("ld.global.v2.f32 {%f1, %f2}, [%d1];", 8, 8),   // as many
        ("ld.global.v2.f32 {%f1, %f2}, [%d1+8];", 8, 9), // bytes 8 to 263
        ("ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%d1];", 16, 16), // 512 bytes
        ("ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%d1];", 64, 32), // half of each second sector
        ("ld.global.v2.f64 {%g1, %g2}, [%d1];", 16, 16), // 512 bytes
        ("ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%d1];", 0, 1), // all the same 16 bytes
    ] {
        assert_eq!(loads(strided(instruction, stride, 32)), (1, sectors), "{instruction}");
        let (target, address) = instruction.split_once(", [").unwrap();
        let (name, value) = target.split_once(' ').unwrap();
        let store =
            format!("{} [{}, {value};", name.replace("ld.", "st."), &address[..address.len() - 1]);
        assert_eq!(stores(strided(&store, stride, 32)), (1, sectors), "{store}");
    }
}

#[test]
fn lanes_that_are_switched_off_touch_nothing() {
    // 16 lanes of 4 bytes: 64 bytes.
    assert_eq!(loads(strided("@%p0 ld.global.f32 %f0, [%d1];", 4, 32)), (1, 2));
    assert_eq!(loads(strided("@!%p0 ld.global.f32 %f0, [%d1];", 4, 32)), (1, 2));
    assert_eq!(stores(strided("@%p0 st.global.f32 [%d1], %f0;", 32, 32)), (1, 16));
    // The second of two warps has 8 threads; none of them is below 16.
    assert_eq!(loads(strided("ld.global.f32 %f0, [%d1];", 4, 40)), (2, 4 + 1));
    assert_eq!(loads(strided("@%p0 ld.global.f32 %f0, [%d1];", 4, 40)), (1, 2));
    assert_eq!(loads(strided("ld.global.f32 %f0, [%d1];", 4, 1)), (1, 1));
}

#[test]
fn the_order_of_lanes_does_not_matter() {
    // Lane i reads word 31 - i, then word (7 * i) mod 32: all 32 words each time.
    let body = "ld.param.u64 %d0, [a];
        mov.u32 %r0, %tid.x;
        sub.u32 %r1, 31, %r0;
        mad.wide.u32 %d1, %r1, 4, %d0;
        ld.global.f32 %f0, [%d1];
        mul.lo.u32 %r1, %r0, 7;
        and.b32 %r1, %r1, 31;
        mad.wide.u32 %d1, %r1, 4, %d0;
        ld.global.f32 %f0, [%d1];
        ret;";
    assert_eq!(loads(counted(body, 32)), (2, 8));
}

#[test]
fn one_request_may_go_to_two_buffers() {
    // Even lanes read one buffer, odd lanes another one: every second of 32 words, 4 sectors each.
    let body = "ld.param.u64 %d0, [a];
        ld.param.u64 %d1, [b];
        mov.u32 %r0, %tid.x;
        and.b32 %r1, %r0, 1;
        setp.eq.u32 %p0, %r1, 1;
        selp.b64 %d2, %d1, %d0, %p0;
        mad.wide.u32 %d2, %r0, 4, %d2;
        ld.global.f32 %f0, [%d2];
        ret;";
    assert_eq!(loads(counted(body, 32)), (1, 8));
}

#[test]
fn generic_and_hinted_accesses_count_like_others() {
    for instruction in [
        "ld.f32 %f0, [%d1];",
        "ld.global.nc.f32 %f0, [%d1];",
        "ld.volatile.global.f32 %f0, [%d1];",
        "ld.global.cg.f32 %f0, [%d1];",
        "ld.acquire.gpu.global.u32 %r1, [%d1];",
        "ldu.global.f32 %f0, [%d1];",
    ] {
        assert_eq!(loads(strided(instruction, 4, 32)), (1, 4), "{instruction}");
    }
}

#[test]
fn other_memory_is_not_global() {
    let counters = counted(
        "ld.param.u64 %d0, [a];
        mov.u32 %r0, %tid.x;
        shl.b32 %r1, %r0, 2;
        st.shared.u32 [%r1], %r0;
        ld.shared.u32 %r2, [%r1];
        .local .align 4 .b8 own[16];
        st.local.u32 [own+4], %r0;
        ld.local.u32 %r2, [own+4];
        cvta.local.u64 %d1, 0;
        st.u32 [%d1], %r2;
        ret;",
        32,
    );
    assert_eq!(loads(counters), (0, 0));
    assert_eq!(counters.shared_requests, 2);
}

#[test]
fn blocks_and_rounds_add_up() {
    // 3 blocks of 3 warps, 2 rounds each: 18 requests of 4 sectors.
    let body = "ld.param.u64 %d0, [a];
        mov.u32 %r0, %tid.x;
        mad.wide.u32 %d1, %r0, 4, %d0;
        mov.u32 %r1, 0;
        again:
        ld.global.f32 %f0, [%d1];
        add.u32 %r1, %r1, 1;
        setp.lt.u32 %p0, %r1, 2;
        @%p0 bra again;
        ret;";
    let args = [zeros(384), zeros(4)];
    let (_, report) = Rig::new("hand.ptx", &by_hand(body)).run("k", (3, 96), &args);
    assert_eq!(loads(report.counters), (18, 72));
}
