//! The sentences for CUDA's error codes, and what is refused: drivers and GPUs that are too old.
//!
//! The file is included, not linked: an engine without tests of its own is compiled only once by a
//! first `cargo test`.

#[allow(dead_code, reason = "the driver's calls need the codes, and the sentences do not")]
#[path = "../src/device/cuda/errors.rs"]
mod errors;

use errors::{CALL, FATAL, check_driver, check_gpu, explain, is_fatal, version};

#[test]
fn every_sentence_names_the_error_and_says_what_to_do() {
    let mut codes: Vec<i32> = CALL.iter().chain(FATAL).map(|row| row.0).collect();
    for &code in &codes {
        let said = explain(code, None);
        println!("{said}");
        assert!(said.starts_with("CUDA_ERROR_") && said.contains(&format!("({code}): ")));
        assert!(!said.contains("  ") && !said.ends_with('.'), "{said}");
        assert_eq!(said.contains("start the program again"), is_fatal(code), "{said}");
    }
    codes.sort_unstable();
    assert!(codes.windows(2).all(|pair| pair[0] < pair[1]), "a code stands twice");
}

#[test]
fn an_unknown_code_has_the_name_that_the_driver_gives_it() {
    let said = explain(916, Some("CUDA_ERROR_KEY_ROTATION"));
    assert!(said.starts_with("CUDA_ERROR_KEY_ROTATION (916); "), "{said}");
    assert!(explain(12_345, None).starts_with("an error without a name (12345); "));
}

#[test]
fn old_drivers_and_old_gpus_are_refused_by_name() {
    assert_eq!((version(12_010), version(13_000)), ((12, 1), (13, 0)));
    assert_eq!((check_driver(12_010), check_driver(13_000)), (Ok(()), Ok(())));
    let said = check_driver(11_080).unwrap_err();
    println!("{said}");
    assert!(said.starts_with("CUDA_ERROR_UNSUPPORTED_PTX_VERSION (222): "), "{said}");
    assert!(said.contains("12.1 (R530)") && said.contains("CUDA 11.8: update it"), "{said}");
    assert!(check_driver(12_000).is_err());
    assert_eq!((check_gpu("T4", (7, 5)), check_gpu("H200", (9, 0))), (Ok(()), Ok(())));
    let said = check_gpu("NVIDIA GeForce GTX 1080", (6, 1)).unwrap_err();
    println!("{said}");
    assert!(said.starts_with("CUDA_ERROR_NO_BINARY_FOR_GPU (209): "), "{said}");
    assert!(said.ends_with("; NVIDIA GeForce GTX 1080 has 6.1"), "{said}");
}
