//! What `train-digits` prints and draws.

use engine_room_labs::cell::binary_bytes;
use engine_room_labs::{Cell, Plot, Table, pretty, print};
use serde::Serialize;

use crate::Args;
use crate::train::Epoch;

/// One of the two trainings.
pub struct Training {
    /// What is held out, in words.
    pub name: &'static str,
    /// Images trained on.
    pub train: usize,
    /// Images held out.
    pub test: usize,
    /// What each epoch came to.
    pub epochs: Vec<Epoch>,
}

impl Training {
    fn last_epoch(&self) -> &Epoch {
        self.epochs.last().expect("there is at least one epoch")
    }

    fn curve(&self, of: fn(&Epoch) -> f64) -> impl Iterator<Item = (f64, f64)> {
        self.epochs.iter().map(move |epoch| (epoch.epoch as f64, of(epoch)))
    }
}

/// Both trainings and what they cost.
pub struct Report {
    /// With a random fifth held out.
    pub random: Training,
    /// With the file's last fifth held out.
    pub last: Training,
    /// Of both.
    pub seconds: f64,
    /// The most bytes that were live at once.
    pub peak_bytes: u64,
}

/// What `--json` prints; `--help` says what the fields mean.
#[derive(Serialize)]
struct Document {
    model: &'static str,
    seed: u64,
    test_accuracy: f64,
    last_fifth_accuracy: f64,
    seconds: f64,
    peak_bytes: u64,
}

const WHY: &str = "\
The file lies in the order of its writers, so the last fifth was mostly written by people who wrote
none of the rest, and a random fifth by people whose other digits the model has seen: the first
number says how it reads hands that it knows, the second how it reads strangers'.
";

impl Report {
    /// The JSON document, or the table with the reason why its two numbers differ.
    pub fn print(&self, args: &Args) {
        if args.json {
            return print(&pretty(&self.document(args)));
        }
        let (model, seed, peak) = (args.model.name(), args.seed, binary_bytes(self.peak_bytes));
        print(&format!(
            "{model}, seed {seed}: {} epochs, both trainings together {}, at most {peak} live\n\n",
            args.epochs,
            Cell::Seconds(self.seconds).text(),
        ));
        print(&format!("{}\n{WHY}", self.table().text()));
    }

    fn document(&self, args: &Args) -> Document {
        Document {
            model: args.model.name(),
            seed: args.seed,
            test_accuracy: self.random.last_epoch().accuracy,
            last_fifth_accuracy: self.last.last_epoch().accuracy,
            seconds: self.seconds,
            peak_bytes: self.peak_bytes,
        }
    }

    fn table(&self) -> Table {
        let mut table = Table::new()
            .column("held_out", "held out", "")
            .column("train", "trained on", "images")
            .column("test", "held out", "images")
            .column("loss", "last loss", "")
            .column("accuracy", "accuracy", "");
        for training in [&self.random, &self.last] {
            let Epoch { loss, accuracy, .. } = *training.last_epoch();
            table.row([
                training.name.into(),
                Cell::Count(training.train as u64),
                Cell::Count(training.test as u64),
                Cell::Number(loss),
                Cell::Share(accuracy),
            ]);
        }
        table
    }

    /// Draws loss and accuracy by epoch into the file of `--plot`; does nothing without it.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn plot(&self, args: &Args) -> Result<(), String> {
        let Some(path) = &args.plot else { return Ok(()) };
        let mut loss = Plot::lines("Loss of the training", ("epoch", ""), ("mean loss", "nats"));
        let mut accuracy =
            Plot::lines("Accuracy on what is held out", ("epoch", ""), ("read right", "share"));
        for training in [&self.random, &self.last] {
            loss.series(training.name, training.curve(|epoch| epoch.loss));
            accuracy.series(training.name, training.curve(|epoch| epoch.accuracy));
        }
        std::fs::write(path, Plot::stacked(&[loss, accuracy])?)
            .map_err(|e| format!("{} cannot be written: {e}", path.display()))?;
        eprintln!("The figure is in {}.", path.display());
        Ok(())
    }
}
