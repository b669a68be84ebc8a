//! What an experiment prints: text as it goes, or one JSON document, and its figure.

use std::io::Write;
use std::process::ExitCode;

use engine_room::Device;
use serde_json::{Map, Value, json};

use crate::args::LabArgs;
use crate::cell::{binary_bytes, parse_amount, significant, thousands};
use crate::machine::Machine;
use crate::plot::Plot;
use crate::table::Table;

/// What a command that checks something ends with: status 0 if all is well, 1 if it is not, and 2,
/// with one line on standard error, if it was not given what it needs.
pub fn exit_code(outcome: Result<bool, String>) -> ExitCode {
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

/// Takes an experiment's results and shows them in the form that was asked for.
pub struct Output<'a> {
    args: &'a LabArgs,
    /// Whether the experiment has asked for its device.
    on_device: bool,
    document: Map<String, Value>,
}

impl<'a> Output<'a> {
    pub(crate) fn new(args: &'a LabArgs, experiment: &str) -> Output<'a> {
        let mut document = Map::new();
        document.insert("experiment".to_string(), Value::from(experiment));
        document.insert("device".to_string(), Value::from(Device::Cpu.to_string()));
        document.insert("seed".to_string(), Value::from(args.seed));
        Output { args, on_device: false, document }
    }

    /// The device of `--device`, on which the experiment then runs. An experiment that does not ask
    /// is one about the host, and says so under its results.
    ///
    /// # Errors
    /// As [`DeviceName::device`](crate::DeviceName::device).
    pub fn device(&mut self) -> Result<Device, String> {
        self.on_device = true;
        self.value("device", self.args.device.name());
        self.args.device()
    }

    /// Prints a line or a paragraph; nothing with `--json`.
    pub fn say(&mut self, text: &str) {
        if !self.args.json {
            print(&format!("{text}\n"));
        }
    }

    /// Prints a table; with `--json` its rows are found under `key`, usually `rows`.
    pub fn table(&mut self, key: &str, table: &Table) {
        self.say(&table.text());
        self.document.insert(key.to_string(), table.json());
        let units = self.document.entry("units").or_insert_with(|| json!({}));
        if let Value::Object(units) = units {
            units.extend(table.units());
        }
    }

    /// Adds a single value to the JSON; say it in words with [`Output::say`].
    pub fn value(&mut self, key: &str, value: impl Into<Value>) {
        self.document.insert(key.to_string(), value.into());
    }

    /// Says that the numbers to come were measured, and on which machine.
    pub fn measured(&mut self) {
        let machine = Machine::this().to_string();
        self.say(&format!("Measured on: {machine}\n"));
        self.value("machine", machine);
    }

    /// Writes the figure to the file of `--plot`; does nothing without it.
    ///
    /// # Errors
    /// If it has no data or the file cannot be written.
    pub fn plot(&mut self, plot: &Plot) -> Result<(), String> {
        if self.args.plot.is_some() { self.figure(&plot.svg()?) } else { Ok(()) }
    }

    /// Writes a figure that is SVG text already to the file of `--plot`; does nothing without it.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn figure(&mut self, svg: &str) -> Result<(), String> {
        let Some(path) = &self.args.plot else { return Ok(()) };
        std::fs::write(path, svg)
            .map_err(|e| format!("{} cannot be written: {e}", path.display()))?;
        eprintln!("The figure is in {}.", path.display());
        Ok(())
    }

    /// Shows the reader's first guess of a prediction beside the answer. It goes to
    /// standard error: what a reader guessed is no part of the lab's output.
    pub fn prediction(&mut self, id: &str, answer: f64, unit: &str) {
        if !self.args.json {
            eprintln!("{}", prediction_line(id, first_guess(id, unit), answer, unit));
        }
    }

    pub(crate) fn into_document(mut self) -> Value {
        if !self.on_device && self.args.device.name() != Device::Cpu.to_string() {
            self.say("\nThis experiment is about the host, and ran on the cpu.");
        }
        Value::Object(self.document)
    }
}

/// Prints text to standard output as plain ASCII, since some terminals show the rest as rubbish. A
/// reader who closed the pipe (`| head`) has seen enough.
pub fn print(text: &str) {
    let ascii = escaped(text, |c| c.escape_default().to_string());
    if std::io::stdout().write_all(ascii.as_bytes()).is_err() {
        std::process::exit(0);
    }
}

/// A document as indented JSON, plain ASCII, with a line feed at the end.
pub fn pretty(document: &impl serde::Serialize) -> String {
    escape_json(
        &(serde_json::to_string_pretty(document).expect("plain data is always JSON") + "\n"),
    )
}

/// A document as JSON in one line, plain ASCII, with a line feed at the end.
pub fn compact(document: &impl serde::Serialize) -> String {
    escape_json(&(serde_json::to_string(document).expect("plain data is always JSON") + "\n"))
}

fn escape_json(text: &str) -> String {
    let unit = |unit: &mut u16| format!("\\u{unit:04x}");
    escaped(text, |c| c.encode_utf16(&mut [0; 2]).iter_mut().map(unit).collect())
}

fn escaped(text: &str, escape: impl Fn(char) -> String) -> String {
    // Buffers of a GPU make documents of a hundred megabytes: not letter by letter.
    if text.is_ascii() {
        return text.to_string();
    }
    let push = |mut out: String, c: char| {
        if c.is_ascii() {
            out.push(c)
        } else {
            out += &escape(c)
        }
        out
    };
    text.chars().fold(String::with_capacity(text.len()), push)
}

/// The reader's first guess, if one is kept. A progress file that cannot be read is no reason for a
/// lab to stop; `course` says what is wrong with it.
fn first_guess(id: &str, unit: &str) -> Option<f64> {
    let progress = grading::Progress::load(&grading::root()).ok()?;
    parse_amount(&progress.prediction.get(id)?.guess, unit).ok()
}

/// `Prediction 3.a: your first guess: 4,096 bytes (4 KiB), the answer: ..., ratio 1.50.`
pub fn prediction_line(id: &str, guess: Option<f64>, answer: f64, unit: &str) -> String {
    let answer_text = amount(answer, unit);
    let Some(guess) = guess else {
        return format!(
            "Prediction {id}: the answer: {answer_text}. You kept no guess before looking; the \
             next question can be answered first with `cargo run --bin course -- predict`."
        );
    };
    let ratio = match guess {
        0.0 if answer == 0.0 => "1.00".to_string(),
        0.0 => "none (the guess is 0)".to_string(),
        guess => significant(answer / guess, 3),
    };
    let guess = amount(guess, unit);
    format!(
        "Prediction {id}: your first guess: {guess}, the answer: {answer_text}, ratio answer / \
         guess: {ratio}."
    )
}

/// A number with its unit; bytes also in KiB or MiB.
pub fn amount(value: f64, unit: &str) -> String {
    let number = match value >= 0.0 && value.fract() == 0.0 && value < 1e15 {
        true => thousands(value as u64),
        false => significant(value, 4),
    };
    match unit {
        "bytes" if value >= 1024.0 => format!("{number} bytes ({})", binary_bytes(value as u64)),
        "" => number,
        unit => format!("{number} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guess_stands_beside_the_answer() {
        let line = prediction_line("3.a", Some(4096.0), 6144.0, "bytes");
        assert_eq!(
            line,
            "Prediction 3.a: your first guess: 4,096 bytes (4 KiB), the answer: 6,144 bytes \
             (6 KiB), ratio answer / guess: 1.50."
        );
        assert!(prediction_line("3.a", None, 1.0, "").contains("You kept no guess"));
        assert!(prediction_line("3.a", Some(0.0), 1.0, "").contains("none"));
    }

    #[test]
    fn json_is_plain_ascii_and_means_the_same() {
        let text = "dA = dC \u{b7} B\u{1d40}, \u{1f600}";
        let json = pretty(&text);
        assert!(json.is_ascii());
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }
}
