//! `.cu` files: compiled where NVRTC is, and said how to get it where it is not.

use serde_json::Value;

use crate::findings::line;
use crate::{clean, gpu_sim, text};

const ADD: &str = "--kernel add --grid 2 --block 32 --arg f32[64]=iota --arg f32[64]=ones \
                   --arg f32[64]=uninit --json";

#[test]
fn without_nvrtc_one_line_says_how_to_get_it() {
    let done = gpu_sim(&format!("run kernels.cu {ADD} --nvrtc no-such-folder"));
    assert_eq!(done.status.code(), Some(2));
    let error = String::from_utf8(done.stderr).expect("UTF-8");
    assert_eq!(error.lines().count(), 1, "{error}");
    let expected = if cfg!(target_os = "macos") { "macOS" } else { "no-such-folder" };
    assert!(error.contains(expected), "{error}");
}

#[test]
fn with_nvrtc_a_source_gives_what_its_ptx_gives() {
    let done = gpu_sim(&format!("run kernels.cu {ADD}"));
    if done.status.code() == Some(2) {
        let error = String::from_utf8_lossy(&done.stderr);
        assert!(error.contains("NVRTC"), "{error}");
        println!("not run: {error}");
        return;
    }
    assert_eq!(done.status.code(), Some(0));
    let document: Value = serde_json::from_str(&text(&done)).expect("JSON");
    let committed = clean(ADD.trim_end_matches("--json"));
    assert_eq!(document["outputs"], committed["outputs"]);
    // A finding names the file as the command line does.
    let beyond = gpu_sim(&format!("run kernels.cu {}", ADD.replace("--grid 2", "--grid 3")));
    let document: Value = serde_json::from_str(&text(&beyond)).expect("JSON");
    assert_eq!(document["errors"][0]["file"], "kernels.cu");
    assert_eq!(document["errors"][0]["line"], line("z[i] = x[i]"));
}

#[test]
fn help_is_no_error() {
    let done = gpu_sim("--help");
    assert_eq!(done.status.code(), Some(0));
    let shown = text(&done);
    for command in ["run", "ptx", "compare"] {
        assert!(shown.contains(command), "{shown}");
    }
}
