//! The child's side of isolation: one check, on one implementation, in a process of its own.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use crate::check::{Check, Exercise, of_panic};
use crate::diagnosis::{Diagnosis, key};
use crate::record::{self, Record};
use crate::{alloc, panics};

/// The stack of the thread that runs the check, in bytes.
const STACK: usize = 8 << 20;
/// The most memory that may be live, in bytes.
const MEMORY: usize = 2 << 30;

/// What the command line asks of a child: `--child 3.1 --subject 4 --verdict FILE`.
pub(crate) struct Request {
    pub(crate) exercise: String,
    /// Which implementation; a number that parent and child count alike.
    pub(crate) subject: usize,
    pub(crate) verdict: PathBuf,
}

impl Request {
    /// None if this process is not a child.
    pub(crate) fn from_args() -> Option<Request> {
        let args: Vec<String> = std::env::args().collect();
        let value = |flag: &str| {
            let at = args.iter().position(|argument| argument == flag)?;
            args.get(at + 1).cloned()
        };
        Some(Request {
            exercise: value("--child")?,
            subject: value("--subject")?.parse().ok()?,
            verdict: value("--verdict")?.into(),
        })
    }

    /// The same request, as arguments.
    pub(crate) fn args(&self) -> Vec<String> {
        let verdict = self.verdict.to_string_lossy().into_owned();
        let subject = self.subject.to_string();
        ["--child", &self.exercise, "--subject", &subject, "--verdict", &verdict]
            .map(str::to_owned)
            .to_vec()
    }
}

/// Runs the check and ends the process, whatever threads the learner's code has left behind.
pub(crate) fn run<I: Copy + Send + 'static>(
    request: &Request,
    checks: &[Exercise<I>],
    implementation: I,
) -> ! {
    if let Err(problem) = prepare(&request.verdict) {
        eprintln!("{problem}");
        std::process::exit(1);
    }
    let found = checks.iter().find(|exercise| exercise.id == request.exercise);
    let record = match (found.copied(), seed(&request.exercise)) {
        (Some(exercise), Ok(seed)) => on_own_stack(exercise, implementation, seed),
        (None, _) => grader_failed(format!("no check is called {:?}", request.exercise)),
        (_, Err(problem)) => grader_failed(problem),
    };
    record::write(&record);
    std::process::exit(0)
}

fn prepare(verdict: &Path) -> Result<(), String> {
    record::open(verdict)?;
    panics::install_hook();
    alloc::cap(MEMORY);
    Ok(())
}

fn on_own_stack<I: Copy + Send + 'static>(
    exercise: Exercise<I>,
    implementation: I,
    seed: u64,
) -> Record {
    record::write(&Record::Seed(seed));
    let check = move || {
        let run = || (exercise.check)(&implementation, &mut Check::new(seed));
        match catch_unwind(AssertUnwindSafe(run)) {
            Ok(Ok(())) => Record::Passed,
            Ok(Err(diagnosis)) => Record::Failed(Box::new(diagnosis)),
            Err(payload) => Record::Failed(Box::new(of_panic(&*payload))),
        }
    };
    let thread = std::thread::Builder::new().name("check".to_owned()).stack_size(STACK);
    match thread.spawn(check).map(std::thread::JoinHandle::join) {
        Ok(Ok(record)) => record,
        Ok(Err(_)) => grader_failed("the check's thread ended without an answer".to_owned()),
        Err(error) => grader_failed(format!("no thread could be started: {error}")),
    }
}

fn grader_failed(problem: String) -> Record {
    Record::Failed(Box::new(Diagnosis::new(key::GRADER).got(problem)))
}

/// `ENGINE_ROOM_SEED`, or a seed that is fixed per exercise, so that a verdict can be repeated.
fn seed(exercise: &str) -> Result<u64, String> {
    let Ok(text) = std::env::var("ENGINE_ROOM_SEED") else {
        // FNV-1a: the same seed with every compiler.
        let mix = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        return Ok(exercise.bytes().fold(0xcbf2_9ce4_8422_2325, mix) % 100_000);
    };
    let wrong = |_| format!("ENGINE_ROOM_SEED is {text:?}; it must be a whole number, such as 42");
    text.trim().parse().map_err(wrong)
}
