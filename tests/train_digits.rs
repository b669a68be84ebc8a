//! `train-digits` as a reader runs it: how well its models read, and that a seed is a result.

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

/// A run of the program that must go well.
fn run(arguments: &str, threads: &str) -> Output {
    let done = attempt(arguments, threads);
    assert!(done.status.success(), "{arguments}: {}", String::from_utf8_lossy(&done.stderr));
    done
}

fn attempt(arguments: &str, threads: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_train-digits"))
        .args(arguments.split_whitespace())
        .env("RAYON_NUM_THREADS", threads)
        .current_dir(std::env::temp_dir())
        .output()
        .expect("the program was built with this test")
}

fn document(done: &Output) -> Value {
    serde_json::from_slice(&done.stdout).expect("--json prints one document and nothing else")
}

/// A file in the temporary folder, where the program runs; it is gone when this goes.
struct Scratch(String);

impl Scratch {
    fn new(name: &str) -> Scratch {
        Scratch(format!("train-digits-{}-{name}", std::process::id()))
    }

    fn path(&self) -> PathBuf {
        std::env::temp_dir().join(&self.0)
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.path()).expect("the program wrote it")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left in the system's temporary folder harms nobody.
        let _ = std::fs::remove_file(self.path());
    }
}

/// The losses of every epoch too, to the last bit, and the bytes at the peak.
#[test]
fn a_seed_is_a_result_for_any_number_of_threads() {
    for model in ["mlp", "attention"] {
        let trained = |threads: &str, seed: u64| {
            let lines = Scratch::new(&format!("{model}-{threads}-{seed}.jsonl"));
            let file = &lines.0;
            let options = format!("--model {model} --seed {seed} --epochs 2 --metrics {file}");
            let done = run(&format!("{options} --json"), threads);
            let mut result = document(&done);
            result.as_object_mut().expect("an object").remove("seconds");
            (result, lines.text())
        };
        let one = trained("1", 3);
        assert_eq!(one.1.lines().count(), 4, "two epochs of two trainings:\n{}", one.1);
        for threads in ["1", "2", "4"] {
            assert_eq!(trained(threads, 3), one, "{model} with {threads} threads");
        }
        assert_ne!(trained("1", 4).1, one.1, "{model}: the seed changes nothing");
    }
}

/// The bounds are this program's promise. A perceptron in PyTorch reads 96 to 99% of a random fifth
/// and about 91% of the last one, whose writers it has not seen.
#[test]
fn both_models_read_what_they_should() {
    for model in ["mlp", "attention"] {
        let results: Vec<Value> = (0..5)
            .map(|seed| document(&run(&format!("--model {model} --seed {seed} --json"), "2")))
            .collect();
        let of = |key: &str| -> Vec<f64> {
            results.iter().map(|result| result[key].as_f64().expect("a number")).collect()
        };
        let mean = |shares: &[f64]| shares.iter().sum::<f64>() / shares.len() as f64;
        let (random, last) = (of("test_accuracy"), of("last_fifth_accuracy"));
        assert!(mean(&random) >= 0.97, "{model}: {random:?}");
        assert!(random.iter().all(|share| (0.955..=1.0).contains(share)), "{model}: {random:?}");
        assert!((0.88..0.96).contains(&mean(&last)), "{model}: {last:?}");
        assert!(mean(&last) < mean(&random) - 0.02, "strangers are harder to read: {last:?}");
    }
}

/// Sums are added up in another order there, so the numbers are not the same, and what the model
/// reads is, but for an image here and there.
#[test]
fn a_simulated_gpu_learns_the_same() {
    let [here, there] = ["cpu", "sim"].map(|device| {
        document(&run(&format!("--seed 3 --epochs 1 --json --device {device}"), "2"))
    });
    for key in ["test_accuracy", "last_fifth_accuracy"] {
        let [here, there] = [&here, &there].map(|result| result[key].as_f64().expect(key));
        assert!((here - there).abs() <= 0.01, "{key}: {here} and {there}");
    }
}

#[test]
fn json_has_these_fields_and_nothing_else_is_printed() {
    let done = run("--model mlp --seed 7 --epochs 1 --json", "2");
    let text = String::from_utf8_lossy(&done.stdout);
    let names: Vec<&str> = text.split('"').skip(1).step_by(2).collect();
    let want =
        ["model", "mlp", "seed", "test_accuracy", "last_fifth_accuracy", "seconds", "peak_bytes"];
    assert_eq!(names, want);
    assert_eq!(document(&done)["seed"], 7);
    assert!(done.stderr.is_empty(), "no bar where there is no terminal");
}

#[test]
fn the_table_says_why_its_two_numbers_differ() {
    let figure = Scratch::new("figure.svg");
    let arguments = format!("--epochs 2 --plot {}", figure.0);
    let done = run(&arguments, "2");
    let text = String::from_utf8_lossy(&done.stdout);
    for part in ["mlp, seed 0: 2 epochs", "| random fifth |", "| last fifth ", "strangers'"] {
        assert!(text.contains(part), "'{part}' is not in\n{text}");
    }
    let svg = figure.text();
    for part in ["mean loss (nats)", "read right (share)", "random fifth", "last fifth"] {
        assert!(svg.contains(part), "'{part}' is not in the figure");
    }
    assert!(!svg.contains("NaN"));
}

#[test]
fn what_cannot_be_is_refused_in_words() {
    for (arguments, words) in [
        ("--epochs 0", "1.."),
        ("--model transformer", "mlp, attention"),
        ("--device gpu", "'gpu' is no device; write cpu, sim or cuda"),
        ("--device cuda:60", "error: cuda:60: "),
        ("--epochs 1 --metrics no-such-folder/m.jsonl", "m.jsonl cannot be written"),
    ] {
        let done = attempt(arguments, "1");
        let errors = String::from_utf8_lossy(&done.stderr);
        assert!(!done.status.success() && errors.contains(words), "{arguments}: {errors}");
    }
}
