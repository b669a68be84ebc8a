//! `course predict`: a question before the measurement; the first guess is the one that counts.

use clap::Args;
use engine_room_labs::cell::parse_amount;
use engine_room_labs::{amount, print};
use grading::progress::Guess;
use grading::{Lab, Prediction, Progress, root};

use crate::{Outcome, find};

/// Arguments of `course predict`.
#[derive(Args)]
pub struct PredictArgs {
    /// The prediction, such as 3.a
    id: String,
    /// Your guess: 4096, 4_096, 4 KiB or 1.5 MiB; without it the question is shown
    guess: Vec<String>,
}

/// Shows the question, or keeps the first guess.
pub fn run(args: &PredictArgs) -> Outcome {
    let (lab, prediction) = find::prediction(&args.id)?;
    let mut progress = Progress::load(&root())?;
    let kept = progress.prediction.get(&prediction.id).cloned();
    let guess = args.guess.join(" ");
    match (kept, guess.trim()) {
        (kept, "") => {
            print(&question(&lab, &prediction, kept.as_ref()));
            Ok(true)
        }
        (Some(kept), _) => Err(format!(
            "your first guess for {} is kept and stays: {}, of {}.\n{}",
            prediction.id,
            kept.guess,
            kept.date,
            how_to_see(&lab, &prediction)
        )),
        (None, guess) => {
            let value = parse_amount(guess, &prediction.unit)?;
            progress.first_guess(&prediction.id, guess);
            progress.save(&root())?;
            let value = amount(value, &prediction.unit);
            let see = how_to_see(&lab, &prediction);
            print(&format!("Kept: your guess for {} is {value}.\n{see}\n", prediction.id));
            Ok(true)
        }
    }
}

fn question(lab: &Lab, prediction: &Prediction, kept: Option<&Guess>) -> String {
    let asked = find::wrapped(&prediction.question, "  ");
    let then = match kept {
        Some(kept) => {
            let see = how_to_see(lab, prediction);
            format!("Your first guess, of {}: {}.\n{see}", kept.date, kept.guess)
        }
        None => {
            let bytes = if prediction.unit == "bytes" { ", 4 KiB, 1.5 MiB" } else { "" };
            format!(
                "Answer in {}: cargo run --bin course -- predict {} GUESS\n\
                 GUESS can be written as 4096, 4_096{bytes}. The first one is kept.",
                prediction.unit, prediction.id
            )
        }
    };
    format!("Prediction {}, lab {}\n\n{asked}\n{then}\n", prediction.id, lab.id)
}

fn how_to_see(lab: &Lab, prediction: &Prediction) -> String {
    let (program, experiment) = (lab.target(), &prediction.experiment);
    format!("See how it comes out: cargo run --bin {program} -- --experiment {experiment}")
}
