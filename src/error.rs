//! Misuse and errors: what the engine says when it cannot do what it is asked.
//!
//! An operation that is given shapes, dtypes or devices that do not fit panics with a [`Misuse`] as
//! its payload, so that a grader can read the parts and a person can read the sentence: the program
//! is wrong. What a right program can meet, such as a device that is full, is an [`Error`]. Inside
//! an operation it unwinds too, and [`catch`] turns it, and nothing else, into a value.

use std::cell::Cell;
use std::fmt;
use std::panic::{self, AssertUnwindSafe, Location};
use std::path::Path;
use std::sync::Once;

/// The payload of the panic that follows a wrong call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misuse {
    /// The operation that was asked for, by PyTorch's name where it has one.
    pub op: &'static str,
    /// What it was given, e.g. `f32 [2, 3]`.
    pub operands: Vec<String>,
    /// What is wrong and what to do.
    pub message: String,
    /// File and line of the call.
    pub at: String,
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}({}): {}", self.op, self.operands.join(", "), self.message)
    }
}

/// Panics with a [`Misuse`] that carries the line of the caller.
#[track_caller]
pub(crate) fn misuse(op: &'static str, operands: &[&dyn fmt::Display], message: String) -> ! {
    print_readably();
    let operands = operands.iter().map(|operand| operand.to_string()).collect();
    let at = Location::caller();
    let at = format!("{}:{}", at.file(), at.line());
    panic::panic_any(Misuse { op, operands, message, at })
}

/// What a device reports, or what the data turn out to be; no fault of the program's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// The device has too little memory left. Nothing was allocated, and all else stays usable.
    OutOfMemory {
        /// The device, e.g. `sim:0`.
        device: String,
        /// Bytes that were asked for.
        requested: u64,
        /// Bytes that are taken.
        allocated: u64,
        /// Bytes that the device has; the host does not say.
        capacity: Option<u64>,
        /// Who holds the memory and what to try, where a caching allocator knows; else empty.
        report: String,
    },
    /// A fault, or an error of the driver.
    Device {
        /// The device, e.g. `sim:0`.
        device: String,
        /// What was asked, what is wrong and where.
        message: String,
    },
    /// The norm of the gradients is infinite or NaN. Nothing was changed.
    NonFinite {
        /// The norm: `inf` or `NaN`.
        norm: String,
    },
    /// What was saved does not fit what it is loaded into. Nothing was changed.
    Mismatch {
        /// What is wrong and where.
        message: String,
    },
    /// A file cannot be read, written or understood.
    File {
        /// The file, or what the bytes came from.
        path: String,
        /// What is wrong and what to do.
        message: String,
    },
}

impl Error {
    /// What is wrong with a file, and what to do.
    pub(crate) fn file(path: &Path, message: impl Into<String>) -> Error {
        Error::File { path: path.display().to_string(), message: message.into() }
    }

    /// What does not fit.
    pub(crate) fn mismatch(message: impl Into<String>) -> Error {
        Error::Mismatch { message: message.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Error::OutOfMemory { device, requested, allocated, capacity, report } => {
                let left = match capacity {
                    Some(capacity) => {
                        let free = Bytes(capacity.saturating_sub(*allocated));
                        format!("{free} of {} are free", Bytes(*capacity))
                    }
                    None => format!("{} are taken by tensors", Bytes(*allocated)),
                };
                let (requested, advice) = (
                    Bytes(*requested),
                    "drop tensors that are no longer \
                    needed, or work on less at a time, e.g. a smaller batch",
                );
                let advice = if report.is_empty() { advice } else { report };
                write!(
                    f,
                    "out of memory on {device}: {requested} were asked for and {left}; {advice}"
                )
            }
            Error::Device { device, message } => write!(f, "{device}: {message}"),
            Error::NonFinite { norm } => write!(
                f,
                "the norm of the gradients is {norm}, and clipping would make all of them 0 or \
                 NaN; skip this step, or look for the first operation whose result is not finite"
            ),
            Error::Mismatch { message } => f.write_str(message),
            Error::File { path, message } => write!(f, "{path}: {message}"),
        }
    }
}

impl std::error::Error for Error {}

/// Bytes as a person reads them, and exactly.
pub(crate) struct Bytes(pub u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let units = ["KiB", "MiB", "GiB"];
        let larger = |power: u32| self.0 >= 1 << (10 * power);
        match (1..=3).rev().find(|&power| larger(power)) {
            None => write!(f, "{} bytes", self.0),
            Some(power) => {
                let (count, unit) = (1u64 << (10 * power), units[power as usize - 1]);
                write!(f, "{:.2} {unit} ({} bytes)", self.0 as f64 / count as f64, self.0)
            }
        }
    }
}

/// A name as it may come out of any file, in quotes: on one line, in ASCII, and not too long.
pub(crate) struct Quoted<'a>(pub &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        const SHOWN: usize = 200;
        let end = self.0.char_indices().nth(SHOWN).map_or(self.0.len(), |(at, _)| at);
        write!(f, "\"{}\"", self.0[..end].escape_default())?;
        if end < self.0.len() { write!(f, " (cut; {} bytes)", self.0.len()) } else { Ok(()) }
    }
}

/// Unwinds with an [`Error`] to the nearest [`catch`]. Not from a `drop`: a second panic while one
/// is under way ends the program.
#[track_caller]
pub(crate) fn raise(error: Error) -> ! {
    print_readably();
    panic::panic_any(error)
}

thread_local! {
    /// How many calls of `catch` this thread is in.
    static CATCHING: Cell<usize> = const { Cell::new(0) };
}

/// Runs `f` and gives the [`Error`] by which it ended, if it did: a batch that is too large for the
/// device can be halved and tried again. Any other panic goes on.
///
/// What `f` was changing when it ended stays as far as it got: tensors are whole, but some may be
/// updated and some not.
pub fn catch<T>(f: impl FnOnce() -> T) -> Result<T, Error> {
    CATCHING.set(CATCHING.get() + 1);
    let result = panic::catch_unwind(AssertUnwindSafe(f));
    CATCHING.set(CATCHING.get() - 1);
    result.map_err(|payload| match payload.downcast::<Error>() {
        Ok(error) => *error,
        Err(other) => panic::resume_unwind(other),
    })
}

/// The standard panic hook prints `Box<dyn Any>` for a payload that is not a string, so the first
/// misuse or error puts one before it that prints the sentence, and nothing where [`catch`] will
/// give the error to the program. Every other panic goes on to the old hook.
fn print_readably() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let payload = info.payload();
            if let Some(misuse) = payload.downcast_ref::<Misuse>() {
                eprintln!("{}: {misuse}", misuse.at);
            } else if let Some(error) = payload.downcast_ref::<Error>() {
                print_uncaught(error, info.location());
            } else {
                before(info);
            }
        }));
    });
}

fn print_uncaught(error: &Error, at: Option<&Location>) {
    if CATCHING.get() == 0 {
        let at = at.map_or(String::new(), |at| format!("{}:{}: ", at.file(), at.line()));
        eprintln!("{at}{error}");
    }
}
