//! Unusable input: status 2, nothing on standard output, one line on standard error that says what
//! is wrong.

use crate::{Scratch, gpu_sim, run};

/// Whether a call is refused, in one line with all of these words.
fn refused(done: &std::process::Output, call: &str, words: &[&str]) {
    let error = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(2), "{call}: {error}");
    assert!(done.stdout.is_empty(), "{call}");
    assert!(error.starts_with("error: ") && error.ends_with('\n'), "{call}: {error}");
    assert_eq!(error.lines().count(), 1, "{call}: {error}");
    for word in words {
        assert!(error.contains(word), "{call}: `{word}` is missing in: {error}");
    }
}

#[test]
fn wrong_arguments() {
    let add = "--kernel add --arg f32[4]=iota --arg f32[4]=ones --arg";
    for (last, words) in [
        ("f32[4]=1,2,3", &["argument 2", "3 values", "buffer 4"][..]),
        ("f32[4]=1,2,3,4,5", &["argument 2", "5 values"]),
        ("f32[4]=1,2,x,4", &["argument 2", "`x`", "f32"]),
        ("f32[4]=twos", &["argument 2", "`twos`", "random:SEED"]),
        ("f32[four]=ones", &["argument 2", "f32[four]"]),
        ("f32[4=ones", &["argument 2", "length"]),
        ("q7[4]=ones", &["argument 2", "`q7`", "bf16"]),
        ("f32[4]", &["argument 2", "`=`"]),
        ("f32[4]=random:x", &["argument 2", "seed"]),
        ("f32[4]=file:/no/such/file", &["argument 2", "/no/such/file"]),
        ("f32[99999999999999]=zeros", &["argument 2", "GPU"]),
        ("i32=300000000000", &["argument 2", "300000000000"]),
        ("u8=256", &["argument 2", "256"]),
        ("u32=-1", &["argument 2", "-1"]),
        ("bytes=abc", &["argument 2", "pairs"]),
        ("bytes=zz", &["argument 2", "hexadecimal"]),
        ("bytes=00", &["argument 2", "1 bytes", "u64 of 8 bytes"]),
        ("f32=1", &["argument 2", "f32 of 4 bytes", "u64 of 8 bytes"]),
    ] {
        refused(&run(&format!("{add} {last}")), last, words);
    }
}

#[test]
fn wrong_numbers_of_arguments() {
    refused(&run("--kernel add"), "none", &["takes 3 arguments (u64, u64, u64)", "0 were given"]);
    let four = "--kernel add --arg u64=0 --arg u64=0 --arg u64=0 --arg u64=0";
    refused(&run(four), four, &["takes 3", "4 were given"]);
}

#[test]
fn a_file_of_the_wrong_length() {
    let file = Scratch::new("short.bin", &[0; 15]);
    let words = format!(
        "--kernel add --arg f32[4]=file:{} --arg f32[4]=ones --arg f32[4]=ones",
        file.0.display()
    );
    refused(&run(&words), &words, &["argument 0", "15 bytes", "16"]);
}

#[test]
fn wrong_kernels() {
    refused(&run("--kernel sub"), "sub", &["`sub`", "add", "evaluate"]);
    refused(&run("--kernel twice --arg f32[1]=ones"), "twice", &["twiceIfE", "twiceIiE"]);
    refused(&run(""), "no name", &["--kernel", "add"]);
}

#[test]
fn wrong_options() {
    let hello = "--kernel hello --arg f32=1";
    for (option, words) in [
        ("--grid x", &["--grid", "`x`"][..]),
        ("--grid 1,2,3,4", &["--grid", "three"]),
        ("--block -1", &["-1"]),
        ("--gpu b200", &["--gpu", "t4, a100, h100, h200"]),
        ("--check some", &["--check", "all"]),
        ("--print 0", &["argument 0", "no buffer"]),
        ("--print 5", &["argument 5", "no buffer"]),
        ("--out 0", &["--out", "K=PATH"]),
        ("--seed x", &["--seed"]),
        ("--max-instructions -1", &["-1"]),
        ("--frobnicate", &["--frobnicate"]),
    ] {
        refused(&run(&format!("{hello} {option}")), option, words);
    }
}

#[test]
fn wrong_files() {
    refused(&gpu_sim("run missing.ptx --kernel a"), "missing.ptx", &["missing.ptx", "read"]);
    refused(&gpu_sim("ptx missing.ptx"), "missing.ptx", &["missing.ptx"]);
    let broken = Scratch::new("broken.ptx", b".version 8.1\n.target sm_80\n.entry k() {\n frob\n}");
    let path = broken.0.display().to_string();
    refused(&gpu_sim(&format!("run {path} --kernel k")), "broken.ptx", &["broken.ptx:5:"]);
    refused(&gpu_sim(&format!("compare {path} {path}")), "compare", &["broken.ptx"]);
    let other = Scratch::new("other.json", b"{\"a\": 1}");
    let path = other.0.display().to_string();
    refused(&gpu_sim(&format!("compare {path} {path}")), "compare", &["no counters"]);
    refused(&gpu_sim(""), "nothing", &["subcommand"]);
}
