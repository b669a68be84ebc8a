//! Trains on the digits: `cargo test -p engine-room-labs --test train_digits`.
//!
//! Whole trainings, so that it is named in .ci/run only. That the numbers are the same for any
//! number of threads is checked on short ones.

use std::process::Command;

use serde_json::Value;

/// What the program prints with `--json`, with this many threads.
fn train(threads: usize, arguments: &[&str]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_train-digits"))
        .args(arguments)
        .arg("--json")
        .env("RAYON_NUM_THREADS", threads.to_string())
        .output()
        .expect("the program starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("it prints JSON")
}

#[test]
fn a_seed_gives_the_same_numbers_with_any_number_of_threads() {
    for model in ["mlp", "attention"] {
        let run = |threads, seed| {
            let arguments = ["--model", model, "--seed", seed, "--epochs", "2"];
            let mut result = train(threads, &arguments);
            result["seconds"].take();
            result
        };
        let one = run(1, "3");
        assert_eq!([run(1, "3"), run(2, "3"), run(4, "3")], [(); 3].map(|()| one.clone()));
        assert_ne!(run(1, "4")["test_accuracy"], one["test_accuracy"], "the seed changes nothing");
    }
}

#[test]
fn both_models_read_the_digits() {
    for model in ["mlp", "attention"] {
        let accuracies = ["0", "1", "2", "3", "4"].map(|seed| {
            let result = train(2, &["--model", model, "--seed", seed]);
            assert!(result["last_fifth_accuracy"].as_f64().is_some_and(|share| share > 0.88));
            result["test_accuracy"].as_f64().expect("a number")
        });
        let mean = accuracies.iter().sum::<f64>() / 5.0;
        assert!(mean >= 0.97, "{model}: {mean} of {accuracies:?}");
        assert!(accuracies.iter().all(|&share| share >= 0.955), "{model}: {accuracies:?}");
    }
}
