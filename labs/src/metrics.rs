//! Metrics of a training: means over an epoch, accuracy, and a file with one line an epoch.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use engine_room::Tensor;
use serde::Serialize;

/// The mean of a metric over examples, of which each batch brings some.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Mean {
    sum: f64,
    examples: usize,
}

impl Mean {
    /// Adds a batch, whose own mean is `value`: a small last batch counts less than a full one.
    pub fn add(&mut self, value: f64, examples: usize) {
        self.sum += value * examples as f64;
        self.examples += examples;
    }

    /// The mean so far; NaN if nothing was added.
    pub fn value(&self) -> f64 {
        self.sum / self.examples as f64
    }
}

/// The share of rows, from 0 to 1, whose highest score is the one of their label: scores `(B, C)`,
/// labels `(B)` as `i64`. NaN if there are no rows.
///
/// # Panics
/// If there are not as many labels as rows.
pub fn accuracy(scores: &Tensor, labels: &Tensor) -> f64 {
    let (guesses, labels) = (scores.argmax(1).to_vec::<i64>(), labels.to_vec::<i64>());
    assert_eq!(guesses.len(), labels.len(), "each row of scores has one label");
    let right = guesses.iter().zip(&labels).filter(|(guess, label)| guess == label);
    right.count() as f64 / labels.len() as f64
}

/// A file of JSON lines. Each is complete when it is written, so a training that is stopped leaves
/// what it has measured, and a program can read along.
#[derive(Debug)]
pub struct MetricsFile {
    path: PathBuf,
    file: File,
}

impl MetricsFile {
    /// An empty file; what was in it is gone.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn create(path: &Path) -> Result<MetricsFile, String> {
        let file =
            File::create(path).map_err(|e| format!("{} cannot be written: {e}", path.display()))?;
        Ok(MetricsFile { path: path.to_path_buf(), file })
    }

    /// Adds a line. Numbers that JSON does not have (NaN, infinity) become `null`.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn log(&mut self, row: &impl Serialize) -> Result<(), String> {
        let line = serde_json::to_string(row).expect("plain data is always JSON") + "\n";
        self.file
            .write_all(line.as_bytes())
            .map_err(|e| format!("{} cannot be written: {e}", self.path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_last_batch_counts_less() {
        let mut mean = Mean::default();
        assert!(mean.value().is_nan());
        mean.add(2.0, 3);
        mean.add(6.0, 1);
        assert_eq!(mean.value(), 3.0);
    }

    #[test]
    fn accuracy_counts_the_rows_whose_highest_score_is_their_label() {
        let scores = vec![0.1f32, 0.9, 0.0, 2.0, 1.0, -1.0, -3.0, -2.0, -1.0, 0.0, 0.0, 5.0];
        let scores = Tensor::from_vec(scores, &[4, 3]);
        let share = |labels: [i64; 4]| accuracy(&scores, &Tensor::from_vec(labels.to_vec(), &[4]));
        assert_eq!(share([1, 0, 2, 2]), 1.0);
        assert_eq!(share([1, 0, 0, 1]), 0.5);
        assert_eq!(share([0, 1, 1, 0]), 0.0);
    }

    #[test]
    fn a_line_is_one_document_and_there_at_once() {
        #[derive(Serialize)]
        struct Row {
            epoch: usize,
            loss: f64,
        }
        let path = std::env::temp_dir().join(format!("metrics-{}.jsonl", std::process::id()));
        let mut file = MetricsFile::create(&path).unwrap();
        file.log(&Row { epoch: 1, loss: 0.1 + 0.2 }).unwrap();
        file.log(&Row { epoch: 2, loss: f64::NAN }).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let lines = "{\"epoch\":1,\"loss\":0.30000000000000004}\n{\"epoch\":2,\"loss\":null}\n";
        assert_eq!(text, lines);
        assert!(MetricsFile::create(&path.join("none")).unwrap_err().contains("cannot be written"));
    }
}
