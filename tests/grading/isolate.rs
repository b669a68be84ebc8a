//! Runs one check in a child process and says how it ended; the learner's code can do no harm here.
//!
//! The verdict comes from the file that the parent names. The exit code counts for nothing: a child
//! that ends without a last line in that file has failed, however it ended.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::capture::Capture;
use crate::check::{Death, panicked};
use crate::child::Request;
use crate::diagnosis::{Diagnosis, key};
use crate::record::{self, Record};

/// By what the lines are known that the runtime prints when it gives up.
const LAST_WORDS: [&str; 6] = [
    "fatal runtime error: ",
    "has overflowed its stack",
    "memory allocation of ",
    "thread panicked while processing panic",
    "thread caused non-unwinding panic",
    "note: run with `RUST_BACKTRACE",
];

/// How a child ended.
pub(crate) struct Outcome {
    /// None if the check passed.
    pub(crate) diagnosis: Option<Diagnosis>,
    /// What the learner's code printed.
    pub(crate) output: String,
    /// How long the child ran.
    pub(crate) took: Duration,
}

impl Outcome {
    /// The diagnosis with what the learner's code printed.
    pub(crate) fn diagnosis_with_output(self) -> Option<Diagnosis> {
        let output = self.output;
        self.diagnosis.map(|diagnosis| Diagnosis { output, ..diagnosis })
    }
}

/// Runs this same executable as a child that checks `subject` for `exercise`.
pub(crate) fn run(exercise: &str, subject: usize, limit: Duration) -> Outcome {
    let started = Instant::now();
    let ended = verdict_file().and_then(|verdict| {
        let request = Request { exercise: exercise.to_owned(), subject, verdict };
        let ended = end(&request, limit);
        let records = record::read(&request.verdict);
        // A file that cannot be removed is left to the system's cleaning of temporary files.
        let _ = std::fs::remove_file(&request.verdict);
        ended.map(|ended| (ended, records))
    });
    let took = started.elapsed();
    match ended {
        Ok((ended, records)) => {
            Outcome { diagnosis: judge(&ended, &records, limit), output: ended.printed(), took }
        }
        Err(problem) => {
            let diagnosis = Some(Diagnosis::new(key::GRADER).got(problem));
            Outcome { diagnosis, output: String::new(), took }
        }
    }
}

/// The end of a child: its status, or none if it had to be killed.
struct Ended {
    status: Option<ExitStatus>,
    stdout: String,
    stderr: String,
}

fn end(request: &Request, limit: Duration) -> Result<Ended, String> {
    let failed = |error| format!("the grader could not start itself again: {error}");
    let program = std::env::current_exe().map_err(failed)?;
    let mut child = Command::new(program)
        .args(request.args())
        // A backtrace of an abort would stand among what the learner's code printed.
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let (stdout, stderr) = (Capture::of(child.stdout.take()), Capture::of(child.stderr.take()));
    let status = wait(&mut child, limit);
    let patience = Duration::from_millis(200);
    Ok(Ended { status, stdout: stdout.text(patience), stderr: stderr.text(patience) })
}

/// The status of the child, or none after the limit, when it has been killed.
fn wait(child: &mut Child, limit: Duration) -> Option<ExitStatus> {
    let started = Instant::now();
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        if started.elapsed() >= limit {
            // Both fail only if the child has ended in the meantime.
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A new, empty file in the system's folder for temporary files.
pub(crate) fn verdict_file() -> Result<PathBuf, String> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let folder = std::env::temp_dir();
    loop {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!("engine-room-{}-{count}.json", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(_) => return Ok(path),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(cannot_write(&path, &error)),
        }
    }
}

fn cannot_write(path: &Path, error: &std::io::Error) -> String {
    format!("{} cannot be written: {error}", path.display())
}

/// The diagnosis, from the last line of the verdict file or from the way the child died.
fn judge(ended: &Ended, records: &[Record], limit: Duration) -> Option<Diagnosis> {
    let verdict = records.iter().rev().find_map(|record| match record {
        Record::Passed => Some(None),
        Record::Failed(diagnosis) => Some(Some((**diagnosis).clone())),
        _ => None,
    });
    let seed = records.iter().find_map(|record| match record {
        Record::Seed(seed) => Some(*seed),
        _ => None,
    });
    let diagnosis = verdict.unwrap_or_else(|| Some(obituary(ended, records, limit)));
    diagnosis.map(|diagnosis| Diagnosis { seed, ..diagnosis })
}

/// The diagnosis of a child that died before it gave a verdict.
fn obituary(ended: &Ended, records: &[Record], limit: Duration) -> Diagnosis {
    let death = ended.death(records);
    let mut diagnosis = ended.in_words(death, records, limit);
    for record in records {
        match record {
            Record::Called(called) => diagnosis.called.clone_from(called),
            Record::IfItDies { death: foreseen, key, thought } if *foreseen == death => {
                diagnosis.key.clone_from(key);
                diagnosis.thought.clone_from(thought);
            }
            _ => {}
        }
    }
    diagnosis
}

impl Ended {
    fn death(&self, records: &[Record]) -> Death {
        const STACK_OVERFLOW: i32 = 0xC000_00FD_u32.cast_signed();
        let overflow = self.stderr.contains("has overflowed its stack");
        let Some(status) = self.status else { return Death::TimeLimit };
        if overflow || status.code() == Some(STACK_OVERFLOW) {
            Death::StackOverflow
        } else if matches!(records.last(), Some(Record::Refused(_))) {
            Death::MemoryLimit
        } else if status.code().is_some_and(|code| !cfg!(windows) || code >= 0) {
            Death::Exited
        } else {
            Death::Aborted
        }
    }

    /// What came and what was right, for this death.
    fn in_words(&self, death: Death, records: &[Record], limit: Duration) -> Diagnosis {
        let new = |got: String| Diagnosis::new(death.key()).got(got);
        match death {
            Death::TimeLimit => {
                new(format!("no answer within {} s; it was stopped", limit.as_secs()))
                    .expected("an answer; the course's own solution takes less than a twentieth")
            }
            Death::StackOverflow => {
                new("the stack of 8 MiB was used up: the calls went too deep".to_owned())
                    .expected("calls that end, at a depth that does not grow with the input")
            }
            Death::MemoryLimit => new(refusal(records)).expected("at most 2 GiB in use at once"),
            Death::Exited => {
                let code = self.status.and_then(|status| status.code()).unwrap_or_default();
                new(format!("the process was ended (exit code {code}) before there was an answer"))
                    .expected("a value that is returned")
            }
            Death::Aborted | Death::Panicked => aborted(records),
        }
    }

    /// What the learner's code printed, without the runtime's last words.
    fn printed(&self) -> String {
        let of_runtime =
            |line: &&str| LAST_WORDS.iter().any(|words| line.contains(words)) || is_misuse(line);
        let stderr = self.stderr.lines().filter(|line| !of_runtime(line));
        let lines: Vec<&str> = self.stdout.lines().chain(stderr).collect();
        lines.join("\n").trim_matches('\n').to_owned()
    }
}

/// The engine prints a misuse as `FILE.rs:31: sentence`; the diagnosis says it already.
fn is_misuse(line: &str) -> bool {
    let place = line.split_once(": ").and_then(|(place, _)| place.rsplit_once(".rs:"));
    place.is_some_and(|(_, line)| line.parse::<u32>().is_ok())
}

fn refusal(records: &[Record]) -> String {
    let bytes = records.iter().rev().find_map(|record| match record {
        Record::Refused(bytes) => Some(*bytes),
        _ => None,
    });
    format!("{} bytes more were asked for, which was refused", bytes.unwrap_or_default())
}

/// An abort; most often a panic while another one unwinds.
fn aborted(records: &[Record]) -> Diagnosis {
    let panics: Vec<Diagnosis> = records
        .iter()
        .filter_map(|record| match record {
            Record::Panicked { message, place } => Some(panicked(message, place)),
            _ => None,
        })
        .collect();
    let got = match panics.as_slice() {
        [] => "the process was aborted before there was an answer".to_owned(),
        [only] => format!("{}; then the process was aborted", only.got),
        [first, second, ..] => {
            format!("{}\nand while it unwound, {}: the runtime aborts then", first.got, second.got)
        }
    };
    Diagnosis::new(key::ABORTED).got(got).expected("a value, without a panic or an abort")
}
