//! The command line of every lab, and the loop over its experiments.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;

use clap::{Args, Command, FromArgMatches};
use engine_room::Device;
use serde_json::json;

use crate::output::{Output, pretty, print};

/// The arguments that every lab takes.
#[derive(Args, Clone, Debug)]
pub struct LabArgs {
    /// Where the tensors live: cpu, sim or cuda; with a number, as in cuda:1, not on the first.
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    pub device: DeviceName,
    /// Seed of all random numbers.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Run only this experiment; may be given several times. Without it all of them run.
    #[arg(long, value_name = "NAME")]
    pub experiment: Vec<String>,
    /// Use your functions from exercise.rs in place of the engine's.
    #[arg(long)]
    pub mine: bool,
    /// Print one JSON document and nothing else.
    #[arg(long)]
    pub json: bool,
    /// Also write the JSON document to this file, from the same run.
    #[arg(long, value_name = "FILE.json")]
    pub json_file: Option<PathBuf>,
    /// Write the experiment's figure to this file.
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<PathBuf>,
}

/// A device by the name that the command line has for it: `cpu`, `sim` or `cuda`, or with its
/// number, `cuda:1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceName {
    name: String,
    device: Device,
}

impl FromStr for DeviceName {
    type Err = String;

    fn from_str(name: &str) -> Result<DeviceName, String> {
        name.parse().map(|device| DeviceName { name: name.to_string(), device })
    }
}

impl DeviceName {
    /// As it was given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The device of that name.
    ///
    /// # Errors
    /// If it is an NVIDIA GPU that is not there, or cannot be used.
    pub fn device(&self) -> Result<Device, String> {
        match self.device {
            Device::Cuda(n) => Device::cuda(n).map_err(|error| error.to_string()),
            device => Ok(device),
        }
    }
}

impl LabArgs {
    /// The device that was asked for.
    ///
    /// # Errors
    /// As [`DeviceName::device`].
    pub fn device(&self) -> Result<Device, String> {
        self.device.device()
    }
}

/// One experiment of a lab.
pub struct Experiment {
    /// Its name for `--experiment`.
    pub name: &'static str,
    /// The question it answers, in one line.
    pub question: &'static str,
    /// Runs it.
    pub run: fn(&LabArgs, &mut Output) -> Result<(), String>,
}

/// A lab's whole `main`: reads the arguments, runs the experiments that were asked for.
pub fn lab_main(name: &'static str, about: &'static str, experiments: &[Experiment]) -> ExitCode {
    let list = experiments.iter().map(|e| format!("  {:<12}{}\n", e.name, e.question));
    let after = format!("Experiments:\n{}", list.collect::<String>());
    let command = LabArgs::augment_args(Command::new(name)).about(about).after_help(after);
    let args = LabArgs::from_arg_matches(&command.get_matches()).unwrap_or_else(|e| e.exit());
    match run(&args, experiments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &LabArgs, experiments: &[Experiment]) -> Result<(), String> {
    args.device()?;
    let chosen = choose(args, experiments)?;
    silence_expected_panics();
    let mut documents = Vec::new();
    for (i, experiment) in chosen.iter().enumerate() {
        if !args.json {
            let blank = if i > 0 { "\n" } else { "" };
            print(&format!("{blank}== {}: {}\n\n", experiment.name, experiment.question));
        }
        let mut output = Output::new(args, experiment.name);
        let outcome = catch_unwind(AssertUnwindSafe(|| (experiment.run)(args, &mut output)));
        outcome
            .unwrap_or_else(|payload| Err(explain(payload.as_ref())))
            .map_err(|e| format!("experiment '{}': {e}", experiment.name))?;
        documents.push(output.into_document());
    }
    let single = documents.len() == 1;
    let all = if single { documents.remove(0) } else { json!({ "experiments": documents }) };
    if args.json {
        print(&pretty(&all));
    }
    args.json_file.as_ref().map_or(Ok(()), |path| {
        std::fs::write(path, pretty(&all))
            .map_err(|e| format!("{} cannot be written: {e}", path.display()))
    })
}

fn choose<'a>(args: &LabArgs, all: &'a [Experiment]) -> Result<Vec<&'a Experiment>, String> {
    let mut chosen: Vec<&Experiment> = all.iter().collect();
    if !args.experiment.is_empty() {
        let find = |name: &String| {
            let names: Vec<&str> = all.iter().map(|e| e.name).collect();
            let names = names.join(", ");
            let found = all.iter().find(|e| e.name == name);
            found.ok_or(format!("there is no experiment '{name}' here; there are: {names}"))
        };
        chosen = args.experiment.iter().map(find).collect::<Result<_, _>>()?;
    }
    if args.plot.is_some() && chosen.len() != 1 {
        return Err("--plot draws one figure; say which experiment with --experiment".to_string());
    }
    Ok(chosen)
}

/// The two panics that a lab explains itself need no message from the runtime.
fn silence_expected_panics() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !(info.payload().is::<grading::Unfinished>()
            || info.payload().is::<engine_room::Misuse>())
        {
            default(info);
        }
    }));
}

/// What a panic in an experiment means.
fn explain(payload: &(dyn Any + Send)) -> String {
    if let Some(grading::Unfinished(id)) = payload.downcast_ref() {
        return format!(
            "your function of exercise {id} is not written yet. Write it in exercise.rs, or run \
             without --mine to use the engine's."
        );
    }
    match payload.downcast_ref::<engine_room::Misuse>() {
        Some(misuse) => misuse.to_string(),
        None => "it stopped; the message above says where".to_string(),
    }
}
