//! What a kernel does wrong is reported by kind, with line, block, thread and address.

use serde_json::json;

use crate::{document, finding};

/// The line of `kernels.cu` that has a text.
pub fn line(text: &str) -> usize {
    let source = include_str!("../fixtures/gpu_sim/kernels.cu");
    1 + source.lines().position(|line| line.contains(text)).expect("the line is there")
}

#[test]
fn beyond_the_end() {
    let words = "--kernel add --grid 4 --block 256 --arg f32[1000]=iota --arg f32[1024]=ones \
                 --arg f32[1024]=uninit";
    let found = finding(words);
    assert_eq!(found["kind"], "out_of_bounds");
    assert_eq!(
        (&found["file"], &found["line"]),
        (&json!("kernels.cu"), &json!(line("z[i] = x[i]")))
    );
    assert_eq!((&found["block"], &found["thread"]), (&json!([3, 0, 0]), &json!([232, 0, 0])));
    assert!(found["address"].is_u64());
    let message = found["message"].as_str().expect("a text");
    assert!(message.contains("4000 bytes"), "the nearest allocation: {message}");
}

#[test]
fn inside_an_inlined_header_the_readers_line_stands_first() {
    let words = "--kernel cached --block 32 --arg f32[30]=iota --arg f32[32]=zeros";
    let found = finding(words);
    assert_eq!(found["kind"], "out_of_bounds");
    assert_eq!((&found["file"], &found["line"]), (&json!("kernels.cu"), &json!(line("= __ldcg("))));
    let found = finding("--kernel texture --arg u64=0 --arg f32[1]=zeros");
    assert_eq!(
        (&found["file"], &found["line"]),
        (&json!("kernels.cu"), &json!(line("tex1D<float>(")))
    );
    let message = found["message"].as_str().expect("a text");
    assert!(message.contains("__nv_nvrtc_builtin_header.h:"), "{message}");
}

#[test]
fn every_other_kind_that_a_launch_can_show() {
    for (words, kind) in [
        ("--kernel misaligned --arg u8[8]=zeros", "misaligned"),
        ("--kernel trapped --block 4 --arg i32[4]=iota", "trap"),
        ("--kernel endless --arg i32[1]=zeros --max-instructions 1000", "timeout"),
        ("--kernel texture --arg u64=0 --arg f32[1]=zeros", "unsupported"),
        ("--kernel large --block 2 --arg f32[2]=zeros", "shared_overflow"),
        ("--kernel hello --shared 1000000 --arg f32=1", "shared_overflow"),
        ("--kernel hello --block 2048 --arg f32=1", "invalid_launch"),
        ("--kernel hello --grid 0 --arg f32=1", "invalid_launch"),
    ] {
        assert_eq!(finding(words)["kind"], kind, "{words}");
    }
}

#[test]
fn a_gpu_with_more_shared_memory_takes_more() {
    let words = "--kernel hello --shared 100000 --arg f32=1 --gpu";
    assert_eq!(finding(&format!("{words} t4"))["kind"], "shared_overflow");
    for gpu in ["a100", "H100", "h200"] {
        assert_eq!(document(&format!("{words} {gpu}")).1, 0, "{gpu}");
    }
}

#[test]
fn without_checks_nothing_is_found() {
    let words = "--kernel add --block 64 --arg f32[32]=iota --arg f32[64]=ones \
                 --arg f32[64]=zeros --check";
    assert_eq!(document(&format!("{words} all")).1, 1);
    assert_eq!(document(&format!("{words} none")).1, 0);
}
